package property_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/model"
	"kir/property"
)

// grown returns a forest of random recipes, of classes or of numbers, whose
// splits test amounts and, if it is rich, totals of groups and presence too, and with
// descriptors a mean and a log-ratio instead of the amounts.
func grown(t *testing.T, ingredients, total int, numeric, rich, descriptors bool) *model.Forest {
	t.Helper()
	r := rand.New(rand.NewPCG(8, uint64(total)))
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}[:ingredients]
	d := model.Data{Label: "taste", Ingredients: names, Total: total}
	if rich {
		for i, name := range names {
			d.Features = append(d.Features, model.Feature{Name: name, Ingredients: []int32{int32(i)}})
		}
		first, last := []int32{0, 1}, []int32{int32(ingredients - 2), int32(ingredients - 1)}
		d.Features = append(d.Features,
			model.Feature{Name: "total of first", Ingredients: first},
			model.Feature{Name: "presence of last", Ingredients: last, Presence: true},
			model.Feature{Name: "presence of a", Ingredients: []int32{0}, Presence: true})
		if descriptors {
			d.Features = append(d.Features[ingredients:],
				model.Feature{Name: "mean of a and c", Ingredients: []int32{2, 0}, Weights: []int32{3, 1000}},
				model.Feature{Name: "ratio of b to a", Ingredients: []int32{1}, Over: []int32{0}})
		}
	}
	for _, parts := range randomRecipes(r, ingredients, total, 40, 4) {
		var row []model.Part
		taste := 0.0
		for _, p := range parts {
			row = append(row, model.Part{Ingredient: int32(p.Ingredient), Amount: int32(p.Amount)})
			taste += float64(p.Ingredient*p.Amount) / float64(total)
		}
		d.Rows = append(d.Rows, row)
		if numeric {
			d.Numbers = append(d.Numbers, taste+r.NormFloat64()/4)
		} else {
			d.Classes = append(d.Classes, []string{"dry", "sour", "sweet"}[min(int(taste), 2)])
		}
	}
	f, err := model.Grow(t.Context(), &d, model.Options{Trees: 15, Splits: model.BestSplits, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestForest(t *testing.T) {
	for _, c := range []struct {
		name                       string
		numeric, rich, descriptors bool
		want                       model.Want
	}{
		{"a class", false, false, false, model.AnyOf("sour")},
		{"classes, rich", false, true, false, model.AnyOf("dry", "sweet")},
		{"at least", true, false, false, model.AtLeast(1.5)},
		{"between, rich", true, true, false, model.Between(0.5, 2)},
		{"a class, descriptors", false, true, true, model.AnyOf("sour")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, floor := range []float64{0, 0.05} {
				score := must(grown(t, 8, 50, c.numeric, c.rich, c.descriptors).Score(c.want))
				naive := func(x []int) float64 {
					amounts := make([]int32, len(x))
					for i, a := range x {
						amounts[i] = int32(a)
					}
					return max(floor, score.Probability(score.Point(amounts)))
				}
				walkLines(t, property.NewForest(score, floor), 8, 50, 60, naive, 1e-12)
			}
			small := must(grown(t, 3, 4, c.numeric, c.rich, c.descriptors).Score(c.want))
			checkKernels(t, property.NewForest(small, 0.05), 3, 4, 1.5)
		})
	}
}

// A forest's probability of 0 forbids a composition, a floor allows it.
func TestForestFloor(t *testing.T) {
	score := must(grown(t, 8, 50, true, false, false).Score(model.AtLeast(100)))
	x := composition(t, []int{50, 0, 0, 0, 0, 0, 0, 0})
	if y := property.NewForest(score, 0).LogScore(x); !math.IsInf(y, -1) {
		t.Errorf("an impossible wish scores %v", y)
	}
	if y := property.NewForest(score, 0.25).LogScore(x); y != math.Log(0.25) {
		t.Errorf("with a floor of 0.25 it scores exp(%v)", y)
	}
}
