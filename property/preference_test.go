package property_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/mcmc"
	"kir/property"
)

// tasted makes up comparisons of random compositions.
func tasted(t *testing.T, r *rand.Rand, ingredients, total, pairs int) []property.Pair {
	t.Helper()
	var out []property.Pair
	for range pairs {
		out = append(out, property.Pair{
			Better: randomComposition(t, r, ingredients, total, 1+r.IntN(min(4, ingredients))),
			Worse:  randomComposition(t, r, ingredients, total, 1+r.IntN(min(4, ingredients))),
		})
	}
	return out
}

// TestPreference holds lines to their points, and the fixed point to a comparison in
// floating point.
func TestPreference(t *testing.T) {
	for _, c := range []struct {
		ingredients, total, pairs int
		group                     []int
	}{
		{5, 20, 1, nil},
		{6, 100, 12, []int{0, 0, 1, -1, 1, 2}},
		{40, 1000, 30, nil},
		{1, 3, 2, nil},
	} {
		r := rand.New(rand.NewPCG(2, uint64(c.ingredients)))
		pairs := tasted(t, r, c.ingredients, c.total, c.pairs)
		learnt, err := property.NewComparisons(c.ingredients, c.total, c.group, pairs)
		if err != nil {
			t.Fatal(err)
		}
		p := property.NewPreference(learnt)
		if c.ingredients > 1 {
			walkLines(t, p, c.ingredients, c.total, 60, nil, 0)
		}
		taste := learnt.Posterior()
		for range 200 {
			x := randomComposition(t, r, c.ingredients, c.total, 1+r.IntN(min(5, c.ingredients)))
			got, want := p.LogScore(x), taste.LogProbabilityOverMean(x)
			if math.Abs(got-want) > 1e-5 {
				t.Fatalf("%v scores %v, in floating point %v", x, got, want)
			}
		}
	}
}

// TestComparisonsPosterior holds expectation propagation to the posterior itself,
// integrated on a grid, where two features tell all.
func TestComparisonsPosterior(t *testing.T) {
	compose := func(a int) *mcmc.Composition {
		var parts []mcmc.Part
		for i, amount := range []int{a, 100 - a} {
			if amount > 0 {
				parts = append(parts, mcmc.Part{Ingredient: i, Amount: amount})
			}
		}
		x, err := mcmc.NewComposition(2, parts...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	pairs := []property.Pair{{Better: compose(80), Worse: compose(20)}, {Better: compose(60), Worse: compose(30)}, {Better: compose(10), Worse: compose(0)}, {Better: compose(50), Worse: compose(90)}}
	c, err := property.NewComparisons(2, 100, nil, pairs)
	if err != nil {
		t.Fatal(err)
	}
	taste, scale := c.Posterior(), c.Scale()
	feature := func(x *mcmc.Composition, i int) float64 { return math.Sqrt(float64(x.Amount(i)) / 100) }
	logit := func(v, w float64, p property.Pair) float64 {
		return v*(feature(p.Better, 0)-feature(p.Worse, 0)) + w*(feature(p.Better, 1)-feature(p.Worse, 1))
	}
	for _, q := range []property.Pair{{Better: compose(70), Worse: compose(40)}, {Better: compose(0), Worse: compose(100)}, {Better: compose(55), Worse: compose(45)}} {
		mass, share := 0.0, 0.0
		const steps = 400
		for a := range steps {
			for b := range steps {
				v, w := (float64(a)/steps*10-5)*scale, (float64(b)/steps*10-5)*scale
				like := math.Exp(-(v*v + w*w) / (2 * scale * scale))
				for _, p := range pairs {
					like /= 1 + math.Exp(-logit(v, w, p))
				}
				mass += like
				share += like / (1 + math.Exp(-logit(v, w, q)))
			}
		}
		// What is left between them is the logistic curve's distance from the normal
		// one and the posterior's from a normal law: measured, at most 0.011.
		if got := taste.PreferenceProbability(q.Better, q.Worse); math.Abs(got-share/mass) > 0.025 {
			t.Errorf("%v is preferred to %v with %.4f, by the grid %.4f", q.Better, q.Worse, got, share/mass)
		} else {
			t.Logf("%.4f, by the grid %.4f", got, share/mass)
		}
	}
}

// TestHeldOut: which is liked better of two that are the same is told right half the
// time, and what all the others say is told right or wrong.
func TestHeldOut(t *testing.T) {
	of := func(a int) *mcmc.Composition { return composition(t, []int{a, 10 - a}) }
	same, more, less := property.Pair{Better: of(5), Worse: of(5)}, property.Pair{Better: of(8), Worse: of(2)}, property.Pair{Better: of(2), Worse: of(8)}
	for name, c := range map[string]struct {
		pairs  []property.Pair
		right  float64
		stated float64 // at least
	}{
		"none":          {nil, 0, 0},
		"one":           {[]property.Pair{more}, 0, 0},
		"the same":      {[]property.Pair{same, same, same, same}, 0.5, 0.5},
		"all agree":     {[]property.Pair{more, more, more, more}, 1, 0.6},
		"one of four":   {[]property.Pair{more, more, more, less}, 0.75, 0.6},
		"two and two":   {[]property.Pair{more, same, more, same}, 0.75, 0.5},
		"thirty of 40":  {slices.Concat(slices.Repeat([]property.Pair{more}, 30), slices.Repeat([]property.Pair{less}, 10)), 0.75, 0.6},
		"each the last": {[]property.Pair{more, less}, 0, 0.5},
	} {
		h, err := property.CrossValidate(2, 10, nil, c.pairs)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(h.Accuracy-c.right) > 1e-12 || h.ExpectedAccuracy < c.stated-1e-12 || h.ExpectedAccuracy > 1+1e-12 {
			t.Errorf("%s: %+v, want %v right and at least %v stated", name, h, c.right, c.stated)
		}
		if len(c.pairs) > 1 && h.Pairs != len(c.pairs) {
			t.Errorf("%s: %d pairs", name, h.Pairs)
		}
	}
	if h, err := property.CrossValidate(2, 10, nil, slices.Repeat([]property.Pair{more}, 2*property.MaxPairs)); err == nil {
		t.Errorf("of more pairs than are learnt from it tells %+v", h)
	}
}
