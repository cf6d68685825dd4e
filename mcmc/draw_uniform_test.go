package mcmc_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// Both ways to draw a subset draw each with the same probability, however the
// choices fall.
func TestCuts(t *testing.T) {
	for gaps := 0; gaps <= 6; gaps++ {
		for size := 0; size <= gaps; size++ {
			for name, cuts := range map[string]func(r *mcmc.Rand, size, gaps int) []int32{"buckets": mcmc.CutsInBuckets, "bits": mcmc.CutsInBits} {
				law := make(map[string]float64)
				drawn := ""
				err := stattest.Explore(func(r *mcmc.Rand) error {
					c := cuts(r, size, gaps)
					if len(c) != size || !slices.IsSorted(c) || size > 0 && (c[0] < 1 || c[size-1] > int32(gaps)) {
						t.Fatalf("%s: %v is no subset of %d of 1..%d", name, c, size, gaps)
					}
					b := []byte{}
					for _, v := range c {
						b = append(b, byte(v))
					}
					drawn = string(b)
					return nil
				}, func(p float64) error { law[drawn] += p; return nil })
				if err != nil {
					t.Fatal(err)
				}
				subsets := int(new(big.Int).Binomial(int64(gaps), int64(size)).Int64())
				if len(law) != subsets {
					t.Errorf("%s: %d subsets of %d of %d, want %d", name, len(law), size, gaps, subsets)
				}
				for s, p := range law {
					if math.Abs(p*float64(subsets)-1) > 1e-13 {
						t.Errorf("%s: %v comes with %v, want 1/%d", name, []byte(s), p, subsets)
					}
				}
			}
		}
	}
	// On the same choices both give the same, also where words of bits meet.
	for _, c := range [][2]int{{1, 64}, {3, 63}, {64, 64}, {70, 128}, {90, 1000}, {63, 65}} {
		a := mcmc.CutsInBuckets(mcmc.NewRand(5, "cuts", 0), c[0], c[1])
		b := mcmc.CutsInBits(mcmc.NewRand(5, "cuts", 0), c[0], c[1])
		if !slices.Equal(a, b) {
			t.Errorf("%v: %v and %v", c, a, b)
		}
	}
}
