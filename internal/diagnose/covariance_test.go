package diagnose

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowCovariance is the mean over the series of the autocovariance at a lag, by
// its definition.
func slowCovariance(series [][]float64, lag int) float64 {
	var sum float64
	for _, x := range series {
		var m float64
		for _, v := range x {
			m += v / float64(len(x))
		}
		for s := range len(x) - lag {
			sum += (x[s] - m) * (x[s+lag] - m) / float64(len(x))
		}
	}
	return sum / float64(len(series))
}

// TestDenseCovariance compares each way to compute autocovariances with the
// definition. The lags are asked for as Geyer's sequence does, from 1 upwards.
func TestDenseCovariance(t *testing.T) {
	for _, n := range []int{6, 7, 63, 200, 600, 1025} {
		series := autoregressions(3, 3, n, 0.95)
		for _, x := range series {
			for i := range x {
				x[i] = 100 + 5*x[i]
			}
		}
		var c autocovarianceTable
		for range 2 { // the second time in used memory
			c.reset(series, momentsOfAll(nil, series))
			for lag := 1; lag < n; lag++ {
				got, want := c.autocovariance(lag), slowCovariance(series, lag)
				// Values of about 25 are sums of n products of about 25, each
				// rounded.
				if math.Abs(got-want) > 1e-11 {
					t.Fatalf("n = %d, lag %d: got %v, want %v", n, lag, got, want)
				}
			}
		}
	}
}

// TestFourier compares the transform with its definition.
func TestFourier(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 4, 8, 64, 512} {
		re, im := make([]float64, n), make([]float64, n)
		for k := range n {
			re[k], im[k] = r.NormFloat64(), r.NormFloat64()
		}
		want := make([]complex128, n)
		for k := range n {
			for j := range n {
				sin, cos := math.Sincos(-2 * math.Pi * float64(j*k%n) / float64(n))
				want[k] += complex(re[j], im[j]) * complex(cos, sin)
			}
		}
		newFourierTransform(n).transform(re, im)
		for k := range n {
			if math.Hypot(re[k]-real(want[k]), im[k]-imag(want[k])) > 1e-13*float64(n) {
				t.Fatalf("n = %d: number %d is %v%+vi and should be %v", n, k, re[k], im[k], want[k])
			}
		}
	}
}
