// Package bound proves an upper bound of the best composition's score.
//
// A score is a product of factors, see [Factor], over the compositions that keep conditions. The
// method is branch and bound. A box restricts each ingredient to be used or not, and to an interval
// of amounts. No composition in a box scores more than the box's bound. The box with the highest
// bound is divided repeatedly. The highest bound of the remaining boxes is a bound of all
// compositions. When it reaches the score of a known composition, that one is optimal.
//
// # Bounds of a box
//
// Factors of a linear form of amounts and uses share a linear program. It consists of the
// conditions, without integrality, and a variable for the log of each factor, below tangents of
// that log (Duran and Grossmann 1986). The dual of the program checks each of its results in
// arithmetic with bounded rounding, see [linprog.Program.UpperBound]. So a bound holds whatever the simplex
// method does. Concave factors have a column in the program too, below tangent planes at the
// solutions. Factors of several forms, such as an expression, ask for the maximum of each form, by
// a program of the conditions alone. Other factors bound themselves in a box. In a forest, each
// tree adds the greatest leaf that it can reach there (Mistry et al., arXiv 1803.00952).
//
// Leaving out a restriction can only raise the bound.
package bound

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/constraint"
	"kir/internal/constraint/linprog"
	"kir/rule"
)

// A Problem is a score to maximise and the compositions among which to maximise it.
type Problem struct {
	Conditions *constraint.Conditions
	Sizes      []bool // Sizes[n] tells whether compositions of n ingredients are allowed

	// Least and Most limit the amounts of used ingredients beyond the conditions; nil for no further limits. A Most
	// of 0 excludes the ingredient. Always lists ingredients that each composition must use.
	Least, Most []int
	Always      []int

	Factors []Factor

	// Score returns the log score of a composition that satisfies the conditions. It returns −Inf for a composition
	// that does not count.
	Score func(parts []rule.Part) (float64, error)

	// MaxEnumerated is the greatest number of compositions to score one by one instead of bounding. If there are no
	// more, factors need no bounds.
	MaxEnumerated int
}

// A Factor is one factor of the score. All bounds in it are bounds of the factor's log.
type Factor struct {
	Name string

	// Most is an upper bound over all compositions, +Inf if unknown.
	Most float64

	// Linear describes a factor that depends on one linear form. It is nil for other factors.
	Linear *Linear

	// Tangent returns a tangent of a concave log at amounts at: the log is at most value + Σ slope·(amount − at).
	// ok is false if there is no tangent at this point. Tangent is nil unless the log is concave.
	Tangent func(at []float64) (value float64, slope []float64, ok bool)

	// Floor is the least value of the log that Tangent bounds, −Inf if there is none.
	Floor float64

	// Box returns an upper bound over compositions with lo to hi units of each ingredient, of which at most used are
	// used. It does not keep the slices. If Box is nil, Most is the bound.
	Box  func(lo, hi []int32, used int) float64
	Cost int64 // approximate time that Box takes, in steps of a nanosecond

	// Pieces bound the terms of the factor. JoinPieces computes an upper bound of the factor from upper bounds of the
	// terms, and increases in each. If there are Pieces, Box is not used.
	Pieces     []Piece
	JoinPieces func(above []float64) float64
	LineCost   int64 // approximate time to score a line, in steps of a nanosecond

	// MaxOverForms returns an upper bound. It may call most, which returns an upper bound of Σ perUnit·amount + Σ
	// perUse over the used ingredients. If MaxOverForms is nil, Most is the bound. Linear and Tangent take precedence
	// over it.
	MaxOverForms func(most func(perUnit, perUse []float64) float64) float64
}

// A Piece returns an upper bound of one term of a factor, and the steps taken. The bound holds for lo to hi units of
// each ingredient and at most used ingredients in use. along is the ingredient whose amount contributes most to the
// bound, or −1 if unknown, and by is its approximate contribution.
type Piece func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64)

// A Linear describes a factor whose log depends on one number v = Σ PerUnit·amount + Σ PerUse +
// Constant, both sums over the used ingredients.
type Linear struct {
	PerUnit  []float64 // coefficient of each ingredient's amount
	PerUse   []float64 // addend for each ingredient if it is used; nil for zeros
	Constant float64

	// Log is −Inf below DomainLow and above DomainHigh. Between them it is at least Floor, rises up to Best and
	// falls beyond. Where it exceeds Floor, it is concave with the derivative Slope.
	Log, Slope                   func(v float64) float64
	Best                         float64
	DomainLow, DomainHigh, Floor float64
}

// A Candidate is a composition that a Bounder has scored.
type Candidate struct {
	Parts    []rule.Part
	LogScore float64
}

// mostFound is the greatest number of candidates that a Bounder keeps.
const mostFound = 16

