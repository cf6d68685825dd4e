package diagnose

import (
	"errors"
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

func TestAutocorrelation(t *testing.T) {
	x := []float64{1, 3, 2, 5, 4, 4, 1, 0, 2, 7}
	rho, err := Autocorrelation(x, 100)
	if err != nil || len(rho) != len(x) {
		t.Fatal(rho, err)
	}
	for lag, got := range rho {
		want := slowCovariance([][]float64{x}, lag) / slowCovariance([][]float64{x}, 0)
		if math.Abs(got-want) > 1e-14 {
			t.Errorf("lag %d: got %v, want %v", lag, got, want)
		}
	}
	if rho, err := Autocorrelation(x, 2); err != nil || len(rho) != 3 {
		t.Error(rho, err)
	}
	if rho, err := Autocorrelation(x, -1); err != nil || len(rho) != 1 || rho[0] != 1 {
		t.Error(rho, err)
	}
	for _, test := range []struct {
		x   []float64
		err error
	}{
		{nil, ErrNoDraws}, {[]float64{2, 2}, ErrConstant}, {[]float64{1, math.NaN()}, ErrNotFinite}, {[]float64{1e300, -1e300}, ErrScale},
	} {
		if rho, err := Autocorrelation(test.x, 1); !errors.Is(err, test.err) || rho != nil {
			t.Errorf("%v: %v, %v", test.x, rho, err)
		}
	}
}
