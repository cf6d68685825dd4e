package assemble

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/report"
	"kir/model"
)

func TestWithAmount(t *testing.T) {
	recipe := []int32{60, 0, 30, 10}
	for amount := int32(0); amount <= 100; amount++ {
		for i := range recipe {
			x := replaceAmount(recipe, i, amount, 100)
			sum := int32(0)
			for k, v := range x {
				sum += v
				want := float64(recipe[k]) * float64(100-amount) / float64(100-recipe[i])
				if k == i {
					want = float64(amount)
				}
				if v < 0 || math.Abs(float64(v)-want) > 3 || recipe[k] == 0 && k != i && v > 0 {
					t.Fatalf("%d of ingredient %d: %v", amount, i, x)
				}
			}
			if sum != 100 {
				t.Fatalf("%d of ingredient %d: %v", amount, i, x)
			}
		}
	}
	if x := replaceAmount([]int32{100, 0}, 0, 40, 100); x != nil {
		t.Errorf("nothing takes the rest, and it is %v", x)
	}
}

// Those that change the prediction most come first, with their signs; what changes nothing
// is left out.
func TestResponses(t *testing.T) {
	q := &responseComputer{ingredientNames: []string{"a", "b", "c", "d", "e"}, totalUnits: 100, maxAmounts: []int32{80, 80, 80, 80, 80}, importances: []report.Importance{{Feature: "e"}, {Feature: "total of x"}},
		predict: func(x []int32) (report.ResponsePoint, error) {
			y := 5*float64(x[0]) - 2*float64(x[4]) - math.Abs(float64(x[1])-40)/10
			return report.ResponsePoint{Value: report.Number(y), Low: report.Number(y - 1), High: report.Number(y + 1)}, nil
		}}
	all, err := q.computeResponses([]int32{25, 25, 25, 25, 0})
	if err != nil {
		t.Fatal(err)
	}
	signs := make(map[string]int)
	for k, r := range all {
		signs[r.Ingredient] = r.Sign
		if k > 0 && r.Swing > all[k-1].Swing {
			t.Errorf("%s comes behind what matters less", r.Ingredient)
		}
		for n, p := range r.Points {
			if n > 0 && p.Amount <= r.Points[n-1].Amount {
				t.Errorf("%s: %+v", r.Ingredient, r.Points)
			}
		}
	}
	if all[0].Ingredient != "a" || signs["a"] != 1 || signs["e"] != -1 || signs["c"] != -1 {
		t.Errorf("%+v", signs)
	}
	q.predict = func([]int32) (report.ResponsePoint, error) { return report.ResponsePoint{Value: 3}, nil }
	if all, err := q.computeResponses([]int32{25, 25, 25, 25, 0}); err != nil || len(all) > 0 {
		t.Errorf("of a constant: %+v, %v", all, err)
	}
}

// The responses of a class are calibrated, as a report has them: where the labels follow the
// recipes only in part, trees are surer than held-out recipes say.
func TestTrainingResponsesAreCalibrated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := &model.Data{Label: "taste", Ingredients: []string{"a", "b", "c"}, Total: 100}
	for range 80 {
		x := random.Perm(40)[:2]
		d.Rows = append(d.Rows, []model.Part{{Ingredient: 0, Amount: int32(x[0] + 1)}, {Ingredient: 1, Amount: int32(x[1] + 1)}, {Ingredient: 2, Amount: int32(98 - x[0] - x[1])}})
		class := "sour"
		if (x[0] > 15) == (random.IntN(4) > 0) {
			class = "sweet"
		}
		d.Classes = append(d.Classes, class)
	}
	m, err := model.Learn(t.Context(), d, model.LearnOptions{Forest: model.Options{Trees: 60, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	training, err := Training(m, "")
	if err != nil {
		t.Fatal(err)
	}
	score, err := m.Score(model.AnyOf(m.Quality().Classes.Majority))
	if err != nil {
		t.Fatal(err)
	}
	// At its own amount every response is that of the recipe itself, the one that is surest.
	surest := math.Inf(-1)
	var want model.UncertainProbability
	for _, parts := range d.Rows {
		x := make([]int32, 3)
		for _, p := range parts {
			x[p.Ingredient] = p.Amount
		}
		if p := score.UncalibratedAt(x); p > surest {
			surest, want = p, score.Calibration().Chance(p)
		}
	}
	if want.Value > surest-0.05 {
		t.Fatalf("the trees say %.2f, and held-out recipes %.2f: that shows nothing", surest, want.Value)
	}
	looked := 0
	for _, r := range training.Responses {
		for _, p := range r.Points {
			if p.Amount != r.Amount {
				continue
			}
			looked++
			if math.Abs(float64(p.Value)-100*want.Value) > 1e-9 || math.Abs(float64(p.Low)-100*want.Low) > 1e-9 || math.Abs(float64(p.High)-100*want.High) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", r.Ingredient, p, want)
			}
		}
	}
	if looked == 0 {
		t.Error("there is no response")
	}
}
