// Package bound proves how good the best composition can be at most.
//
// A score is a product of parts, see [Factor], over the compositions that keep conditions. It
// is bounded by branch and bound: a box says of each ingredient whether it is used and
// between which amounts, and no composition in the box scores more than its bound. The box
// of the highest bound is divided, again and again, and the highest bound of those that are
// left is one of all compositions. Where it comes down to the score of a composition that
// is known, that one is the best there is.
//
// # Bounds of a box
//
// Parts that follow from a linear form of amounts and uses share a linear program: the
// conditions, without asking for whole numbers, and a variable for the logarithm of each
// part, below tangents of it (Duran and Grossmann 1986). What is taken from the program is
// checked by its dual in arithmetic whose rounding is bounded, see [program.above], so that
// a bound holds whatever the simplex method does. Concave parts have a column there, too,
// below tangent planes at the solutions. Parts that are made of several forms, such as an
// expression, ask for what each is at most, by a program of the conditions alone. Other parts
// say themselves what they are at most in a box, such as a forest, of which each tree adds the
// greatest leaf that it can reach there (Mistry et al., arXiv 1803.00952).
//
// What is left out can only make the bound higher.
package bound

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kir/internal/condition"
	"kir/internal/yield"
	"kir/rule"
)

// A Problem is a score, and the compositions that are scored.
type Problem struct {
	Conditions *condition.Conditions
	Sizes      []bool // by the number of ingredients used: whether it is allowed

	// Least and Most bound amounts where an ingredient is used, by ingredient, beside the
	// conditions; nil: they do not. A most of 0 leaves it out. Always are ingredients that
	// each composition must use.
	Least, Most []int
	Always      []int

	Factors []Factor

	// Score returns the logarithm of the score of a composition of the conditions, −Inf
	// where it is not to be counted.
	Score func(parts []rule.Part) (float64, error)

	// MaxEnumerated is how many compositions are scored one by one if there are no more of them, which
	// takes no bounds of parts.
	MaxEnumerated int
}

// A Factor is a factor of the score. All bounds are of its logarithm.
type Factor struct {
	Name string

	// Most is what it is at most anywhere, +Inf if that is not known.
	Most float64

	// Linear is what it is a function of, nil if it is none of a linear form.
	Linear *Linear

	// Tangent returns numbers that a concave logarithm is nowhere above: value +
	// Σ slope·(amount − at). ok is false where there are none. nil: it is not concave.
	Tangent func(at []float64) (value float64, slope []float64, ok bool)

	// Floor is what Tangent's is at least, −Inf for none.
	Floor float64

	// Box returns what it is at most where each ingredient has from lo to hi units, and at
	// most so many are used; nil: Most. It does not keep them.
	Box  func(lo, hi []int32, used int) float64
	Cost int64 // steps that Box takes, about

	// Pieces are what it is made of, and Join says what it is at most where they are at most
	// so much, with none of which it falls. They go before Box.
	Pieces     []Piece
	JoinPieces func(above []float64) float64
	LineCost   int64 // steps that it takes to score a line, about

	// MaxOverForms returns what it is at most where most says what forms Σ perUnit·amount + Σ perUse,
	// over the ingredients that are used, are at most; nil: Most. Linear and Tangent go before.
	MaxOverForms func(most func(perUnit, perUse []float64) float64) float64
}

// A Piece returns a number of a part that is not exceeded where each ingredient has from lo to
// hi units, and at most so many are used, and the steps that it took. Along is the ingredient
// whose amount makes most of the number, and by about how much; −1 if it cannot tell.
type Piece func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64)

// A Linear says that the logarithm of a part follows from a number
// v = Σ PerUnit·amount + Σ PerUse over those that are used + Constant.
type Linear struct {
	PerUnit  []float64 // by ingredient
	PerUse   []float64 // by ingredient; nil: nothing
	Constant float64

	// Log rises up to Best and falls from there on. From Low to High it is at least Floor,
	// and where it is more it is concave, with the derivative Slope; beyond, it is −Inf.
	Log, Slope       func(v float64) float64
	Best             float64
	Low, High, Floor float64
}

// A Candidate is a composition that was met.
type Candidate struct {
	Parts    []rule.Part
	LogScore float64
}

// mostFound is how many compositions are kept.
const mostFound = 16

// A Bounder bounds the scores of a problem.
type Bounder struct {
	p       *Problem
	x       *relaxation // nil where there are too many ingredients for one
	tableau *tableau
	probe   *probe // nil where no part asks for one
	open    []*box // a heap, by bound
	doses   []condition.Doses
	usable  []int     // ingredients that may be used
	most    []float64 // by part
	pieces  []piece   // of all parts
	from    []int     // by part: the first of its pieces; then how many there are

	incumbent   float64 // the best score that is known
	prunedBound float64 // the highest bound of what was left out
	candidates  []Candidate
	work        int64
	nodes       int
	started     bool
	idle        bool // a part may be anything

	ranges [][2]float64 // by part: between which its linear form is
	root   *box

	refreshed       int64     // what had been done when the tableau was last worked out anew
	lo, hi          []float64 // of a program's columns, scratch
	least, greatest []int32   // amounts, scratch
}

// scoreTolerance is by how much logarithms of scores may differ for one to be no better than the other:
// a hundred-millionth of the score.
const scoreTolerance = 1e-8