// A Bounder computes an upper bound of a problem's scores by branch and bound.
type Bounder struct {
	p       *Problem
	x       *relaxation // nil if there are too many ingredients for a linear program
	tableau *linprog.Dual
	probe   *probe // nil if no factor is bounded by linear forms
	open    openBoxes
	amounts []constraint.AmountSet
	usable  []int     // ingredients that compositions may use, increasing
	most    []float64 // upper bound of each factor over all compositions
	pieces  []piece   // pieces of all factors
	from    []int     // from[k]..from[k+1]−1 are the indices of factor k's pieces

	incumbent          float64 // best known log score
	prunedBound        float64 // highest bound of the boxes that were pruned
	candidates         []Candidate
	work               int64
	nodes              int
	started            bool
	hasUnboundedFactor bool // whether some factor has no upper bound, so that bounding is useless

	ranges [][2]float64 // for each factor with a linear form: the form's range over all compositions
	root   *box

	refreshed       int64     // work of the tableau when it was last recomputed
	lo, hi          []float64 // scratch: bounds of the program's columns
	least, greatest []int32   // scratch: bounds of each ingredient's amount
}

// scoreTolerance is the difference below which two log scores count as equal: a hundred-millionth
// of the score.
const scoreTolerance = 1e-8

// New returns a Bounder for p that has done no work yet.
func New(p *Problem) *Bounder {
	b := &Bounder{p: p, incumbent: math.Inf(-1), prunedBound: math.Inf(-1)}
	n := len(p.Conditions.Amounts)
	b.least, b.greatest = make([]int32, n), make([]int32, n)
	for i, d := range p.Conditions.AmountSets {
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
		b.amounts = append(b.amounts, d)
		if d.N > 0 {
			b.usable = append(b.usable, i)
		}
	}
	for k := range p.Factors {
		b.from = append(b.from, len(b.pieces))
		if part := &p.Factors[k]; part.isBoxed() && part.MaxOverForms == nil {
			for _, of := range part.boxPieces() {
				b.pieces = append(b.pieces, piece{part: k, piece: of})
			}
		}
	}
	b.from = append(b.from, len(b.pieces))
	return b
}

// UpdateIncumbent records that a composition with the given log score exists.
func (b *Bounder) UpdateIncumbent(logScore float64) { b.incumbent = max(b.incumbent, logScore) }

// UpperBound returns an upper bound of all log scores of the problem, +Inf if none is known yet.
func (b *Bounder) UpperBound() float64 {
	if !b.started {
		return math.Inf(1)
	}
	above := b.prunedBound
	if len(b.open) > 0 {
		above = max(above, b.open[0].upperBound)
	}
	return max(above, b.incumbent)
}

// IsOptimal reports whether the best known score is proved optimal.
func (b *Bounder) IsOptimal() bool { return b.started && b.UpperBound() <= b.incumbent+scoreTolerance }

// Candidates returns the best compositions scored so far, the best first.
func (b *Bounder) Candidates() []Candidate { return b.candidates }

// Work returns the approximate time spent, in steps of a nanosecond.
func (b *Bounder) Work() (work int64) {
	work = b.work
	if b.tableau != nil {
		work += b.tableau.Work
	}
	if b.probe != nil {
		work += b.probe.Work
	}
	return work
}

// Run continues until the best known score is proved optimal, or the given number of further steps is done.
func (b *Bounder) Run(ctx context.Context, work int64) error {
	end := b.Work() + work
	if !b.started && !b.hasUnboundedFactor {
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	for len(b.open) > 0 && b.Work() < end {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		n := b.open.removeFirst()
		if n.upperBound <= b.incumbent+scoreTolerance {
			b.prunedBound = max(b.prunedBound, n.upperBound)
			continue
		}
		if !n.bounded {
			if err := b.bound(n); err != nil {
				return err
			}
			continue
		}
		b.divide(n)
	}
	return nil
}

// start computes the bound of the box that contains all compositions.
func (b *Bounder) start(ctx context.Context) error {
	if done, err := b.enumerateIfFew(ctx); done || err != nil {
		return err
	}
	if slices.ContainsFunc(b.p.Factors, Factor.IsUnbounded) {
		b.hasUnboundedFactor = true
		return nil
	}
	n := b.rootBox()
	if n == nil {
		b.started = true
		return nil
	}
	b.root = n.clone()
	b.boundFactors(n)
	b.makeTableau()
	b.newProbe(n)
	b.started = true
	b.addBox(n)
	return nil
}

// enumerateIfFew scores all compositions one by one if there are at most MaxEnumerated. done reports whether it did.
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
	e := constraint.NewEnumeration(b.p.Conditions, sizes)
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

// offer scores a composition that satisfies the conditions, and keeps it as a candidate if it is among the best.
func (b *Bounder) offer(parts []rule.Part) error {
	for _, p := range parts {
		if d := b.amounts[p.Ingredient]; p.Amount < d.Lo || p.Amount > d.Hi() {
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

// IsUnbounded reports whether a factor has no known upper bound.
func (p Factor) IsUnbounded() bool {
	return math.IsInf(p.Most, 1) && p.Linear == nil && p.Tangent == nil && p.Box == nil && p.Pieces == nil && p.MaxOverForms == nil
}
