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

// LogScores returns the log score log y of each composition by the property. A [BatchProperty] gets several
// compositions at a time.
func (w Objective) LogScores(xs []*Composition) []float64 {
	batch, ok := w.Property.(BatchProperty)
	scores := make([]float64, 0, len(xs))
	for some := range slices.Chunk(xs, prefetchCount) {
		if ok {
			batch.Prefetch(some)
		}
		for _, x := range some {
			scores = append(scores, w.Property.LogScore(x))
		}
	}
	return scores
}

// A Bound forbids compositions by a property that is 1 or 0, such as a limit on the prediction of a
// model. A bound is not an objective: it has no weight, and its score is not recorded.
// [Target.WithObjectives] keeps the bounds.
type Bound struct {
	Name     string
	Property Property // 1 where the bound is kept, and 0 elsewhere

	// Guide helps to find the first state of a chain if random compositions hardly ever keep the
	// bound. It is positive everywhere, and smaller the further a composition is from keeping the
	// bound. It has no effect on the target. It may be nil.
	Guide Property
}

// A Target is the probability distribution that chains sample. On the compositions x of a space
// that keep its bounds it is
//
//	P(x) ∝ y_sparse(n(x)) / |X_n(x)| · Π_k y_k(x)^c_k
//
// (Obara, Morimura and Yanagisawa 2019, §3). With conditions z, see [WithConditions], it is
//
//	P(x, z) ∝ y_sparse(n(x)) / W_n(x) · p(z) · Π_k y_k(x, z)^c_k
//
// Without objectives and bounds y_sparse is exactly the distribution of n, the number of used
// ingredients. A Target does not change and serves any number of chains at the same time.
type Target struct {
	space      *Space
	law        *Law // the distribution of the number of used ingredients if there are no objectives
	objectives []Objective
	bounds     []Bound

	// logLaw[k] is log(y_sparse(n)/|X_n|) for n ingredients, where k = n − the smallest n of the law.
	logLaw []float64

	// logDrawProbability[k] is the log of the probability that [State.drawExact] draws a given
	// composition of n ingredients, with the same k. It differs from logLaw[k] if some rules cannot
	// be counted.
	logDrawProbability []float64

	// lineLaws[m] is the distribution of the divisions of two ingredients' joint amount, without
	// the properties, if m other ingredients are used.
	lineLaws []lineLaw

	// tightSums holds the sums that are nearly kept by [State.compensatedExchange]. It is nil if
	// there are none.
	tightSums *tightSums

	batchSize int // number of candidates that a move to a whole new composition draws together; at least 1

	// componentsOnce returns the result of [findSupportComponents]. It computes the result at the
	// first call.
	componentsOnce func() componentResult
}

