package mcmc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"runtime"
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/constraint/volume"
	"kir/internal/portable"
	"kir/rule"
)

// CountingOptions holds the options for counting the compositions that keep rules.
type CountingOptions struct {
	// Law is the sparsity law for which the space will be used. Numbers of ingredients to which it
	// gives no mass are not counted. With the zero value all numbers are counted.
	Law Sparsity

	// Seed decides the random choices if numbers of compositions have to be measured.
	Seed uint64

	// Workers is the number of goroutines; 0 stands for the number of cores. It does not affect the
	// results.
	Workers int

	// MaxTableSteps limits the work on a counting table, in steps of about 10⁻⁹ s. It applies to
	// rules that could also be measured. 0 stands for 4·10⁹. With 1 such rules are always measured.
	MaxTableSteps float64

	// Progress, if not nil, is called when work begins that may take long. The argument what names
	// the work.
	Progress func(what string)

	// Cache, if not nil, is asked for earlier results for the same rules, law and seed, and stores
	// results that took long. It does not affect the results.
	Cache Cache
}

// negligibleMass limits which numbers of ingredients are left out of a measurement. Their total
// probability is at most this, so fewer than one draw in 10⁹ would have such a number.
const negligibleMass = 1e-9

// NewRuledSpace returns the space of the compositions that keep a set of rules. It counts |X_n|,
// the number of compositions of n ingredients, for each n to which the law in o gives mass.
// [NewTarget] fails with an [*UncountedError] if its law has mass on another n. An invalid rule,
// such as a minimum above its maximum, fails with a [*rule.Error].
//
// Rules on amounts, and on groups that are disjoint or nested, are counted exactly. Needs, sums and
// other overlapping groups are counted exactly if the tables for this fit 1 GiB and take no more
// than some seconds; see package count. If they do not, [Space.UncountedReason] returns the reason.
//
// In that case, if at most 2²⁰ compositions of n ingredients have allowed amounts, each of them is
// checked, and |X_n| is exact too. Otherwise the share of these compositions that keep all rules is
// measured; see package volume. Numbers n at either end of the law are left out if they have at
// most 1e-9 of its mass together. If no composition of n ingredients is found, X_n counts as empty.
// See [Space.UncountedRuleShares].
func NewRuledSpace(ctx context.Context, set rule.Set, o CountingOptions) (*Space, error) {
	c, err := BeginRuledSpace(ctx, set, o)
	if err != nil {
		return nil, err
	}
	return c.Finish(ctx)
}

// A RuledSpaceCounting counts the compositions of a space with rules in two parts:
// [BeginRuledSpace] and [RuledSpaceCounting.Finish].
type RuledSpaceCounting struct {
	space       *Space              // the space, with the counts that are known already
	cacheEntry  *countCacheEntry    // loads counts from the cache and stores them there
	measurement *volume.Measurement // the measurement that has begun; nil if no numbers of compositions have to be measured
}

// BeginRuledSpace does the first part of [NewRuledSpace]. If numbers of compositions have to be
// measured, the measurement only begins: it finds compositions of each number of ingredients.
func BeginRuledSpace(ctx context.Context, set rule.Set, o CountingOptions) (*RuledSpaceCounting, error) {
	s, err := NewSpace(set.Ingredients, set.Total)
	if err != nil {
		return nil, err
	}
	mass, err := o.Law.sizeProbabilities(s.MaxUsed())
	if err != nil {
		return nil, err
	}
	conditions, err := constraint.FromRules(set)
	if err != nil {
		return nil, err
	}
	o.reportProgress("counting the compositions that keep the rules")
	r := newRuleset(conditions)
	most := len(mass)
	memo := newCountCacheEntry(r, mass, o)
	countable, all := conditions.CountableSpace()
	options := count.Options{MaxUsed: most, Workers: o.Workers, KnownCounts: memo.cachedCounts(all)}
	if !all {
		wide := options
		if wide.MaxSteps, wide.KnownCounts = o.MaxTableSteps, memo.cachedCounts(true); wide.MaxSteps == 0 {
			wide.MaxSteps = defaultTableSteps
		}
		whole, err := conditions.FullSpace()
		if err == nil {
			err = r.buildCountTable(ctx, whole, wide)
		}
		if all = err == nil; !all && !errors.As(err, &r.untabledReason) {
			return nil, err
		}
	}
	if r.sampler == nil {
		if err := r.buildCountTable(ctx, countable, options); err != nil {
			return nil, err
		}
	}
	s.rules = r
	r.logCounts = make([]float64, most+1)
	r.logCounts[0] = negInf
	if all {
		for n := 1; n <= most; n++ {
			r.logCounts[n] = r.countTable.LogCount(n)
		}
		return &RuledSpaceCounting{space: s, cacheEntry: memo}, nil
	}
	measured, err := s.computeUncountedShares(ctx, countable, mass, o, memo)
	if err != nil {
		return nil, err
	}
	return &RuledSpaceCounting{space: s, cacheEntry: memo, measurement: measured}, nil
}

