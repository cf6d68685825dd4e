// Package forests compares ways to grow forests on the books of the examples.
package forests

import (
	"math"
	"slices"
	"testing"

	"kir/examples/fragrance"
	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/model"
)

// total is that of all compositions here.
const total = 1000

// A known is what is known of some recipes.
type known struct {
	name        string
	ingredients *dataset.Ingredients
	data        *model.Data // with numbers, or with classes
	median      float64     // of the numbers
	x           [][]int32   // the recipes' compositions
	accord      []float64   // of fragrances: what their families and notes are worth
}

// read reads the recipes of an example that have a label.
func read(t testing.TB, name, ingredients, recipes, label string, numeric bool) *known {
	t.Helper()
	in, err := dataset.ReadIngredientsFile(t.Context(), ingredients, dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := dataset.ReadFile(t.Context(), recipes, dataset.Options{Labels: []string{label}, Ingredients: in})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := all.Label(label)
	b := &known{name: name, ingredients: in, data: &model.Data{Label: label, Ingredients: in.Names, Total: total}}
	numbers, err := l.Numbers()
	if numeric && err != nil {
		t.Fatal(err)
	}
	for r := range all.Recipes {
		if l.ClassOf[r] < 0 {
			continue
		}
		amounts, err := all.Closure(r, total)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]int32, len(in.Names))
		for k, p := range all.Recipes[r].Parts {
			x[p.Ingredient] = int32(amounts[k])
		}
		b.x = append(b.x, x)
		b.data.Rows = append(b.data.Rows, model.PositiveParts(x))
		if numeric {
			b.data.Numbers = append(b.data.Numbers, numbers[r])
		} else {
			b.data.Classes = append(b.data.Classes, l.Value(r))
		}
	}
	if numeric {
		b.median = slices.Sorted(slices.Values(b.data.Numbers))[len(b.data.Numbers)/2]
	}
	return b
}

func cocktails(t testing.TB, label string) *known {
	return read(t, "cocktails, "+label, "../../examples/cocktails/kinds.csv", "../../examples/cocktails/recipes.csv", label, false)
}

func fragrances(t testing.TB) *known {
	b := read(t, "fragrance, rating", "../../examples/fragrance/ingredients.csv", "../../examples/fragrance/formulas.csv", "rating", true)
	materials, err := fragrance.Materials()
	if err != nil {
		t.Fatal(err)
	}
	truth := fragrance.NewTruth(materials)
	for _, row := range b.data.Rows {
		grams := make(map[int]float64)
		for _, p := range row {
			grams[int(p.Ingredient)] = float64(p.Amount)
		}
		b.accord = append(b.accord, truth.Accord(grams))
	}
	return b
}

// good says whether a recipe's number is at least the median.
func (b *known) good(r int) bool { return b.data.Numbers[r] >= b.median }

// only returns the recipes that are kept, with other features.
func (b *known) only(keep func(r int) bool, features []model.Feature) *model.Data {
	d := *b.data
	d.Features, d.Rows, d.Classes, d.Numbers = features, nil, nil, nil
	for r := range b.data.Rows {
		if !keep(r) {
			continue
		}
		d.Rows = append(d.Rows, b.data.Rows[r])
		if b.data.Numbers != nil {
			d.Numbers = append(d.Numbers, b.data.Numbers[r])
		} else {
			d.Classes = append(d.Classes, b.data.Classes[r])
		}
	}
	return &d
}

// features returns the features of some descriptors.
func (b *known) features(t testing.TB, d compile.Descriptors) []model.Feature {
	t.Helper()
	features, _, err := d.Features(b.ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	return features
}

// clip is the least probability that counts: half a vote of a hundred trees.
const clip = 0.005

// losses returns the log loss of a forest at recipes: −log p of its class, or, of a
// number, of whether it is at least the median.
func (b *known) losses(t *testing.T, f *model.Forest, rows []int) (losses []float64) {
	t.Helper()
	var score *model.Score
	if f.Numeric() {
		var err error
		if score, err = f.Score(model.AtLeast(b.median)); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range rows {
		p := 0.0
		if score != nil {
			if p = score.Probability(score.Point(b.x[r])); !b.good(r) {
				p = 1 - p
			}
		} else if k := slices.Index(f.Classes(), b.data.Classes[r]); k >= 0 {
			p = f.Shares(b.x[r])[k]
		}
		losses = append(losses, -math.Log(max(p, clip)))
	}
	return losses
}

// mean returns the mean of what rows have, and its standard error.
func mean(of []float64) (mean, se float64) {
	n := float64(len(of))
	for _, v := range of {
		mean += v / n
	}
	for _, v := range of {
		se += (v - mean) * (v - mean) / (n - 1) / n
	}
	return mean, math.Sqrt(se)
}

// less returns a − b.
func less(a, b []float64) []float64 {
	out := slices.Clone(a)
	for k := range out {
		out[k] -= b[k]
	}
	return out
}
