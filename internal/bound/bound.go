// Package bound proves an upper bound of the best score of a composition.
//
// A score is a product of factors, see [Factor], over the compositions that keep conditions. The method is
// branch and bound. A box restricts each ingredient to be used or not, and to an interval of amounts. No
// composition in a box scores more than the upper bound of the box. The box with the highest upper bound is
// divided repeatedly. The highest upper bound of the remaining boxes is an upper bound of all compositions. When
// this bound reaches the score of a known composition, the known composition is optimal.
//
// # Bounds of a box
//
// Factors that depend on a linear form of amounts and uses share a linear program. The program consists of the
// conditions, without integrality, and a variable for the log of each factor, below tangents of the log (Duran
// and Grossmann 1986). The dual of the program checks each result of the program in arithmetic with bounded
// rounding, see [linprog.Program.UpperBound]. So a bound holds whatever the simplex method does. Concave factors
// also have a column in the program, below tangent planes at the solutions. Factors of several forms, such as an
// expression, ask for the maximum of each form. The maximum comes from a program of the conditions alone. Other
// factors compute their own upper bound in a box. In a forest, each tree adds the greatest leaf that
// compositions in the box can reach (Mistry et al., arXiv 1803.00952).
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

// A Problem is a score to maximise, and the compositions among which the maximum is sought.
type Problem struct {
	Conditions        *constraint.Conditions // conditions that the compositions keep
	AllowedUsedCounts []bool                 // item n tells whether compositions of n ingredients are allowed

	// MinAmounts and MaxAmounts limit the amount of each used ingredient, in addition to the conditions; nil
	// means no further limits. A maximum of 0 excludes the ingredient.
	MinAmounts, MaxAmounts []int
	// RequiredIngredients lists ingredients that each composition must use.
	RequiredIngredients []int

	Factors []Factor // factors whose product is the score

	// Score returns the log score of a composition that satisfies the conditions. Score returns −Inf for a
	// composition that must not be the maximum. It is called by several goroutines at once, as are all functions of
	// the factors but for what Pieces returns.
	Score func(parts []rule.Part) (float64, error)

	// MaxEnumerated is the maximum number of compositions to score one by one. If there are at most MaxEnumerated
	// compositions, all are scored and the bounds of the factors are not used.
	MaxEnumerated int

	// SoloWork is the work before the first round, in nanoseconds; see [LaneResult]. 0 means a quarter of a second.
	SoloWork int64
}

// A Factor is one factor of the score. All bounds in a Factor are upper bounds of the log of the factor.
type Factor struct {
	Name string

	// UpperBound is an upper bound that holds for all compositions, +Inf if no bound is known.
	UpperBound float64

	// Linear describes the log of a factor that depends on one linear form of the amounts. Linear is nil for
	// other factors.
	Linear *Linear

	// Tangent returns a tangent of the log of the factor at the amounts in the parameter at: the log is at most
	// value + Σ_i slope_i·(amount_i − at_i). The result ok is false if there is no tangent at this point. Tangent
	// is nil unless the log is concave.
	Tangent func(at []float64) (value float64, slope []float64, ok bool)

	// MinLog is the least value that the log takes, or −Inf if there is no least value. Tangents bound the log
	// only where the log exceeds MinLog.
	MinLog float64

	// Box returns an upper bound for the compositions in a box: compositions with lo to hi units of each
	// ingredient that use at most used ingredients. Box does not keep the slices. If Box is nil, UpperBound is
	// used instead.
	Box     func(lo, hi []int32, used int) float64
	BoxWork int64 // approximate time that Box takes, in nanoseconds

	// Pieces returns functions that compute upper bounds of the terms of which the factor consists. They may share
	// memory with each other, but not with those that another call returns. If Pieces is not nil, Box is not used.
	Pieces func() []Piece
	// CombinePieceBounds computes an upper bound of the factor from upper bounds of all terms. The result must
	// not fall if a bound of a term rises. If CombinePieceBounds is nil, there is only one piece, whose bound is
	// the bound of the factor.
	CombinePieceBounds func(above []float64) float64
	LineWork           int64 // approximate time, in nanoseconds, to score all divisions of the joint amount of two ingredients

	// MaxOverForms returns an upper bound of the factor for the compositions in a box. MaxOverForms may call the
	// function most, which returns an upper bound of Σ perUnit·amount + Σ perUse over the used ingredients of the
	// compositions in the box. If MaxOverForms is nil, UpperBound is used instead. Linear and Tangent take
	// precedence over MaxOverForms.
	MaxOverForms func(most func(perUnit, perUse []float64) float64) float64
}

