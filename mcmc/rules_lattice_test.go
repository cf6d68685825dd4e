package mcmc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// addTight adds limits on whole factors that a random composition keeps, with room for
// the sum on either side: with none they are equalities.
func addTight(r *rand.Rand, set *rule.Set, feasible func(x []int) bool, limits, room int) func(x []int) bool {
	x := make([]int, set.Ingredients)
	for range set.Total {
		x[r.IntN(len(x))]++
	}
	dot := func(f []float64, x []int) float64 {
		sum := 0.0
		for i, a := range x {
			sum += f[i] * float64(a)
		}
		return sum
	}
	for range limits {
		f := make([]float64, len(x))
		for i := range f {
			f[i] = float64(r.IntN(6) * set.Total)
		}
		at, by, total := dot(f, x), float64(room*set.Total), float64(set.Total)
		set.Rules = append(set.Rules, rule.Limit{Factors: f, Min: (at - by) / total, Max: (at + by) / total})
		before := feasible
		feasible = func(y []int) bool { return before(y) && math.Abs(dot(f, y)-at) <= by }
	}
	return feasible
}

// Moves along sums that are fixed, and along ones that are tight, go through the
// exact-matrix gate, alone and with the others, with rules of every kind beside them.
func TestAlongLattices(t *testing.T) {
	testAlong(t, testmode.Pick(uint64(200), 40), testmode.Pick(60, 12), func(r *rand.Rand) (limits, room int) { return 1 + r.IntN(2), 0 })
}

func TestAlongTightSums(t *testing.T) {
	testAlong(t, testmode.Pick(uint64(110), 40), testmode.Pick(25, 8), func(r *rand.Rand) (limits, room int) { return 1 + r.IntN(4), 1 })
}

// Substitutions where sums have room, and so do totals of groups.
func TestAlongRoomySums(t *testing.T) {
	testAlong(t, testmode.Pick(uint64(160), 40), testmode.Pick(25, 8), func(r *rand.Rand) (limits, room int) { return 1 + r.IntN(2), 3 + r.IntN(3) })
}

// testAlong tests random spaces with as many limits, with as much room, as tight says,
// so many of which at least must be moved in.
func testAlong(t *testing.T, seeds uint64, least int, tight func(r *rand.Rand) (limits, room int)) {
	t.Parallel()
	bumpy := wish("bumpy", 1.5, func(x *mcmc.Composition) float64 {
		return 0.2 + float64(x.Amount(0)*x.Amount(0)%5) + 0.5*float64(x.UsedCount())
	})
	only := mixed(mcmc.MoveMix{Constrained: 1})
	alone, moving, together := 0, 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		set, feasible := rule.Set{Ingredients: 3 + r.IntN(2), Total: 4 + r.IntN(6)}, func([]int) bool { return true }
		limits, room := tight(r)
		if room > 0 { // few outcomes, and ingredients to spare
			set.Ingredients++
		}
		if seed%3 == 0 {
			set, feasible = randomRules(r, set.Ingredients, set.Total)
		}
		feasible = addTight(r, &set, feasible, limits, room)
		var wishes []mcmc.Objective
		if seed%2 == 1 {
			wishes = append(wishes, bumpy)
		}
		c := newCellOf(t, seed, r, set, feasible, wishes...)
		if c == nil || len(c.law.States) < 2 || len(c.law.States) > 24 {
			continue
		}
		check := func(name string, make func(*mcmc.Target) (mcmc.Kernel, error), part bool) *stattest.Matrix {
			k, err := make(c.target)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			m, err := c.law.Matrix(c.target, k, stattest.Options{Order: seed})
			if err == nil && part {
				for _, check := range []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible} {
					if err == nil {
						err = check()
					}
				}
			} else if err == nil {
				err = m.Check(true)
			}
			if err != nil {
				t.Errorf("seed %d, %d ingredients, total %d, %d states: %s: %v", seed, set.Ingredients, set.Total, len(c.law.States), name, err)
			}
			return m
		}
		m := check("along", only, true)
		alone++
		if _, updated := m.Rates(); updated > 0 {
			moving++
		}
		check("along, taught", taught(only), true)
		if set.Total > 5 || set.Ingredients > 5 || testmode.RaceDetector && seed%5 > 0 {
			continue
		}
		together++
		for _, k := range []string{"accelerated", "gibbs", "balanced"} {
			check(k, shipped(k), false)
		}
	}
	t.Logf("%d spaces, %d of which it moves in, %d with whole kernels", alone, moving, together)
	if !testmode.RaceDetector && (moving < least || together < testmode.Pick(6, 1)) {
		t.Error("those are too few")
	}
}

