package mcmc

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// A Space is the set X of possible compositions. A composition divides a total of M units among N
// ingredients; amounts are non-negative integers. X_n is the set of the compositions that use
// exactly n ingredients.
//
// Without rules |X_n| = C(N, n)·C(M−1, n−1): the choices of n ingredients, times the choices of n−1
// cuts among the M−1 gaps between units. With rules, see [NewRuledSpace], |X_n| is counted.
type Space struct {
	ingredients int      // N, the number of ingredients
	total       int      // M, the number of units
	rules       *ruleset // the rules that compositions must keep; nil if there are none

	conditions *conditionSet // the conditions, such as a temperature; nil if there are none
}

// NewSpace returns the space of the compositions that divide total units among the given number of
// ingredients. Both numbers must be at least 1 and below 2³¹.
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

// Total returns M, the number of units that every composition divides.
func (s *Space) Total() int { return s.total }

// MaxUsed returns the greatest number of ingredients that a composition can use. Without rules this
// is min(N, M). With rules it is the greatest number for which compositions were counted.
func (s *Space) MaxUsed() int {
	if s.rules != nil {
		return len(s.rules.logCounts) - 1
	}
	return min(s.ingredients, s.total)
}

// Ratio returns |X_{n+1}| / |X_n|, the ratio of the numbers of compositions with n+1 and n
// ingredients, for 1 ≤ n ≤ MaxUsed. Without rules it is (N−n)(M−n) / (n(n+1)). It is 0 if there are
// no compositions with n+1 ingredients. It is +Inf if there are some with n+1 but none with n.
func (s *Space) Ratio(n int) float64 {
	if s.rules != nil {
		next := negInf
		if n < s.MaxUsed() {
			next = s.rules.logCounts[n+1]
		}
		if next == negInf {
			return 0
		}
		return portable.Exp(next - s.rules.logCounts[n])
	}
	f := float64(n)
	return float64((float64(s.ingredients) - f) / f * ((float64(s.total) - f) / (f + 1)))
}

// logRatio returns log(|X_{n+1}|/|X_n|). It cannot overflow, and [Space.Ratio] can in a space with
// rules.
func (s *Space) logRatio(n int) float64 {
	if s.rules == nil || n >= s.MaxUsed() {
		return portable.Log(s.Ratio(n))
	}
	return s.rules.logCounts[n+1] - s.rules.logCounts[n]
}

// LogCounts returns, at index n, the log of the number of compositions with n ingredients, for n
// from 1 to maxUsed. Index 0 holds −Inf.
func (s *Space) LogCounts(maxUsed int) []float64 {
	if s.rules != nil {
		return slices.Clone(s.rules.logCounts[:maxUsed+1])
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

// Contains returns an error unless x has the number of ingredients and the total of the space, and
// valid values of its conditions. It ignores rules: a composition that breaks a rule has density 0.
func (s *Space) Contains(x *Composition) error {
	if x.N() != s.ingredients {
		return fmt.Errorf("a composition of %d ingredients is not in a space of %d", x.N(), s.ingredients)
	}
	if x.Total() != s.total {
		return fmt.Errorf("the amounts of %v sum to %d, not to the total of %d", x, x.Total(), s.total)
	}
	return s.conditions.checkValuesOf(x)
}
