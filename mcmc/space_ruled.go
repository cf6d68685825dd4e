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

// Counting are the options for counting the compositions that keep rules.
type Counting struct {
	// Law is the law of n that the space serves. Sizes without mass in it are not counted. With the
	// zero value all sizes are counted.
	Law Sparsity

	// Seed decides the random choices where |X_n| is measured.
	Seed uint64

	// Workers is the number of goroutines, or 0 for one a core. It does not affect the results.
	Workers int

	// TableSteps bounds the work on tables for rules that could be measured instead, in steps of
	// some 10⁻⁹ s. 0 stands for 4·10⁹. With 1 such rules are measured.
	TableSteps float64

	// Progress, if not nil, receives the name of each piece of work that may take long, when it
	// begins.
	Progress func(what string)

	// Cache, if not nil, is asked for earlier results of the same rules, law and seed, and stores
	// results that take long. It does not affect the results.
	Cache Cache
}

// negligible is the total mass of a law that is left out where |X_n| has to be measured: fewer than
// one draw in 10⁹ would have such a size.
const negligible = 1e-9

// NewRuledSpace returns the compositions that keep a set of rules. It counts |X_n| for the sizes to
// which the law gives mass. A target with a law that has mass on other sizes fails with an
// [*UncountedError]. An invalid rule, such as a least above a greatest, fails with a [*rule.Error].
//
// Amounts, and groups that are disjoint or nested, are counted exactly. So are groups that overlap
// otherwise, needs and sums, as long as the states of those open together make tables of at most 1
// GiB that some seconds fill; see package count. Otherwise [Space.Untabled] returns the reason.
// Then, if at most 2²⁰ compositions of n ingredients have allowed amounts, each is checked, and
// |X_n| is exact too. Else the share that keeps these rules is measured, see package volume. Sizes
// at either end of the law are then left out, as long as they have at most 1e-9 of its mass
// together. A size without any composition found counts as empty. See [Space.Shares].
func NewRuledSpace(ctx context.Context, set rule.Set, o Counting) (*Space, error) {
	c, err := BeginRuledSpace(ctx, set, o)
	if err != nil {
		return nil, err
	}
	return c.Finish(ctx)
}

// A Count is the count of a ruled space that has begun.
type Count struct {
	space    *Space
	memo     *memo
	measured *volume.Measurement // nil if |X_n| is known
}

// BeginRuledSpace does the first part of [NewRuledSpace], up to where compositions of each size are found.
func BeginRuledSpace(ctx context.Context, set rule.Set, o Counting) (*Count, error) {
	s, err := NewSpace(set.Ingredients, set.Total)
	if err != nil {
		return nil, err
	}
	mass, err := o.Law.masses(s.MaxUsed())
	if err != nil {
		return nil, err
	}
	conditions, err := constraint.FromRules(set)
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
		return &Count{space: s, memo: memo}, nil
	}
	measured, err := s.countShares(ctx, countable, mass, o, memo)
	if err != nil {
		return nil, err
	}
	return &Count{space: s, memo: memo, measured: measured}, nil
}

// Rough returns the space with rough counts, or nil if the counts are known already.
func (c *Count) Rough() *Space {
	if c.measured == nil {
		return nil
	}
	return c.space.withMeasured(c.measured.Rough())
}

// Finish returns the counted space. It can be called once.
func (c *Count) Finish(ctx context.Context) (_ *Space, err error) {
	r := c.space.rules
	if c.measured != nil {
		if r.measured, err = c.measured.Finish(ctx); err != nil {
			return nil, err
		}
		r.takeMeasured()
	}
	r.cached = c.memo.used
	return c.space, c.memo.keep(r)
}

