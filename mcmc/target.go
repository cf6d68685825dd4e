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

// An Objective is a property y with a name and a weight c ≥ 0. It multiplies the density of the
// target by y(x)^c. An objective of weight 0 has no effect, even where its property is 0.
type Objective struct {
	Name     string
	Property Property
	Weight   float64
}

// A Bound forbids compositions by a property that is 1 or 0, such as a limit on the prediction of a
// model. A bound belongs to the law and is not an objective: it has no weight, and its score is not
// recorded. [Target.WithObjectives] keeps the bounds.
type Bound struct {
	Name     string
	Property Property // 1 where the bound is kept, and 0 elsewhere

	// Guide guides the search for the first state of a chain if random compositions hardly ever
	// keep the bound. It is positive everywhere, and smaller the further a composition is from
	// keeping the bound. It has no effect on the law. It may be nil.
	Guide Property
}

// A Target is the law that chains sample. On the compositions x of a space that keep its bounds it
// is
//
//	P(x) ∝ y_sparse(n(x)) / |X_n(x)| · Π_k y_k(x)^c_k
//
// (Obara, Morimura and Yanagisawa 2019, §3). With conditions z, see [WithConditions], it is
//
//	P(x, z) ∝ y_sparse(n(x)) / W_n(x) · p(z) · Π_k y_k(x, z)^c_k
//
// Without objectives and bounds y_sparse is exactly the law of n, the number of used ingredients. A
// Target does not change and serves any number of chains at the same time.
type Target struct {
	space      *Space
	law        *Law // the law of n, the number of used ingredients
	objectives []Objective
	bounds     []Bound

	// By n, from the smallest n of the law: logLaw is log(y_sparse(n)/|X_n|), and
	// logDrawProbability is the log of the probability that [State.drawExact] draws a given
	// composition of n ingredients. They differ if some rules cannot be counted.
	logLaw, logDrawProbability []float64

	// lineLaws holds the law of the splits of two ingredients' joint amount, by the number of other
	// ingredients that are used.
	lineLaws []lineLaw

	// tightSums holds the sums of which [State.compensatedExchange] keeps some nearly unchanged. It is nil
	// if there are none.
	tightSums *tightSums

	batchSize int // number of candidates that a move to a whole new composition draws together, at least 1

	// componentsOnce returns the components into which moves of two ingredients connect the
	// support. It computes them at the first call.
	componentsOnce func() componentResult
}

// NewTarget returns the target with a sparsity law and objectives on a space.
//
// It restricts the law to the numbers of ingredients for which the rules leave a composition. It
// fails with an [*InfeasibleError] if there is no such number, and with an [*UncountedError] if the
// law has mass on numbers that the space did not count. It also fails if [Sparsity.On] fails.
func NewTarget(space *Space, sparsity Sparsity, wishes ...Objective) (*Target, error) {
	if space == nil {
		return nil, errors.New("there is no space to make a target of")
	}
	wanted, err := sparsity.On(space)
	if err != nil {
		return nil, err
	}
	if err := space.checkCovers(wanted); err != nil {
		return nil, err
	}
	law := wanted
	if r := space.rules; r != nil {
		if law = wanted.restrictTo(r.isPossible); law == nil {
			e := &InfeasibleError{WantedSizes: wanted.sizesWithMass(), Measured: r.shares != nil}
			for n := 1; n <= space.MaxUsed(); n++ {
				if r.isPossible(n) {
					e.PossibleSizes = append(e.PossibleSizes, n)
				}
			}
			return nil, e
		}
	}
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	t := &Target{space: space, law: law, objectives: slices.Clone(wishes), batchSize: 1}
	for _, w := range wishes {
		if p, ok := w.Property.(BatchProperty); ok && w.Weight > 0 {
			t.batchSize = max(t.batchSize, p.Batch())
		}
	}
	t.deferComponents()
	t.tightSums = newTightSums(space.rules, law.Mean())
	counts := space.LogCounts(law.maxSize)
	for n := law.minSize; n <= law.maxSize; n++ {
		drawn := counts[n]
		if shares := space.UncountedRuleShares(); shares != nil {
			drawn -= portable.Log(shares[n-1].Estimate)
		}
		t.logLaw = append(t.logLaw, logMassPerCount(law.P(n), counts[n]))
		t.logDrawProbability = append(t.logDrawProbability, logMassPerCount(law.P(n), drawn))
	}
	t.lineLaws = make([]lineLaw, law.maxSize)
	for rest := max(law.minSize-2, 0); rest < law.maxSize; rest++ {
		t.lineLaws[rest] = newScaledLineLaw(law.P(rest+1), law.P(rest+2), space.Ratio(rest+1), space.logRatio(rest+1))
	}
	return t, nil
}