// A Piece computes above, an upper bound of one term of a factor, for the compositions in a box: compositions
// with lo to hi units of each ingredient that use at most used ingredients. The result steps is the time taken,
// in nanoseconds. The result along is the index of the ingredient whose amount contributes most to the upper
// bound, or −1 if unknown. The result by is about how much that ingredient contributes.
type Piece func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64)

// A Linear describes a factor whose log depends on one number, the linear form v = Σ PerUnit·amount + Σ PerUse +
// Constant. Both sums are over the used ingredients.
type Linear struct {
	PerUnit  []float64 // item i is the coefficient of the amount of ingredient i
	PerUse   []float64 // item i is added if ingredient i is used; nil for zeros
	Constant float64   // constant term of the linear form

	// Log returns the log of the factor for the value v of the linear form, and Slope returns the derivative of
	// Log. Log is −Inf below DomainLow and above DomainHigh. From DomainLow to DomainHigh, Log is at least Floor,
	// rises up to LogMaximizer and falls beyond LogMaximizer. Where Log exceeds Floor, Log is concave.
	Log, Slope                   func(v float64) float64
	LogMaximizer                 float64 // value of v at which Log is greatest
	DomainLow, DomainHigh, Floor float64 // limits of v beyond which Log is −Inf, and least value of Log between the limits; the least value may be −Inf
}

// A Candidate is a composition that a Bounder has scored.
type Candidate struct {
	Parts    []rule.Part
	LogScore float64
}

// maxCandidates is the maximum number of candidates that a Bounder keeps.
const maxCandidates = 16

// A Bounder computes an upper bound of the scores of a problem by branch and bound.
type Bounder struct {
	problem           *Problem               // the problem to solve
	relaxation        *relaxation            // linear program of the conditions and logs; nil if there are too many ingredients
	tableau           *linprog.DualSimplex   // state of the simplex method for the relaxation; nil if no factor has a column in the relaxation
	formProgram       *formProgram           // linear program of the conditions alone; nil if no factor is bounded by linear forms
	openBoxHeap       openBoxes              // boxes, that is, sets of compositions, that may contain a better composition than the best known
	amountSets        []constraint.AmountSet // item i holds the amounts that ingredient i may have
	usableIngredients []int                  // indices of the ingredients that compositions may use, in ascending order
	maxFactorLogs     []float64              // item k is an upper bound of the log of factor k, valid for all compositions
	pieces            []pieceState           // functions that bound terms of factors, for all factors
	firstPiece        []int                  // the items of pieces for factor k have the indices firstPiece[k]..firstPiece[k+1]−1

	incumbent          float64     // best known log score
	prunedBound        float64     // highest upper bound of the boxes that were pruned
	candidates         []Candidate // best compositions scored so far, the best first
	work               int64       // approximate time spent outside linear programs, in nanoseconds
	boxCount           int         // number of boxes made so far
	soloWork           int64       // work before the first round, in nanoseconds; see [LaneResult]
	roundCount         int         // number of rounds so far
	rootBounded        bool        // whether the bound of the box of all compositions is known
	hasUnboundedFactor bool        // whether some factor has no upper bound, so that no bound of the score can be computed

	formOrders map[*Linear][]int32 // orders of the linear forms of the factors; see newFormOrder
	formRanges [][2]float64        // item k is the range of the linear form of factor k over all compositions, if factor k has a linear form
	root       *box                // box of all compositions

	workAtRefresh          int64     // value of tableau.Work when the tableau was last recomputed
	columnLo, columnHi     []float64 // buffers: bounds of the columns of the relaxation
	minAmounts, maxAmounts []int32   // buffers: bounds of the amount of each ingredient
}

// scoreTolerance is the difference below which two log scores count as equal. The difference is a
// hundred-millionth of the score.
const scoreTolerance = 1e-8

