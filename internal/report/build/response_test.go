package build

import (
	"math"
	"testing"

	"kir/internal/report"
)

func TestWithAmount(t *testing.T) {
	recipe := []int32{60, 0, 30, 10}
	for amount := int32(0); amount <= 100; amount++ {
		for i := range recipe {
			x := withAmount(recipe, i, amount, 100)
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
	if x := withAmount([]int32{100, 0}, 0, 40, 100); x != nil {
		t.Errorf("nothing takes the rest, and it is %v", x)
	}
}

// Those that change the prediction most come first, with their signs; what changes nothing
// is left out.
func TestResponses(t *testing.T) {
	q := &responder{names: []string{"a", "b", "c", "d", "e"}, total: 100, most: []int32{80, 80, 80, 80, 80}, likely: []report.Importance{{Feature: "e"}, {Feature: "total of x"}},
		of: func(x []int32) (report.ResponsePoint, error) {
			y := 5*float64(x[0]) - 2*float64(x[4]) - math.Abs(float64(x[1])-40)/10
			return report.ResponsePoint{Value: report.Number(y), Low: report.Number(y - 1), High: report.Number(y + 1)}, nil
		}}
	all, err := q.responses([]int32{25, 25, 25, 25, 0})
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
	q.of = func([]int32) (report.ResponsePoint, error) { return report.ResponsePoint{Value: 3}, nil }
	if all, err := q.responses([]int32{25, 25, 25, 25, 0}); err != nil || len(all) > 0 {
		t.Errorf("of a constant: %+v, %v", all, err)
	}
}
