package mcmc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"kir/internal/count"
	"kir/internal/portable"
)

// An Objective is a property with a name and a weight c ≥ 0: it multiplies the
// target by y(x)^c. An objective of weight 0 counts for nothing, not even where its
// property is 0.
type Objective struct {
	Name     string
	Property Property
	Weight   float64
}

// A Bound forbids compositions by a property that is 1 or 0, such as a bound on what a
// model predicts. It is part of the law and no objective: it has no weight, no score of it is
// kept, and a target with other objectives has the same bounds.
type Bound struct {
	Name     string
	Property Property // 1 where the bound is kept, 0 elsewhere

	// Toward is positive everywhere, and the smaller the further a composition is from
	// keeping the bound. It leads to a first state where random compositions hardly ever
	// keep the bound, and has no part in the law. It may be nil.
	Toward Property
}

// A Target is the law that is sampled:
//
//	P(x) ∝ y_sparse(n(x)) / |X_n(x)| · Π_k y_k(x)^c_k
//
// on the compositions x of a space that keep its bounds (Obara, Morimura and Yanagisawa
// 2019, §3). Without objectives and bounds y_sparse is exactly the law of n. A Target does not
// change and serves any number of chains.
type Target struct {
	space      *Space
	law        *Law
	objectives []Objective
	bounds     []Bound

	// logLaw is log(y_sparse(n)/|X_n|) for n from the law's first size on, and
	// logDrawn the log of the probability with which [State.drawExact] draws
	// each composition of n ingredients. They differ by the share of rules
	// that cannot be counted.
	logLaw, logDrawn []float64

	// lines is what sparsity makes of a line, indexed by how many ingredients
	// other than i and j are used.
	lines []lineLaw

	// tight are the sums that an exchange makes up for, nil if there are none.
	tight *tightSums

	batch int // how many whole candidates are drawn at once

	// components is what lines leave the support in, looked for once.
	components func() componentResult
}

// NewTarget returns the target that joins a sparsity law and objectives.
//
// The law is that on the sizes which rules leave: it fails with an
// [*InfeasibleError] where they leave none, with an [*UncountedError] for mass on
// sizes for which a space with rules was not counted, and as [Sparsity.On] does.
func NewTarget(space *Space, sparsity Sparsity, wishes ...Objective) (*Target, error) {
	if space == nil {
		return nil, errors.New("there is no space to make a target of")
	}
	wanted, err := sparsity.On(space)
	if err != nil {
		return nil, err
	}
	if err := space.covers(wanted); err != nil {
		return nil, err
	}
	law := wanted
	if r := space.rules; r != nil {
		if law = wanted.restrictTo(r.possible); law == nil {
			e := &InfeasibleError{Wanted: wanted.sizes(), Measured: r.shares != nil}
			for n := 1; n <= space.MaxUsed(); n++ {
				if r.possible(n) {
					e.Possible = append(e.Possible, n)
				}
			}
			return nil, e
		}
	}
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	t := &Target{space: space, law: law, objectives: slices.Clone(wishes), batch: 1}
	for _, w := range wishes {
		if p, ok := w.Property.(BatchProperty); ok && w.Weight > 0 {
			t.batch = max(t.batch, p.Batch())
		}
	}
	t.deferComponents()
	t.tight = newTightSums(space.rules, law.Mean())
	counts := space.LogCounts(law.hi)
	for n := law.lo; n <= law.hi; n++ {
		drawn := counts[n]
		if shares := space.Shares(); shares != nil {
			drawn -= portable.Log(shares[n-1].Estimate)
		}
		t.logLaw = append(t.logLaw, logRatio(law.P(n), counts[n]))
		t.logDrawn = append(t.logDrawn, logRatio(law.P(n), drawn))
	}
	t.lines = make([]lineLaw, law.hi)
	for rest := max(law.lo-2, 0); rest < law.hi; rest++ {
		t.lines[rest] = lineLawOf(law.P(rest+1), law.P(rest+2), space.Ratio(rest+1), space.logRatio(rest+1))
	}
	return t, nil
}

// deferComponents leaves what islands are to whoever asks first.
func (t *Target) deferComponents() {
	t.components = sync.OnceValue(func() (of componentResult) {
		of.parts, of.a, of.b, of.err = supportComponents(t)
		return of
	})
}

// checkObjectives says, as an error, what no target can be made of.
func checkObjectives(wishes []Objective) error {
	for k, w := range wishes {
		if w.Property == nil {
			return fmt.Errorf("wish %q has no property", w.Name)
		}
		if err := checkWeight(w.Weight); err != nil {
			return fmt.Errorf("the weight of wish %q %w", w.Name, err)
		}
		for _, v := range wishes[:k] {
			if v.Name == w.Name {
				return fmt.Errorf("two wishes are named %q", w.Name)
			}
		}
	}
	return nil
}

// logRatio returns log p − logCount, −Inf for p = 0.
func logRatio(p, logCount float64) float64 {
	if p == 0 {
		return negInf
	}
	return portable.Log(p) - logCount
}

// Space returns the space of the target.
func (t *Target) Space() *Space { return t.space }

// Law returns the law of n.
func (t *Target) Law() *Law { return t.law }

// Objectives returns the objectives; the slice must not be written to.
func (t *Target) Objectives() []Objective { return t.objectives }

// Bounds returns the bounds; the slice must not be written to.
func (t *Target) Bounds() []Bound { return t.bounds }

// Keeps reports whether a composition of the space keeps the bounds. What else the target
// says of it does not matter.
func (t *Target) Keeps(x *Composition) bool {
	for _, b := range t.bounds {
		if b.Property.LogScore(x) == negInf {
			return false
		}
	}
	return true
}

