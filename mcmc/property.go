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
	// the run with an error that names the property. An invalid score is ignored if a rule or
	// another property forbids x, or if the law gives the number of used ingredients no mass.
	LogScore(x *Composition) float64
}

// ScoreFunc is a [Property] made from a function that returns y(x) ≥ 0.
type ScoreFunc func(x *Composition) float64

// LogScore returns log y(x), or NaN if y(x) is negative.
func (f ScoreFunc) LogScore(x *Composition) float64 { return portable.Log(f(x)) }

// A LineProperty is a property whose scorers follow the composition of a chain as it changes, and
// score whole lines. A line is all divisions of two ingredients' joint amount; see [Scorer].
type LineProperty interface {
	Property
	// Scorer returns a scorer of x. One goroutine uses the scorer and changes x. Its method Reset
	// is called before any other method.
	Scorer(x *Composition) Scorer
}

// A BatchProperty is a property that takes about the same time to score many compositions as to
// score one. So a few large calls are fastest. Kernels draw several candidates for it at a time,
// and several chains wait for it at the same time.
type BatchProperty interface {
	LineProperty
	// Batch returns the number of candidates that a kernel draws at a time, at least 1. It affects
	// the draws.
	Batch() int
	// Prefetch receives the compositions for which LogScore will be called next.
	Prefetch(xs []*Composition)
}

// A Scorer follows one composition x as it changes, and scores x and its lines.
//
// The line of a pair of ingredients (i, j) is the set of all divisions of their joint amount s =
// x_i + x_j, while all other amounts are fixed. It has s+1 splits k = 0..s. Split k gives k units
// to ingredient i and s−k units to ingredient j.
//
// All scores are log y. Each score must equal, bit for bit, the result of the property's LogScore
// for the same composition.
type Scorer interface {
	// Reset updates the scorer after x has been set to any other composition.
	Reset()
	// LogScore returns log y(x).
	LogScore() float64
	// Line adds the scores of the splits of the line of (i, j) to p, from split 0 upwards. Before
	// the call p is empty.
	Line(i, j int, p *PiecewiseConstant)
	// Moved updates the scorer after the joint amount of i and j has been divided differently.
	Moved(i, j int)
}

// A SplitScorer is a [Scorer] that scores the splits of a line one by one. It saves time if it need
// not score all splits.
type SplitScorer interface {
	Scorer
	// Splits does the same as Line but need not score all splits. The argument wanted is a function
	// of the splits; a split must be scored if wanted is not −Inf there. The values that Splits
	// adds to p for the other splits are ignored.
	Splits(i, j int, wanted, p *PiecewiseConstant)
}

// A CurveScorer is a [Scorer] that knows the scores of a line as a function of the split, with
// upper bounds. So a split of a long line can be drawn without weighing every split. It is for
// properties whose score changes at almost every split.
type CurveScorer interface {
	Scorer
	// Curve selects the line of (i, j) for At and Above, until the next call of any other method.
	// It returns a split near the peak of the scores, which rise before it and fall after it, or 0
	// if no such split is known. The peak only decides where bounds begin.
	Curve(i, j int) (peak int)
	// At returns log y at split k, equal bit for bit to the result of LogScore there.
	At(k int) float64
	// Above returns an upper bound of At(k) for all k with from ≤ k ≤ to. There are at least 3 of
	// these splits, and none is an end of the line. Tighter bounds make draws faster, above all
	// bounds over few splits. A value below some At(k) makes draws wrong.
	Above(from, to int) float64
}

// PiecewiseConstant is a piecewise constant function of the splits k = 0..s of a line; see [Scorer]. A
// [LineProperty] fills it, and users of a [Cursor] read it.
type PiecewiseConstant struct {
	starts []int32   // by piece: its first split
	values []float64 // by piece: the value of the function
}

// Add appends a piece. It extends from split start to the split before the start of the next piece.
// The first piece must start at 0, and each later piece after the start of the piece before it.
func (p *PiecewiseConstant) Add(start int, value float64) {
	p.starts = append(p.starts, int32(start))
	p.values = append(p.values, value)
}

// Len returns the number of pieces.
func (p *PiecewiseConstant) Len() int { return len(p.starts) }

// Piece returns the first split and the value of piece k.
func (p *PiecewiseConstant) Piece(k int) (start int, value float64) {
	return int(p.starts[k]), p.values[k]
}

// Reset removes all pieces from p but keeps the memory for new pieces.
func (p *PiecewiseConstant) Reset() { p.starts, p.values = p.starts[:0], p.values[:0] }

// A pointwiseScorer scores the splits of a line one by one, each by a call of the property's
// LogScore.
type pointwiseScorer struct {
	property Property
	x, copy  *Composition // the composition of the chain, and a copy that is changed to score a split
}

func (w *pointwiseScorer) Reset()            { w.copy.CopyFrom(w.x) }
func (w *pointwiseScorer) LogScore() float64 { return w.property.LogScore(w.copy) }

func (w *pointwiseScorer) Line(i, j int, p *PiecewiseConstant) {
	var all PiecewiseConstant
	all.Add(0, 0)
	w.Splits(i, j, &all, p)
}

func (w *pointwiseScorer) Splits(i, j int, wanted, p *PiecewiseConstant) {
	k := w.copy.Amount(i)
	end := k + w.copy.Amount(j) + 1
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
			w.copy.moveUnchecked(i, j, split)
			p.Add(split, w.property.LogScore(w.copy))
		}
	}
	w.copy.moveUnchecked(i, j, k)
}

func (w *pointwiseScorer) Moved(i, j int) { w.copy.moveUnchecked(i, j, w.x.Amount(i)) }

// addPieces sets dst to the sum of the functions a and b. The sum is −Inf at a split where a or b
// is −Inf, even if the other value is NaN or +Inf.
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

// innerSplitsOfPiece returns the splits of piece q that give units to both ingredients, as a range
// from ≤ k < to. Split k gives k of s units to the first ingredient.
func innerSplitsOfPiece(p *PiecewiseConstant, q, s int) (from, to int) {
	from, to = max(int(p.starts[q]), 1), s
	if q+1 < len(p.starts) {
		to = min(int(p.starts[q+1]), s)
	}
	return from, to
}
