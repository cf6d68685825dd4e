package kir_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir"
	"kir/count"
	"kir/internal/stattest"
	"kir/rule"
)

// randomRules makes rules of every kind, some of them at a time, and the same
// again as a plain function of the amounts.
func randomRules(r *rand.Rand, ingredients, total int) (rules rule.Set, feasible func(x []int) bool) {
	var checks []func(x []int) bool
	used := func(x []int, of []int) (n, sum int) {
		for _, i := range of {
			sum += x[i]
			if x[i] > 0 {
				n++
			}
		}
		return n, sum
	}
	some := func() []int {
		var of []int
		for i := range ingredients {
			if r.IntN(2) == 0 {
				of = append(of, i)
			}
		}
		return of
	}
	rules.Ingredients, rules.Total = ingredients, total
	add := func(r rule.Rule) { rules.Rules = append(rules.Rules, r) }
	for i := range ingredients {
		of := []int{i}
		switch r.IntN(8) {
		case 0:
			add(rule.Require{Of: of})
			checks = append(checks, func(x []int) bool { return x[i] > 0 })
		case 1:
			add(rule.Exclude{Of: of})
			checks = append(checks, func(x []int) bool { return x[i] == 0 })
		case 2:
			a := rule.Amount{Of: of, Min: 1 + r.IntN(2), Max: 2 + r.IntN(total-1)}
			add(a)
			least, most := a.Min, a.Max
			checks = append(checks, func(x []int) bool { return x[i] == 0 || least <= x[i] && x[i] <= most })
		case 3:
			a := rule.Amount{Of: of, Min: r.IntN(3), Step: 2 + r.IntN(2)}
			if r.IntN(2) == 0 {
				a.Max = a.Min + a.Step + r.IntN(3)
			}
			add(a)
			first, step, most := a.Min, a.Step, a.Max
			if first == 0 {
				first = step
			}
			if most == 0 {
				most = total
			}
			checks = append(checks, func(x []int) bool {
				return x[i] == 0 || first <= x[i] && x[i] <= most && (x[i]-first)%step == 0
			})
		}
	}
	for range r.IntN(3) {
		of := some()
		if len(of) == 0 {
			continue
		}
		g := rule.Group{Of: of}
		if r.IntN(2) == 0 {
			lo := r.IntN(2)
			hi := lo + r.IntN(2)
			g.Used = &rule.Range{Min: lo, Max: hi}
			checks = append(checks, func(x []int) bool { n, _ := used(x, of); return lo <= n && n <= hi })
		}
		if r.IntN(2) == 0 {
			lo := r.IntN(total)
			hi := lo + r.IntN(total)
			g.Total = &rule.Range{Min: lo, Max: hi}
			checks = append(checks, func(x []int) bool { _, sum := used(x, of); return lo <= sum && sum <= hi })
		}
		add(g)
	}
	if r.IntN(3) == 0 {
		need := rule.Need{If: r.IntN(ingredients), Then: some()}
		add(need)
		checks = append(checks, func(x []int) bool { n, _ := used(x, need.Then); return x[need.If] == 0 || n > 0 })
	}
	if r.IntN(3) == 0 {
		l := rule.Limit{Min: float64(r.IntN(3))}
		l.Max = max(l.Min, 1.5+float64(r.IntN(4))/2)
		whole := make([]int, ingredients) // factors in halves
		for i := range whole {
			whole[i] = r.IntN(9) - 2
			l.Factors = append(l.Factors, float64(whole[i])/2)
		}
		add(l)
		checks = append(checks, func(x []int) bool {
			sum := 0
			for i, a := range x {
				sum += whole[i] * a
			}
			return float64(sum) >= 2*l.Min*float64(total) && float64(sum) <= 2*l.Max*float64(total)
		})
	}
	// Several limits that each concern some ingredients only, equalities among them.
	for range max(0, r.IntN(6)-3) {
		l := rule.Limit{Factors: make([]float64, ingredients), Min: math.Inf(-1), Max: float64(r.IntN(4))}
		for _, i := range some() {
			l.Factors[i] = float64(r.IntN(7) - 1)
		}
		if r.IntN(3) == 0 {
			l.Min = l.Max
		}
		add(l)
		checks = append(checks, func(x []int) bool {
			sum := 0.0
			for i, a := range x {
				sum += l.Factors[i] * float64(a)
			}
			return sum >= l.Min*float64(total) && sum <= l.Max*float64(total)
		})
	}
	return rules, func(x []int) bool {
		for _, keeps := range checks {
			if !keeps(x) {
				return false
			}
		}
		return true
	}
}

// ruledCell is a small problem with rules, and its law written down afresh.
type ruledCell struct {
	target   *kir.Target
	law      *stattest.Enumeration
	measured bool
}

// newRuledCell returns nil where the rules leave nothing.
func newRuledCell(t *testing.T, seed uint64, ingredients, total int, wishes ...kir.Wish) *ruledCell {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	rules, feasible := randomRules(r, ingredients, total)
	return newCellOf(t, seed, r, rules, feasible, wishes...)
}