// NewTarget returns the target with a sparsity law and objectives on a space.
//
// It restricts the law to the numbers of ingredients for which the rules allow a composition. It
// fails with an [*InfeasibleError] if there is no such number, and with an [*UncountedError] if the
// law has mass on numbers for which the space did not count the compositions. It also fails if
// [Sparsity.On] fails.
func NewTarget(space *Space, sparsity Sparsity, wishes ...Objective) (*Target, error) {
	if space == nil {
		return nil, errors.New("there is no space to make a target of")
	}
	wanted, err := sparsity.On(space)
	if err != nil {
		return nil, err
	}
	if err := space.checkLawCounted(wanted); err != nil {
		return nil, err
	}
	law := wanted
	if r := space.rules; r != nil {
		if law = wanted.restrictTo(r.isPossible); law == nil {
			e := &InfeasibleError{WantedSizes: wanted.sizesWithMass(), Measured: r.uncountedRuleShares != nil}
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

// deferComponents sets componentsOnce so that the components are computed at the first call.
func (t *Target) deferComponents() {
	t.componentsOnce = sync.OnceValue(func() (of componentResult) {
		of.componentCount, of.firstExample, of.secondExample, of.err = findSupportComponents(t)
		return of
	})
}

// checkObjectives returns an error if an objective has no property or an invalid weight, or if two
// objectives have the same name.
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

// logMassPerCount returns log(p/count), given p and the log of count. It returns −Inf if p is 0.
func logMassPerCount(p, logCount float64) float64 {
	if p == 0 {
		return negInf
	}
	return portable.Log(p) - logCount
}

// Space returns the space of the target.
func (t *Target) Space() *Space { return t.space }

// Law returns the distribution of the number of used ingredients, if there are no objectives and
// bounds.
func (t *Target) Law() *Law { return t.law }

// Objectives returns the objectives. Callers must not modify the slice.
func (t *Target) Objectives() []Objective { return t.objectives }

// Bounds returns the bounds. Callers must not modify the slice.
func (t *Target) Bounds() []Bound { return t.bounds }

// Keeps reports whether x keeps all bounds of the target. It ignores the rules, the sparsity law
// and the objectives.
func (t *Target) Keeps(x *Composition) bool {
	for _, b := range t.bounds {
		if b.Property.LogScore(x) == negInf {
			return false
		}
	}
	return true
}

// HasBatchProperty reports whether an objective of positive weight is a [BatchProperty]. If so, it
// is best to run many chains at the same time instead of one per core, because chains wait together
// for the scores of such a property.
func (t *Target) HasBatchProperty() bool {
	return slices.ContainsFunc(t.objectives, func(w Objective) bool {
		_, ok := w.Property.(BatchProperty)
		return ok && w.Weight > 0
	})
}

// LogLaw returns log(y_sparse(n)/|X_n|), the log probability of a single composition of n
// ingredients if there are no objectives and bounds. It is −Inf if the law gives n no mass.
func (t *Target) LogLaw(n int) float64 {
	if n < t.law.minSize || n > t.law.maxSize {
		return math.Inf(-1)
	}
	return t.logLaw[n-t.law.minSize]
}

// LogPrior returns the log density of x without objectives and bounds, up to a constant. It is
// log(y_sparse(n)/|X_n|). If there are conditions, log p(z) is added.
func (t *Target) LogPrior(x *Composition) float64 {
	return t.LogLaw(x.UsedCount()) + t.space.conditions.logProbability(x)
}

// logDrawRatio returns log(π(n)/d(n)), where π(n) = y_sparse(n)/|X_n| and d(n) is the probability
// that [State.drawExact] draws a given composition of n ingredients. It is 0 if all rules can be
// counted.
func (t *Target) logDrawRatio(n int) float64 {
	if t.space.UncountedRuleShares() == nil {
		return 0
	}
	return t.logLaw[n-t.law.minSize] - t.logDrawProbability[n-t.law.minSize]
}

// A ScoreError is the error of a property whose log score is NaN or +Inf.
type ScoreError struct {
	Objective   string  // name of the objective whose property has the invalid score
	Value       float64 // the invalid value of c·log y, which is NaN or +Inf
	Composition string  // the composition as text
	Parts       []Part  // the ingredients and amounts of the composition
	Err         error   // the property's own explanation of the invalid score; may be nil
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

// LogScore returns the log score Σ_k c_k·log y_k(x), computed directly from the properties. It
// leaves out objectives of weight 0.
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
		if sum += score; isInvalidScore(sum) && bad == nil {
			bad = newScoreError(w.Name, w.Property, score, x)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// AppendScores appends the score y_k(x) of every objective to dst, in the order of the target's
// objectives. Objectives of weight 0 are included.
func (t *Target) AppendScores(dst []float64, x *Composition) ([]float64, error) {
	for _, w := range t.objectives {
		score := w.Property.LogScore(x)
		if isInvalidScore(score) {
			return dst, newScoreError(w.Name, w.Property, score, x)
		}
		dst = append(dst, expScore(score))
	}
	return dst, nil
}

// errInfiniteProduct is the error of scores that are all finite although their product is infinite.
var errInfiniteProduct = errors.New("the product of the properties up to this one, each to the power of its weight, is infinite: scale them down")

// newScoreError returns the error of an invalid log score of an objective at x. Either the score is
// invalid by itself, or it makes the product of the scores infinite. The argument source is the
// property or its scorer. If source has a method Err, the error that Err returns is included.
func newScoreError(objectiveName string, source any, score float64, x *Composition) *ScoreError {
	e := &ScoreError{Objective: objectiveName, Value: score, Composition: x.String(), Parts: x.Parts()}
	if !isInvalidScore(score) {
		e.Value, e.Err = math.Inf(1), errInfiniteProduct
	} else if f, ok := source.(interface{ Err() error }); ok {
		e.Err = f.Err()
	}
	return e
}

// isScored reports whether the target has rules, bounds, or objectives of positive weight.
func (t *Target) isScored() bool {
	return t.space.rules != nil || t.hasBoundsOrObjectives()
}

// hasBoundsOrObjectives reports whether the target has bounds or objectives of positive weight.
func (t *Target) hasBoundsOrObjectives() bool {
	return len(t.bounds) > 0 || slices.ContainsFunc(t.objectives, func(w Objective) bool { return w.Weight > 0 })
}

// massIndicator returns 1 if the law gives mass to n used ingredients, and 0 if it does not.
func (t *Target) massIndicator(n int) float64 {
	if t.LogLaw(n) == negInf {
		return 0
	}
	return 1
}

// WithObjectives returns a copy of the target t with other objectives. The space, the sparsity law
// and the bounds stay the same.
func (t *Target) WithObjectives(wishes ...Objective) (*Target, error) {
	if err := checkObjectives(wishes); err != nil {
		return nil, err
	}
	u := *t
	u.objectives = slices.Clone(wishes)
	u.deferComponents()
	return &u, nil
}

// WithBounds returns a copy of the target t with the given bounds added to its bounds.
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

// hasFixedOrTightSums reports whether rules fix a sum, or leave a sum so little room that changes
// of two ingredients at a time make little progress.
func (t *Target) hasFixedOrTightSums() bool {
	return t.tightSums != nil || t.space.rules != nil && t.space.rules.lattice != nil
}

// hasOnlyRoomySums reports whether rules bound sums or totals of groups, and leave all of these
// sums enough room.
func (t *Target) hasOnlyRoomySums() bool {
	rules := t.space.rules
	return rules != nil && !t.hasFixedOrTightSums() && (len(rules.Sums) > 0 || slices.ContainsFunc(rules.Groups, func(g count.Group) bool { return g.Total != nil }))
}
