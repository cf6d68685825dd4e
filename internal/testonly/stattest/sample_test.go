package stattest_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/stattest"
)

// Fisher's test against its definition in exact fractions.
func TestFisher(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for m := 1; m <= 6; m++ {
			for a := 0; a <= n; a++ {
				for b := 0; b <= m; b++ {
					below, above := new(big.Rat), new(big.Rat)
					all := new(big.Int).Binomial(int64(n+m), int64(a+b))
					for c := max(0, a+b-m); c <= min(n, a+b); c++ {
						ways := new(big.Int).Binomial(int64(n), int64(c))
						ways.Mul(ways, new(big.Int).Binomial(int64(m), int64(a+b-c)))
						p := new(big.Rat).SetFrac(ways, all)
						if c <= a {
							below.Add(below, p)
						}
						if c >= a {
							above.Add(above, p)
						}
					}
					lo, _ := below.Float64()
					hi, _ := above.Float64()
					if got, want := stattest.Fisher(a, n, b, m), min(1, 2*min(lo, hi)); math.Abs(got-want) > 1e-12*want {
						t.Fatalf("%d of %d and %d of %d: %v, want %v", a, n, b, m, got, want)
					}
				}
			}
		}
	}
	// Far out, against the exact fraction 2/C(400, 200) = 2e-119.
	want, _ := new(big.Rat).SetFrac(big.NewInt(2), new(big.Int).Binomial(400, 200)).Float64()
	if got := stattest.Fisher(200, 200, 0, 200); !(math.Abs(got/want-1) < 1e-9) {
		t.Errorf("far out: %v, want %v", got, want)
	}
}

// Follows on two outcomes is the exact binomial test.
func TestFollowsIsBinomial(t *testing.T) {
	const n = 12
	for c := 0; c <= n; c++ {
		below, above := 0.0, 0.0
		for k := 0; k <= n; k++ {
			ways, _ := new(big.Float).SetInt(new(big.Int).Binomial(n, int64(k))).Float64()
			p := ways * math.Pow(0.3, float64(k)) * math.Pow(0.7, float64(n-k))
			if k <= c {
				below += p
			}
			if k >= c {
				above += p
			}
		}
		want := min(1, 2*2*min(below, above)) // two outcomes are two tests
		if got, _ := stattest.TestLaw([]int{c, n - c}, []float64{0.3, 0.7}); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d of %d: %v, want %v", c, n, got, want)
		}
	}
	if p, _ := stattest.TestLaw([]int{5, 0, 1}, []float64{0.5, 0.5, 0}); p != 0 {
		t.Errorf("what cannot be came out, and the p-value is %v", p)
	}
	if p, _ := stattest.TestLaw([]int{5, 0}, []float64{1, 0}); p != 1 {
		t.Errorf("what must be came out, and the p-value is %v", p)
	}
}

// Both tests raise no more false alarms than they say, and find what is there.
//
// Of 4,000 samples from the law itself, at most 5 % may get a p-value below
// 0.05. That bound holds for each, so a count above 200 + 4.9·√(4000·0.05·0.95)
// = 267 has a probability below 1e-6 (normal tail); the seed is fixed.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	law := []float64{0.1, 0.2, 0.4, 0.25, 0.05}
	draw := func(law []float64) int {
		u := r.Float64()
		for k, p := range law {
			if u -= p; u < 0 {
				return k
			}
		}
		return len(law) - 1
	}
	follows, same := 0, 0
	for range 4000 {
		counts := make([]int, len(law))
		var a, b []int
		for range 100 {
			k := draw(law)
			counts[k]++
			a, b = append(a, k), append(b, draw(law))
		}
		if p, _ := stattest.TestLaw(counts, law); p < 0.05 {
			follows++
		}
		if p, _ := stattest.TestSameLaw(a, b); p < 0.05 {
			same++
		}
	}
	if follows > 267 || same > 267 {
		t.Errorf("false alarms: %d of one sample, %d of two, of 4000 each", follows, same)
	}

	other := []float64{0.1, 0.2, 0.35, 0.3, 0.05}
	counts := make([]int, len(law))
	var a, b []int
	for range 20_000 {
		k := draw(other)
		counts[k]++
		a, b = append(a, k), append(b, draw(law))
	}
	if p, at := stattest.TestLaw(counts, law); p > 1e-9 {
		t.Errorf("a shift of 0.05 in 20,000 draws has a p-value of %v (%s)", p, at)
	}
	if p, at := stattest.TestSameLaw(a, b); p > 1e-9 {
		t.Errorf("a shift of 0.05 between 20,000 draws each has a p-value of %v (%s)", p, at)
	}
}