// newCellOf is newRuledCell of given rules, which say twice what is feasible.
func newCellOf(t *testing.T, seed uint64, r *rand.Rand, rules rule.Set, feasible func(x []int) bool, wishes ...kir.Wish) *ruledCell {
	t.Helper()
	ingredients, total := rules.Ingredients, rules.Total
	most := min(ingredients, total)
	sizes := make(map[int]float64)
	for n := 1; n <= most; n++ {
		if r.IntN(4) > 0 {
			sizes[n] = r.Float64()
		}
	}
	space, err := kir.NewRuledSpace(context.Background(), rules, kir.Counting{})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	counted := make([]float64, most+1)
	for x := range stattest.Compositions(ingredients, total) {
		if feasible(x) {
			n := 0
			for _, a := range x {
				if a > 0 {
					n++
				}
			}
			counted[n]++
		}
	}
	logs := space.LogCounts(most)
	law := stattest.Law{Ingredients: ingredients, Total: total, Feasible: feasible, Size: func(n int) float64 { return sizes[n] }}
	c := &ruledCell{measured: space.Shares() != nil}
	if c.measured {
		// The kernels divide by the measured |X_n|; the law must too.
		law.Size = func(n int) float64 {
			if counted[n] == 0 {
				return sizes[n]
			}
			return sizes[n] * counted[n] / math.Exp(logs[n])
		}
	} else {
		for n := 1; n <= most; n++ {
			if got := math.Exp(logs[n]); math.Abs(got-counted[n]) > 1e-9*counted[n] {
				t.Errorf("seed %d: %v compositions of %d ingredients, and there are %v", seed, got, n, counted[n])
			}
		}
	}
	c.target, err = kir.NewTarget(space, kir.Table(sizes), wishes...)
	if errors.Is(err, kir.ErrNoMass) {
		return nil
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for _, w := range wishes {
		law.Wishes = append(law.Wishes, stattest.Wish{Weight: w.Weight, Score: func(x []int) float64 {
			var parts []kir.Part
			for i, a := range x {
				if a > 0 {
					parts = append(parts, kir.Part{Ingredient: i, Amount: a})
				}
			}
			y, err := kir.NewComposition(ingredients, parts...)
			if err != nil {
				t.Fatal(err)
			}
			return math.Exp(w.Property.LogScore(y))
		}})
	}
	if c.law, err = law.Enumerate(); err != nil {
		return nil
	}
	return c
}

// TestRuledKernels puts every kernel through the exact-matrix gate on spaces
// with random rules of every kind, with and without a property.
func TestRuledKernels(t *testing.T) {
	t.Parallel()
	bumpy := kir.Wish{Name: "bumpy", Weight: 1.5, Property: kir.ScoreFunc(func(x *kir.Composition) float64 {
		return 0.2 + float64(x.Amount(0)*x.Amount(0)%5) + 0.5*float64(x.Used())
	})}
	ran, measured := 0, 0
	for seed := range uint64(60) {
		ingredients, total := 2+int(seed%3), 3+int(seed%4)
		var wishes []kir.Wish
		if seed%2 == 1 {
			wishes = append(wishes, bumpy)
		}
		c := newRuledCell(t, seed, ingredients, total, wishes...)
		if c == nil || len(c.law.States) > 60 {
			continue
		}
		if c.measured {
			measured++
		}
		for _, k := range []string{"accelerated", "gibbs", "naive", "balanced", "exact"} {
			kernel, err := kir.NewKernel(k, c.target)
			if k == "exact" && (len(wishes) > 0 || c.measured) {
				if err == nil {
					t.Errorf("seed %d: exact is made for a target that it cannot draw from", seed)
				}
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m, err := c.law.Matrix(c.target, kernel, stattest.Options{})
			if err == nil {
				err = m.Check(true)
			}
			if err != nil {
				t.Errorf("seed %d, %d ingredients, total %d: %s: %v", seed, ingredients, total, k, err)
			}
			ran++
		}
	}
	t.Logf("%d matrices, on %d spaces with measured rules", ran, measured)
	if ran < 75 || measured < 8 {
		t.Errorf("only %d matrices, %d spaces with measured rules", ran, measured)
	}
}

// A rule that nothing keeps is told by its place, and mass beyond what is counted
// is not cut off unsaid.
func TestRulesThatCannotBe(t *testing.T) {
	ctx := context.Background()
	set := func(ingredients, total int, rules ...rule.Rule) rule.Set {
		return rule.Set{Ingredients: ingredients, Total: total, Rules: rules}
	}
	any := rule.Group{Of: []int{0}}
	for _, c := range []struct {
		set   rule.Set
		index int
		says  string
	}{
		{set(3, 1000, any, rule.Amount{Of: []int{1}, Min: 700, Max: 100}), 1, "rule 1 asks for amounts of at least 700 and at most 100"},
		{set(3, 1000, any, rule.Group{Of: []int{0, 1}, Used: &rule.Range{Min: 2, Max: 1}}), 1, "rule 1 asks for 2 to 1 used"},
		{set(3, 1000, rule.Group{Of: []int{0, 1}, Total: &rule.Range{Min: 20, Max: 10}}), 0, "rule 0 asks for a total of 20 to 10"},
		{set(3, 1000, rule.Limit{Factors: []float64{1, 2, 3}, Min: 700, Max: 100}), 0, "rule 0 asks for a mean of at least 700 and at most 100"},
	} {
		_, err := kir.NewRuledSpace(ctx, c.set, kir.Counting{})
		var bad *rule.Error
		if !errors.As(err, &bad) || bad.Rule != c.index || !errors.Is(err, count.ErrInvalid) || err.Error() != c.says {
			t.Errorf("%+v: got %v, want %q", c.set, err, c.says)
		}
	}

	// As many units as ingredients may take at most, and a law that wants more.
	required := rule.Require{Of: []int{0, 1, 2}}
	space, err := kir.NewRuledSpace(ctx, set(5, 12, required), kir.Counting{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = kir.NewTarget(space, kir.Table(map[int]float64{1: 1, 2: 3}))
	var none *kir.InfeasibleError
	if !errors.As(err, &none) || !errors.Is(err, kir.ErrNoMass) || !slices.Equal(none.Wanted, []int{1, 2}) || !slices.Equal(none.Possible, []int{3, 4, 5}) || none.Measured ||
		err.Error() != "the rules leave compositions of 3 to 5 ingredients, and the sparsity law wants 1 to 2" {
		t.Errorf("got %v", err)
	}
	nothing := set(5, 12, required, rule.Limit{Factors: make([]float64, 5), Min: 1, Max: 2})
	if space, err = kir.NewRuledSpace(ctx, nothing, kir.Counting{Law: kir.Uniform(1, 1)}); err != nil {
		t.Fatal(err)
	}
	_, err = kir.NewTarget(space, kir.Uniform(1, 1))
	if !errors.As(err, &none) || len(none.Possible) > 0 || !none.Measured || !strings.Contains(err.Error(), "no composition at all") {
		t.Errorf("got %v", err)
	}

	// Normal(8, 1.5) with 5 ingredients counted would have a mean of 4.78.
	if space, err = kir.NewRuledSpace(ctx, set(20, 30), kir.Counting{Law: kir.Uniform(1, 5)}); err != nil {
		t.Fatal(err)
	}
	_, err = kir.NewTarget(space, kir.Normal(8, 1.5))
	var beyond *kir.UncountedError
	if !errors.As(err, &beyond) || !slices.Equal(beyond.Sizes, []int{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}) || math.Abs(beyond.Mass-0.9554) > 0.0005 {
		t.Errorf("got %v, %+v", err, beyond)
	}
	if target, err := kir.NewTarget(space, kir.Uniform(2, 5)); err != nil || math.Abs(target.Law().Mean()-3.5) > 1e-12 {
		t.Errorf("a law within what is counted: %v", err)
	}
}

func ExampleNewRuledSpace() {
	// 50 ingredients, 100 units, at most 2 spirits (the first 5) with 30 to 60
	// units together.
	set := rule.Set{Ingredients: 50, Total: 100, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2, 3, 4}, Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 30, Max: 60}},
	}}
	space, err := kir.NewRuledSpace(context.Background(), set, kir.Counting{Law: kir.Uniform(1, 3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := space.Counts()
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; n <= 3; n++ {
		fmt.Println(n, counts.Count(n))
	}
	// Output:
	// 1 0
	// 2 6975
	// 3 8900100
}

// Groups that cross leave a share of what is counted: exact where all compositions
// are looked at, measured where there are too many. Of pairs with one of the first
// three ingredients, 3·(N−3), those with one of 2, 3 and 4 are 2 with none of
// either group, N−5, and 0 or 1 with 3 or 4.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		ingredients, total int
		exact              bool
	}{{12, 20, true}, {200, 1000, false}} {
		set := rule.Set{Ingredients: c.ingredients, Total: c.total, Rules: []rule.Rule{
			rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 1}},
			rule.Group{Of: []int{2, 3, 4}, Used: &rule.Range{Min: 1, Max: 1}},
		}}
		space, err := kir.NewRuledSpace(t.Context(), set, kir.Counting{Law: kir.Uniform(1, 2)})
		if err != nil {
			t.Fatal(err)
		}
		got, want := space.Shares()[1], float64(c.ingredients-5+4)/float64(3*(c.ingredients-3))
		if got.Exact != c.exact || c.exact && got.Estimate != want {
			t.Errorf("%d ingredients: the share is %+v, want %v", c.ingredients, got, want)
		}
		// One draw of seeds in 1.7 million is 5 standard errors off.
		if math.Abs(got.Estimate-want) > 5*got.SE || c.exact != (got.SE == 0) {
			t.Errorf("%d ingredients: the share is %v ± %v, want %v", c.ingredients, got.Estimate, got.SE, want)
		}
	}
}
