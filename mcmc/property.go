package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A Property says how well a composition fits a wish: y(x) ≥ 0. A value of 0
// forbids x.
//
// One property serves all chains at once, so its methods must be safe for
// concurrent use, and must not keep x. A property that can score a whole line
// faster than split by split implements [LineProperty] too.
type Property interface {
	// LogScore returns log y(x): −Inf where x is forbidden. NaN and +Inf are
	// no scores; they end the run with an error that names the property, unless
	// a rule or another property forbids x, or the law gives its number of
	// ingredients no mass.
	LogScore(x *Composition) float64
}

// ScoreFunc makes a property of a function that returns y(x) ≥ 0.
type ScoreFunc func(x *Composition) float64

// LogScore returns log y(x); NaN if y(x) is negative.
func (f ScoreFunc) LogScore(x *Composition) float64 { return portable.Log(f(x)) }

// A LineProperty is a property that scores the compositions of one chain as
// they change, a line at a time.
type LineProperty interface {
	Property
	// Scorer returns a scorer of x, which one goroutine changes and scores.
	// Reset is called before anything else.
	Scorer(x *Composition) Scorer
}

// A BatchProperty is a property that scores many compositions in about the time of
// one, and so is best asked rarely. Kernels then draw several candidates where they
// else draw one, and chains that wait for it wait at the same time.
type BatchProperty interface {
	LineProperty
	// Batch returns how many candidates are drawn at once, at least 1. The draws
	// depend on it.
	Batch() int
	// Prefetch receives compositions whose LogScore is asked for next.
	Prefetch(xs []*Composition)
}

// A Scorer follows one composition x and scores it and its lines.
//
// A line is what can become of a pair of ingredients (i, j) when all else
// stays: with s = x_i + x_j, the s+1 splits k = 0..s, of which k units go to i
// and s−k to j.
//
// All scores are log y, and equal, bit for bit, what LogScore of the property
// returns for the same composition.
type Scorer interface {
	// Reset follows x, which has been set anew.
	Reset()
	// LogScore returns log y(x).
	LogScore() float64
	// Line adds the scores of the splits of (i, j) to p, which is empty, from
	// k = 0 upwards.
	Line(i, j int, p *Pieces)
	// Moved follows x, which has moved along the line of (i, j).
	Moved(i, j int)
}

// A SplitScorer is a [Scorer] that scores the splits of a line one by one, and
// would rather not be asked for those that do not count.
type SplitScorer interface {
	Scorer
	// Splits is Line for a line on which a split counts only if wanted, a
	// function of its splits, is not −Inf there. What it adds to p for the others
	// is not looked at.
	Splits(i, j int, wanted, p *Pieces)
}

// A CurveScorer is a [Scorer] whose lines have about as many pieces as splits, and
// that knows them as functions of the split: at a split and by bounds. A split of a
// long line is then drawn without weighing each.
type CurveScorer interface {
	Scorer
	// Curve turns At and Above to the line of (i, j), until the next call of any other
	// method. It returns a split about which the scores are highest, so that they rise
	// to it and fall from it, or 0 where none is known: it is only where bounds begin.
	Curve(i, j int) (peak int)
	// At returns log y at split k, bit for bit what LogScore returns there.
	At(k int) float64
	// Above returns a bound of At(k) for all from ≤ k ≤ to, at least 3 splits that are
	// not the line's ends. The closer it is, and the more so the fewer they are, the
	// faster are draws; which are wrong if it is below.
	Above(from, to int) float64
}

// Pieces is a function of the splits k = 0..s of a line that is constant from
// piece to piece. Whoever writes a [LineProperty] fills them, and whoever moves a
// [Cursor] reads them; nobody else needs them.
type Pieces struct {
	starts []int32
	values []float64
}

// Add appends a piece: the value from split start up to the next piece's
// start. The first piece starts at 0 and every next one further on.
func (p *Pieces) Add(start int, value float64) {
	p.starts = append(p.starts, int32(start))
	p.values = append(p.values, value)
}

// Len returns the number of pieces.
func (p *Pieces) Len() int { return len(p.starts) }

// Piece returns where a piece starts and its value.
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
			sum = negInf // what the other is, if it is no score, does not matter
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

// innerSplits returns the splits from ≤ k < to of piece q that are no end of
// a line of sum s.
func innerSplits(p *Pieces, q, s int) (from, to int) {
	from, to = max(int(p.starts[q]), 1), s
	if q+1 < len(p.starts) {
		to = min(int(p.starts[q+1]), s)
	}
	return from, to
}