// deferComponents arranges that the components of the support are computed at their first use.
func (t *Target) deferComponents() {
	t.componentsOnce = sync.OnceValue(func() (of componentResult) {
		of.componentCount, of.first, of.second, of.err = supportComponents(t)
		return of
	})
}

// checkObjectives returns an error if an objective has no property, an invalid weight, or the name
// of another objective.
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

// logMassPerCount returns log p − logCount, and −Inf if p is 0.
func logMassPerCount(p, logCount float64) float64 {
	if p == 0 {
		return negInf
	}
	return portable.Log(p) - logCount
}

// Space returns the space of the target.
func (t *Target) Space() *Space { return t.space }

// Law returns the law of n, the number of used ingredients.
func (t *Target) Law() *Law { return t.law }

// Objectives returns the objectives. Callers must not modify the slice.
func (t *Target) Objectives() []Objective { return t.objectives }

// Bounds returns the bounds. Callers must not modify the slice.
func (t *Target) Bounds() []Bound { return t.bounds }

// Keeps reports whether x keeps all bounds. It ignores the rules, the law and the objectives.
func (t *Target) Keeps(x *Composition) bool {
	for _, b := range t.bounds {
		if b.Property.LogScore(x) == negInf {
			return false
		}
	}
	return true
}

// HasBatchProperty reports whether an objective of positive weight is a [BatchProperty]. If so, run
// many chains at the same time instead of one per core, because chains wait for such a property
// together.
func (t *Target) HasBatchProperty() bool {
	return slices.ContainsFunc(t.objectives, func(w Objective) bool {
		_, ok := w.Property.(BatchProperty)
		return ok && w.Weight > 0
	})
}

// LogLaw returns log(y_sparse(n)/|X_n|), the log of the law's mass of a single composition of n
// ingredients. It is −Inf if the law gives n no mass.
func (t *Target) LogLaw(n int) float64 {
	if n < t.law.minSize || n > t.law.maxSize {
		return math.Inf(-1)
	}
	return t.logLaw[n-t.law.minSize]
}

// LogPrior returns the log density of x without bounds and objectives, up to a constant. This is
// log(y_sparse(n)/|X_n|), and in addition log p(z) if there are conditions.
func (t *Target) LogPrior(x *Composition) float64 {
	return t.LogLaw(x.Used()) + t.space.conditions.logLaw(x)
}

// logDrawRatio returns log(π(n)/d(n)), where π(n) = y_sparse(n)/|X_n| and d(n) is the probability
// that [State.drawExact] draws a given composition of n ingredients. It is 0 if all rules are
// counted.
func (t *Target) logDrawRatio(n int) float64 {
	if t.space.UncountedRuleShares() == nil {
		return 0
	}
	return t.logLaw[n-t.law.minSize] - t.logDrawProbability[n-t.law.minSize]
}

// A ScoreError is returned if a property returns an invalid score.
type ScoreError struct {
	Objective   string  // name of the objective
	Value       float64 // c·log y, which is NaN or +Inf
	Composition string  // the composition as text
	Parts       []Part  // the parts of the composition
	Err         error   // the property's own explanation of the score; may be nil
}

