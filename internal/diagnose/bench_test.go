package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// autoregression returns n draws of a stationary AR(1) chain with coefficient
// phi and standard normal law.
func autoregression(r *rand.Rand, n int, phi float64) []float64 {
	x := make([]float64, n)
	v := r.NormFloat64()
	for i := range x {
		x[i] = v
		v = phi*v + math.Sqrt(1-phi*phi)*r.NormFloat64()
	}
	return x
}

// autoregressions returns several such chains.
func autoregressions(seed uint64, chains, n int, phi float64) [][]float64 {
	x := make([][]float64, chains)
	for c := range x {
		x[c] = autoregression(rand.New(rand.NewPCG(seed, uint64(c))), n, phi)
	}
	return x
}

func BenchmarkSummary(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, phi := range []float64{0, 0.9, 0.99, 0.999} {
			x := autoregressions(1, 4, n, phi)
			b.Run(fmt.Sprintf("4x%d/phi=%v", n, phi), func(b *testing.B) {
				var s Summarizer
				for b.Loop() {
					s.Draws(x)
				}
			})
		}
	}
}

// BenchmarkSummaryIntegers is a statistic with few values.
func BenchmarkSummaryIntegers(b *testing.B) {
	x := autoregressions(1, 4, 100_000, 0.99)
	for _, c := range x {
		for i := range c {
			c[i] = math.Round(2*c[i]) + 20
		}
	}
	var s Summarizer
	for b.Loop() {
		s.Draws(x)
	}
}

func BenchmarkSort(b *testing.B) {
	x := autoregression(rand.New(rand.NewPCG(1, 1)), 400_000, 0)
	var r ranking
	for b.Loop() {
		r.sort(x)
	}
}