// equalityLadder is a ladder over a space with an equality, of which β = 0 knows
// nothing: there all compositions of the sizes are drawn.
func equalityLadder(t *testing.T) *ladderCell {
	t.Helper()
	set := rule.Set{Ingredients: 3, Total: 4, Rules: []rule.Rule{rule.Limit{Factors: []float64{0, 1, 2}, Min: 1, Max: 1}}}
	feasible := func(x []int) bool { return x[1]+2*x[2] == 4 } // (0, 4, 0), (1, 2, 1) and (2, 0, 2)
	bumpy := wish("bumpy", 1, func(x *mcmc.Composition) float64 { return 1 + float64(x.Amount(0)%2) })
	space, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{MaxTableSteps: 1}) // measured, so that the first replica draws beyond the rules
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 0.2, 2: 0.3, 3: 0.5}), bumpy)
	if err != nil {
		t.Fatal(err)
	}
	sizes := []float64{0, 0.2, 0.3, 0.5}
	of := []float64{0, 3, 3 * 3, 3} // how many compositions there are, of which one each is feasible
	law := stattest.Law{Ingredients: 3, Total: 4, Size: func(n int) float64 { return sizes[n] * of[n] }, Objectives: []stattest.Objective{
		{Weight: 1, LogScore: func(x []int) float64 {
			if !feasible(x) {
				return math.Inf(-1)
			}
			return 0
		}},
		{Weight: 1, Score: func(x []int) float64 { return 1 + float64(x[0]%2) }},
	}}
	l := newLadderCell(cell{name: "an equality", target: target, law: law, scored: true}, 0, 0.5, 1)
	law.Size, law.Objectives = func(n int) float64 { return sizes[n] }, nil
	if l.laws[0], err = law.Enumerate(); err != nil {
		t.Fatal(err)
	}
	l.name = "an equality"
	return l
}

// The basis of a lattice is orthogonal to the total and to all factors, and all short
// vectors that are, found by search, are whole combinations of it, each in one way.
func TestBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var dimensions [5]int
	for range 1500 {
		m, n := 3+r.IntN(3), 1+r.IntN(3)
		factors := make([][]int64, n)
		for k := range factors {
			for range m {
				factors[k] = append(factors[k], int64(r.IntN(6)*r.IntN(2)))
			}
		}
		orthogonal := func(d []int64) bool {
			sum := int64(0)
			for _, v := range d {
				sum += v
			}
			for _, f := range factors {
				dot := int64(0)
				for i := range d {
					dot += f[i] * d[i]
				}
				if dot != 0 {
					return false
				}
			}
			return sum == 0
		}
		basis := mcmc.Basis(factors)
		dimensions[len(basis)]++
		for _, d := range basis {
			if !orthogonal(d) {
				t.Fatalf("%v: %v is not in the lattice", factors, d)
			}
		}
		// All combinations with coefficients up to 6, by where they lead to.
		reached := make(map[string]int)
		d := make([]int64, m)
		var combine func(k int)
		combine = func(k int) {
			if k == len(basis) {
				reached[fmt.Sprint(d)]++
				return
			}
			for by := int64(-6); by <= 6; by++ {
				for i := range d {
					d[i] += by * basis[k][i]
				}
				combine(k + 1)
				for i := range d {
					d[i] -= by * basis[k][i]
				}
			}
		}
		if len(basis) > 3 {
			continue // 28,561 combinations
		}
		combine(0)
		for at, ways := range reached {
			if ways > 1 {
				t.Fatalf("%v: %v leads to %s in %d ways", factors, basis, at, ways)
			}
		}
		const most = 2
		var search func(k int)
		search = func(k int) {
			if k == m {
				if orthogonal(d) && reached[fmt.Sprint(d)] == 0 {
					t.Fatalf("%v: %v does not lead to %v", factors, basis, d)
				}
				return
			}
			for d[k] = -most; d[k] <= most; d[k]++ {
				search(k + 1)
			}
			d[k] = 0
		}
		search(0)
	}
	t.Logf("of 0, 1, 2, … dimensions: %v", dimensions)
	if slices.Min(dimensions[:4]) < 100 {
		t.Error("those are too few of a kind")
	}
}

// The steps along a direction that keep the rules are those whose points do, where
// rules of every kind hold and the direction has nothing to do with them.
func TestRulesAlong(t *testing.T) {
	t.Parallel()
	kept, broken := 0, 0
	for seed := range uint64(400) {
		const ingredients, total = 5, 14
		r := rand.New(rand.NewPCG(seed, 4))
		rules, feasible := randomRules(r, ingredients, total)
		space, err := mcmc.NewRuledSpace(t.Context(), rules, mcmc.CountingOptions{Law: mcmc.Uniform(1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			amounts := make([]int, ingredients)
			for range total {
				amounts[r.IntN(ingredients)]++
			}
			x, err := mcmc.NewComposition(ingredients, partsOf(amounts)...)
			if err != nil {
				t.Fatal(err)
			}
			of := []int32{0, 1, 2, 3, 4}
			r.Shuffle(5, func(i, j int) { of[i], of[j] = of[j], of[i] })
			d := []int64{int64(r.IntN(5) - 2), int64(1 + r.IntN(2)), int64(r.IntN(3) - 1), 0}
			d[3] = -d[0] - d[1] - d[2]
			got, here := mcmc.Along(space, x, of[:4], d)
			for k, keeps := range got {
				y := slices.Clone(amounts)
				for q := range d {
					y[of[q]] += (k - here) * int(d[q])
				}
				if keeps != feasible(y) {
					t.Fatalf("seed %d: from %v by %v of %v: %v is said to keep the rules: %v; rules %+v", seed, amounts, d, of, y, keeps, rules)
				}
				if keeps {
					kept++
				} else {
					broken++
				}
			}
		}
	}
	t.Logf("%d kept, %d broken", kept, broken)
	if min(kept, broken) < 2000 {
		t.Error("those are too few of a kind")
	}
}

// partsOf returns the parts of amounts by ingredient.
func partsOf(amounts []int) (parts []mcmc.Part) {
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	return parts
}
