package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
)

func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	sets := randomSets(r, 9, 20, 5)
	naive := func(sets [][]int32, x []int) float64 {
		nearest := 0.0
		set := used(x)
		for _, recipe := range sets {
			shared := 0.0
			for _, i := range set {
				if slices.Contains(recipe, int32(i)) {
					shared++
				}
			}
			nearest = max(nearest, shared/float64(min(len(set), len(recipe))))
		}
		return nearest
	}
	for _, floor := range []float64{0, 0.05} {
		p := must(property.NewOverlapLikeness(10, sets, floor))
		walkLines(t, p, 10, 13, 200, func(x []int) float64 { return max(floor, naive(sets, x)) }, 1e-12)
		p = must(property.NewOverlapNovelty(10, sets, floor))
		walkLines(t, p, 10, 13, 200, func(x []int) float64 { return max(floor, 1-naive(sets, x)) }, 1e-12)
	}
	for _, make := range []func(int, [][]int32, float64) (*property.Overlap, error){property.NewOverlapLikeness, property.NewOverlapNovelty} {
		checkKernels(t, must(make(4, [][]int32{{0, 1}, {1, 2, 3}, {3}}, 0.05)), 4, 4, 2)
		checkKernels(t, must(make(3, [][]int32{{0, 1}, {2}, {1}}, 0.05)), 3, 4, 2)
	}
}

func TestOverlapRefuses(t *testing.T) {
	kept := golden.Open(t)
	for k, err := range []error{
		second(property.NewOverlapNovelty(3, nil, 0)),
		second(property.NewOverlapNovelty(3, [][]int32{{}}, 0)),
		second(property.NewOverlapNovelty(3, [][]int32{{3}}, 0)),
		second(property.NewOverlapNovelty(3, [][]int32{{1}}, -1)),
		second(property.NewOverlapLikeness(3, [][]int32{{1}}, math.NaN())),
	} {
		if err == nil {
			t.Error("no error")
		}
		kept.CheckText(t, fmt.Sprint(k+1), fmt.Sprint(err))
	}
}

// randomRecipes returns recipes of total units.
func randomRecipes(r *rand.Rand, ingredients, total, recipes, most int) [][]mcmc.Part {
	all := make([][]mcmc.Part, recipes)
	for k := range all {
		n := min(1+r.IntN(most), ingredients, total)
		left := total - n
		for place, i := range r.Perm(ingredients)[:n] {
			more := left
			if place < n-1 {
				more = r.IntN(left + 1)
			}
			left -= more
			all[k] = append(all[k], mcmc.Part{Ingredient: i, Amount: 1 + more})
		}
	}
	return all
}

// naiveDistance returns a function for the Aitchison distance to the nearest recipe from
// centred log-ratios, part by part.
func naiveDistance(o property.DistanceOptions) func(x []int) float64 {
	clr := func(amounts []int) []float64 {
		logs, mean := make([]float64, len(amounts)), 0.0
		for i, a := range amounts {
			logs[i] = math.Log(max(float64(a), o.ZeroReplacement))
			mean += logs[i] / float64(len(amounts))
		}
		for i := range logs {
			logs[i] -= mean
		}
		return logs
	}
	var recipes [][]float64
	for _, parts := range o.Recipes {
		recipe := make([]int, o.Ingredients)
		for _, p := range parts {
			recipe[p.Ingredient] = p.Amount
		}
		recipes = append(recipes, clr(recipe))
	}
	return func(x []int) float64 {
		a, nearest := clr(x), math.Inf(1)
		for _, b := range recipes {
			d := 0.0
			for i := range a {
				d += (a[i] - b[i]) * (a[i] - b[i])
			}
			nearest = min(nearest, math.Sqrt(d))
		}
		return nearest
	}
}

func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for _, c := range []struct{ ingredients, total, recipes, most int }{{9, 20, 25, 4}, {30, 70, 60, 12}, {5, 200, 1, 5}, {2, 9, 4, 2}} {
		for _, floor := range []float64{0, 0.02} {
			o := property.DistanceOptions{Ingredients: c.ingredients, Total: c.total, Recipes: randomRecipes(r, c.ingredients, c.total, c.recipes, c.most), ZeroReplacement: 0.5, Scale: 4, Floor: floor}
			distance := naiveDistance(o)
			kernel := func(x []int) float64 {
				d := distance(x) / o.Scale
				return math.Exp(-d * d / 2)
			}
			// Logs are rounded to 2⁻²² or finer here, so that d² is right to
			// about 1e-6 times d, and its exponential to as much.
			walkLines(t, must(property.NewDistanceLikeness(o)), c.ingredients, c.total, 60, func(x []int) float64 { return max(floor, kernel(x)) }, 1e-4)
			walkLines(t, must(property.NewDistanceNovelty(o)), c.ingredients, c.total, 60, func(x []int) float64 { return max(floor, 1-kernel(x)) }, 1e-4)
		}
	}
	o := property.DistanceOptions{Ingredients: 3, Total: 5, Recipes: randomRecipes(r, 3, 5, 4, 3), ZeroReplacement: 0.3, Scale: 2, Floor: 0.01}
	checkKernels(t, must(property.NewDistanceLikeness(o)), 3, 5, 1.5)
	checkKernels(t, must(property.NewDistanceNovelty(o)), 3, 5, 1.5)
}