// New returns a bounder that has done nothing.
func New(p *Problem) *Bounder {
	b := &Bounder{p: p, incumbent: math.Inf(-1), prunedBound: math.Inf(-1)}
	n := len(p.Conditions.Amounts)
	b.least, b.greatest = make([]int32, n), make([]int32, n)
	for i, d := range p.Conditions.Doses {
		if d.N > 0 && p.Least != nil && d.Lo < p.Least[i] {
			up := (p.Least[i] - d.Lo + d.Step - 1) / d.Step
			d.Lo, d.N = d.Lo+up*d.Step, max(d.N-up, 0)
		}
		if d.N > 0 && p.Most != nil && d.Hi() > p.Most[i] {
			d.N = 0
			if p.Most[i] >= d.Lo {
				d.N = (p.Most[i]-d.Lo)/d.Step + 1
			}
		}
		b.doses = append(b.doses, d)
		if d.N > 0 {
			b.usable = append(b.usable, i)
		}
	}
	for k := range p.Factors {
		b.from = append(b.from, len(b.pieces))
		if part := &p.Factors[k]; part.isBoxed() && part.MaxOverForms == nil {
			for _, of := range part.boxPieces() {
				b.pieces = append(b.pieces, piece{part: k, of: of})
			}
		}
	}
	b.from = append(b.from, len(b.pieces))
	return b
}

// UpdateIncumbent says that there is a composition of a score.
func (b *Bounder) UpdateIncumbent(logScore float64) { b.incumbent = max(b.incumbent, logScore) }

// UpperBound returns what no score exceeds, as a logarithm; +Inf if nothing is known.
func (b *Bounder) UpperBound() float64 {
	if !b.started {
		return math.Inf(1)
	}
	above := b.prunedBound
	if len(b.open) > 0 {
		above = max(above, b.open[0].above)
	}
	return max(above, b.incumbent)
}

// IsOptimal reports whether no score is higher than the best that is known.
func (b *Bounder) IsOptimal() bool { return b.started && b.UpperBound() <= b.incumbent+scoreTolerance }

// Candidates returns compositions that were met, the best first.
func (b *Bounder) Candidates() []Candidate { return b.candidates }

// Work returns how many steps, about, were taken.
func (b *Bounder) Work() (work int64) {
	work = b.work
	if b.tableau != nil {
		work += b.tableau.work
	}
	if b.probe != nil {
		work += b.probe.work
	}
	return work
}

// Run goes on until the best is proved, or so much work more was done.
func (b *Bounder) Run(ctx context.Context, work int64) error {
	end := b.Work() + work
	if !b.started && !b.idle {
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	for len(b.open) > 0 && b.Work() < end {
		if err := yield.Err(ctx); err != nil {
			return err
		}
		n := b.pop()
		if n.above <= b.incumbent+scoreTolerance {
			b.prunedBound = max(b.prunedBound, n.above)
			continue
		}
		if !n.bounded {
			if err := b.bound(n); err != nil {
				return err
			}
			continue
		}
		if err := b.divide(n); err != nil {
			return err
		}
	}
	return nil
}

// start bounds the whole.
func (b *Bounder) start(ctx context.Context) error {
	if done, err := b.enumerateIfFew(ctx); done || err != nil {
		return err
	}
	if slices.ContainsFunc(b.p.Factors, Factor.IsUnbounded) {
		b.idle = true
		return nil
	}
	n := b.whole()
	if n == nil {
		b.started = true
		return nil
	}
	b.root = n.clone()
	b.parts(n)
	b.relax()
	b.newProbe(n)
	b.started = true
	b.begin(n)
	return nil
}

// enumerateIfFew scores all compositions if they are few.
func (b *Bounder) enumerateIfFew(ctx context.Context) (done bool, err error) {
	var sizes []int
	for n, ok := range b.p.Sizes {
		if ok && n > 0 && n <= len(b.p.Conditions.Amounts) {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) == 0 || b.p.MaxEnumerated == 0 {
		return false, nil
	}
	e := condition.NewEnumeration(b.p.Conditions, sizes)
	if e.Candidates() > float64(b.p.MaxEnumerated) {
		return false, nil
	}
	all := e.Each(ctx, func() bool {
		err = b.offer(e.Parts())
		return err == nil
	})
	b.work += int64(e.Work())
	if err == nil {
		err = ctx.Err()
	}
	b.started = all && err == nil
	return b.started, err
}

// offer scores a composition that keeps the conditions, and keeps it if it is good.
func (b *Bounder) offer(parts []rule.Part) error {
	for _, p := range parts {
		if d := b.doses[p.Ingredient]; p.Amount < d.Lo || p.Amount > d.Hi() {
			return nil
		}
	}
	for _, i := range b.p.Always {
		if !slices.ContainsFunc(parts, func(p rule.Part) bool { return p.Ingredient == i }) {
			return nil
		}
	}
	b.work += 1000
	score, err := b.p.Score(parts)
	if err != nil {
		return err
	}
	if math.IsInf(score, -1) {
		return nil
	}
	b.incumbent = max(b.incumbent, score)
	if len(b.candidates) == mostFound && score <= b.candidates[mostFound-1].LogScore {
		return nil
	}
	f := Candidate{slices.Clone(parts), score}
	slices.SortFunc(f.Parts, func(p, q rule.Part) int { return cmp.Compare(p.Ingredient, q.Ingredient) })
	if slices.ContainsFunc(b.candidates, func(g Candidate) bool { return slices.Equal(f.Parts, g.Parts) }) {
		return nil
	}
	at, _ := slices.BinarySearchFunc(b.candidates, f, func(g, f Candidate) int { return cmp.Compare(f.LogScore, g.LogScore) })
	b.candidates = slices.Insert(b.candidates, at, f)
	b.candidates = b.candidates[:min(len(b.candidates), mostFound)]
	return nil
}

// IsUnbounded reports whether a part may be anything.
func (p Factor) IsUnbounded() bool {
	return math.IsInf(p.Most, 1) && p.Linear == nil && p.Tangent == nil && p.Box == nil && p.Pieces == nil && p.MaxOverForms == nil
}