func (e *ScoreError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("property %q failed at %s: %v", e.Objective, e.Composition, e.Err)
	}
	if math.IsNaN(e.Value) {
		return fmt.Sprintf("property %q is negative or not a number at %s: a score is at least 0 and finite", e.Objective, e.Composition)
	}
	return fmt.Sprintf("property %q, to the power of its weight, is infinite at %s: a score is at least 0 and finite", e.Objective, e.Composition)
}

func (e *ScoreError) Unwrap() error { return e.Err }

// LogScore returns Σ_k c_k·log y_k(x), computed directly from the properties. It leaves out
// objectives of weight 0.
//
// LogScore returns −Inf if x breaks a rule of the space or a bound, or if a property is 0 at x. In
// these cases the other properties may have an invalid score.
func (t *Target) LogScore(x *Composition) (float64, error) {
	if t.space.rules != nil && t.space.rules.LogScore(x) == negInf || !t.Keeps(x) {
		return negInf, nil
	}
	if c := t.space.conditions; c.hasCases() && c.conditionCases.LogScore(x) == negInf {
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
		if sum += score; invalidScore(sum) && bad == nil {
			bad = newScoreError(w.Name, w.Property, score, x)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// AppendScores appends the score y_k(x) of every objective to dst, in the order of the target's
// objectives. It includes objectives of weight 0.
func (t *Target) AppendScores(dst []float64, x *Composition) ([]float64, error) {
	for _, w := range t.objectives {
		score := w.Property.LogScore(x)
		if invalidScore(score) {
			return dst, newScoreError(w.Name, w.Property, score, x)
		}
		dst = append(dst, expScore(score))
	}
	return dst, nil
}

// errInfiniteProduct is returned if all scores are finite and their product is infinite.
var errInfiniteProduct = errors.New("the product of the properties up to this one, each to the power of its weight, is infinite: scale them down")

// newScoreError returns an error that describes the log score of an objective at x. The score is
// invalid by itself, or it makes the product of the scores infinite. The argument by is the
// property or its scorer; if it has a method Err, that error is included.
func newScoreError(wish string, by any, score float64, x *Composition) *ScoreError {
	e := &ScoreError{Objective: wish, Value: score, Composition: x.String(), Parts: x.Parts()}
	if !invalidScore(score) {
		e.Value, e.Err = math.Inf(1), errInfiniteProduct
	} else if f, ok := by.(interface{ Err() error }); ok {
		e.Err = f.Err()
	}
	return e
}

// isScored reports whether the target has rules, bounds, or objectives of positive weight.
func (t *Target) isScored() bool {
	return t.space.rules != nil || t.hasTerms()
}

// hasTerms reports whether the target has bounds or objectives of positive weight.
func (t *Target) hasTerms() bool {
	return len(t.bounds) > 0 || slices.ContainsFunc(t.objectives, func(w Objective) bool { return w.Weight > 0 })
}

// massIndicator returns 1 if the law gives mass to n used ingredients, and 0 otherwise.
func (t *Target) massIndicator(n int) float64 {
	if t.LogLaw(n) == negInf {
		return 0
	}
	return 1
}

// WithObjectives returns a target with the given objectives in place of those of t. The space, the
// law of n and the bounds are the same.
func (t *Target) WithObjectives(wishes ...Objective) (*Target, error) {
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	u := *t
	u.objectives = slices.Clone(wishes)
	u.deferComponents()
	return &u, nil
}

// WithBounds returns a target that has the given bounds in addition to the bounds of t.
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

// equalityConstrained reports whether rules fix a sum, or leave a sum so little room that changes
// of two ingredients at a time make little progress.
func (t *Target) equalityConstrained() bool {
	return t.tightSums != nil || t.space.rules != nil && t.space.rules.lattice != nil
}

// inequalityConstrained reports whether rules bound sums or totals of groups, and leave all of
// these sums room.
func (t *Target) inequalityConstrained() bool {
	rules := t.space.rules
	return rules != nil && !t.equalityConstrained() && (len(rules.Sums) > 0 || slices.ContainsFunc(rules.Groups, func(g count.Group) bool { return g.Total != nil }))
}
