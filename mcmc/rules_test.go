package mcmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
	"kir/rule"
)

// A checked is a rule, and the same again as a plain function of the amounts.
type checked struct {
	rule  rule.Rule
	keeps func(x []int) bool
}

// randomRules makes rules of every kind, some of them at a time, and the same
// again as a plain function of the amounts.
func randomRules(r *rand.Rand, ingredients, total int) (rules rule.Set, feasible func(x []int) bool) {
	var all []checked
	for i := range ingredients {
		if r.IntN(2) == 0 {
			all = append(all, randomAmount(r, []int{i}, total))
		}
	}
	for range r.IntN(3) {
		all = append(all, randomRule(r, ingredients, total))
	}
	rules.Ingredients, rules.Total = ingredients, total
	for _, c := range all {
		rules.Rules = append(rules.Rules, c.rule)
	}
	return rules, func(x []int) bool {
		return !slices.ContainsFunc(all, func(c checked) bool { return !c.keeps(x) })
	}
}

// randomAmount makes a rule on single ingredients.
func randomAmount(r *rand.Rand, of []int, total int) checked {
	all := func(keeps func(a int) bool) func(x []int) bool {
		return func(x []int) bool { return !slices.ContainsFunc(of, func(i int) bool { return !keeps(x[i]) }) }
	}
	switch r.IntN(4) {
	case 0:
		return checked{rule.Require{Of: of}, all(func(a int) bool { return a > 0 })}
	case 1:
		return checked{rule.Exclude{Of: of}, all(func(a int) bool { return a == 0 })}
	case 2:
		least, most := 1+r.IntN(2), 2+r.IntN(total-1)
		return checked{rule.Amount{Of: of, Min: least, Max: most}, all(func(a int) bool { return a == 0 || least <= a && a <= most })}
	}
	a := rule.Amount{Of: of, Min: r.IntN(3), Step: 2 + r.IntN(2)}
	if r.IntN(2) == 0 {
		a.Max = a.Min + a.Step + r.IntN(3)
	}
	first, step, most := a.Min, a.Step, a.Max
	if first == 0 {
		first = step
	}
	if most == 0 {
		most = total
	}
	return checked{a, all(func(a int) bool { return a == 0 || first <= a && a <= most && (a-first)%step == 0 })}
}

// unitsOf counts those of some ingredients that are used, and sums what they take.
func unitsOf(x []int, of []int) (n, sum int) {
	for _, i := range of {
		sum += x[i]
		if x[i] > 0 {
			n++
		}
	}
	return n, sum
}

// randomRule makes a rule on several ingredients, or one behind a condition.
func randomRule(r *rand.Rand, ingredients, total int) checked {
	some := func() []int {
		of := []int{r.IntN(ingredients)}
		for i := range ingredients {
			if i != of[0] && r.IntN(2) == 0 {
				of = append(of, i)
			}
		}
		slices.Sort(of)
		return of
	}
	switch of := some(); r.IntN(9) {
	case 0, 1:
		g := rule.Group{Of: of}
		low, high, least, most := 0, total, 0, ingredients
		if r.IntN(2) == 0 {
			least = r.IntN(2)
			most = least + r.IntN(2)
			g.Used = &rule.Range{Min: least, Max: most}
		}
		if r.IntN(2) == 0 {
			low = r.IntN(total)
			high = low + r.IntN(total)
			g.Total = &rule.Range{Min: low, Max: high}
		}
		return checked{g, func(x []int) bool {
			n, sum := unitsOf(x, of)
			return least <= n && n <= most && low <= sum && sum <= high
		}}
	case 2:
		need := rule.Need{If: r.IntN(ingredients), Then: of}
		return checked{need, func(x []int) bool { n, _ := unitsOf(x, of); return x[need.If] == 0 || n > 0 }}
	case 3, 4:
		l := rule.Limit{Min: float64(r.IntN(3))}
		l.Max = max(l.Min, 1.5+float64(r.IntN(4))/2)
		if r.IntN(2) == 0 {
			l.Of = of
		} else {
			of = []int{}
			for i := range ingredients {
				of = append(of, i)
			}
		}
		if r.IntN(3) == 0 {
			l.Min = math.Inf(-1)
		}
		halves := make([]int, ingredients) // factors in halves
		for i := range halves {
			halves[i] = r.IntN(9) - 2
			l.Factors = append(l.Factors, float64(halves[i])/2)
		}
		return checked{l, func(x []int) bool {
			sum, units := 0, 0
			for _, i := range of {
				sum += halves[i] * x[i]
				units += x[i]
			}
			return float64(sum) >= 2*l.Min*float64(units) && float64(sum) <= 2*l.Max*float64(units) || units == 0
		}}
	case 5:
		quarters, more := r.IntN(6), 1+r.IntN(8) // bounds in quarters
		q := rule.Ratio{Of: of, To: some(), Min: float64(quarters) / 4, Max: float64(quarters+more) / 4}
		open := r.IntN(3) == 0
		if open {
			q.Max = math.Inf(1)
		}
		return checked{q, func(x []int) bool {
			_, a := unitsOf(x, q.Of)
			_, b := unitsOf(x, q.To)
			return 4*a >= quarters*b && (open || 4*a <= (quarters+more)*b)
		}}
	case 6, 7:
		return randomNear(r, of, ingredients, total)
	}
	// Behind a condition, which may hold another.
	inner := randomRule(r, ingredients, total)
	if r.IntN(2) == 0 {
		inner = randomAmount(r, some(), total)
	}
	when, of := rule.If{Then: inner.rule}, some()
	if r.IntN(2) == 0 {
		when.Used = of
		return checked{when, func(x []int) bool { n, _ := unitsOf(x, of); return n == 0 || inner.keeps(x) }}
	}
	when.Unused = of
	return checked{when, func(x []int) bool { n, _ := unitsOf(x, of); return n > 0 || inner.keeps(x) }}
}