// RoughSpace returns the space with rough estimates of the numbers of compositions, before the
// measurement has ended. It returns nil if the exact numbers are known already.
func (c *RuledSpaceCounting) RoughSpace() *Space {
	if c.measurement == nil {
		return nil
	}
	return c.space.withMeasurement(c.measurement.RoughResult())
}

// Finish finishes the counting and returns the space. It can be called only once.
func (c *RuledSpaceCounting) Finish(ctx context.Context) (_ *Space, err error) {
	r := c.space.rules
	if c.measurement != nil {
		if r.measurement, err = c.measurement.Finish(ctx); err != nil {
			return nil, err
		}
		r.adoptMeasuredShares()
	}
	r.countsFromCache = c.cacheEntry.cacheUsed
	return c.space, c.cacheEntry.storeCounting(r)
}

// reportProgress calls the function Progress, if it is not nil.
func (o *CountingOptions) reportProgress(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

// defaultTableSteps is the limit of counting steps if [CountingOptions.MaxTableSteps] is 0. These
// steps take a few seconds, about as long as measuring.
const defaultTableSteps = 4e9

// buildCountTable counts the compositions of a space with a table, and makes the sampler that draws
// them.
func (r *ruleset) buildCountTable(ctx context.Context, space count.Space, o count.Options) (err error) {
	if r.countTable, err = count.New(ctx, space, o); err == nil {
		r.sampler, err = r.countTable.Sampler(ctx)
	}
	return err
}

// UncountedReason returns the reason why a table does not count all rules, or nil if a table counts all
// rules.
func (s *Space) UncountedReason() error {
	if s.rules == nil || s.rules.untabledReason == nil {
		return nil
	}
	return s.rules.untabledReason
}

// UsedCache reports whether some counts of the space came from a cache.
func (s *Space) UsedCache() bool { return s.rules != nil && s.rules.countsFromCache }

// sizeProbabilities returns, at index n−1, the probability of n ingredients, for n from 1 to maxUsed. It
// drops zeros at the end. The zero value of Sparsity gives all numbers the same probability.
func (y Sparsity) sizeProbabilities(maxUsed int) ([]float64, error) {
	if y.err == nil && y.weightOf == nil && y.components == nil && y.powerBase == nil {
		y = Uniform(1, maxUsed)
	}
	if y.err != nil {
		return nil, y.err
	}
	p, err := y.normalisedProbabilities(maxUsed)
	if err != nil {
		return nil, err
	}
	for p[len(p)-1] == 0 {
		p = p[:len(p)-1]
	}
	return p, nil
}

// computeUncountedShares computes the [UncountedRuleShare] for each number of ingredients. The
// argument countable is the space with only the countable rules, and mass[n−1] is the probability
// of n ingredients. If shares have to be measured, it begins to measure them and returns the
// measurement.
func (s *Space) computeUncountedShares(ctx context.Context, countable count.Space, mass []float64, o CountingOptions, memo *countCacheEntry) (*volume.Measurement, error) {
	r := s.rules
	o.reportProgress("looking at compositions one by one")
	r.uncountedRuleShares = make([]UncountedRuleShare, len(mass))
	r.measuredSizeIndices = make([]int, len(mass)+1)
	var sizes []int // the sizes whose share must be measured
	for n := 1; n <= len(mass); n++ {
		r.logCounts[n], r.measuredSizeIndices[n] = negInf, -1
		share := &r.uncountedRuleShares[n-1]
		share.N = n
		if mass[n-1] == 0 {
			continue
		}
		if r.countTable.IsEmpty(n) {
			share.Exact, share.Counted = true, true
			continue
		}
		kept, ok, err := r.CountFeasible(ctx, n)
		if err != nil {
			return nil, err
		}
		if ok {
			share.Exact, share.Counted = true, true
			share.Estimate = float64(kept) / float64(r.countTable.Count(n).Int64()) // CountFeasible checked all: they fit an int64
			r.logCounts[n] = portable.Log(float64(kept))
		} else {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) == 0 {
		return nil, nil
	}
	// Sizes at the ends with almost no mass are not worth measuring. Sizes beyond them would leave
	// a gap.
	lo, hi := sizesWithoutTails(mass)
	for n := range r.uncountedRuleShares {
		if n+1 < lo || n+1 > hi {
			r.uncountedRuleShares[n], r.logCounts[n+1] = UncountedRuleShare{N: n + 1}, negInf
		}
	}
	if sizes = slices.DeleteFunc(sizes, func(n int) bool { return n < lo || n > hi }); len(sizes) == 0 {
		return nil, nil
	}
	options := volume.Options{Sizes: sizes, Workers: o.Workers, Stream: func(index uint64) volume.Rand {
		return NewRand(o.Seed, "share of rules", index)
	}}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	for _, n := range sizes {
		options.SizeProbabilities = append(options.SizeProbabilities, mass[n-1])
	}
	problem := volume.Problem{Space: countable, Table: r.countTable, Sampler: r.sampler, Sums: r.UncountedSums()}
	if r.measurement = memo.cachedMeasurement(problem, sizes); r.measurement != nil {
		r.adoptMeasuredShares()
		return nil, nil
	}
	o.reportProgress("estimating how many recipes meet the constraints")
	return volume.Begin(ctx, problem, options)
}

// adoptMeasuredShares sets the shares and counts of the measured numbers of ingredients from
// r.measurement.
func (r *ruleset) adoptMeasuredShares() {
	for at, m := range r.measurement.Sizes {
		share := &r.uncountedRuleShares[m.N-1]
		share.Counted = true
		share.Estimate = portable.Exp(m.LogShare)
		if m.Found {
			share.SE = float64(share.Estimate * m.SE)
			r.measuredSizeIndices[m.N] = at
			r.logCounts[m.N] = r.countTable.LogCount(m.N) + m.LogShare
		}
	}
}

// withMeasurement returns a copy of the space whose measured shares and counts come from m.
func (s *Space) withMeasurement(m *volume.Result) *Space {
	r := *s.rules
	r.measurement, r.sampler = m, r.sampler.Clone()
	r.uncountedRuleShares, r.measuredSizeIndices, r.logCounts = slices.Clone(r.uncountedRuleShares), slices.Clone(r.measuredSizeIndices), slices.Clone(r.logCounts)
	r.adoptMeasuredShares()
	space := *s
	space.rules = &r
	return &space
}

// sizesWithoutTails returns the least and the greatest number of ingredients that remain without
// the tails of the sparsity law. A tail has at most half of [negligibleMass]. The argument
// mass[n−1] is the probability of n ingredients.
func sizesWithoutTails(mass []float64) (lo, hi int) {
	lo, hi = 1, len(mass)
	for left := mass[lo-1]; lo < hi && left <= negligibleMass/2; left += mass[lo-1] {
		lo++
	}
	for left := mass[hi-1]; lo < hi && left <= negligibleMass/2; left += mass[hi-1] {
		hi--
	}
	return lo, hi
}

// An UncountedError is the error of a sparsity law that gives mass to some number of ingredients
// for which the space with rules has not counted the compositions; see [NewRuledSpace].
type UncountedError struct {
	Sizes []int   // the numbers of ingredients that have mass but were not counted
	Mass  float64 // the probability of all these numbers together
}

func (e *UncountedError) Error() string {
	return fmt.Sprintf("%.2g of the sparsity law lies at %s ingredients, for which the space was not counted: make the space for this law, or give the law no mass there", e.Mass, sizesText(e.Sizes))
}

// checkLawCounted returns an [*UncountedError] if the law gives more than negligible mass to
// numbers of ingredients for which compositions were not counted.
func (s *Space) checkLawCounted(l *Law) error {
	if s.rules == nil {
		return nil
	}
	e := &UncountedError{}
	lo, hi := l.Support()
	for n := lo; n <= hi; n++ {
		if l.P(n) > 0 && (n > s.MaxUsed() || !s.rules.isCounted(n)) {
			e.Sizes, e.Mass = append(e.Sizes, n), e.Mass+l.P(n)
		}
	}
	if e.Mass > negligibleMass {
		return e
	}
	return nil
}

// Counts returns a sequence of n and the exact number of compositions with n ingredients, for n
// from lo to hi; hi is at most [Space.MaxUsed]. In a space with rules it counts the compositions
// that keep the rules that a table counts. A number may have thousands of digits; it is computed
// when the sequence reaches it.
func (s *Space) Counts(lo, hi int) (iter.Seq2[int, *big.Int], error) {
	table, err := s.countTable()
	if err != nil {
		return nil, err
	}
	return table.Counts(lo, hi), nil
}

// countTable returns the table that counts the compositions of the space. It returns an error if
// the table cannot be made.
func (s *Space) countTable() (*count.Table, error) {
	if s.rules != nil {
		return s.rules.countTable, nil
	}
	return count.NewUnconstrainedTable(s.ingredients, s.total)
}

// logDrawableCount returns the log of the number of compositions of n ingredients that
// [uniformDrawer.draw] may draw. These are the allowed compositions, and also those that break only
// rules that cannot be counted.
func (s *Space) logDrawableCount(n int) float64 {
	if s.conditions.hasCases() {
		return logSumExp(s.conditions.drawableCaseLaws[n].logWeights)
	}
	return s.rules.countTable.LogCount(n)
}

// UncountedRuleShares returns the [UncountedRuleShare] for n ingredients at index n−1. It returns
// nil if all rules can be counted; the distribution of n is then exactly the sparsity law.
func (s *Space) UncountedRuleShares() []UncountedRuleShare {
	if s.rules == nil {
		return nil
	}
	return s.rules.uncountedRuleShares
}

// LawStandardErrors returns the standard errors of the probabilities p[n] of n ingredients in the
// draws of chains. These errors come from measuring the numbers of compositions. They are all 0 if
// nothing was measured.
//
// More draws do not reduce these errors, since they belong to the target and not to the chains.
// They are independent of the errors of the chains, so the squares of the two add up. See
// [volume.Result.LawStandardErrors].
func (s *Space) LawStandardErrors(p []float64) []float64 {
	errors := make([]float64, len(p))
	if s.conditions.hasCases() {
		return s.rules.lawStandardErrors(p)
	}
	if s.rules == nil || s.rules.measurement == nil {
		return errors
	}
	// Sizes that were not measured are exact, and still part of the law.
	at := make([]float64, len(s.rules.measurement.Sizes))
	exact := 0.0
	for n, mass := range p {
		if n < len(s.rules.measuredSizeIndices) && n > 0 && s.rules.measuredSizeIndices[n] >= 0 {
			at[s.rules.measuredSizeIndices[n]] = mass
		} else {
			exact += mass
		}
	}
	measured, rest := s.rules.measurement.LawStandardErrors(at, exact)
	for n, mass := range p {
		if n < len(s.rules.measuredSizeIndices) && n > 0 && s.rules.measuredSizeIndices[n] >= 0 {
			errors[n] = measured[s.rules.measuredSizeIndices[n]]
		} else if exact > 0 {
			errors[n] = rest * mass / exact
		}
	}
	return errors
}
