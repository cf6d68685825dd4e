package property_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/model"
	"kir/property"
)

// learned returns what is learnt of random recipes, and of some that failed.
func learned(t *testing.T, ingredients, total int, numeric, fails bool, kind model.ModelKind) *model.LearnedModel {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(ingredients)))
	d := &model.Data{Label: "taste", Total: total}
	for i := range ingredients {
		d.Ingredients = append(d.Ingredients, string(rune('a'+i)))
	}
	o := model.LearnOptions{Kind: kind, Forest: model.Options{Trees: 15, Seed: 1}}
	for k, parts := range randomRecipes(r, ingredients, total, 60, 4) {
		var row []model.Part
		taste := 0.0
		for _, p := range parts {
			row = append(row, model.Part{Ingredient: int32(p.Ingredient), Amount: int32(p.Amount)})
			taste += float64(p.Ingredient*p.Amount) / float64(total)
		}
		if fails && k%4 == 0 {
			o.Failed = append(o.Failed, row)
			continue
		}
		d.Rows = append(d.Rows, row)
		if numeric {
			d.Numbers = append(d.Numbers, taste+r.NormFloat64()/4)
		} else {
			d.Classes = append(d.Classes, []string{"dry", "sour", "sweet"}[min(int(taste), 2)])
		}
	}
	m, err := model.Learn(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLearned compares lines and points with predictions, and runs the kernels' matrix
// gate on a small space.
func TestLearned(t *testing.T) {
	for _, c := range []struct {
		name           string
		numeric, fails bool
		kind           model.ModelKind
		want           model.Want
	}{
		{"average", true, false, model.BestKind, model.Maximize()},
		{"forest alone", true, false, model.ForestAlone, model.Minimize()},
		{"process alone", true, true, model.ProcessAlone, model.Maximize()},
		{"bounds", true, false, model.BestKind, model.Between(1, 2)},
		{"a class", false, false, model.BestKind, model.AnyOf("sour")},
		{"classes, some fail", false, true, model.BestKind, model.AnyOf("sour", "dry")},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := learned(t, 8, 50, c.numeric, c.fails, c.kind)
			score := must(m.Score(c.want))
			least, greatest := m.Range()
			naive := func(x []int) float64 {
				amounts := make([]int32, len(x))
				for i, a := range x {
					amounts[i] = int32(a)
				}
				var y float64
				switch c.want.String() {
				case "as large as possible":
					y = (m.Predict(amounts).Value - least) / (greatest - least)
				case "as small as possible":
					y = (greatest - m.Predict(amounts).Value) / (greatest - least)
				case "sour":
					y = score.Calibration().Value(m.Shares(amounts)[1])
				case "sour or dry":
					shares := m.Shares(amounts)
					y = score.Calibration().Value(shares[0] + shares[1])
				default: // bounds
					return max(0.05, score.ScoreAt(amounts, usedOf(amounts)))
				}
				return max(0.05, y*score.SuccessProbability(amounts))
			}
			tolerance := 1e-6
			if score.Calibration() != nil {
				tolerance = 0.02 // of the logarithm: chains ask a curve that is a thousandth off at most
			}
			walkLines(t, property.NewLearned(score, 0.05), 8, 50, 60, naive, tolerance)
			small := must(learned(t, 3, 4, c.numeric, c.fails, c.kind).Score(c.want))
			checkKernels(t, property.NewLearned(small, 0.05), 3, 4, 1.5)
		})
	}
}

func usedOf(x []int32) (used []int32) {
	for i, a := range x {
		if a > 0 {
			used = append(used, int32(i))
		}
	}
	return used
}

// A process knows of no composition that is impossible.
func TestLearnedForbidsNothing(t *testing.T) {
	p := property.NewLearned(must(learned(t, 8, 50, true, false, model.ProcessAlone).Score(model.Maximize())), 0)
	for i := range 8 {
		x := make([]int, 8)
		x[i] = 50
		if y := p.LogScore(composition(t, x)); math.IsInf(y, -1) || math.IsNaN(y) {
			t.Errorf("all of ingredient %d scores %v", i, y)
		}
	}
}
