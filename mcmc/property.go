package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A Property scores how well a composition meets an objective: y(x) ≥ 0. A value of 0 forbids x.
//
// One property serves all chains at once, so its methods must be safe for concurrent use and must
// not keep x. A property that can score a whole line faster than split by split should implement
// [LineProperty] too.
type Property interface {
	// LogScore returns log y(x), which is −Inf where x is forbidden. NaN and +Inf are invalid and
	// end the run with an error that names the property. They are ignored if a rule or another
	// property forbids x, or if the law gives its number of ingredients no mass.
	LogScore(x *Composition) float64
}

// ScoreFunc makes a property from a function that returns y(x) ≥ 0.
type ScoreFunc func(x *Composition) float64

// LogScore returns log y(x); NaN if y(x) is negative.
func (f ScoreFunc) LogScore(x *Composition) float64 { return portable.Log(f(x)) }

// A LineProperty is a property that scores whole lines, and follows the composition of one chain as
// it changes.
type LineProperty interface {
	Property
	// Scorer returns a scorer of x, which one goroutine changes and scores. Reset is called before
	// any other method.
	Scorer(x *Composition) Scorer
}

// A BatchProperty is a property that scores many compositions in about the time of one, so few
// large calls are best. Kernels draw several candidates for it instead of one, and several chains
// wait for it at the same time.
type BatchProperty interface {
	LineProperty
	// Batch returns the number of candidates drawn at once, at least 1. It affects the draws.
	Batch() int
	// Prefetch receives compositions whose LogScore will be called next.
	Prefetch(xs []*Composition)
}

// A Scorer follows one composition x and scores it and its lines.
//
// A line is all the ways to divide the sum of a pair of ingredients (i, j), with all others fixed.
// With s = x_i + x_j, it has s+1 splits k = 0..s, where k units go to i and s−k to j.
//
// All scores are log y. Each must equal, bit for bit, the result of the property's LogScore for the
// same composition.
type Scorer interface {
	// Reset takes over x after it has been set anew.
	Reset()
	// LogScore returns log y(x).
	LogScore() float64
	// Line adds the scores of the splits of (i, j) to p, which is empty, from
	// k = 0 upwards.
	Line(i, j int, p *Pieces)
	// Moved takes over x after it has moved along the line of (i, j).
	Moved(i, j int)
}

// A SplitScorer is a [Scorer] that scores the splits of a line one by one and saves time on splits
// that do not count.
type SplitScorer interface {
	Scorer
	// Splits is Line for a line on which only the splits count where wanted, a function of the
	// splits, is not −Inf. The values it adds to p for the other splits are ignored.
	Splits(i, j int, wanted, p *Pieces)
}

// A CurveScorer is a [Scorer] whose lines have about as many pieces as splits. It knows a line as a
// function of the split, with bounds. So a split of a long line can be drawn without weighing each.
type CurveScorer interface {
	Scorer
	// Curve points At and Above at the line of (i, j), until the next call of any other method. It
	// returns a split near which the scores peak, rising before it and falling after it, or 0 if
	// none is known. The peak only decides where bounds begin.
	Curve(i, j int) (peak int)
	// At returns log y at split k, bit for bit what LogScore returns there.
	At(k int) float64
	// Above returns an upper bound of At(k) for all from ≤ k ≤ to, at least 3 splits that are not
	// the line's ends. Tighter bounds, above all over few splits, make draws faster. A value below
	// some At(k) makes draws wrong.
	Above(from, to int) float64
}

// Pieces is a piecewise constant function of the splits k = 0..s of a line. Implementations of
// [LineProperty] fill it and users of a [Cursor] read it; no one else needs it.
type Pieces struct {
	starts []int32
	values []float64
}

// Add appends a piece: the value from split start up to the next piece's start. The first piece
// must start at 0, and each next one after the last.
func (p *Pieces) Add(start int, value float64) {
	p.starts = append(p.starts, int32(start))
	p.values = append(p.values, value)
}

// Len returns the number of pieces.
func (p *Pieces) Len() int { return len(p.starts) }

// Piece returns the start and the value of piece k.
func (p *Pieces) Piece(k int) (start int, value float64) {
	return int(p.starts[k]), p.values[k]
}

// Reset empties p and keeps its memory.
func (p *Pieces) Reset() { p.starts, p.values = p.starts[:0], p.values[:0] }

// pointwise scores the lines of a property split by split, on a copy of the
// composition.
type pointwise struct {
	property Property
	x, copy  *Composition
}

func (w *pointwise) Reset()            { w.copy.CopyFrom(w.x) }
func (w *pointwise) LogScore() float64 { return w.property.LogScore(w.copy) }

func (w *pointwise) Line(i, j int, p *Pieces) {
	var all Pieces
	all.Add(0, 0)
	w.Splits(i, j, &all, p)
}

func (w *pointwise) Splits(i, j int, wanted, p *Pieces) {
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
			w.copy.move(i, j, split)
			p.Add(split, w.property.LogScore(w.copy))
		}
	}
	w.copy.move(i, j, k)
}

func (w *pointwise) Moved(i, j int) { w.copy.move(i, j, w.x.Amount(i)) }

// addPieces makes dst the sum of a and b, −Inf where either is.
func addPieces(dst, a, b *Pieces) {
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

// innerSplits returns the splits from ≤ k < to of piece q that are not ends of a line of sum s.
func innerSplits(p *Pieces, q, s int) (from, to int) {
	from, to = max(int(p.starts[q]), 1), s
	if q+1 < len(p.starts) {
		to = min(int(p.starts[q+1]), s)
	}
	return from, to
}
