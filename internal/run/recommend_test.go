package run

import (
	"context"
	"math"
	"strings"
	"testing"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// Where next to nothing that tempered begins with keeps the rules, balanced is taken without
// a trial of both.
func TestRecommendUnderRareRules(t *testing.T) {
	// In the sample there are fewer rules, of fewer ingredients.
	const total = 300
	n, rules, most, law := 12, 3, 2.33, mcmc.Uniform(4, 6)
	if !testmode.Enabled() {
		n, rules, most, law = 10, 2, 2.32, mcmc.Uniform(4, 4)
	}
	set := rule.Set{Ingredients: n, Total: total}
	for k := range rules {
		f := make([]float64, n)
		for i := range f {
			f[i] = math.Sqrt(float64(1 + i*(7+2*k)%13))
		}
		set.Rules = append(set.Rules, rule.Limit{Factors: f, Min: 2.3, Max: most})
	}
	space, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: law, MaxTableSteps: 1})
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, law, mcmc.Objective{Name: "y", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1 + x.Amount(1)) })})
	if err != nil {
		t.Fatal(err)
	}
	if kept := shareKeepingRules(target); !(kept > 0 && kept < minShareKeepingRules) {
		t.Fatalf("%v of them keep the rules", kept)
	}
	a, err := Recommend(t.Context(), target, mcmc.Settings{Chains: 4, Warmup: 100, Draws: 100, Thin: 1}, false)
	if err != nil || a.Kernel != "balanced" || !strings.Contains(a.Because, "meets the constraints") {
		t.Errorf("the advice is %+v, %v", a, err)
	}
}

// TestRecommend asks for advice of targets of which it is known what they need.
func TestRecommend(t *testing.T) {
	space, err := mcmc.NewSpace(40, 400)
	if err != nil {
		t.Fatal(err)
	}
	smooth := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(1+x.Amount(1)) / 401 })
	// Nearly all of the first nineteen or nearly all of the others, and what lies between
	// is the less likely the further it is from both. The chains of the trial begin on
	// either side; were they all on one, it would not see the other.
	torn := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		left := 0
		for i := range 19 {
			left += x.Amount(i)
		}
		if far := min(left, 400-left); far > 5 {
			return 1e-4 * math.Exp(-float64(far)/5)
		}
		return 1
	})
	settings := mcmc.Settings{Chains: 4, Warmup: testmode.Pick(10_000, 3000), Draws: testmode.Pick(100_000, 30_000), Thin: 1, Seed: 1}
	for _, c := range []struct {
		name     string
		wish     mcmc.ScoreFunc
		programs bool
		want     string
		says     string
	}{
		{"no properties", nil, false, "exact", "independently"},
		{"smooth", smooth, false, "balanced", "agreed"},
		{"a program", smooth, true, "balanced", "kir tried none"},
		{"torn", torn, false, "tempered", "sooner"},
	} {
		var wishes []mcmc.Objective
		if c.wish != nil {
			wishes = []mcmc.Objective{{Name: "y", Property: c.wish, Weight: 1}}
		}
		target, err := mcmc.NewTarget(space, mcmc.Uniform(12, 20), wishes...)
		if err != nil {
			t.Fatal(err)
		}
		var last string
		for seed := range testmode.Pick(uint64(2), 1) {
			s := settings
			s.Seed = seed
			a, err := Recommend(context.Background(), target, s, c.programs)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s, as %s", c.name, a.Kernel, a.Because)
			if a.Kernel != c.want || !strings.Contains(a.Because, c.says) {
				t.Errorf("%s: the advice is %+v, want %s", c.name, a, c.want)
			}
			if seed > 0 && a.Because != last {
				t.Errorf("%s: the advice depends on the seed: %q, %q", c.name, a.Because, last)
			}
			last = a.Because
		}
	}
}
