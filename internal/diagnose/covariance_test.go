package diagnose

import (
	"math"
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
		var c denseCovariance
		for range 2 { // the second time in used memory
			c.reset(series, momentsOfAll(nil, series))
			for lag := 1; lag < n; lag++ {
				got, want := c.at(lag), slowCovariance(series, lag)
				// Values of about 25 are sums of n products of about 25, each
				// rounded.
				if math.Abs(got-want) > 1e-11 {
					t.Fatalf("n = %d, lag %d: got %v, want %v", n, lag, got, want)
				}
			}
		}
	}
}

func TestFastLength(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 100, 1000, 12345, 65537, 1 << 20} {
		got := fastLength(n)
		want := n
		for ; ; want++ {
			m := want
			for m%2 == 0 {
				m /= 2
			}
			for m%3 == 0 {
				m /= 3
			}
			if m == 1 && want%2 == 0 {
				break
			}
		}
		if got != want {
			t.Errorf("%d: got %d, want %d", n, got, want)
		}
	}
}
