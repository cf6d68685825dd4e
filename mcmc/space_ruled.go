package mcmc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"runtime"
	"slices"

	"kir/internal/condition"
	"kir/internal/count"
	"kir/internal/measure"
	"kir/internal/portable"
	"kir/rule"
)

// Counting says which of the compositions that keep rules are counted, and how.
type Counting struct {
	// Law is the law of n that the space is for: sizes to which it gives no mass
	// are not counted. The zero value has all sizes counted.
	Law Sparsity

	// Seed decides what is drawn where |X_n| is measured.
	Seed uint64

	// Workers is how many goroutines work at once, as many as there are cores if
	// it is 0. It changes nothing but the time.
	Workers int

	// TableSteps bounds the work on tables for rules that could be measured
	// instead, in steps of some 10⁻⁹ s: 4·10⁹ if it is 0. With 1 they are measured.
	TableSteps float64

	// Progress, if there is one, receives what is being done, whenever that is something
	// else that may take long.
	Progress func(what string)

	// Early, if there is one, receives the space where |X_n| is measured, as soon as
	// compositions of each size are found: with counts that are rough.
	Early func(*Space) error

	// Cache, if there is one, is asked for what was worked out before of the same
	// rules, law and seed, and given what takes long. It changes nothing else.
	Cache Cache
}

// negligible is how much of a law's mass is left out, all together, where |X_n|
// has to be measured: fewer than one draw in 10⁹ would have such a size.
const negligible = 1e-9

// NewRuledSpace returns the compositions that keep a set of rules. |X_n| is worked
// out for the sizes to which the law gives mass; a target with another law that
// has mass elsewhere fails with an [*UncountedError]. A rule that is none, such as
// a least above a greatest, fails with a [*rule.Error].
//
// Amounts and groups that are disjoint or nested are counted: |X_n| is then
// exact. So are groups that overlap otherwise, needs and sums, as long as the
// states of those that are open together make tables of at most 1 GiB that some
// seconds fill; see package count. If not, [Space.Untabled] says so, and each
// composition of n ingredients is looked at if there are at most 2²⁰ whose amounts
// are allowed: |X_n| is exact then, too. Else the share that keeps these rules is
// measured, see package measure, and sizes at either end of the law are left out
// as long as they have at most 1e-9 of its mass together. A size of which no
// composition was found is taken for empty. See [Space.Shares].
func NewRuledSpace(ctx context.Context, set rule.Set, o Counting) (*Space, error) {
	s, err := NewSpace(set.Ingredients, set.Total)
	if err != nil {
		return nil, err
	}
	mass, err := o.Law.masses(s.MaxUsed())
	if err != nil {
		return nil, err
	}
	conditions, err := condition.FromRules(set)
	if err != nil {
		return nil, err
	}
	o.report("counting the compositions that keep the rules")
	r := newRuleset(conditions)
	most := len(mass)
	memo := newMemo(r, mass, o)
	countable, all := conditions.Countable()
	options := count.Options{MaxUsed: most, Workers: o.Workers, Known: memo.counts(all)}
	if !all {
		wide := options
		if wide.Steps, wide.Known = o.TableSteps, memo.counts(true); wide.Steps == 0 {
			wide.Steps = tableSteps
		}
		whole, err := conditions.FullSpace()
		if err == nil {
			err = r.tabulate(ctx, whole, wide)
		}
		if all = err == nil; !all && !errors.As(err, &r.untabled) {
			return nil, err
		}
	}
	if r.sampler == nil {
		if err := r.tabulate(ctx, countable, options); err != nil {
			return nil, err
		}
	}
	s.rules = r
	r.logCount = make([]float64, most+1)
	r.logCount[0] = negInf
	if all {
		for n := 1; n <= most; n++ {
			r.logCount[n] = r.table.LogCount(n)
		}
	} else if err := s.countShares(ctx, countable, mass, o, memo); err != nil {
		return nil, err
	}
	r.cached = memo.used
	return s, memo.keep(r)
}

