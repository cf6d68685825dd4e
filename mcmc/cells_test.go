package mcmc_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// A cell is one target on a small space, written down twice: as kir takes it,
// and as plain formulas.
type cell struct {
	name   string
	target *mcmc.Target
	law    stattest.Law
	scored bool // whether a wish counts
}

// A sizeLaw is a sparsity law, written down twice.
type sizeLaw struct {
	name     string
	sparsity mcmc.Sparsity
	weight   func(n int) float64
}

// sizeLaws returns the sparsity laws of the grid on sizes 1..most.
func sizeLaws(most int) []sizeLaw {
	random := func(n int) float64 { return 0.05 + share("sizes", n) }
	holes := func(n int) float64 {
		// 0 at about half of the sizes, but never at all of them.
		if share("holes", n) < 0.5 && n != 1+most/2 {
			return 0
		}
		return random(n)
	}
	between := func(lo, hi int, weight float64) func(int) float64 {
		return func(n int) float64 {
			if lo <= n && n <= hi {
				return weight
			}
			return 0
		}
	}
	power := func(f func(int) float64, c float64) func(int) float64 {
		return func(n int) float64 {
			if f(n) == 0 {
				return 0
			}
			return math.Pow(f(n), c)
		}
	}
	bell := func(mean, sd float64) func(int) float64 {
		return func(n int) float64 { return math.Exp(-(float64(n) - mean) * (float64(n) - mean) / (2 * sd * sd)) }
	}
	mean := func(f func(int) float64) func(int) float64 { // as a law on 1..most
		sum := 0.0
		for n := 1; n <= most; n++ {
			sum += f(n)
		}
		return func(n int) float64 { return f(n) / sum }
	}
	table := func(f func(int) float64) mcmc.Sparsity {
		weights := make(map[int]float64)
		for n := 1; n <= most; n++ {
			if f(n) > 0 {
				weights[n] = f(n)
			}
		}
		return mcmc.Table(weights)
	}

	laws := []sizeLaw{
		{"uniform", mcmc.Uniform(1, most), between(1, most, 1)},
		{"exponential", mcmc.Exponential(0.5), func(n int) float64 { return math.Exp(-0.5 * float64(n)) }},
		{"only 1", mcmc.Uniform(1, 1), between(1, 1, 1)},
	}
	if most >= 2 {
		laws = append(laws,
			sizeLaw{fmt.Sprintf("only %d", most), mcmc.Uniform(most, most), between(most, most, 1)},
			sizeLaw{"2 and up", mcmc.Uniform(2, most+3), between(2, most, 1)},
			sizeLaw{"random", table(random), random},
			sizeLaw{"random to the 0", mcmc.Power(table(random), 0), between(1, most, 1)},
			sizeLaw{"random to the 2.5", mcmc.Power(table(random), 2.5), power(random, 2.5)},
		)
	}
	if most >= 3 {
		first, second := mean(bell(1.4, 0.7)), mean(bell(3.8, 0.5))
		laws = append(laws,
			sizeLaw{"only 2", mcmc.Table(map[int]float64{2: 7}), between(2, 2, 1)},
			sizeLaw{"normal", mcmc.Normal(2.3, 0.8), bell(2.3, 0.8)},
			sizeLaw{"mixture",
				mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Normal(1.4, 0.7)}, mcmc.Component{Weight: 2, Law: mcmc.Normal(3.8, 0.5)}),
				func(n int) float64 { return first(n) + 2*second(n) }},
			sizeLaw{fmt.Sprintf("1 and %d", most), mcmc.Table(map[int]float64{1: 1, most: 3}),
				func(n int) float64 { return map[int]float64{1: 1, most: 3}[n] }},
			sizeLaw{"with holes", table(holes), holes},
			sizeLaw{"with holes to the 0", mcmc.Power(table(holes), 0), power(holes, 0)},
		)
	}
	return laws
}

// A scored is a property, written down twice.
type scored struct {
	name     string
	property mcmc.Property
	plain    func(x []int) float64
}

// weighed is a property and its weight.
type weighed struct {
	scored
	weight float64
}

// wishLists returns the lists of properties and weights of the grid.
func wishLists(ingredients, total int) ([][]weighed, error) {
	positive := listed("positive", ingredients, total, func(x []int) float64 { return math.Exp(3*share("positive", x) - 1.5) })
	zeros := listed("zeros", ingredients, total, func(x []int) float64 {
		if share("zeros", x) < 0.25 {
			return 0
		}
		return 0.1 + share("value", x)
	})
	islands := listed("islands", ingredients, total, func(x []int) float64 { // most are forbidden
		if share("islands", x) < 0.75 {
			return 0
		}
		return 0.1 + share("value", x)
	})
	t := newTreeProperty(ingredients, total)
	tree := scored{"tree", t, t.score}
	grown, err := grownForest(ingredients, total)
	if err != nil {
		return nil, err
	}
	return [][]weighed{
		{},
		{{positive, 0}}, {{positive, 1}}, {{positive, 2.5}},
		{{zeros, 0}}, {{zeros, 1}}, {{zeros, 2.5}},
		{{islands, 1}},
		{{tree, 1}},
		{{grown, 0}}, {{grown, 1}}, {{grown, 2.5}},
		{{positive, 2.5}, {zeros, 0}, {grown, 1}},
		{{tree, 2.5}, {positive, 1}, {islands, 0}, {grown, 1}, {zeros, 1}},
	}, nil
}

