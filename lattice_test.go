package kir_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir"
	"kir/internal/stattest"
	"kir/rule"
)

// addEqualities adds limits that a random composition keeps with equality.
func addEqualities(r *rand.Rand, set *rule.Set, feasible func(x []int) bool, limits int) func(x []int) bool {
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
		mean := dot(f, x) / float64(set.Total)
		set.Rules = append(set.Rules, rule.Limit{Factors: f, Min: mean, Max: mean})
		before := feasible
		feasible = func(y []int) bool { return before(y) && dot(f, y) == dot(f, x) }
	}
	return feasible
}

// Moves along the lattice go through the exact-matrix gate, alone and with the
// others, with one and with two equalities, with rules of every kind beside them.
func TestLatticeKernels(t *testing.T) {
	t.Parallel()
	bumpy := wish("bumpy", 1.5, func(x *kir.Composition) float64 {
		return 0.2 + float64(x.Amount(0)*x.Amount(0)%5) + 0.5*float64(x.Used())
	})
	only := mixed(kir.Mix{Along: 1})
	alone, moving, together := 0, 0, 0
	for seed := range uint64(240) {
		r := rand.New(rand.NewPCG(seed, 3))
		set, feasible := rule.Set{Ingredients: 3 + r.IntN(4), Total: 4 + r.IntN(6)}, func([]int) bool { return true }
		if seed%3 == 0 {
			set, feasible = randomRules(r, set.Ingredients, set.Total)
		}
		feasible = addEqualities(r, &set, feasible, 1+r.IntN(2))
		var wishes []kir.Wish
		if seed%2 == 1 {
			wishes = append(wishes, bumpy)
		}
		c := newCellOf(t, seed, r, set, feasible, wishes...)
		if c == nil || len(c.law.States) < 2 || len(c.law.States) > 150 {
			continue
		}
		check := func(name string, make func(*kir.Target) (kir.Kernel, error), part bool) *stattest.Matrix {
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
		if set.Ingredients > 4 || set.Total > 6 || raceDetector && seed%5 > 0 {
			continue
		}
		together++
		for _, k := range []string{"accelerated", "gibbs", "balanced"} {
			check(k, shipped(k), false)
		}
	}
	t.Logf("%d spaces, %d of which it moves in, %d with whole kernels", alone, moving, together)
	if moving < 90 || together < 8 {
		t.Error("those are too few")
	}
}

// equalityLadder is a ladder over a space with an equality, of which β = 0 knows
// nothing: there all compositions of the sizes are drawn.
func equalityLadder(t *testing.T) *ladderCell {
	t.Helper()
	set := rule.Set{Ingredients: 3, Total: 4, Rules: []rule.Rule{rule.Limit{Factors: []float64{0, 1, 2}, Min: 1, Max: 1}}}
	feasible := func(x []int) bool { return x[1]+2*x[2] == 4 } // (0, 4, 0), (1, 2, 1) and (2, 0, 2)
	bumpy := wish("bumpy", 1, func(x *kir.Composition) float64 { return 1 + float64(x.Amount(0)%2) })
	space, err := kir.NewRuledSpace(t.Context(), set, kir.Counting{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Table(map[int]float64{1: 0.2, 2: 0.3, 3: 0.5}), bumpy)
	if err != nil {
		t.Fatal(err)
	}
	sizes := []float64{0, 0.2, 0.3, 0.5}
	of := []float64{0, 3, 3 * 3, 3} // how many compositions there are, of which one each is feasible
	law := stattest.Law{Ingredients: 3, Total: 4, Size: func(n int) float64 { return sizes[n] * of[n] }, Wishes: []stattest.Wish{
		{Weight: 1, LogScore: func(x []int) float64 {
			if !feasible(x) {
				return math.Inf(-1)
			}
			return 0
		}},
		{Weight: 1, Score: func(x []int) float64 { return 1 + float64(x[0]%2) }},
	}}
	l := newLadderCell(cell{name: "an equality", target: target, law: law, scored: true}, 0, 0.5, 1)
	law.Size, law.Wishes = func(n int) float64 { return sizes[n] }, nil
	if l.laws[0], err = law.Enumerate(); err != nil {
		t.Fatal(err)
	}
	l.name = "an equality"
	return l
}

// A direction is orthogonal to the total and to all factors, has no common divisor,
// and is the only one: so says a search of all short ones.
func TestDirection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	found, none := 0, 0
	for range 2000 {
		m, n := 3+r.IntN(2), 1+r.IntN(3)
		factors := make([][]int64, n)
		for k := range factors {
			for range m {
				factors[k] = append(factors[k], int64(r.IntN(3)))
			}
		}
		// All d with entries up to most in size that are orthogonal, one of each pair.
		const most = 8 // as large as minors of two rows of differences of these factors are
		var all [][]int64
		d := make([]int64, m)
		var rec func(k int, sum int64)
		rec = func(k int, sum int64) {
			if k == m-1 {
				if d[k] = -sum; max(sum, -sum) > most {
					return
				}
				for _, f := range factors {
					dot := int64(0)
					for i := range d {
						dot += f[i] * d[i]
					}
					if dot != 0 {
						return
					}
				}
				if first := slices.IndexFunc(d, func(v int64) bool { return v != 0 }); first >= 0 && d[first] > 0 {
					all = append(all, slices.Clone(d))
				}
				return
			}
			for v := int64(-most); v <= most; v++ {
				d[k] = v
				rec(k+1, sum+v)
			}
		}
		rec(0, 0)
		of := []int32{0, 1, 2, 3}[:m]
		got := kir.Direction(factors, of...)
		if got == nil {
			none++
			// There is none, or several that are no multiples of each other.
			if len(all) > 0 && !slices.ContainsFunc(all, func(d []int64) bool { return !parallel(d, all[0]) }) {
				t.Fatalf("%v: no direction, and there is %v", factors, all[0])
			}
			continue
		}
		found++
		if !slices.ContainsFunc(got, func(v int64) bool { return v != 0 }) {
			t.Fatalf("%v: a direction of nothing", factors)
		}
		for _, f := range append(factors, []int64{1, 1, 1, 1}[:m]) {
			dot := int64(0)
			for i := range got {
				dot += f[i] * got[i]
			}
			if dot != 0 {
				t.Fatalf("%v: %v is no direction", factors, got)
			}
		}
		for _, d := range all {
			if !parallel(got, d) || slices.MaxFunc(got, func(a, b int64) int { return int(max(a, -a) - max(b, -b)) }) > most {
				t.Fatalf("%v: %v, and there is %v", factors, got, d)
			}
		}
	}
	t.Logf("%d directions, %d without", found, none)
	if found < 500 || none < 500 {
		t.Error("those are too few of a kind")
	}
}

// parallel says whether two vectors are multiples of each other.
func parallel(a, b []int64) bool {
	for i := range a {
		for j := range a {
			if a[i]*b[j] != a[j]*b[i] {
				return false
			}
		}
	}
	return true
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
		space, err := kir.NewRuledSpace(t.Context(), rules, kir.Counting{Law: kir.Uniform(1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			amounts := make([]int, ingredients)
			for range total {
				amounts[r.IntN(ingredients)]++
			}
			x, err := kir.NewComposition(ingredients, partsOf(amounts)...)
			if err != nil {
				t.Fatal(err)
			}
			of := []int32{0, 1, 2, 3, 4}
			r.Shuffle(5, func(i, j int) { of[i], of[j] = of[j], of[i] })
			d := []int64{int64(r.IntN(5) - 2), int64(1 + r.IntN(2)), int64(r.IntN(3) - 1), 0}
			d[3] = -d[0] - d[1] - d[2]
			got, here := kir.Along(space, x, of[:4], d)
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
func partsOf(amounts []int) (parts []kir.Part) {
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, kir.Part{Ingredient: i, Amount: a})
		}
	}
	return parts
}
