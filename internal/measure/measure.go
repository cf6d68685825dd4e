// Package measure tells how many compositions keep rules that cannot be
// counted, limits above all, and finds some that do.
//
// What can be counted is: amounts, steps, and groups that are disjoint or
// nested (package count). The other rules are bounded sums ([condition.Sum]). Of those
// compositions of n ingredients that keep the countable rules, of which there
// are D_n, a share keeps the sums too; it may be one in a million, so that
// throwing at random finds none. So it is measured in two ways, which are joined.
//
// # From what is counted to what is allowed
//
// Let v(x) ≥ 0 be by how much x breaks the sums. A population is drawn exactly
// and uniformly from what is counted, and taken through the laws
//
//	π_b(x) ∝ exp(−b·v(x)),  b = 0 = b_0 < b_1 < … < b_L < ∞,
//
// by weighing, resampling and moving (sequential Monte Carlo, Del Moral, Doucet
// and Jasra 2006); the last law is that of v = 0. The product of the mean
// weights has the share as its expected value, whatever the moves reach. The
// steps are fixed by a population of their own beforehand, and independent
// groups of populations tell the standard error.
//
// # From size to size
//
// With M units and N ingredients, a split takes x of n ingredients to n+1: one
// of the M−n inner cuts of its amounts, and one of the N−n absent ingredients,
// which takes what lies behind the cut. A merge takes one of the n(n+1) ordered
// pairs of n+1 ingredients, of which the first absorbs the second. Each split is
// undone by one merge, so that
//
//	|X_{n+1}| / |X_n| = (N−n)(M−n) / (n(n+1)) · P_n(split) / P_{n+1}(merge),
//
// where P_n(split) is the probability that a uniform split of a uniform x ∈ X_n
// keeps all rules, and P_{n+1}(merge) that of a merge. Both are measured on the
// populations as they go on under the rules. These ratios are sharp, the shares
// are not, and together they are sharp but for a factor common to all n, which
// the law of n does not depend on.
package measure

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Measure tells what share of the compositions of each size keeps the sums.
func Measure(ctx context.Context, p Problem, o Options) (*Result, error) {
	switch {
	case o.Stream == nil:
		return nil, ErrNoStream
	case !slices.IsSorted(o.Sizes):
		return nil, fmt.Errorf("measure: the sizes %v are not in ascending order", o.Sizes)
	case o.Mass != nil && len(o.Mass) != len(o.Sizes):
		return nil, fmt.Errorf("measure: there are %d masses for %d sizes", len(o.Mass), len(o.Sizes))
	}
	if o.RatioError <= 0 {
		o.RatioError = DefaultRatioError
	}
	if o.Effort <= 0 {
		o.Effort = DefaultEffort
	}
	o.Workers = max(o.Workers, 1)
	rules, err := newRules(p)
	if err != nil {
		return nil, err
	}
	m := &measurement{problem: p, options: o, rules: rules}
	return m.measure(ctx)
}

func (m *measurement) measure(ctx context.Context) (*Result, error) {
	for k, n := range m.options.Sizes {
		w := &sizeWork{n: n, mass: 1, stream: uint64(n) * (groups + 1), logCount: m.problem.Table.LogCount(n)}
		if m.options.Mass != nil {
			w.mass = m.options.Mass[k]
		}
		m.sizes = append(m.sizes, w)
	}
	if err := m.anneal(ctx); err != nil {
		return nil, err
	}
	if err := m.bridge(ctx); err != nil {
		return nil, err
	}
	return m.result(), nil
}

// result joins what was found.
func (m *measurement) result() *Result {
	r := &Result{rules: m.rules}
	joined := m.join()
	for k, w := range m.sizes {
		s := Size{N: w.n, LogShare: math.Inf(-1)}
		var replicates []float64
		if joined[k] != nil {
			s.Found = true
			s.LogShare = joined[k].logShare
			replicates = joined[k].without
			s.SE = jackknife(replicates, nil)
		}
		r.Moves += w.moves()
		r.Sizes = append(r.Sizes, s)
		r.replicates = append(r.replicates, replicates)
		r.pools = append(r.pools, newPool(w))
	}
	return r
}
