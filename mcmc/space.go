package mcmc

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// A Space is the set X of feasible compositions: N ingredients, amounts that
// are non-negative integers, and a fixed sum of M units, the total. X_n are
// those that use exactly n ingredients.
//
// Without rules |X_n| = C(N, n)·C(M−1, n−1): which ingredients, and where the
// n−1 cuts fall among the M−1 gaps between units. With rules, see
// [NewRuledSpace], it is counted.
type Space struct {
	ingredients int
	total       int
	rules       *ruleset // nil without rules

	conditions *conditionSet // nil without conditions
}

// NewSpace returns the space of compositions of total units over the given
// number of ingredients. Both are at least 1 and below 2³¹.
func NewSpace(ingredients, total int) (*Space, error) {
	if ingredients < 1 || ingredients > math.MaxInt32 {
		return nil, fmt.Errorf("the number of ingredients is %d: it must be from 1 to %d", ingredients, math.MaxInt32)
	}
	if total < 1 || total > math.MaxInt32 {
		return nil, fmt.Errorf("the total is %d: it must be from 1 to %d units", total, math.MaxInt32)
	}
	return &Space{ingredients: ingredients, total: total}, nil
}

// N returns the number of ingredients.
func (s *Space) N() int { return s.ingredients }

// Total returns M, the units that every composition divides.
func (s *Space) Total() int { return s.total }

// MaxUsed returns the most ingredients that a composition can use: min(N, M) without rules. With
// rules it covers only the sizes that were counted.
func (s *Space) MaxUsed() int {
	if s.rules != nil {
		return len(s.rules.logCount) - 1
	}
	return min(s.ingredients, s.total)
}

// Ratio returns |X_{n+1}| / |X_n| for 1 ≤ n ≤ MaxUsed: (N−n)(M−n) / (n(n+1)) without rules. It is 0
// where X_{n+1} is empty, and +Inf where only X_n is.
func (s *Space) Ratio(n int) float64 {
	if s.rules != nil {
		next := negInf
		if n < s.MaxUsed() {
			next = s.rules.logCount[n+1]
		}
		if next == negInf {
			return 0
		}
		return portable.Exp(next - s.rules.logCount[n])
	}
	f := float64(n)
	return float64((float64(s.ingredients) - f) / f * ((float64(s.total) - f) / (f + 1)))
}

// logRatio returns log(|X_{n+1}|/|X_n|). Unlike [Space.Ratio] it cannot overflow under rules.
func (s *Space) logRatio(n int) float64 {
	if s.rules == nil || n >= s.MaxUsed() {
		return portable.Log(s.Ratio(n))
	}
	return s.rules.logCount[n+1] - s.rules.logCount[n]
}

// LogCounts returns log |X_n| for 1 ≤ n ≤ maxUsed at index n. Index 0 holds −Inf.
func (s *Space) LogCounts(maxUsed int) []float64 {
	if s.rules != nil {
		return slices.Clone(s.rules.logCount[:maxUsed+1])
	}
	logs := make([]float64, maxUsed+1)
	logs[0] = math.Inf(-1)
	if maxUsed >= 1 {
		logs[1] = portable.Log(float64(s.ingredients))
	}
	for n := 1; n < maxUsed; n++ {
		logs[n+1] = logs[n] + portable.Log(s.Ratio(n))
	}
	return logs
}

// Contains returns an error if x does not divide the space's total among its ingredients. It
// ignores rules: a composition that breaks one has density 0.
func (s *Space) Contains(x *Composition) error {
	if x.N() != s.ingredients {
		return fmt.Errorf("a composition of %d ingredients is not in a space of %d", x.N(), s.ingredients)
	}
	if x.Total() != s.total {
		return fmt.Errorf("the amounts of %v sum to %d, not to the total of %d", x, x.Total(), s.total)
	}
	return s.conditions.contains(x)
}