// grownForest returns the probability of a class of a small forest, grown on
// some of the compositions of a space. It is 0 in places.
func grownForest(ingredients, total int) (scored, error) {
	d := &model.Data{Label: "label", Total: total}
	for i := range ingredients {
		d.Ingredients = append(d.Ingredients, fmt.Sprint("ingredient ", i))
	}
	for x := range stattest.Compositions(ingredients, total) {
		if len(d.Rows) > 0 && share("row", x) < 0.4 {
			continue
		}
		class := "no"
		if len(d.Rows) == 0 || share("class", x) < 0.4 {
			class = "yes"
		}
		var parts []model.Part
		for i, a := range x {
			if a > 0 {
				parts = append(parts, model.Part{Ingredient: int32(i), Amount: int32(a)})
			}
		}
		d.Rows, d.Classes = append(d.Rows, parts), append(d.Classes, class)
	}
	f, err := model.Grow(context.Background(), d, model.Options{Trees: 6, Splits: model.BestSplits, SmallestLeaf: 2, Seed: 1})
	if err != nil {
		return scored{}, err
	}
	score, err := f.Score(model.AnyOf("yes"))
	if err != nil {
		return scored{}, err
	}
	plain := func(x []int) float64 {
		amounts := make([]int32, len(x))
		for i, a := range x {
			amounts[i] = int32(a)
		}
		return score.Probability(score.Point(amounts))
	}
	return scored{"forest", property.NewForest(score, 0), plain}, nil
}

// listed returns a property that is f, computed once for each composition.
func listed(name string, ingredients, total int, f func(x []int) float64) scored {
	values := make(map[int]float64)
	for x := range stattest.Compositions(ingredients, total) {
		values[key(x, total)] = f(x)
	}
	return scored{
		name:     name,
		property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return values[key(x.Amounts(), total)] }),
		plain:    func(x []int) float64 { return values[key(x, total)] },
	}
}

// key returns a number that belongs to x alone among compositions of a total.
func key[T int | int32](x []T, total int) int {
	k := 0
	for _, a := range x {
		k = k*(total+1) + int(a)
	}
	return k
}

// cells returns all targets of the grid on one space.
func cells(ingredients, total int) ([]cell, error) {
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		return nil, err
	}
	lists, err := wishLists(ingredients, total)
	if err != nil {
		return nil, err
	}
	var all []cell
	for _, l := range sizeLaws(space.MaxUsed()) {
		for _, w := range lists {
			c, err := newCell(space, l, w)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// runs says whether a cell of a grid is run: each is where tests run in full, else
// each eleventh, which goes through all laws and all lists of properties of a space
// that has them all, as 11 is prime to the number of lists.
func runs(index int) bool { return testmode.Enabled() || index%11 == 0 }

func newCell(space *mcmc.Space, l sizeLaw, list []weighed) (cell, error) {
	c := cell{law: stattest.Law{Ingredients: space.N(), Total: space.Total(), Size: l.weight}}
	var wishes []mcmc.Objective
	var names []string
	for _, w := range list {
		names = append(names, fmt.Sprintf("%s^%g", w.name, w.weight))
		wishes = append(wishes, mcmc.Objective{Name: w.name, Property: w.property, Weight: w.weight})
		c.law.Objectives = append(c.law.Objectives, stattest.Objective{Score: w.plain, Weight: w.weight})
		c.scored = c.scored || w.weight > 0
	}
	if names == nil {
		names = []string{"no wishes"}
	}
	c.name = l.name + "/" + strings.Join(names, " ")
	var err error
	c.target, err = mcmc.NewTarget(space, l.sparsity, wishes...)
	return c, err
}

// amounts returns x as integers.
func amounts(x *mcmc.Composition) []int {
	a := make([]int, x.N())
	for i := range a {
		a[i] = x.Amount(i)
	}
	return a
}

// share returns a number that looks uniform on [0, 1), a function of a name and
// a value.
func share(name string, v any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, name, v)
	u := h.Sum64() // FNV mixes its high bits too little
	u ^= u >> 33
	u *= 0xff51afd7ed558ccd
	u ^= u >> 33
	u *= 0xc4ceb9fe1a85ec53
	u ^= u >> 33
	return float64(u>>11) / (1 << 53)
}
