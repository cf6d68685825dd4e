package property_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
)

// factorModel returns the returns and the covariance of assets that share a few
// factors.
func factorModel(r *rand.Rand, assets, factors int) (returns []float64, covariance [][]float64) {
	loads := make([][]float64, assets)
	for i := range loads {
		returns = append(returns, 0.02+0.1*r.Float64())
		for range factors {
			loads[i] = append(loads[i], 0.2*r.NormFloat64())
		}
	}
	for i := range assets {
		covariance = append(covariance, make([]float64, assets))
		for j := range assets {
			for f := range factors {
				covariance[i][j] += loads[i][f] * loads[j][f]
			}
		}
		covariance[i][i] += 0.01 + 0.02*r.Float64()
	}
	return returns, covariance
}

func TestMarkowitz(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 30))
	for _, c := range []struct {
		assets, total int
		aversion      float64
	}{{7, 20, 3}, {30, 100, 0.5}, {3, 300, 0}, {2, 5, 10}, {4, 100_000, 2}} {
		returns, covariance := factorModel(r, c.assets, 3)
		p := must(property.NewMarkowitz(returns, covariance, c.aversion, c.total))
		naive := func(x []int) float64 {
			u := 0.0
			for i := range x {
				w := float64(x[i]) / float64(c.total)
				u += returns[i] * w
				for j := range x {
					u -= c.aversion * w * covariance[i][j] * float64(x[j]) / float64(c.total)
				}
			}
			return math.Exp(u)
		}
		moves := 60
		if c.total > 1000 {
			moves, naive = 2, nil
		}
		walkLines(t, p, c.assets, c.total, moves, naive, 1e-9)
	}
	returns, covariance := factorModel(r, 4, 2)
	checkKernels(t, must(property.NewMarkowitz(returns, covariance, 2, 4)), 4, 4, 40)
	checkKernels(t, must(property.NewMarkowitz(returns[:3], [][]float64{covariance[0][:3], covariance[1][:3], covariance[2][:3]}, 2, 4)), 3, 4, 40)
}

// The extremes of what whole numbers must hold: all of the largest total in the
// assets with the largest covariance, positive and negative.
func TestMarkowitzExtremes(t *testing.T) {
	for _, total := range []int{1, 3, 1000, math.MaxInt32} {
		for _, size := range []float64{1e-200, 1, 1e150} {
			// The risk is (w_0 − w_1)², its largest value 1.
			p := must(property.NewMarkowitz([]float64{0.1, 0.2, 0.3}, [][]float64{{size, -size, 0}, {-size, size, 0}, {0, 0, 0}}, 1/size, total))
			x := composition(t, []int{total, 0, 0})
			s := p.Scorer(x)
			s.Reset()
			tolerance := 1e-12 + math.Ldexp(float64(total), -58) // of Σ, whose entries are 1/a
			for _, k := range []int{0, total, total / 2, total - 1, total / 3} {
				w := float64(k) / float64(total)
				plain := 0.1*w + 0.2*(1-w) - (2*w-1)*(2*w-1)
				if err := x.Move(0, 1, k); err != nil {
					t.Fatal(err)
				}
				s.Moved(0, 1)
				if got := s.LogScore(); !same(got, p.LogScore(x)) || math.Abs(got-plain) > tolerance {
					t.Errorf("total %d, size %v, moved to %d: %v, the point %v, want %v", total, size, k, got, p.LogScore(x), plain)
				}
			}
		}
	}
}

// No bound of a line is below what it bounds, however large the numbers and however
// straight, steep or bent the line: beside the peak and the ends, and anywhere.
func TestMarkowitzBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 49))
	near := func(k, from, to int) int { return min(max(k+r.IntN(5)-2, from), to) }
	for range 300 {
		total := 10 + r.IntN(1<<(4+r.IntN(27)))
		size := math.Pow(10, 12*r.Float64()-6)
		returns := []float64{size * r.NormFloat64(), size * r.NormFloat64(), 0.1}
		// Risk of all signs, and none; what is the same for both ingredients has no bend.
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		if r.IntN(4) == 0 {
			b, c = a, a*(1+1e-15*r.NormFloat64())
		}
		p := must(property.NewMarkowitz(returns, [][]float64{{a, c, 0}, {c, b, 0}, {0, 0, 0}}, math.Pow(10, 12*r.Float64()-6), total))
		s := total - r.IntN(total/2)
		x := composition(t, []int{s / 3, s - s/3, total - s})
		curve := p.Scorer(x).(mcmc.CurveScorer)
		curve.Reset()
		peak := curve.Curve(0, 1)
		for range 200 {
			from := 1 + r.IntN(s-3)
			to := from + 2 + r.IntN(s-2-from)
			if r.IntN(2) == 0 {
				from = near(max(peak, 1), 1, s-3)
				to = near(from+2, from+2, s-1)
			}
			above := curve.UpperBound(from, to)
			for _, k := range []int{from, to, near(from, from, to), near(to, from, to), near(peak, from, to), from + r.IntN(to-from+1)} {
				if at := curve.ScoreAt(k); !(at <= above) {
					t.Fatalf("total %d, size %v: the bound of splits %d to %d of %d is %v, and at %d, by the peak at %d, is %v", total, size, from, to, s, above, k, peak, at)
				}
			}
		}
	}
}

func TestMarkowitzParts(t *testing.T) {
	p := must(property.NewMarkowitz([]float64{0.1, 0.3}, [][]float64{{0.04, 0.01}, {0.01, 0.09}}, 0, 4))
	x := composition(t, []int{1, 3})
	if got, want := p.Return(x), 0.25; math.Abs(got-want) > 1e-15 {
		t.Errorf("the return is %v, want %v", got, want)
	}
	if got, want := p.Risk(x), (0.04+2*3*0.01+9*0.09)/16; math.Abs(got-want) > 1e-15 {
		t.Errorf("the risk is %v, want %v", got, want)
	}
}

func TestMarkowitzRefuses(t *testing.T) {
	kept := golden.Open(t)
	one := [][]float64{{1, 0}, {0, 1}}
	for k, err := range []error{
		second(property.NewMarkowitz([]float64{1}, one, 1, 5)),
		second(property.NewMarkowitz([]float64{1, 2}, [][]float64{{1, 0}, {0}}, 1, 5)),
		second(property.NewMarkowitz([]float64{1, math.NaN()}, one, 1, 5)),
		second(property.NewMarkowitz([]float64{1, 2}, [][]float64{{1, 0}, {0, math.Inf(1)}}, 1, 5)),
		second(property.NewMarkowitz([]float64{1, 2}, one, -1, 5)),
		second(property.NewMarkowitz([]float64{1, 2}, [][]float64{{1e200, 0}, {0, 1}}, 1e200, 5)),
	} {
		if err == nil {
			t.Error("no error")
		}
		kept.CheckText(t, fmt.Sprint(k+1), fmt.Sprint(err))
	}
}

func BenchmarkMarkowitzLine(b *testing.B) {
	returns, covariance := factorModel(rand.New(rand.NewPCG(1, 30)), 2000, 5)
	p := must(property.NewMarkowitz(returns, covariance, 2, 1000))
	b.Run("20 of 2000 held", func(b *testing.B) { benchmarkLine(b, p, 2000, 1000, 20) })
	b.Run("5 of 2000 held", func(b *testing.B) { benchmarkLine(b, p, 2000, 1000, 5) })
}