func (o *Counting) report(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

// tableSteps is a few seconds, which measuring takes as well.
const tableSteps = 4e9

// tabulate counts a space, and makes what draws from it.
func (r *ruleset) tabulate(ctx context.Context, space count.Space, o count.Options) (err error) {
	if r.table, err = count.New(ctx, space, o); err == nil {
		r.sampler, err = r.table.Sampler(ctx)
	}
	return err
}

// Untabled returns why some rules are not counted by a table, nil if all are.
func (s *Space) Untabled() error {
	if s.rules == nil || s.rules.untabled == nil {
		return nil
	}
	return s.rules.untabled
}

// Cached reports whether figures came from a cache.
func (s *Space) Cached() bool { return s.rules != nil && s.rules.cached }

// masses returns the probabilities of 1..n, at index n−1, as far as there are
// any; of the zero value all are alike.
func (y Sparsity) masses(most int) ([]float64, error) {
	if y.err == nil && y.weight == nil && y.parts == nil && y.base == nil {
		y = Uniform(1, most)
	}
	if y.err != nil {
		return nil, y.err
	}
	p, err := y.normalised(most)
	if err != nil {
		return nil, err
	}
	for p[len(p)-1] == 0 {
		p = p[:len(p)-1]
	}
	return p, nil
}

// countShares works out which share of what a table counts keeps the other rules.
func (s *Space) countShares(ctx context.Context, countable count.Space, mass []float64, o Counting, memo *memo) error {
	r := s.rules
	o.report("looking at compositions one by one")
	r.shares = make([]Share, len(mass))
	r.measuredAt = make([]int, len(mass)+1)
	var sizes []int // to measure
	for n := 1; n <= len(mass); n++ {
		r.logCount[n], r.measuredAt[n] = negInf, -1
		share := &r.shares[n-1]
		share.N = n
		if mass[n-1] == 0 {
			continue
		}
		if r.table.Empty(n) {
			share.Exact, share.Counted = true, true
			continue
		}
		kept, ok, err := r.CountFeasible(ctx, n)
		if err != nil {
			return err
		}
		if ok {
			share.Exact, share.Counted = true, true
			share.Estimate = float64(kept) / float64(r.table.Count(n).Int64()) // no more than were looked at
			r.logCount[n] = portable.Log(float64(kept))
		} else {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	// Sizes at the ends that hardly any draw has are not worth measuring; and those
	// beyond them would leave a gap.
	lo, hi := trimTails(mass)
	for n := range r.shares {
		if n+1 < lo || n+1 > hi {
			r.shares[n], r.logCount[n+1] = Share{N: n + 1}, negInf
		}
	}
	if sizes = slices.DeleteFunc(sizes, func(n int) bool { return n < lo || n > hi }); len(sizes) == 0 {
		return nil
	}
	options := measure.Options{Sizes: sizes, Workers: o.Workers, Stream: func(index uint64) measure.Rand {
		return NewRand(o.Seed, "share of rules", index)
	}}
	if options.Workers <= 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	for _, n := range sizes {
		options.Mass = append(options.Mass, mass[n-1])
	}
	problem := measure.Problem{Space: countable, Table: r.table, Sampler: r.sampler, Sums: r.UncountedSums()}
	if r.measured = memo.measured(problem, sizes); r.measured == nil {
		o.report("measuring how many compositions keep the rules")
		if o.Early != nil {
			options.Early = func(m *measure.Result) error { return o.Early(s.withMeasured(m)) }
		}
		var err error
		if r.measured, err = measure.Measure(ctx, problem, options); err != nil {
			return err
		}
	}
	r.takeMeasured()
	return nil
}

// takeMeasured takes over the shares that were measured.
func (r *ruleset) takeMeasured() {
	for at, m := range r.measured.Sizes {
		share := &r.shares[m.N-1]
		share.Counted = true
		share.Estimate = portable.Exp(m.LogShare)
		if m.Found {
			share.SE = float64(share.Estimate * m.SE)
			r.measuredAt[m.N] = at
			r.logCount[m.N] = r.table.LogCount(m.N) + m.LogShare
		}
	}
}

// withMeasured returns the space with what is measured so far.
func (s *Space) withMeasured(m *measure.Result) *Space {
	r := *s.rules
	r.measured, r.sampler = m, r.sampler.Clone()
	r.shares, r.measuredAt, r.logCount = slices.Clone(r.shares), slices.Clone(r.measuredAt), slices.Clone(r.logCount)
	r.takeMeasured()
	space := *s
	space.rules = &r
	return &space
}

// trimTails returns the sizes from lo to hi without those at either end that have at
// most half of [negligible] together.
func trimTails(mass []float64) (lo, hi int) {
	lo, hi = 1, len(mass)
	for left := mass[lo-1]; lo < hi && left <= negligible/2; left += mass[lo-1] {
		lo++
	}
	for left := mass[hi-1]; lo < hi && left <= negligible/2; left += mass[hi-1] {
		hi--
	}
	return lo, hi
}

// An UncountedError says that a sparsity law has mass on sizes for which the
// compositions of a space with rules have not been counted; see [NewRuledSpace].
type UncountedError struct {
	Sizes []int   // with mass and not counted
	Mass  float64 // that they have together
}

func (e *UncountedError) Error() string {
	return fmt.Sprintf("%.2g of the sparsity law lies at %s ingredients, for which the space was not counted: make the space for this law, or give the law no mass there", e.Mass, sizesText(e.Sizes))
}

// covers says, as an [*UncountedError], that a law has mass that matters on sizes for
// which the space was not counted.
func (s *Space) covers(l *Law) error {
	if s.rules == nil {
		return nil
	}
	e := &UncountedError{}
	lo, hi := l.Support()
	for n := lo; n <= hi; n++ {
		if l.P(n) > 0 && (n > s.MaxUsed() || !s.rules.counted(n)) {
			e.Sizes, e.Mass = append(e.Sizes, n), e.Mass+l.P(n)
		}
	}
	if e.Mass > negligible {
		return e
	}
	return nil
}

// Counts returns n and the exact |X_n| for n from lo to hi, in order: of a space with
// rules, the number of compositions that keep those which a table counts, and hi is at
// most [Space.MaxUsed]. A number has up to some thousands of digits, and is worked out
// when it is asked for.
func (s *Space) Counts(lo, hi int) (iter.Seq2[int, *big.Int], error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	return table.Counts(lo, hi), nil
}

func (s *Space) table() (*count.Table, error) {
	if s.rules != nil {
		return s.rules.table, nil
	}
	return count.Unconstrained(s.ingredients, s.total)
}

// logDrawable returns the log of how many compositions of n ingredients
// [exactScratch.draw] draws from: |X_n|, unless some rules are not counted.
func (s *Space) logDrawable(n int) float64 {
	return s.rules.table.LogCount(n)
}

// Shares returns what part of the counted compositions keeps the rules that
// cannot be counted, by n from 1 on; nil if all rules are counted, and so the
// sparsity law is exact.
func (s *Space) Shares() []Share {
	if s.rules == nil {
		return nil
	}
	return s.rules.shares
}

// LawErrors returns by how much, as a standard error, the probability of each n
// is off because |X_n| was measured, where p is the law that chains sample, by n
// from 0 on. It is 0 for all n if nothing was measured.
//
// The error is that of the law, not of the chains: more draws do not lessen it,
// and it is independent of theirs, so that both are added in squares. See
// [measure.Result.LawErrors].
func (s *Space) LawErrors(p []float64) []float64 {
	errors := make([]float64, len(p))
	if s.rules == nil || s.rules.measured == nil {
		return errors
	}
	// What was not measured is exact, and part of the law all the same.
	at := make([]float64, len(s.rules.measured.Sizes))
	exact := 0.0
	for n, mass := range p {
		if n < len(s.rules.measuredAt) && n > 0 && s.rules.measuredAt[n] >= 0 {
			at[s.rules.measuredAt[n]] = mass
		} else {
			exact += mass
		}
	}
	measured, rest := s.rules.measured.LawErrors(at, exact)
	for n, mass := range p {
		if n < len(s.rules.measuredAt) && n > 0 && s.rules.measuredAt[n] >= 0 {
			errors[n] = measured[s.rules.measuredAt[n]]
		} else if exact > 0 {
			errors[n] = rest * mass / exact
		}
	}
	return errors
}
