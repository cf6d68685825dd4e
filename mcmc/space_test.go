package mcmc_test

import (
	"math"
	"math/big"
	"testing"

	"kir/mcmc"
)

// sizes returns C(N, n)·C(M−1, n−1).
func sizes(ingredients, total, n int) *big.Int {
	c := new(big.Int).Binomial(int64(ingredients), int64(n))
	return c.Mul(c, new(big.Int).Binomial(int64(total-1), int64(n-1)))
}

// bigLog returns log c for c > 0.
func bigLog(c *big.Int) float64 {
	f := new(big.Float).SetInt(c)
	exp := f.MantExp(f)
	m, _ := f.Float64()
	return math.Log(m) + float64(exp)*math.Ln2
}

func TestSpaceSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {5, 6}, {10, 5}, {50, 5}, {65, 1000}, {2000, 100}, {100, 2000}, {300, 300}} {
		space, err := mcmc.NewSpace(size[0], size[1])
		if err != nil {
			t.Fatal(err)
		}
		if space.N() != size[0] || space.Total() != size[1] || space.MaxUsed() != min(size[0], size[1]) {
			t.Errorf("%v: N=%d, M=%d, at most %d", size, space.N(), space.Total(), space.MaxUsed())
		}
		most := space.MaxUsed()
		logs := space.LogCounts(most)
		if len(logs) != most+1 || !math.IsInf(logs[0], -1) {
			t.Errorf("%v: %d sizes, the first %v", size, len(logs), logs[0])
		}
		for n := 1; n <= most; n++ {
			// A sum of n logarithms, each rounded to half an ulp of a number
			// below 4,096.
			want := bigLog(sizes(size[0], size[1], n))
			if tolerance := float64(n) * 0x1p-41; math.Abs(logs[n]-want) > tolerance {
				t.Errorf("%v: log |X_%d| = %v, want %v", size, n, logs[n], want)
			}
			ratio, _ := new(big.Rat).SetFrac(sizes(size[0], size[1], n+1), sizes(size[0], size[1], n)).Float64()
			if got := space.Ratio(n); math.Abs(got-ratio) > 1e-14*ratio {
				t.Errorf("%v: |X_%d|/|X_%d| = %v, want %v", size, n+1, n, got, ratio)
			}
		}
		if got := space.Ratio(most); got != 0 {
			t.Errorf("%v: |X_%d| is not 0", size, most+1)
		}
	}
}

// The counts that the paper prints in its Table 1.
func TestSpaceOfThePaper(t *testing.T) {
	space, err := mcmc.NewSpace(50, 5)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []float64{1: 50, 4900, 117600, 921200, 2118760} {
		if n > 0 && math.Abs(math.Exp(space.LogCounts(5)[n])/want-1) > 1e-13 {
			t.Errorf("|X_%d| = %v, want %v", n, math.Exp(space.LogCounts(5)[n]), want)
		}
	}
}

func TestSpaceErrors(t *testing.T) {
	for _, size := range [][2]int{{0, 1}, {-1, 1}, {1, 0}, {1, -7}, {math.MaxInt32 + 1, 1}, {1, math.MaxInt32 + 1}} {
		if _, err := mcmc.NewSpace(size[0], size[1]); err == nil {
			t.Errorf("%v is a space", size)
		}
	}
	space, err := mcmc.NewSpace(3, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ingredients int
		parts       []mcmc.Part
		inside      bool
	}{
		{3, []mcmc.Part{{Ingredient: 0, Amount: 5}}, true},
		{3, []mcmc.Part{{Ingredient: 0, Amount: 2}, {Ingredient: 2, Amount: 3}}, true},
		{3, []mcmc.Part{{Ingredient: 0, Amount: 2}, {Ingredient: 2, Amount: 2}}, false},
		{4, []mcmc.Part{{Ingredient: 0, Amount: 5}}, false},
		{3, nil, false},
	} {
		x, err := mcmc.NewComposition(c.ingredients, c.parts...)
		if err != nil {
			t.Fatal(err)
		}
		if err := space.Contains(x); (err == nil) != c.inside {
			t.Errorf("%v of %d: %v", x, c.ingredients, err)
		}
	}
}

func newSpace(t *testing.T, ingredients, total int) *mcmc.Space {
	t.Helper()
	s, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
