package property_test

import (
	"math"
	"os"
	"testing"

	"kir/internal/ensemble"
	"kir/internal/ensemble/xgboost"
	"kir/internal/importedmodel"
	"kir/property"
)

// TestModel walks a model of XGBoost about: inputs of all kinds, and two values of one that no composition has.
func TestModel(t *testing.T) {
	f, err := os.Open("../internal/ensemble/testdata/xgb-squared-100.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := xgboost.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	const n, total = 8, 40
	desirability := func(sums []float64) float64 { return 1 / (1 + math.Exp(-sums[0])) }
	for _, value := range []float64{0.1, 0.4} {
		sources := make([]ensemble.Source, len(m.Inputs))
		inputs := make([]func(x []int) float64, len(m.Inputs))
		for k := range sources {
			i := k % n
			switch {
			case k == 3:
				sources[k] = ensemble.Source{Constant: true, Value: value}
				inputs[k] = func([]int) float64 { return value }
			case k < n:
				sources[k] = ensemble.Source{Ingredients: []int32{int32(i)}, Divisor: total}
				inputs[k] = func(x []int) float64 { return float64(x[i]) / total }
			case k < 12:
				sources[k] = ensemble.Source{Ingredients: []int32{int32(i), int32((i + 3) % n)}, Divisor: total}
				inputs[k] = func(x []int) float64 { return float64(x[i]+x[(i+3)%n]) / total }
			case k < 16:
				whole, scale := property.ScaleToIntegers([]float64{0.25, 0.5}, total)
				sources[k] = ensemble.Source{Ingredients: []int32{int32(i), int32((i + 1) % n)}, Weights: whole, Divisor: scale * total}
				inputs[k] = func(x []int) float64 { return (0.25*float64(x[i]) + 0.5*float64(x[(i+1)%n])) / total }
			default:
				sources[k] = ensemble.Source{Ingredients: []int32{int32(i), int32((i + 1) % n), int32((i + 2) % n)}, CountsUsed: true, Divisor: 3}
				inputs[k] = func(x []int) float64 {
					return float64(min(x[i], 1)+min(x[(i+1)%n], 1)+min(x[(i+2)%n], 1)) / 3
				}
			}
		}
		s, err := ensemble.Bind(m, n, total, sources)
		if err != nil {
			t.Fatal(err)
		}
		walkLines(t, importedmodel.New(s, desirability, 0.3), n, total, 60, func(x []int) float64 {
			values := make([]float64, len(inputs))
			for k, of := range inputs {
				values[k] = of(x)
			}
			return max(0.3, desirability(m.Sums(values)))
		}, 1e-12)
	}
}
