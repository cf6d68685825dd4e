package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A Property scores how well a composition x meets an objective: y(x) ≥ 0. A score of 0 forbids x.
//
// One property serves all chains at the same time. Its methods must be safe for concurrent use and
// must not keep x. A property should also implement [LineProperty] if it can score all divisions of
// two ingredients' joint amount faster than one by one.
type Property interface {
	// LogScore returns log y(x), which is −Inf if x is forbidden. NaN and +Inf are invalid and end
	// the run with an error that names the property. There are two exceptions in which an invalid
	// score is ignored:
	//
	//   - A rule or another property forbids x.
	//   - The sparsity law gives no mass to the number of ingredients in x.
	LogScore(x *Composition) float64
}

// ScoreFunc is a [Property] made from a function that returns y(x) ≥ 0.
type ScoreFunc func(x *Composition) float64

// LogScore returns log y(x), or NaN if y(x) is negative.
func (f ScoreFunc) LogScore(x *Composition) float64 { return portable.Log(f(x)) }

// A LineProperty is a property that provides a [Scorer]. The scorer follows the composition of a
// chain as it changes. It scores all divisions of the joint amount of two ingredients in one call.
type LineProperty interface {
	Property
	// Scorer returns a scorer of x. It is used by the one goroutine that changes x. Its method
	// Reset is called before any other method.
	Scorer(x *Composition) Scorer
}

// A BatchProperty is a property that takes about as long to score many compositions as to score
// one. So a few large calls are fastest. For such a property kernels draw several candidates at a
// time, and several chains wait for it at the same time.
type BatchProperty interface {
	LineProperty
	// Batch returns the number of candidates that a kernel draws together, at least 1. The number
	// affects the draws.
	Batch() int
	// Prefetch receives the compositions for which LogScore will be called next.
	Prefetch(xs []*Composition)
}

// prefetchCount is the number of compositions that a [BatchProperty] gets at a time where the scores of many
// compositions are needed.
const prefetchCount = 64

// A Scorer follows one composition x as it changes. It scores x, and also the compositions that a
// move of units between two ingredients could make of x.
//
// The line of a pair of ingredients (i, j) is the set of all divisions of their joint amount s =
// x_i + x_j, while all other amounts are fixed. It has s+1 splits k = 0..s. Split k gives k units
// to ingredient i and s−k units to ingredient j.
//
// All scores are log y. Each score must equal, bit for bit, the result of the property's LogScore
// for the same composition.
type Scorer interface {
	// Reset updates the scorer after any change of x.
	Reset()
	// LogScore returns log y(x), the log score of the current x.
	LogScore() float64
	// Line adds to p the log scores of all divisions of the joint amount of the ingredients i and
	// j. The argument of the function p is k, the number of units of i. Before the call p is empty.
	Line(i, j int, p *PiecewiseConstant)
	// Moved updates the scorer after the joint amount of the ingredients i and j has been divided
	// differently.
	Moved(i, j int)
}

// A SplitScorer is a [Scorer] that scores the divisions of two ingredients' joint amount one by
// one. It saves time if some divisions need no score.
type SplitScorer interface {
	Scorer
	// Splits does the same as Line but may omit scores. A split k must be scored only if the
	// function wanted is not −Inf at k. The values that Splits adds to p for the other splits are
	// ignored.
	Splits(i, j int, wanted, p *PiecewiseConstant)
}

// A CurveScorer is a [Scorer] that knows upper bounds of the scores over ranges of splits, that is,
// divisions of two ingredients' joint amount. So a split of a large joint amount can be drawn
// without scoring every split. It is for properties whose score changes at almost every split.
type CurveScorer interface {
	Scorer
	// Curve selects the ingredients i and j for the methods ScoreAt and UpperBound, until the next call of
	// any other method. It returns a split near the peak of the scores, which rise before the peak
	// and fall after it. It returns 0 if no such split is known. The peak only decides where ranges
	// begin, so it need not be exact.
	Curve(i, j int) (peak int)
	// ScoreAt returns log y at split k, which gives k units to ingredient i. It must equal, bit for bit,
	// the result of LogScore for that composition.
	ScoreAt(k int) float64
	// UpperBound returns an upper bound of ScoreAt(k) for all k with from ≤ k ≤ to. The range has at least 3
	// splits, and none of them gives all units to one ingredient. Tighter bounds make draws faster,
	// above all bounds over few splits. A bound below some ScoreAt(k) makes draws wrong.
	UpperBound(from, to int) float64
}

