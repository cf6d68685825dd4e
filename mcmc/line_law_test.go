package mcmc_test

import (
	"math"
	"slices"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// What an oracle decides as one choice, the generator decides in the same
// shares.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		end, inner float64
		s          int
	}{
		{1, 1, 1}, {1, 1, 2}, {1, 1, 7}, {0.3, 1, 5}, {1, 0.3, 5}, {1, 0, 1}, {1, 0, 6}, {0, 1, 2}, {0, 1, 6},
		{1, 1e-17, 6}, {1e-17, 1, 6}, {1, 1e-310, 6}, {1e-310, 1, 6}, {1, 1. / 3, 64}, {2. / 7, 1, 99},
	} {
		weights := slices.Repeat([]float64{c.inner}, c.s+1)
		weights[0], weights[c.s] = c.end, c.end
		rank := func(k int) int { // both ends come first
			switch k {
			case 0:
				return 0
			case c.s:
				return 1
			}
			return k + 1
		}
		counts := shares(t, rank, func(r *mcmc.Rand) int { return r.Split(c.end, c.inner, c.s) })
		checkShares(t, "split", counts, weights)

		// And under an oracle.
		law := make(map[int]float64)
		k := 0
		err := stattest.Explore(
			func(r *mcmc.Rand) error { k = r.Split(c.end, c.inner, c.s); return nil },
			func(p float64) error { law[k] += p; return nil })
		if err != nil {
			t.Fatal(err)
		}
		sum := 2*c.end + float64(c.s-1)*c.inner
		for k, w := range weights {
			if math.Abs(law[k]-w/sum) > 1e-12 {
				t.Errorf("an oracle gives %d with %v, want %v", k, law[k], w/sum)
			}
		}
	}
}