// A recipe that is in the book is as near as can be.
// One unit that stands in place of none, and recipes of one unit each, make every
// log 0: recipes are as far as each other, and none may be left out of a line.
func TestDistanceOfOnes(t *testing.T) {
	o := property.DistanceOptions{Ingredients: 6, Total: 3, ZeroReplacement: 1, Scale: 1, Floor: 0.01, Recipes: [][]mcmc.Part{
		{part(0, 1), part(1, 1), part(5, 1)}, {part(0, 1), part(2, 1), part(4, 1)},
	}}
	distance := naiveDistance(o)
	walkLines(t, must(property.NewDistanceLikeness(o)), 6, 3, 200, func(x []int) float64 {
		d := distance(x)
		return max(0.01, math.Exp(-d*d/2))
	}, 1e-6)
}

func TestDistanceToItself(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 5))
	o := property.DistanceOptions{Ingredients: 200, Total: 1000, Recipes: randomRecipes(r, 200, 1000, 50, 20), ZeroReplacement: 0.65, Scale: 3}
	near, far := must(property.NewDistanceLikeness(o)), must(property.NewDistanceNovelty(o))
	for _, parts := range o.Recipes {
		x := must(mcmc.NewComposition(o.Ingredients, parts...))
		if d := near.NearestDistance(x); d != 0 || near.LogScore(x) != 0 || !math.IsInf(far.LogScore(x), -1) {
			t.Fatalf("a recipe is %v from itself, likeness %v, novelty %v", d, near.LogScore(x), far.LogScore(x))
		}
	}
}

func TestTypicalDistance(t *testing.T) {
	o := property.DistanceOptions{Ingredients: 3, Total: 8, ZeroReplacement: 0.5, Recipes: [][]mcmc.Part{
		{part(0, 4), part(1, 4)}, {part(0, 2), part(1, 6)}, {part(2, 8)},
	}}
	got, err := property.TypicalDistance(o)
	// The first two are nearest to each other: D = (log 2, −log 1.5, 0). The
	// median of three distances, two of them alike, is that one.
	d := math.Log(2)*math.Log(2) + math.Log(1.5)*math.Log(1.5) - math.Pow(math.Log(2)-math.Log(1.5), 2)/3
	if err != nil || math.Abs(got-math.Sqrt(d)) > 1e-6 {
		t.Errorf("%v, %v, want %v", got, err, math.Sqrt(d))
	}
	// Of an even number it is the middle between the second and the third of four.
	o.Recipes = append(o.Recipes, []mcmc.Part{{Ingredient: 1, Amount: 1}, {Ingredient: 2, Amount: 7}})
	scale := func(k int) float64 {
		all := o
		all.Scale = 1
		all.Recipes = slices.Delete(slices.Clone(o.Recipes), k, k+1)
		x := must(mcmc.NewComposition(o.Ingredients, o.Recipes[k]...))
		return must(property.NewDistanceLikeness(all)).NearestDistance(x)
	}
	nearest := []float64{scale(0), scale(1), scale(2), scale(3)}
	slices.Sort(nearest)
	if nearest[1] == nearest[2] {
		t.Fatalf("the distances %v tell no upper median from the median", nearest)
	}
	if got, err := property.TypicalDistance(o); err != nil || math.Abs(got-(nearest[1]+nearest[2])/2) > 1e-9 {
		t.Errorf("of four: %v, %v, want the median of %v", got, err, nearest)
	}
	o.Recipes = o.Recipes[:1]
	if got, err := property.TypicalDistance(o); got != 0 || err != nil {
		t.Errorf("of one recipe: %v, %v", got, err)
	}
}

func TestDistanceRefuses(t *testing.T) {
	kept := golden.Open(t)
	good := property.DistanceOptions{Ingredients: 3, Total: 5, Recipes: [][]mcmc.Part{{part(1, 5)}}, ZeroReplacement: 0.5, Scale: 1}
	for name, spoil := range map[string]func(o *property.DistanceOptions){
		"no recipes": func(o *property.DistanceOptions) { o.Recipes = nil },
		"zero of 0":  func(o *property.DistanceOptions) { o.ZeroReplacement = 0 },
		"zero of 2":  func(o *property.DistanceOptions) { o.ZeroReplacement = 2 },
		"scale":      func(o *property.DistanceOptions) { o.Scale = 0 },
		"tiny scale": func(o *property.DistanceOptions) { o.Scale = 1e-200 },
		"high floor": func(o *property.DistanceOptions) { o.Floor = 1.5 },
		"amount":     func(o *property.DistanceOptions) { o.Recipes = [][]mcmc.Part{{part(1, 6)}} },
		"ingredient": func(o *property.DistanceOptions) { o.Recipes = [][]mcmc.Part{{part(3, 5)}} },
	} {
		o := good
		spoil(&o)
		_, err := property.NewDistanceNovelty(o)
		kept.CheckText(t, name, fmt.Sprint(err))
	}
	if _, err := property.NewDistanceNovelty(good); err != nil {
		t.Error(err)
	}
}

func part(ingredient, amount int) mcmc.Part {
	return mcmc.Part{Ingredient: ingredient, Amount: amount}
}

func BenchmarkDistanceLine(b *testing.B) {
	for _, recipes := range []int{69, 761, 10_000} {
		b.Run(fmt.Sprint(recipes, " recipes"), func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 3))
			o := property.DistanceOptions{Ingredients: 65, Total: 1000, Recipes: randomRecipes(r, 65, 1000, recipes, 6), ZeroReplacement: 0.5, Scale: 3}
			benchmarkLine(b, must(property.NewDistanceNovelty(o)), o.Ingredients, o.Total, 4)
		})
	}
}

func BenchmarkOverlapLine(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	benchmarkLine(b, must(property.NewOverlapNovelty(65, randomSets(r, 65, 761, 6), 0)), 65, 1000, 4)
}