// PiecewiseConstant is a function of the integers 0..s that has few different values, such as the
// score for each division of s units among two ingredients; see [Scorer]. A piece is a range of
// integers with the same value. A [LineProperty] fills the function, and users of a [Cursor] read
// it.
type PiecewiseConstant struct {
	starts []int32   // starts[q] is the first integer of piece q
	values []float64 // values[q] is the value of the function on piece q
}

// Add appends a piece on which the function has the given value. The piece begins at start and ends
// before the start of the next piece. The first piece must start at 0. Each later piece must start
// after the start of the piece before it.
func (p *PiecewiseConstant) Add(start int, value float64) {
	p.starts = append(p.starts, int32(start))
	p.values = append(p.values, value)
}

// Len returns the number of pieces.
func (p *PiecewiseConstant) Len() int { return len(p.starts) }

// Piece returns the first integer of piece k and the value of the function there.
func (p *PiecewiseConstant) Piece(k int) (start int, value float64) {
	return int(p.starts[k]), p.values[k]
}

// Reset removes all pieces from p but keeps their memory for new pieces.
func (p *PiecewiseConstant) Reset() { p.starts, p.values = p.starts[:0], p.values[:0] }

// A pointwiseScorer is a [Scorer] of a property that has none of its own. It scores each division
// of two ingredients' joint amount by a call of the property's LogScore.
type pointwiseScorer struct {
	property    Property
	composition *Composition // the composition of the chain
	scratchCopy *Composition // a copy of composition, which is changed to score a division
}

func (w *pointwiseScorer) Reset()            { w.scratchCopy.CopyFrom(w.composition) }
func (w *pointwiseScorer) LogScore() float64 { return w.property.LogScore(w.scratchCopy) }

func (w *pointwiseScorer) Line(i, j int, p *PiecewiseConstant) {
	var all PiecewiseConstant
	all.Add(0, 0)
	w.Splits(i, j, &all, p)
}

func (w *pointwiseScorer) Splits(i, j int, wanted, p *PiecewiseConstant) {
	k := w.scratchCopy.Amount(i)
	end := k + w.scratchCopy.Amount(j) + 1
	for q, start := range wanted.starts {
		if wanted.values[q] == negInf {
			p.Add(int(start), negInf)
			continue
		}
		to := end
		if q+1 < len(wanted.starts) {
			to = int(wanted.starts[q+1])
		}
		for split := int(start); split < to; split++ {
			w.scratchCopy.moveUnchecked(i, j, split)
			p.Add(split, w.property.LogScore(w.scratchCopy))
		}
	}
	w.scratchCopy.moveUnchecked(i, j, k)
}

func (w *pointwiseScorer) Moved(i, j int) { w.scratchCopy.moveUnchecked(i, j, w.composition.Amount(i)) }

// addPieces sets dst to the sum of the functions a and b. The sum is −Inf where a or b is −Inf,
// even if the other value is NaN or +Inf.
func addPieces(dst, a, b *PiecewiseConstant) {
	dst.Reset()
	p, q := 0, 0
	for start := int32(0); ; {
		sum := a.values[p] + b.values[q]
		if sum != sum && (a.values[p] == negInf || b.values[q] == negInf) {
			sum = negInf // NaN beside −Inf: the split is forbidden all the same
		}
		dst.starts = append(dst.starts, start)
		dst.values = append(dst.values, sum)
		nextA, nextB := int32(math.MaxInt32), int32(math.MaxInt32)
		if p+1 < len(a.starts) {
			nextA = a.starts[p+1]
		}
		if q+1 < len(b.starts) {
			nextB = b.starts[q+1]
		}
		start = min(nextA, nextB)
		if start == math.MaxInt32 {
			return
		}
		if nextA == start {
			p++
		}
		if nextB == start {
			q++
		}
	}
}

// innerSplitsOfPiece returns the integers of piece q of p that lie between 0 and s, without 0 and
// s, as a range from ≤ k < to. They are the divisions of s units that give units to both
// ingredients.
func innerSplitsOfPiece(p *PiecewiseConstant, q, s int) (from, to int) {
	from, to = max(int(p.starts[q]), 1), s
	if q+1 < len(p.starts) {
		to = min(int(p.starts[q+1]), s)
	}
	return from, to
}
