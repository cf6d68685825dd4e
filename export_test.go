package kir

import "fmt"

// UncheckedAccelerated returns the kernel without looking whether it can reach
// everything that the target allows.
func UncheckedAccelerated(t *Target) Kernel { return &Accelerated{t} }

// UncheckedGibbs is as UncheckedAccelerated.
func UncheckedGibbs(t *Target) Kernel { return &Gibbs{t} }

// RuleScorer returns the scorer of a space's rules.
func RuleScorer(s *Space, x *Composition) Scorer { return s.rules.Scorer(x) }

// Pair is Rand.pair.
func (r *Rand) Pair(n, m int) (a, b int) { return r.pair(n, m) }

// Split is Rand.split.
func (r *Rand) Split(end, inner float64, s int) int {
	law := newLineLaw(end, inner)
	return r.split(&law, s)
}

// FewCuts and ManyCuts return a uniform subset of 1..gaps by either method.
func FewCuts(r *Rand, size, gaps int) []int32 {
	var e exactScratch
	e.fewCuts(r, size, gaps)
	return e.cuts
}

// ManyCuts is as FewCuts.
func ManyCuts(r *Rand, size, gaps int) []int32 {
	var e exactScratch
	e.manyCuts(r, size, gaps)
	return e.cuts
}

// Consistent says what is wrong with how a composition keeps its books.
func (x *Composition) Consistent() error {
	sum := 0
	for p, i := range x.order {
		if int(i) >= len(x.slot) || x.slot[i] != int32(p) {
			return fmt.Errorf("ingredient %d stands at %d, which says %d", i, p, x.slot[i])
		}
		if (p < x.used) != (x.amounts[i] > 0) {
			return fmt.Errorf("ingredient %d has %d units at place %d of %d used", i, x.amounts[i], p, x.used)
		}
		sum += int(x.amounts[i])
	}
	if sum != x.total {
		return fmt.Errorf("the amounts sum to %d and the total is %d", sum, x.total)
	}
	return nil
}