// New returns a Bounder for p that has done no work yet.
func New(p *Problem) *Bounder {
	b := &Bounder{problem: p, incumbent: math.Inf(-1), prunedBound: math.Inf(-1), soloWork: cmp.Or(p.SoloWork, usualSoloWork)}
	n := len(p.Conditions.Amounts)
	b.minAmounts, b.maxAmounts = make([]int32, n), make([]int32, n)
	for i, d := range p.Conditions.AmountSets {
		if d.Count > 0 && p.MinAmounts != nil && d.Lo < p.MinAmounts[i] {
			up := (p.MinAmounts[i] - d.Lo + d.Step - 1) / d.Step
			d.Lo, d.Count = d.Lo+up*d.Step, max(d.Count-up, 0)
		}
		if d.Count > 0 && p.MaxAmounts != nil && d.Hi() > p.MaxAmounts[i] {
			d.Count = 0
			if p.MaxAmounts[i] >= d.Lo {
				d.Count = (p.MaxAmounts[i]-d.Lo)/d.Step + 1
			}
		}
		b.amountSets = append(b.amountSets, d)
		if d.Count > 0 {
			b.usableIngredients = append(b.usableIngredients, i)
		}
	}
	b.formOrders = make(map[*Linear][]int32)
	for k := range p.Factors {
		if l := p.Factors[k].Linear; l != nil {
			b.formOrders[l] = b.newFormOrder(l)
		}
	}
	b.pieces, b.firstPiece = newPieces(p.Factors)
	return b
}

// UpdateIncumbent records that a composition with the given log score exists.
func (b *Bounder) UpdateIncumbent(logScore float64) { b.incumbent = max(b.incumbent, logScore) }

// A Standing is what a [Bounder] has proved.
type Standing struct {
	OpenBound float64 // upper bound of all log scores that may exceed the incumbent; +Inf if no bound is known yet
	Incumbent float64 // best known log score
}

// UpperBound returns an upper bound of all log scores of the problem, or +Inf if no bound is known yet.
func (s Standing) UpperBound() float64 { return max(s.OpenBound, s.Incumbent) }

// IsOptimal reports whether the best known score is proved to be optimal.
func (s Standing) IsOptimal() bool { return s.UpperBound() <= s.Incumbent+scoreTolerance }

// Standing returns what is proved so far.
func (b *Bounder) Standing() Standing {
	s := Standing{math.Inf(1), b.incumbent}
	if b.rootBounded {
		s.OpenBound = b.prunedBound
		if len(b.openBoxHeap) > 0 {
			s.OpenBound = max(s.OpenBound, b.openBoxHeap[0].UpperBound)
		}
	}
	return s
}

// UpperBound returns an upper bound of all log scores of the problem, or +Inf if no bound is known yet.
func (b *Bounder) UpperBound() float64 { return b.Standing().UpperBound() }

// IsOptimal reports whether the best known score is proved to be optimal.
func (b *Bounder) IsOptimal() bool { return b.Standing().IsOptimal() }

// Candidates returns the best compositions scored so far, the best composition first.
func (b *Bounder) Candidates() []Candidate { return b.candidates }

// Work returns the approximate time spent, in nanoseconds.
func (b *Bounder) Work() (work int64) {
	work = b.work
	if b.tableau != nil {
		work += b.tableau.Work
	}
	if b.formProgram != nil {
		work += b.formProgram.Work
	}
	return work
}

