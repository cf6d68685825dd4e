// Package volume estimates how many compositions keep rules that cannot be counted, above all limits, and finds
// some compositions that keep the rules.
//
// Package count counts amounts, steps, and groups that are disjoint or nested. The other rules are bounded sums
// ([constraint.Sum]). Let D_n be the number of compositions of n ingredients that keep the countable rules. Only
// a share of the D_n compositions also keeps the sums. The share may be one in a million, so random draws would
// find no composition. The package measures the share in two ways and joins the results.
//
// # From the counted to the allowed compositions
//
// Let v(x) ≥ 0 be the amount by which composition x breaks the sums. A population is drawn exactly and uniformly
// from the countable compositions, and taken through the distributions
//
//	π_b(x) ∝ exp(−b·v(x)),  b = 0 = b_0 < b_1 < … < b_L < ∞,
//
// by weighing, resampling and moving (sequential Monte Carlo, Del Moral, Doucet and Jasra 2006). The last
// distribution is uniform on v = 0. The expected value of the product of the mean weights is the share, however
// little the moves reach. A separate population fixes the steps beforehand. Independent populations of each size
// give the standard error.
//
// # From size to size
//
// With M units and N ingredients, a split takes a composition x of n ingredients to n+1 ingredients. A split
// draws one of the M−n inner cuts of the amounts, and one of the N−n absent ingredients, which takes the units
// behind the cut. A merge draws one of the n(n+1) ordered pairs of n+1 ingredients; the first ingredient absorbs
// the second. Exactly one merge undoes each split, so that
//
//	|X_{n+1}| / |X_n| = (N−n)(M−n) / (n(n+1)) · P_n(split) / P_{n+1}(merge),
//
// where P_n(split) is the probability that a uniform split of a uniform x ∈ X_n keeps all rules, and
// P_{n+1}(merge) is the probability that a uniform merge does. Both probabilities are measured on the
// populations as the populations keep moving under the rules. The ratios are precise and the shares are not.
// Together, ratios and shares are precise up to a factor common to all n, which does not affect the distribution
// of n.
package volume

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Measure estimates, for each size n, what share of the countable compositions of n ingredients also keep the
// sums. A composition is countable if it keeps the rules that package count can count.
func Measure(ctx context.Context, p Problem, o Options) (*Result, error) {
	m, err := Begin(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return m.Finish(ctx)
}

// A Measurement is a measurement in progress. For each size some populations have been annealed, which is enough
// for a rough result.
type Measurement struct{ measurement *measurement }

// Begin does the first, short part of [Measure]. Then [Measurement.RoughResult] returns a rough result.
func Begin(ctx context.Context, p Problem, o Options) (*Measurement, error) {
	switch {
	case o.Stream == nil:
		return nil, ErrNoStream
	case !slices.IsSorted(o.Sizes):
		return nil, fmt.Errorf("measure: the sizes %v are not in ascending order", o.Sizes)
	case o.SizeProbabilities != nil && len(o.SizeProbabilities) != len(o.Sizes):
		return nil, fmt.Errorf("measure: there are %d masses for %d sizes", len(o.SizeProbabilities), len(o.Sizes))
	}
	if o.RatioError <= 0 {
		o.RatioError = DefaultRatioError
	}
	if o.MaxMillionMoves <= 0 {
		o.MaxMillionMoves = DefaultEffort
	}
	o.Workers = max(o.Workers, 1)
	rules, err := newRules(p)
	if err != nil {
		return nil, err
	}
	m := &measurement{problem: p, options: o, rules: rules}
	for k, n := range o.Sizes {
		w := &sizeState{usedCount: n, relativeProbability: 1, firstStreamIndex: uint64(n) * (populationCount + 1), logCount: p.Table.LogCount(n)}
		if o.SizeProbabilities != nil {
			w.relativeProbability = o.SizeProbabilities[k]
		}
		m.sizes = append(m.sizes, w)
	}
	m.scaleSums()
	if err := m.annealPopulations(ctx, 0, roughPopulationCount); err != nil {
		return nil, err
	}
	return &Measurement{m}, nil
}

// RoughResult returns the result of the first part of the measurement, whose standard errors are large.
func (m *Measurement) RoughResult() *Result { return m.measurement.preliminaryMeasurement().result() }

// Finish does the second part of [Measure] and returns the precise result. Callers must call Finish at most once.
func (m *Measurement) Finish(ctx context.Context) (*Result, error) {
	if err := m.measurement.annealPopulations(ctx, roughPopulationCount, populationCount); err != nil {
		return nil, err
	}
	if err := m.measurement.measureSizeRatios(ctx); err != nil {
		return nil, err
	}
	return m.measurement.result(), nil
}

// result combines the estimates of all populations.
func (m *measurement) result() *Result {
	r := &Result{rules: m.rules}
	joined := m.joinEstimates()
	for k, w := range m.sizes {
		s := Size{N: w.usedCount, LogShare: math.Inf(-1)}
		var replicates []float64
		if joined[k] != nil {
			s.Found = true
			s.LogShare = joined[k].logShare
			replicates = joined[k].withoutPopulation
			s.SE = jackknifeDifference(replicates, nil)
		}
		r.Moves += w.moveCount()
		r.Sizes = append(r.Sizes, s)
		r.jackknifeLogShares = append(r.jackknifeLogShares, replicates)
		r.compositionPools = append(r.compositionPools, newCompositionPool(w))
	}
	return r
}
