// Package measure tells how many compositions keep rules that cannot be
// counted, limits above all, and finds some that do.
//
// What can be counted is: amounts, steps, and groups that are disjoint or
// nested (package count). The other rules are bounded [Sum]s. Of those
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
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/count"
)

// A Rand is where random choices come from.
type Rand interface {
	count.Rand

	// Bernoulli returns true with probability p.
	Bernoulli(p float64) bool
}

// A Problem is what is measured.
type Problem struct {
	Space   count.Space    // the countable rules; its groups are disjoint or nested
	Table   *count.Table   // its counts
	Sampler *count.Sampler // its draws
	Sums    []Sum          // the other rules
}

// Options say what is measured, and how well.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, ascending. Those
	// with D_n = 0 are passed over.
	Sizes []int

	// Mass is the probability that the law of n gives to each size, in any
	// scale: the ratios among sizes of more than 0.1 % of the whole are what
	// RatioError speaks of. nil: all alike.
	Mass []float64

	// RatioError is the standard error of the log of any ratio |X_m|/|X_n| at
	// which measuring ends, if Effort does not end it before; 0.01 if it is 0.
	RatioError float64

	// Effort bounds the moves that are made, in millions; 200 if it is 0.
	Effort float64

	// Stream returns the stream of random choices of a part of the work, the
	// same for the same index. What is measured follows from the streams alone.
	Stream func(index uint64) Rand

	// Workers is how many goroutines work at once, at least 1. It changes
	// nothing but the time.
	Workers int
}

// A Size is what was measured of X_n.
type Size struct {
	N        int
	LogShare float64 // log(|X_n|/D_n); −Inf where no composition was found
	SE       float64 // its standard error
	Found    bool    // whether compositions that keep all rules are known
}

// A Composition lists used ingredients and their amounts.
type Composition struct{ Ingredients, Amounts []int32 }

// A Result is what was measured. The log shares of different sizes err together;
// see [Result.RatioSE] and [Result.LawErrors].
type Result struct {
	Sizes []Size
	Moves int64 // how many were made

	replicates [][]float64 // by size: the log share without each of the groups; nil if not found
	rules      *rules
	pools      []pool // by size
}

// RatioSE returns the standard error of log(|X_m|/|X_n|) for the sizes at two
// indexes of Sizes: the jackknife over independent groups.
func (r *Result) RatioSE(a, b int) float64 {
	return jackknife(r.replicates[a], r.replicates[b])
}

// LawErrors returns by how much, as a standard error, a law of n is off that is
// made with the measured |X_n|, where p is the law by index of Sizes.
//
// With log |X_n| off by ε_n chains sample p_n·e^{−ε_n}/Σ_m p_m·e^{−ε_m}. The error
// is the jackknife of that over the groups, so that it knows which errors come
// together: one that all sizes share changes nothing.
func (r *Result) LawErrors(p []float64) []float64 {
	laws := make([][]float64, groups)
	for g := range laws {
		laws[g] = make([]float64, len(p))
		sum := 0.0
		for k, s := range r.Sizes {
			if s.Found {
				laws[g][k] = p[k] * math.Exp(s.LogShare-r.replicates[k][g])
			} else {
				laws[g][k] = p[k]
			}
			sum += laws[g][k]
		}
		for k := range laws[g] {
			if sum > 0 {
				laws[g][k] /= sum
			}
		}
	}
	errors := make([]float64, len(p))
	for k := range p {
		without := make([]float64, groups)
		for g := range laws {
			without[g] = laws[g][k]
		}
		errors[k] = spread(without)
	}
	return errors
}

// unseen is the relative standard error of a share where every composition that
// was drawn kept the rules, or where no group differs from another: one that
// does not is as rare as one in all that were drawn.
const unseen = 1. / (groups * population)

// ErrNoStream is returned if the options have no streams.
var ErrNoStream = errors.New("measure: there are no streams of random choices")

const (
	groups     = 32   // independent populations of each size
	population = 32   // compositions of each
	pilot      = 256  // compositions of the population that fixes the steps
	matters    = 1e-3 // share of the mass from which on a size counts for RatioError
	firstTries = 16   // of each composition in the first round of ratios
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
		o.RatioError = 0.01
	}
	if o.Effort <= 0 {
		o.Effort = 200
	}
	o.Workers = max(o.Workers, 1)
	rules, err := newRules(p)
	if err != nil {
		return nil, err
	}
	m := &measurement{problem: p, options: o, rules: rules}
	return m.measure(ctx)
}

// A measurement is one on its way.
type measurement struct {
	problem Problem
	options Options
	rules   *rules
	sizes   []*sizeWork
}

// sizeWork is the work on one size.
type sizeWork struct {
	n        int
	mass     float64
	schedule schedule
	groups   [groups]*group
	stream   uint64  // index of its first stream
	logCount float64 // log D_n
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

// moves returns how many were made for a size.
func (w *sizeWork) moves() int64 {
	moves := w.schedule.moves
	for _, g := range w.groups {
		if g != nil {
			moves += g.moves
		}
	}
	return moves
}
