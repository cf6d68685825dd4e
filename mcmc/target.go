package mcmc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"kir/internal/constraint/count"
	"kir/internal/portable"
)

// An Objective is a property with a name and a weight c ≥ 0: it multiplies the target by y(x)^c. An
// objective of weight 0 has no effect, not even where its property is 0.
type Objective struct {
	Name     string
	Property Property
	Weight   float64
}

// A Bound forbids compositions by a property that is 1 or 0, such as a limit on a model's
// prediction. It is part of the law and not an objective: it has no weight, and its score is not
// recorded. [Target.WithObjectives] keeps the bounds.
type Bound struct {
	Name     string
	Property Property // 1 where the bound is kept, 0 elsewhere

	// Toward guides a chain to a first state where random compositions hardly ever keep the bound.
	// It is positive everywhere, and smaller the further a composition is from keeping the bound.
	// It has no effect on the law. It may be nil.
	Toward Property
}

// A Target is the law to sample,
//
//	P(x) ∝ y_sparse(n(x)) / |X_n(x)| · Π_k y_k(x)^c_k
//
// on the compositions x of a space that keep its bounds (Obara, Morimura and Yanagisawa 2019, §3).
// With conditions z, see [WithConditions], it is
//
//	P(x, z) ∝ y_sparse(n(x)) / W_n(x) · p(z) · Π_k y_k(x, z)^c_k
//
// Without objectives and bounds y_sparse is exactly the law of n. A Target does not change and
// serves any number of chains.
type Target struct {
	space      *Space
	law        *Law
	objectives []Objective
	bounds     []Bound

	// logLaw is log(y_sparse(n)/|X_n|) for n from the law's first size on. logDrawn is the log of
	// the probability that [State.drawExact] draws a given composition of n ingredients. They
	// differ by the share of rules that cannot be counted.
	logLaw, logDrawn []float64

	// lines is the law of the splits of a line, indexed by the number of ingredients used besides i
	// and j.
	lines []lineLaw

	// tightSums are the sums that an exchange compensates, nil if there are none.
	tightSums *tightSums

	batch int // number of whole candidates drawn at once, at least 1

	// components computes, once, the components that lines connect the support into.
	components func() componentResult
}

// NewTarget returns the target of a sparsity law and objectives.
//
// It restricts the law to the sizes that the rules leave. It fails with an [*InfeasibleError] if
// they leave none, and with an [*UncountedError] if the law has mass on sizes that a space with
// rules did not count. It also fails as [Sparsity.On] does.
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
	t.tightSums = newTightSums(space.rules, law.Mean())
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

// deferComponents postpones finding the components until the first use.
func (t *Target) deferComponents() {
	t.components = sync.OnceValue(func() (of componentResult) {
		of.components, of.first, of.second, of.err = supportComponents(t)
		return of
	})
}

// checkObjectives returns an error if no target can be made of the objectives.
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

// Objectives returns the objectives. Callers must not modify the slice.
func (t *Target) Objectives() []Objective { return t.objectives }

// Bounds returns the bounds. Callers must not modify the slice.
func (t *Target) Bounds() []Bound { return t.bounds }

// Keeps reports whether a composition of the space keeps the bounds. It ignores the rest of the
// target.
func (t *Target) Keeps(x *Composition) bool {
	for _, b := range t.bounds {
		if b.Property.LogScore(x) == negInf {
			return false
		}
	}
	return true
}

// HasBatchProperty reports whether an objective is a [BatchProperty]. If so, run many chains at
// once, since they wait for it together, and not just one a core.
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

// LogPrior returns log(y_sparse(n)/|X_n|) of a composition of the space, and log p(z) besides if there
// are conditions: the log density of x, up to a constant, without bounds and objectives.
func (t *Target) LogPrior(x *Composition) float64 {
	return t.LogLaw(x.Used()) + t.space.conditions.logLaw(x)
}

// logShare returns log(π(n)/d(n)), where π(n) = y_sparse(n)/|X_n| and d(n) is the probability that
// [State.drawExact] draws a given composition of n ingredients. It is 0 unless some rules are not
// counted.
func (t *Target) logShare(n int) float64 {
	if t.space.Shares() == nil {
		return 0
	}
	return t.logLaw[n-t.law.lo] - t.logDrawn[n-t.law.lo]
}

// A ScoreError is returned if a property returns an invalid score.
type ScoreError struct {
	Objective string  // the name of the objective
	Value     float64 // c·log y, NaN or +Inf
	State     string  // the composition
	Parts     []Part  // the composition again, for whoever knows its ingredients' names
	Err       error   // the property's own explanation of the score, or nil
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

// LogScore returns Σ_k c_k·log y_k(x), computed from the properties directly. Objectives of weight
// 0 are left out.
//
// It is −Inf where x breaks a rule of the space or a bound, or a property is 0. Then the other
// properties need not have a valid score.
func (t *Target) LogScore(x *Composition) (float64, error) {
	if t.space.rules != nil && t.space.rules.LogScore(x) == negInf || !t.Keeps(x) {
		return negInf, nil
	}
	if c := t.space.conditions; c.isTied() && c.cases.LogScore(x) == negInf {
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

// AppendScores appends y_k(x) of every objective to dst, in the target's order and whatever the
// weights.
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

// errProduct is the error for a finite score that makes the product infinite.
var errProduct = errors.New("the product of the properties up to this one, each to the power of its weight, is infinite: scale them down")

// newScoreError describes an invalid score, or one that makes the product infinite. by is the
// property or its scorer, which may add details.
func newScoreError(wish string, by any, score float64, x *Composition) *ScoreError {
	e := &ScoreError{Objective: wish, Value: score, State: x.String(), Parts: x.Parts()}
	if !badScore(score) {
		e.Value, e.Err = math.Inf(1), errProduct
	} else if f, ok := by.(interface{ Err() error }); ok {
		e.Err = f.Err()
	}
	return e
}

// scored reports whether the target has objectives, bounds or rules besides the sparsity law.
func (t *Target) scored() bool {
	return t.space.rules != nil || t.hasTerms()
}

// hasTerms reports whether the target has bounds or objectives of positive weight.
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

// WithObjectives returns a target with other objectives and the same space, law of n and bounds.
func (t *Target) WithObjectives(wishes ...Objective) (*Target, error) {
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	u := *t
	u.objectives = slices.Clone(wishes)
	u.deferComponents()
	return &u, nil
}

// WithBounds returns a target with these bounds in addition to those of t.
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

// equalityConstrained reports whether rules fix a sum or leave it little room, so that moves of two
// ingredients make little progress.
func (t *Target) equalityConstrained() bool {
	return t.tightSums != nil || t.space.rules != nil && t.space.rules.lattice != nil
}

// inequalityConstrained reports whether rules bound sums, or totals of groups, and leave them room.
func (t *Target) inequalityConstrained() bool {
	rules := t.space.rules
	return rules != nil && !t.equalityConstrained() && (len(rules.Sums) > 0 || slices.ContainsFunc(rules.Groups, func(g count.Group) bool { return g.Total != nil }))
}
