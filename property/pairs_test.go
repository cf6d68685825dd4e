package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/golden"
	"kir/property"
)

// randomSets returns sets of ingredients, some more popular than others.
func randomSets(r *rand.Rand, ingredients, sets, most int) [][]int32 {
	all := make([][]int32, sets)
	for k := range all {
		for range 1 + r.IntN(most) {
			i := int32(r.IntN(1 + r.IntN(ingredients)))
			if !slices.Contains(all[k], i) {
				all[k] = append(all[k], i)
			}
		}
	}
	return all
}

func used(x []int) (set []int) {
	for i, a := range x {
		if a > 0 {
			set = append(set, i)
		}
	}
	return set
}

// naivePairs is the score by its definition.
func naivePairs(o property.PairsOptions, x []int) float64 {
	has := func(recipe []int32, i int) bool { return slices.Contains(recipe, int32(i)) }
	lifts, factors, pairs := 1.0, 1.0, 0
	set := used(x)
	for a, i := range set {
		for _, j := range set[:a] {
			var ni, nj, nij float64
			for _, recipe := range o.Recipes {
				if has(recipe, i) {
					ni++
				}
				if has(recipe, j) {
					nj++
				}
				if has(recipe, i) && has(recipe, j) {
					nij++
				}
			}
			lifts *= (nij + o.PseudoCount) / (ni*nj/float64(len(o.Recipes)) + o.PseudoCount)
			pairs++
			for _, f := range o.Factors {
				if f.I == i && f.J == j || f.I == j && f.J == i {
					factors *= f.Factor
				}
			}
		}
	}
	switch {
	case o.Lift == property.NoLift || pairs == 0:
		return factors
	case o.Lift == property.MeanLift:
		return math.Pow(lifts, 1/float64(pairs)) * factors
	}
	return lifts * factors
}

func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	factors := []property.PairFactor{{I: 0, J: 1, Factor: 3}, {I: 4, J: 2, Factor: 0}, {I: 1, J: 0, Factor: 0.5}, {I: 5, J: 8, Factor: 1e-3}}
	for _, lift := range []property.LiftMode{property.NoLift, property.MeanLift, property.ProductLift} {
		o := property.PairsOptions{Ingredients: 9, Total: 14, Recipes: randomSets(r, 8, 30, 5), Lift: lift, PseudoCount: 0.7, Factors: factors}
		p := must(property.NewPairs(o))
		walkLines(t, p, o.Ingredients, o.Total, 300, func(x []int) float64 { return naivePairs(o, x) }, 1e-9)
		if lift != property.NoLift {
			o.Factors = nil
			walkLines(t, must(property.NewPairs(o)), o.Ingredients, o.Total, 60, func(x []int) float64 { return naivePairs(o, x) }, 1e-9)
		}
		small := o
		small.Ingredients, small.Total, small.Recipes = 4, 5, randomSets(r, 4, 9, 4)
		small.Factors = []property.PairFactor{{I: 0, J: 1, Factor: 3}, {I: 2, J: 3, Factor: 0.1}}
		checkKernels(t, must(property.NewPairs(small)), 4, 4, 2)
		small.Ingredients, small.Total, small.Recipes, small.Factors = 3, 4, randomSets(r, 3, 9, 3), small.Factors[:1]
		checkKernels(t, must(property.NewPairs(small)), 3, 4, 2)
	}
}

// Lifts of a book that can be checked by hand.
func TestPairsByHand(t *testing.T) {
	// 0 and 1 are in all four recipes' first two; 2 is never met by 0.
	o := property.PairsOptions{Ingredients: 4, Total: 10, Recipes: [][]int32{{0, 1}, {0, 1}, {1, 2}, {2}}, Lift: property.MeanLift, PseudoCount: 1}
	p := must(property.NewPairs(o))
	for _, c := range []struct {
		x    []int
		want float64
	}{
		{[]int{10, 0, 0, 0}, 1},
		{[]int{5, 5, 0, 0}, 3 / 2.5},         // (2+1)/(2·3/4+1)
		{[]int{5, 0, 5, 0}, 1 / 2.0},         // (0+1)/(2·2/4+1)
		{[]int{0, 5, 5, 0}, 2 / 2.5},         // (1+1)/(3·2/4+1)
		{[]int{5, 0, 0, 5}, 1},               // 3 is in no recipe
		{[]int{4, 3, 3, 0}, math.Cbrt(0.48)}, // 1.2·0.5·0.8
	} {
		if got := math.Exp(p.LogScore(composition(t, c.x))); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v scores %v, want %v", c.x, got, c.want)
		}
	}
}

func TestPairsRefuses(t *testing.T) {
	kept := golden.Open(t)
	good := property.PairsOptions{Ingredients: 3, Total: 5, Recipes: [][]int32{{0, 1}}, Lift: property.MeanLift, PseudoCount: 1}
	for name, spoil := range map[string]func(o *property.PairsOptions){
		"no recipes":       func(o *property.PairsOptions) { o.Recipes = nil },
		"no smoothing":     func(o *property.PairsOptions) { o.PseudoCount = 0 },
		"NaN smoothing":    func(o *property.PairsOptions) { o.PseudoCount = math.NaN() },
		"ingredient":       func(o *property.PairsOptions) { o.Recipes = [][]int32{{0, 3}} },
		"too many pairs":   func(o *property.PairsOptions) { o.Recipes = [][]int32{make([]int32, 1<<16)} },
		"pair with itself": func(o *property.PairsOptions) { o.Factors = []property.PairFactor{{1, 1, 2}} },
		"pair":             func(o *property.PairsOptions) { o.Factors = []property.PairFactor{{1, 5, 2}} },
		"negative factor":  func(o *property.PairsOptions) { o.Factors = []property.PairFactor{{1, 2, -2}} },
		"infinite factor":  func(o *property.PairsOptions) { o.Factors = []property.PairFactor{{1, 2, math.Inf(1)}} },
	} {
		o := good
		spoil(&o)
		_, err := property.NewPairs(o)
		kept.CheckText(t, name, fmt.Sprint(err))
	}
	if _, err := property.NewPairs(good); err != nil {
		t.Error(err)
	}
}

func BenchmarkPairsLine(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	o := property.PairsOptions{Ingredients: 2000, Total: 1000, Recipes: randomSets(r, 2000, 5000, 30), Lift: property.MeanLift, PseudoCount: 1}
	benchmarkLine(b, must(property.NewPairs(o)), o.Ingredients, o.Total, 20)
}