// randomNear makes a bound on how far a recipe is.
func randomNear(r *rand.Rand, of []int, ingredients, total int) checked {
	of = of[:min(len(of), total)]
	recipe := make([]int, ingredients)
	left := total - len(of)
	near := rule.Near{Changes: bounded(r.IntN(4) - 1), Distance: bounded(r.IntN(total) - 1)}
	for k, i := range of {
		more := left
		if k < len(of)-1 {
			more = r.IntN(left + 1)
		}
		left -= more
		recipe[i] = 1 + more
		near.Recipe = append(near.Recipe, rule.Part{Ingredient: i, Amount: recipe[i]})
	}
	return checked{near, func(x []int) bool {
		changes, moved := 0, 0
		for i := range x {
			if (x[i] > 0) != (recipe[i] > 0) {
				changes++
			}
			moved += max(x[i]-recipe[i], recipe[i]-x[i])
		}
		return (near.Changes == nil || changes <= *near.Changes) && (near.Distance == nil || moved <= 2**near.Distance)
	}}
}

// ruledCell is a small problem with rules, and its law written down afresh.
type ruledCell struct {
	target   *mcmc.Target
	law      *stattest.Enumeration
	measured bool
}

// newRuledCell returns nil where the rules leave nothing.
func newRuledCell(t *testing.T, seed uint64, ingredients, total int, wishes ...mcmc.Objective) *ruledCell {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	rules, feasible := randomRules(r, ingredients, total)
	return newCellOf(t, seed, r, rules, feasible, wishes...)
}

