package kir

import (
	"context"
	"math"

	"kir/count"
	"kir/rule"
)

// A Share is the part of the compositions of n ingredients that can be counted
// which keep the other rules too.
type Share struct {
	N        int
	Estimate float64 // Kept/Drawn
	SE       float64 // standard error of the estimate, 0 if it is exact
	Kept     int
	Drawn    int  // or looked at
	Exact    bool // all were looked at
}

const (
	// shareKept and shareDrawn say when the share that passes has been
	// measured: after that many passes, which makes the relative standard error
	// at most 1 %, or that many draws.
	shareKept  = 10_000
	shareDrawn = 1_000_000
)

// NewRuledSpace returns the compositions that keep a set of rules. |X_n| is worked
// out for n up to most, which 0 makes all; a law of n that has mass beyond fails
// with an [*UncountedError]. A rule that is none, such as a least above a greatest,
// fails with a [*rule.Error].
//
// Amounts and groups that are disjoint or nested are counted: |X_n| is then
// exact. Groups that overlap otherwise, needs and limits leave a share of what is
// counted, which is measured.
//
// Of rules that cannot be counted each composition of n ingredients is looked at,
// if there are at most 2²⁰ whose amounts are allowed: |X_n| is exact then, too. Else
// the share that keeps them is measured: compositions are drawn exactly and
// uniformly from those that keep the countable rules, until 10,000 keep the others
// too or 1,000,000 were drawn; |X_n| is the count times the share. An n at which
// none was found is taken for empty. See [Space.Shares].
func NewRuledSpace(ctx context.Context, set rule.Set, most int) (*Space, error) {
	s, err := NewSpace(set.Ingredients, set.Total)
	if err != nil {
		return nil, err
	}
	if most < 1 || most > s.MaxUsed() {
		most = s.MaxUsed()
	}
	conditions, err := set.Conditions()
	if err != nil {
		return nil, err
	}
	r := newRuleset(conditions)
	countable, all := conditions.Countable()
	if r.table, err = count.New(ctx, countable, count.Options{MaxUsed: most}); err != nil {
		return nil, err
	}
	if r.sampler, err = r.table.Sampler(ctx); err != nil {
		return nil, err
	}
	s.rules = r
	r.logCount = make([]float64, most+1)
	r.logCount[0] = negInf
	for n := 1; n <= most; n++ {
		r.logCount[n] = r.table.LogCount(n)
		if all {
			continue
		}
		share := Share{N: n}
		if r.table.Empty(n) {
			share.Exact = true
		} else if kept, ok := r.Kept(n); ok {
			all := r.table.Count(n).Int64() // no more than were looked at
			share = Share{N: n, Estimate: float64(kept) / float64(all), Kept: kept, Drawn: int(all), Exact: true}
		} else if share, err = s.measure(ctx, n); err != nil {
			return nil, err
		}
		r.shares = append(r.shares, share)
		r.logCount[n] += math.Log(share.Estimate)
	}
	return s, nil
}

// measure estimates which share of the countable compositions of n ingredients
// keeps the other rules.
func (s *Space) measure(ctx context.Context, n int) (Share, error) {
	share := Share{N: n}
	r := NewRand(0, "share of rules", uint64(n))
	x := newComposition(s.ingredients)
	scorer := s.rules.scorer(x)
	e := exactScratch{sampler: s.rules.sampler.Clone()}
	for share.Kept < shareKept && share.Drawn < shareDrawn {
		if share.Drawn%4096 == 0 && ctx.Err() != nil {
			return share, ctx.Err()
		}
		e.draw(r, x, n, s.total)
		scorer.Reset()
		share.Drawn++
		if scorer.LogScore() == 0 {
			share.Kept++
		}
	}
	share.Estimate = float64(share.Kept) / float64(share.Drawn)
	share.SE = math.Sqrt(share.Estimate * (1 - share.Estimate) / float64(share.Drawn))
	return share, nil
}

// Ruled says whether the space has rules.
func (s *Space) Ruled() bool { return s.rules != nil }

// Counts returns the exact counts of the space: without rules in closed form,
// and with rules those of the ones that can be counted.
func (s *Space) Counts() (*count.Table, error) {
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