// Run continues until the best known score is proved to be optimal, or until the given amount of further work is
// done, in nanoseconds. Where many boxes are open, it works in rounds, whose lanes are computed by spread; see
// [LaneResult].
func (b *Bounder) Run(ctx context.Context, work int64, spread Spread) error {
	end := b.Work() + work
	if !b.rootBounded && !b.hasUnboundedFactor {
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	if err := b.divideBoxes(ctx, min(end, b.soloWork), math.MaxInt); err != nil {
		return err
	}
	if err := b.divideBoxes(ctx, end, laneCount*minBoxesPerLane); err != nil {
		return err
	}
	return b.runRounds(ctx, end-b.Work(), spread)
}

// divideBoxes divides open boxes until none is left, until the work of the Bounder reaches end, or until the given
// number of boxes is open.
func (b *Bounder) divideBoxes(ctx context.Context, end int64, maxOpen int) error {
	for 0 < len(b.openBoxHeap) && len(b.openBoxHeap) < maxOpen && b.Work() < end {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		n := b.openBoxHeap.removeFirst()
		if n.UpperBound <= b.incumbent+scoreTolerance {
			b.prunedBound = max(b.prunedBound, n.UpperBound)
			continue
		}
		if !n.ProgramsSolved {
			if err := b.tightenBound(n); err != nil {
				return err
			}
			continue
		}
		b.divideBox(n)
	}
	return nil
}

// start computes the bound of the box that contains all compositions.
func (b *Bounder) start(ctx context.Context) error {
	if done, err := b.enumerateIfFew(ctx); done || err != nil {
		return err
	}
	if slices.ContainsFunc(b.problem.Factors, Factor.IsUnbounded) {
		b.hasUnboundedFactor = true
		return nil
	}
	n := b.rootBox()
	if n == nil {
		b.rootBounded = true
		return nil
	}
	b.root = n.clone()
	b.boundFactors(n)
	b.buildTableau()
	b.buildFormProgram(n)
	b.rootBounded = true
	b.addBox(n)
	return nil
}

// enumerateIfFew scores all compositions one by one if there are at most MaxEnumerated compositions. The result
// done reports whether all compositions were scored.
func (b *Bounder) enumerateIfFew(ctx context.Context) (done bool, err error) {
	var sizes []int
	for n, ok := range b.problem.AllowedUsedCounts {
		if ok && n > 0 && n <= len(b.problem.Conditions.Amounts) {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) == 0 || b.problem.MaxEnumerated == 0 {
		return false, nil
	}
	e := constraint.NewEnumeration(b.problem.Conditions, sizes)
	if e.CandidateBound() > float64(b.problem.MaxEnumerated) {
		return false, nil
	}
	all := e.VisitAll(ctx, func() bool {
		err = b.offerCandidate(e.Parts())
		return err == nil
	})
	b.work += int64(e.Work())
	if err == nil {
		err = ctx.Err()
	}
	b.rootBounded = all && err == nil
	return b.rootBounded, err
}

// offerCandidate scores a composition that satisfies the conditions, and keeps the composition as a candidate if
// the score is among the best.
func (b *Bounder) offerCandidate(parts []rule.Part) error {
	for _, p := range parts {
		if d := b.amountSets[p.Ingredient]; p.Amount < d.Lo || p.Amount > d.Hi() {
			return nil
		}
	}
	for _, i := range b.problem.RequiredIngredients {
		if !slices.ContainsFunc(parts, func(p rule.Part) bool { return p.Ingredient == i }) {
			return nil
		}
	}
	b.work += 1000
	score, err := b.problem.Score(parts)
	if err != nil {
		return err
	}
	if math.IsInf(score, -1) {
		return nil
	}
	b.incumbent = max(b.incumbent, score)
	if len(b.candidates) == maxCandidates && score <= b.candidates[maxCandidates-1].LogScore {
		return nil
	}
	f := Candidate{slices.Clone(parts), score}
	slices.SortFunc(f.Parts, func(p, q rule.Part) int { return cmp.Compare(p.Ingredient, q.Ingredient) })
	b.keepCandidate(f)
	return nil
}

// keepCandidate keeps a candidate if it is new and its score is among the best.
func (b *Bounder) keepCandidate(f Candidate) {
	if slices.ContainsFunc(b.candidates, func(g Candidate) bool { return slices.Equal(f.Parts, g.Parts) }) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.candidates, f, func(g, f Candidate) int { return cmp.Compare(f.LogScore, g.LogScore) })
	b.candidates = slices.Insert(b.candidates, at, f)
	b.candidates = b.candidates[:min(len(b.candidates), maxCandidates)]
}

// IsUnbounded reports whether a factor has no known upper bound.
func (p Factor) IsUnbounded() bool {
	return math.IsInf(p.UpperBound, 1) && p.Linear == nil && p.Tangent == nil && p.Box == nil && p.Pieces == nil && p.MaxOverForms == nil
}