// newCellOf is newRuledCell of given rules, which say twice what is feasible.
func newCellOf(t *testing.T, seed uint64, r *rand.Rand, rules rule.Set, feasible func(x []int) bool, wishes ...mcmc.Objective) *ruledCell {
	t.Helper()
	ingredients, total := rules.Ingredients, rules.Total
	most := min(ingredients, total)
	sizes := make(map[int]float64)
	for n := 1; n <= most; n++ {
		if r.IntN(4) > 0 {
			sizes[n] = r.Float64()
		}
	}
	counting := mcmc.CountingOptions{}
	if seed%8 < 4 { // no tables of what need not have one
		counting.MaxTableSteps = 1
	}
	space, err := mcmc.NewRuledSpace(context.Background(), rules, counting)
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
	c := &ruledCell{measured: space.UncountedRuleShares() != nil}
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
	c.target, err = mcmc.NewTarget(space, mcmc.Table(sizes), wishes...)
	if errors.Is(err, mcmc.ErrNoMass) {
		return nil
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for _, w := range wishes {
		law.Objectives = append(law.Objectives, stattest.Objective{Weight: w.Weight, Score: func(x []int) float64 {
			var parts []mcmc.Part
			for i, a := range x {
				if a > 0 {
					parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
				}
			}
			y, err := mcmc.NewComposition(ingredients, parts...)
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
	bumpy := mcmc.Objective{Name: "bumpy", Weight: 1.5, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return 0.2 + float64(x.Amount(0)*x.Amount(0)%5) + 0.5*float64(x.UsedCount())
	})}
	ran, measured := 0, 0
	for seed := range uint64(240) {
		ingredients, total := 2+int(seed%3), 3+int(seed%4)
		var wishes []mcmc.Objective
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
			kernel, err := mcmc.NewKernel(k, c.target)
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
	if ran < 500 || measured < 40 {
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
		_, err := mcmc.NewRuledSpace(ctx, c.set, mcmc.CountingOptions{})
		var bad *rule.Error
		if !errors.As(err, &bad) || bad.Rule != c.index || err.Error() != c.says {
			t.Errorf("%+v: got %v, want %q", c.set, err, c.says)
		}
	}

	// As many units as ingredients may take at most, and a law that wants more.
	required := rule.Require{Of: []int{0, 1, 2}}
	space, err := mcmc.NewRuledSpace(ctx, set(5, 12, required), mcmc.CountingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 2: 3}))
	var none *mcmc.InfeasibleError
	if !errors.As(err, &none) || !errors.Is(err, mcmc.ErrNoMass) || !slices.Equal(none.WantedSizes, []int{1, 2}) || !slices.Equal(none.PossibleSizes, []int{3, 4, 5}) || none.Measured ||
		err.Error() != "the rules leave compositions of 3 to 5 ingredients, and the sparsity law wants 1 to 2" {
		t.Errorf("got %v", err)
	}
	nothing := set(5, 12, required, rule.Limit{Factors: make([]float64, 5), Min: 1, Max: 2})
	if space, err = mcmc.NewRuledSpace(ctx, nothing, mcmc.CountingOptions{Law: mcmc.Uniform(1, 1)}); err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.NewTarget(space, mcmc.Uniform(1, 1))
	if !errors.As(err, &none) || len(none.PossibleSizes) > 0 || none.Measured || !strings.Contains(err.Error(), "no composition at all") {
		t.Errorf("got %v", err)
	}

	// Normal(8, 1.5) with 5 ingredients counted would have a mean of 4.78.
	if space, err = mcmc.NewRuledSpace(ctx, set(20, 30), mcmc.CountingOptions{Law: mcmc.Uniform(1, 5)}); err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.NewTarget(space, mcmc.Normal(8, 1.5))
	var beyond *mcmc.UncountedError
	if !errors.As(err, &beyond) || !slices.Equal(beyond.Sizes, []int{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}) || math.Abs(beyond.Mass-0.9554) > 0.0005 {
		t.Errorf("got %v, %+v", err, beyond)
	}
	if target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5)); err != nil || math.Abs(target.Law().Mean()-3.5) > 1e-12 {
		t.Errorf("a law within what is counted: %v", err)
	}
}

func ExampleNewRuledSpace() {
	// 50 ingredients, 100 units, at most 2 spirits (the first 5) with 30 to 60
	// units together.
	set := rule.Set{Ingredients: 50, Total: 100, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2, 3, 4}, Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 30, Max: 60}},
	}}
	space, err := mcmc.NewRuledSpace(context.Background(), set, mcmc.CountingOptions{Law: mcmc.Uniform(1, 3)})
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := space.Counts(1, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, x := range counts {
		fmt.Println(n, x)
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
		space, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: mcmc.Uniform(1, 2), MaxTableSteps: 1})
		if err != nil {
			t.Fatal(err)
		}
		table, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: mcmc.Uniform(1, 2)})
		if err != nil {
			t.Fatal(err)
		}
		if table.UncountedRuleShares() != nil || table.UncountedReason() != nil || space.UncountedReason() == nil {
			t.Errorf("%d ingredients: groups that cross are not counted by a table", c.ingredients)
		}
		got, want := space.UncountedRuleShares()[1], float64(c.ingredients-5+4)/float64(3*(c.ingredients-3))
		counts, err := space.Counts(2, 2)
		if err != nil {
			t.Fatal(err)
		}
		var pairs float64
		for _, x := range counts {
			pairs, _ = new(big.Float).SetInt(x).Float64()
		}
		if counted := table.LogCounts(2)[2] - math.Log(pairs); math.Abs(counted-math.Log(want)) > 1e-12 {
			t.Errorf("%d ingredients: the table counts a share of %v, want %v", c.ingredients, math.Exp(counted), want)
		}
		if got.Exact != c.exact || c.exact && got.Estimate != want {
			t.Errorf("%d ingredients: the share is %+v, want %v", c.ingredients, got, want)
		}
		// One draw of seeds in 1.7 million is 5 standard errors off.
		if math.Abs(got.Estimate-want) > 5*got.SE || c.exact != (got.SE == 0) {
			t.Errorf("%d ingredients: the share is %v ± %v, want %v", c.ingredients, got.Estimate, got.SE, want)
		}
	}
}

// bounded is a bound of so many, or none where that is negative.
func bounded(most int) *int {
	if most < 0 {
		return nil
	}
	return &most
}
