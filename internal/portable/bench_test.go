package portable

import (
	"math"
	"testing"
)

var sink float64

// BenchmarkFunctions measures each function beside that of package math.
func BenchmarkFunctions(b *testing.B) {
	for _, f := range []struct {
		name     string
		own, std func(float64) float64
		low      float64
		width    float64
	}{
		{"Exp", Exp, math.Exp, -20, 20}, {"Log", Log, math.Log, 0, 1}, {"Expm1", Expm1, math.Expm1, -5, 5},
		{"Log1p", Log1p, math.Log1p, -0.9, 2}, {"Log10", Log10, math.Log10, 1, 1000}, {"Erfc", Erfc, math.Erfc, -3, 6},
		{"Pow", func(x float64) float64 { return Pow(x, 1.7) }, func(x float64) float64 { return math.Pow(x, 1.7) }, 0, 4},
	} {
		var at [1024]float64
		for k := range at {
			at[k] = f.low + f.width*float64(k*421%1024+1)/1025
		}
		for _, of := range []struct {
			name string
			f    func(float64) float64
		}{{"portable", f.own}, {"math", f.std}} {
			b.Run(f.name+"/"+of.name, func(b *testing.B) {
				sum := 0.0
				for k := range b.N {
					sum += of.f(at[k%1024])
				}
				sink = sum
			})
		}
	}
}
