package count

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/golden"
)

// TestSpacesStay keeps of spaces of all kinds what counting and drawing is said to take,
// which primes and tables that is, what can be reached, how groups nest, the counts, and
// what is drawn from a seed.
func TestSpacesStay(t *testing.T) {
	kept := golden.Open(t)
	told := func(s Space, o Options) string {
		inner, nested, ok := s.NestGroups()
		fit, rest := s.CompatibleGroups()
		said := fmt.Sprintf("nest %v %v %t, disjoint %v %v", inner, nested, ok, fit, rest)
		for i := range min(len(s.Ingredients), 6) {
			lo, step, n := s.Ingredients[i].AllowedAmounts(s.Total)
			said += fmt.Sprintf(", %d+%d·%d", lo, step, n)
		}
		can, took, err := ReachableUsedCounts(t.Context(), s, o.MaxUsed)
		said += fmt.Sprintf("\nreach %v %.6g %v", can, took, err)
		table, err := New(t.Context(), s, o)
		if err != nil {
			return said + "\n" + err.Error()
		}
		p := table.plan
		said += fmt.Sprintf("\n%d of %d, to %d, %.6g steps", table.IngredientCount(), table.Total(), table.MaxUsed(), table.Steps())
		if !p.impossible && table.closed == nil {
			said += fmt.Sprintf(", %.6g, %d primes, sampler %.6g, at most %d", p.cost(), p.primeCount(), p.samplerBytes(), p.maxPossibleUsed())
		}
		for n, x := range table.Counts(0, min(table.MaxUsed(), 8)) {
			said += fmt.Sprintf(" %v %.9g %t", x, table.LogCount(n), table.IsEmpty(n))
		}
		sampler, err := table.Sampler(t.Context())
		if err != nil {
			return said + "\n" + err.Error()
		}
		r := pcg{rand.New(rand.NewPCG(4, 2))}
		for n := range table.MaxUsed() + 1 {
			if table.IsEmpty(n) || n > 8 && n%50 > 0 {
				continue
			}
			i, a, err := sampler.Clone().Draw(r, n, nil, nil)
			if !s.Contains(i, a) {
				t.Errorf("%v of %v is none of the space", a, i)
			}
			if err != nil || n <= 12 {
				said += fmt.Sprintln("\ndraw", i, a, err)
			} else {
				said += fmt.Sprintf("\ndraw %x", sha256.Sum256(fmt.Append(nil, i, a)))
			}
		}
		return said
	}
	random := rand.New(rand.NewPCG(20261127, 8))
	all := ""
	for k := range 300 {
		s := randomSpace(random)
		if k%3 == 0 {
			s = randomCrossing(random)
		}
		said := told(s, Options{})
		if k < 12 {
			kept.CheckText(t, fmt.Sprint("random ", k), said)
		}
		if all += said; k%20 == 19 {
			sum := sha256.Sum256([]byte(all))
			kept.CheckText(t, fmt.Sprint("up to ", k), fmt.Sprintf("%x", sum[:8]))
		}
	}
	free := func(n int) []Ingredient { return make([]Ingredient, n) }
	for name, c := range map[string]struct {
		s Space
		o Options
	}{
		"no rules": {Space{Total: 1000, Ingredients: free(50)}, Options{}}, "coarse": {Space{Total: 1000, Ingredients: slices.Repeat([]Ingredient{{Step: 20}}, 30)}, Options{}}, "coarse, one finer": {Space{Total: 1000, Ingredients: append(slices.Repeat([]Ingredient{{Step: 20}}, 30), Ingredient{Step: 10})}, Options{}},
		"doses": {Space{Total: 200, Ingredients: slices.Repeat([]Ingredient{{Min: 3, Max: 40}, {}}, 8)}, Options{MaxUsed: 9}}, "required": {Space{Total: 50, Ingredients: append(slices.Repeat([]Ingredient{{Required: true, Min: 2}}, 3), free(5)...)}, Options{}}, "groups": {Space{Total: 100, Ingredients: free(12), Groups: []Group{{Members: []int{0, 1, 2, 3}, Used: &Range{1, 2}}, {Members: []int{1, 2}, Total: &Range{5, 30}}, {Members: []int{5, 6}, Used: &Range{0, 1}, Total: &Range{0, 50}}}}, Options{MaxUsed: 6}},
		"assets": {assets(), Options{MaxUsed: 12}}, "middling": {middling(), Options{MaxUsed: 20}}, "crossing": {crossing(8, 16, 3, 4, true), Options{MaxUsed: 5}}, "crossing, of used": {crossing(20, 60, 5, 6, false), Options{MaxUsed: 6}},
		"a sum": {Space{Total: 30, Ingredients: free(8), Sums: []Sum{{Min: -20, Max: 45, Terms: []Term{{0, 2, 0}, {1, -1, 3}, {2, 0, 1}, {5, 1, 0}}}}}, Options{MaxUsed: 5}}, "two sums": {Space{Total: 20, Ingredients: free(6), Sums: []Sum{{Min: math.MinInt64, Max: 0, Terms: []Term{{0, 0, 1}, {1, 0, -1}, {2, 0, -1}}}, {Min: 10, Max: math.MaxInt64, Terms: []Term{{3, 3, 0}, {4, 1, 1}}}}}, Options{}},
		"a sum of what is not there": {Space{Total: 20, Ingredients: free(3), Sums: []Sum{{Terms: []Term{{3, 1, 1}}}}}, Options{}}, "a sum too large": {Space{Total: 1 << 20, Ingredients: free(3), Sums: []Sum{{Terms: []Term{{0, 1 << 50, 0}}}}}, Options{}}, "a sum of all": {Space{Total: 1 << 20, Ingredients: free(3), Sums: []Sum{{Min: 1 << 20, Max: 1 << 20, Terms: []Term{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}}}}, Options{}},
		"steps": {middling(), Options{MaxUsed: 20, MaxSteps: 1000}}, "memory": {middling(), Options{MaxUsed: 20, MaxMemory: 1000}}, "memory of draws": {middling(), Options{MaxUsed: 20, MaxMemory: 1 << 20}}, "impossible": {Space{Total: 7, Ingredients: slices.Repeat([]Ingredient{{Step: 2}}, 4)}, Options{}},
	} {
		kept.CheckText(t, name, told(c.s, c.o))
	}
	for _, g := range []Group{{Members: []int{2, 0}}, {Members: []int{1}, Used: &Range{1, 2}}, {Members: []int{0, 3}, Used: &Range{0, 1}, Total: &Range{2, 9}}} {
		kept.CheckText(t, fmt.Sprintf("sums of %v %t %t", g.Members, g.Used != nil, g.Total != nil), fmt.Sprintf("%+v", g.Sums()))
	}
	s := Space{Total: 10, Ingredients: free(4), Groups: []Group{{Members: []int{0, 1}, Used: &Range{1, 1}}}, Sums: []Sum{{Min: 3, Max: 12, Terms: []Term{{0, 2, 0}, {1, 1, 1}}}}}
	for _, x := range [][2][]int32{{{0, 2}, {2, 8}}, {{0, 2}, {6, 4}}, {{0, 2}, {7, 3}}, {{0, 2}, {1, 9}}, {{1, 3}, {2, 8}}, {{0, 1}, {3, 7}}, {{2}, {10}}, {{2, 2}, {5, 5}}, {{0}, {5}}, {{4}, {10}}, {{-1}, {10}}, {{1}, {10, 1}}, {{1, 2}, {0, 10}}} {
		kept.CheckText(t, fmt.Sprintf("contains %v %v", x[0], x[1]), fmt.Sprint(s.Contains(x[0], x[1])))
	}
	s.Groups[0].Members = []int{0, 4}
	kept.CheckText(t, "contains, no member", fmt.Sprint(s.Contains([]int32{0, 2}, []int32{2, 8})))
	known := []*big.Int{big.NewInt(7), big.NewInt(8), big.NewInt(9), big.NewInt(1)}
	for k, known := range [][]*big.Int{known, known[:3], {big.NewInt(1), nil, nil, nil}} {
		table, err := New(t.Context(), Space{Total: 9, Ingredients: []Ingredient{{Max: 5}, {Max: 6}, {}}}, Options{KnownCounts: known})
		kept.CheckText(t, fmt.Sprint("known ", k), fmt.Sprintf("%v %v %v", table.TabulatedCounts(), table.TotalCount(), err))
	}
}

// TestLogBinomial0 keeps logs of binomials at the bounds of what is summed and what is
// Stirling's.
func TestLogBinomial0(t *testing.T) {
	kept := golden.Open(t)
	for _, c := range [][2]int{{5, -1}, {5, 0}, {5, 5}, {5, 6}, {10, 3}, {62, 31}, {63, 32}, {64, 32}, {1000, 31}, {1000, 32}, {1000, 968}, {1 << 30, 1 << 20}} {
		kept.CheckText(t, fmt.Sprint(c), fmt.Sprintf("%.13g", logBinomial(c[0], c[1])))
	}
}