// HasBatchProperty reports whether an objective is a [BatchProperty], so that many chains at once, which
// wait for it together, are better than one for each core.
func (t *Target) HasBatchProperty() bool {
	return slices.ContainsFunc(t.objectives, func(w Objective) bool {
		_, ok := w.Property.(BatchProperty)
		return ok && w.Weight > 0
	})
}

// LogLaw returns log(y_sparse(n)/|X_n|), −Inf for an n without mass.
func (t *Target) LogLaw(n int) float64 {
	if n < t.law.lo || n > t.law.hi {
		return math.Inf(-1)
	}
	return t.logLaw[n-t.law.lo]
}

// logShare returns log(π(n)/d(n)), where π(n) = y_sparse(n)/|X_n| and d(n) is
// the probability with which [State.drawExact] draws a composition of n
// ingredients: 0 unless rules are not all counted.
func (t *Target) logShare(n int) float64 {
	if t.space.Shares() == nil {
		return 0
	}
	return t.logLaw[n-t.law.lo] - t.logDrawn[n-t.law.lo]
}

// A ScoreError says that a property returned what is no score.
type ScoreError struct {
	Objective string  // the name of the objective
	Value     float64 // c·log y, NaN or +Inf
	State     string  // the composition
	Parts     []Part  // the composition again, for whoever knows its ingredients' names
	Err       error   // what the property says of it, or nil
}

func (e *ScoreError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("property %q failed at %s: %v", e.Objective, e.State, e.Err)
	}
	if math.IsNaN(e.Value) {
		return fmt.Sprintf("property %q is negative or not a number at %s: a score is at least 0 and finite", e.Objective, e.State)
	}
	return fmt.Sprintf("property %q, to the power of its weight, is infinite at %s: a score is at least 0 and finite", e.Objective, e.State)
}

func (e *ScoreError) Unwrap() error { return e.Err }

// LogScore returns Σ_k c_k·log y_k(x), from the properties as they are at the
// point. An objective of weight 0 is left out.
//
// It is −Inf where a rule of the space or a bound is broken or a property is 0, and then it
// does not matter whether the others have a score there.
func (t *Target) LogScore(x *Composition) (float64, error) {
	if t.space.rules != nil && t.space.rules.LogScore(x) == negInf || !t.Keeps(x) {
		return negInf, nil
	}
	sum := 0.0
	var bad *ScoreError
	for _, w := range t.objectives {
		if w.Weight == 0 {
			continue
		}
		score := float64(w.Weight * w.Property.LogScore(x))
		if score == negInf {
			return negInf, nil
		}
		if sum += score; badScore(sum) && bad == nil {
			bad = newScoreError(w.Name, w.Property, score, x)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// AppendScores appends y_k(x) of every objective, in the target's order and whatever
// its weight, to dst.
func (t *Target) AppendScores(dst []float64, x *Composition) ([]float64, error) {
	for _, w := range t.objectives {
		score := w.Property.LogScore(x)
		if badScore(score) {
			return dst, newScoreError(w.Name, w.Property, score, x)
		}
		dst = append(dst, expScore(score))
	}
	return dst, nil
}

// errProduct is the error for a score that is finite, and makes the product infinite.
var errProduct = errors.New("the product of the properties up to this one, each to the power of its weight, is infinite: scale them down")

// newScoreError describes a bad score, or one that is the last straw. by is the
// property or its scorer, which may know more of it.
func newScoreError(wish string, by any, score float64, x *Composition) *ScoreError {
	e := &ScoreError{Objective: wish, Value: score, State: x.String(), Parts: x.Parts()}
	if !badScore(score) {
		e.Value, e.Err = math.Inf(1), errProduct
	} else if f, ok := by.(interface{ Err() error }); ok {
		e.Err = f.Err()
	}
	return e
}

// scored reports whether anything but the sparsity law tells compositions apart.
func (t *Target) scored() bool {
	return t.space.rules != nil || t.hasTerms()
}

// hasTerms reports whether objectives or bounds do.
func (t *Target) hasTerms() bool {
	return len(t.bounds) > 0 || slices.ContainsFunc(t.objectives, func(w Objective) bool { return w.Weight > 0 })
}

// mass returns 1 for a size to which the law gives mass, else 0.
func (t *Target) mass(n int) float64 {
	if t.LogLaw(n) == negInf {
		return 0
	}
	return 1
}

// WithObjectives returns a target of the same space, the same law of n and the same bounds
// that has other objectives.
func (t *Target) WithObjectives(wishes ...Objective) (*Target, error) {
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	u := *t
	u.objectives = slices.Clone(wishes)
	u.deferComponents()
	return &u, nil
}

// WithBounds returns a target that has these bounds beside those of t.
func (t *Target) WithBounds(bounds ...Bound) (*Target, error) {
	for _, b := range bounds {
		if b.Property == nil {
			return nil, fmt.Errorf("bound %q has no property", b.Name)
		}
	}
	u := *t
	u.bounds = slices.Concat(t.bounds, bounds)
	u.deferComponents()
	return &u, nil
}

// equalityConstrained reports whether rules fix a sum or leave little room for it, so that moves of two
// ingredients do not get far.
func (t *Target) equalityConstrained() bool {
	return t.tight != nil || t.space.rules != nil && t.space.rules.lattice != nil
}

// inequalityConstrained reports whether rules bound sums, or totals of groups, and leave them room.
func (t *Target) inequalityConstrained() bool {
	rules := t.space.rules
	return rules != nil && !t.equalityConstrained() && (len(rules.Sums) > 0 || slices.ContainsFunc(rules.Groups, func(g count.Group) bool { return g.Total != nil }))
}
