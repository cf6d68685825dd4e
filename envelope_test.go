package kir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir"
	"kir/property"
)

// assets are the returns and the covariance of a made-up market.
func assets(n int) (returns []float64, covariance [][]float64) {
	r := rand.New(rand.NewPCG(1, 31))
	loads := make([][3]float64, n)
	for i := range loads {
		returns = append(returns, 0.02+0.1*r.Float64())
		for f := range loads[i] {
			loads[i][f] = 0.2 * r.NormFloat64()
		}
	}
	for i := range n {
		covariance = append(covariance, make([]float64, n))
		for j := range n {
			for f := range loads[i] {
				covariance[i][j] += loads[i][f] * loads[j][f]
			}
		}
		covariance[i][i] += 0.01 + 0.02*r.Float64()
	}
	return returns, covariance
}

// markowitz is a portfolio of 31 assets, of which ten are held.
func markowitz(tb testing.TB, total int, weight float64) *kir.Target {
	tb.Helper()
	returns, covariance := assets(31)
	p, err := property.NewMarkowitz(returns, covariance, 1.5, total)
	if err != nil {
		tb.Fatal(err)
	}
	space, err := kir.NewSpace(31, total)
	if err != nil {
		tb.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(10, 10), kir.Wish{Name: "utility", Property: p, Weight: weight})
	if err != nil {
		tb.Fatal(err)
	}
	return target
}

// A total of 1,000,000 is to be about as fast as one of 100.
func BenchmarkCurves(b *testing.B) {
	for _, kernel := range []string{"balanced", "accelerated"} {
		for _, total := range []int{100, 1000, 10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/markowitz/%d", kernel, total), func(b *testing.B) {
				c := benchChain(b, kernel, markowitz(b, total, 2000))
				b.ReportAllocs()
				b.ResetTimer()
				from := cpu(b)
				if err := c.Advance(b.N); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric((cpu(b)-from)*1e9/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

var _ = math.Pi