func (o *Counting) report(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

// tableSteps stands for a few seconds, about as long as measuring takes.
const tableSteps = 4e9

// tabulate counts a space, and makes the sampler of its compositions.
func (r *ruleset) tabulate(ctx context.Context, space count.Space, o count.Options) (err error) {
	if r.table, err = count.New(ctx, space, o); err == nil {
		r.sampler, err = r.table.Sampler(ctx)
	}
	return err
}

// Untabled returns the reason why a table does not count some rules, nil if it counts all.
func (s *Space) Untabled() error {
	if s.rules == nil || s.rules.untabled == nil {
		return nil
	}
	return s.rules.untabled
}

// Cached reports whether results came from a cache.
func (s *Space) Cached() bool { return s.rules != nil && s.rules.cached }

// masses returns the probabilities of 1..n, at index n−1, as far as there are any. The zero value
// gives all sizes the same probability.
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

// countShares computes the share of the tabled compositions that keeps the other rules. Where it has to be
// measured, it begins to, and returns the measurement.
func (s *Space) countShares(ctx context.Context, countable count.Space, mass []float64, o Counting, memo *memo) (*volume.Measurement, error) {
	r := s.rules
	o.report("looking at compositions one by one")
	r.shares = make([]Share, len(mass))
	r.measuredAt = make([]int, len(mass)+1)
	var sizes []int // the sizes whose share must be measured
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
			return nil, err
		}
		if ok {
			share.Exact, share.Counted = true, true
			share.Estimate = float64(kept) / float64(r.table.Count(n).Int64()) // CountFeasible checked all: they fit an int64
			r.logCount[n] = portable.Log(float64(kept))
		} else {
			sizes = append(sizes, n)
		}
	}
	if len(sizes) == 0 {
		return nil, nil
	}
	// Sizes at the ends with almost no mass are not worth measuring. Sizes beyond them would leave
	// a gap.
	lo, hi := trimTails(mass)
	for n := range r.shares {
		if n+1 < lo || n+1 > hi {
			r.shares[n], r.logCount[n+1] = Share{N: n + 1}, negInf
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
		options.Mass = append(options.Mass, mass[n-1])
	}
	problem := volume.Problem{Space: countable, Table: r.table, Sampler: r.sampler, Sums: r.UncountedSums()}
	if r.measured = memo.measured(problem, sizes); r.measured != nil {
		r.takeMeasured()
		return nil, nil
	}
	o.report("measuring how many compositions keep the rules")
	return volume.Begin(ctx, problem, options)
}

// takeMeasured adopts the measured shares.
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

// withMeasured returns the space with the shares measured so far.
func (s *Space) withMeasured(m *volume.Result) *Space {
	r := *s.rules
	r.measured, r.sampler = m, r.sampler.Clone()
	r.shares, r.measuredAt, r.logCount = slices.Clone(r.shares), slices.Clone(r.measuredAt), slices.Clone(r.logCount)
	r.takeMeasured()
	space := *s
	space.rules = &r
	return &space
}

// trimTails returns the range lo to hi that remains without the sizes at each end that have at most
// half of [negligible] together.
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

// An UncountedError is returned for a sparsity law with mass on sizes whose compositions were not
// counted in a space with rules; see [NewRuledSpace].
type UncountedError struct {
	Sizes []int   // the sizes that have mass but were not counted
	Mass  float64 // the probability of all these sizes together
}

func (e *UncountedError) Error() string {
	return fmt.Sprintf("%.2g of the sparsity law lies at %s ingredients, for which the space was not counted: make the space for this law, or give the law no mass there", e.Mass, sizesText(e.Sizes))
}

// covers returns an [*UncountedError] if a law has non-negligible mass on sizes that were not
// counted.
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

// Counts returns n and the exact |X_n| for n from lo to hi, in order; hi is at most
// [Space.MaxUsed]. In a space with rules it is the number of compositions that keep the rules that
// a table counts. Such a number may have thousands of digits, and is computed on demand.
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

// logDrawable returns the log of the number of compositions of n ingredients that
// [exactScratch.draw] draws from: |X_n|, unless some rules are not counted.
func (s *Space) logDrawable(n int) float64 {
	if s.conditions.isTied() {
		return logSum(s.conditions.drawable[n].logs)
	}
	return s.rules.table.LogCount(n)
}

// Shares returns the share of the counted compositions that keeps the rules that cannot be counted,
// by n from 1 on. It is nil if all rules are counted; the sparsity law is then exact.
func (s *Space) Shares() []Share {
	if s.rules == nil {
		return nil
	}
	return s.rules.shares
}

// LawErrors returns the standard error of the probability of each n that comes from measuring
// |X_n|, by n from 0 on. p is the law that chains sample. The error is 0 for all n if nothing was
// measured.
//
// More draws do not lessen this error, since it belongs to the law and not to the chains. It is
// independent of the chains' error, so their squares add up. See [volume.Result.LawErrors].
func (s *Space) LawErrors(p []float64) []float64 {
	errors := make([]float64, len(p))
	if s.conditions.isTied() {
		return s.rules.lawErrorsOfShares(p)
	}
	if s.rules == nil || s.rules.measured == nil {
		return errors
	}
	// Sizes that were not measured are exact, and still part of the law.
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
