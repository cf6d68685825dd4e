package property_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/property"
)

// TestPortfolioBounds: no portfolio scores more than a tangent taken anywhere, or than the
// bound of a box that it is in. A covariance that is none has no tangents that could be wrong.
func TestPortfolioBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 5))
	const n, total = 6, 40
	random := func() []int {
		x := make([]int, n)
		used := r.Perm(n)[:1+r.IntN(n)]
		for range total {
			x[used[r.IntN(len(used))]]++
		}
		return x
	}
	touched, boxes, near := 0, 0, 0
	for trial := range 400 {
		returns, covariance := factorModel(r, n, 1+r.IntN(4))
		if trial%4 == 0 { // without risk of their own, all in one or two directions
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = r.NormFloat64(), r.NormFloat64()
			}
			for i := range n {
				for j := range n {
					covariance[i][j] = 0.04 * (a[i]*a[j] + b[i]*b[j])
				}
			}
		}
		m := must(property.NewMarkowitz(returns, covariance, 1+3*r.Float64(), total))
		type bounded interface {
			Tangents() (func([]float64) (float64, []float64, bool), float64)
		}
		for _, p := range []interface {
			bounded
			score(t *testing.T, x []int) float64
		}{
			scoredMarkowitz{m},
			scoredPortfolio{m.NewPortfolio(property.Volatility, must(property.UncappedRamp(0.6, 0.1, 1)))},
			scoredPortfolio{m.NewPortfolio(property.Volatility, must(must(property.UncappedRamp(0.6, 0.1, 1)).Floor(0.001)))},
			scoredPortfolio{m.NewPortfolio(property.ReturnToVolatility, must(property.UncappedRamp(-0.5, 1, 1)))},
			scoredPortfolio{m.NewPortfolio(property.Volatility, property.Exponential(2))},
		} {
			tangents, floor := p.Tangents()
			for range 20 {
				x := random()
				score := p.score(t, x)
				if tangents != nil {
					at := make([]float64, n)
					for i, a := range random() {
						at[i] = float64(a)
					}
					if value, slope, ok := tangents(at); ok {
						for i, a := range x {
							value += slope[i] * (float64(a) - at[i])
						}
						if touched++; score > max(value, floor) {
							t.Fatalf("%v scores %v, and a tangent at %v has %v", x, score, at, value)
						}
					}
				}
				box, ok := p.(scoredPortfolio)
				if !ok {
					continue
				}
				lo, hi := make([]int32, n), make([]int32, n)
				for i, a := range x {
					lo[i], hi[i] = max(0, int32(a-r.IntN(8))), min(total, int32(a+r.IntN(8)))
				}
				above := box.UpperBound(lo, hi, n)
				if boxes++; score > above {
					t.Fatalf("%v scores %v, and is in a box of at most %v", x, score, above)
				}
				if above < score+1 {
					near++
				}
			}
		}
	}
	if touched < 10_000 || boxes < 10_000 || near < boxes/4 {
		t.Errorf("%d tangents, and %d boxes of which %d are near", touched, boxes, near)
	}
	m := must(property.NewMarkowitz([]float64{0, 0}, [][]float64{{1, 2}, {2, 1}}, 1, total))
	if at, _ := m.Tangents(); at != nil {
		t.Error("what is no covariance has tangents")
	}
}

type scoredMarkowitz struct{ *property.Markowitz }

func (m scoredMarkowitz) score(t *testing.T, x []int) float64 { return m.LogScore(composition(t, x)) }

type scoredPortfolio struct{ *property.Portfolio }

func (p scoredPortfolio) score(t *testing.T, x []int) float64 {
	s := p.LogScore(composition(t, x))
	if math.IsNaN(s) {
		return math.Inf(-1)
	}
	return s
}
