package search

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"kir/mcmc"
	"kir/rule"
)

// rough is a property that is different everywhere, and 0 at one in eleven.
func rough(seed uint64) mcmc.Property {
	return mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		h := seed * 0x9e3779b97f4a7c15
		for _, a := range x.Amounts() {
			h = (h ^ uint64(a+1)) * 0xff51afd7ed558ccd
			h ^= h >> 29
		}
		if h%11 == 0 {
			return 0
		}
		return float64(h%1_000_003) / 1_000_003
	})
}

// smooth rises towards a composition, and has steps.
func smooth(best []int) mcmc.Property {
	return mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		d := 0.0
		for i, b := range best {
			d += math.Abs(float64(x.Amount(i) - b))
		}
		return 1 / (1 + math.Floor(d/2))
	})
}

// all returns every composition of a space.
func all(t *testing.T, n, total int) []*mcmc.Composition {
	t.Helper()
	var list []*mcmc.Composition
	amounts := make([]int, n)
	var fill func(i, left int)
	fill = func(i, left int) {
		if i == n-1 {
			amounts[i] = left
			var parts []mcmc.Part
			for i, a := range amounts {
				if a > 0 {
					parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
				}
			}
			x, err := mcmc.NewComposition(n, parts...)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
			return
		}
		for a := range left + 1 {
			amounts[i] = a
			fill(i+1, left-a)
		}
	}
	fill(0, total)
	return list
}

// newTarget returns a target with rules, and one of two sizes missing.
func newTarget(t *testing.T, wishes ...mcmc.Objective) *mcmc.Target {
	t.Helper()
	space, err := mcmc.NewRuledSpace(t.Context(), rule.Set{Ingredients: 5, Total: 9, Rules: []rule.Rule{
		rule.Need{If: 4, Then: []int{0, 1}},
		rule.Limit{Factors: []float64{1, 2, 3, 4, 5}, Min: 0, Max: 3.5},
		rule.Amount{Of: []int{2}, Max: 4},
	}}, mcmc.CountingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Table(map[int]float64{1: 1, 2: 1, 4: 1, 5: 1}), wishes...)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// TestBestIsTheBest compares the archive with the best of every kind, found by
// looking at every composition of a small space. A property that is rough has no
// way uphill, so that not each kind is found; but the best is, nearly all kinds
// are, and what is found keeps everything and has its score.
func TestBestIsTheBest(t *testing.T) {
	for seed := range uint64(4) {
		target := newTarget(t, mcmc.Objective{Name: "rough", Property: rough(seed), Weight: 1})
		o := Options{
			Evaluations: 30_000, Seed: seed,
			Least: []int{1, 2, 1, 1, 1}, Most: []int{9, 9, 9, 5, 9},
			Niche:  Niche{Attribute: []float64{1, 2, 3, 4, 5}, Bands: []float64{2, 3}},
			Refuse: func(set []int) bool { return slices.Equal(set, []int{0, 1}) },
		}
		d := newAmountLimits(target, o.Least, o.Most)
		want := newArchive(o.Niche, maxNiches)
		for _, x := range all(t, 5, 9) {
			score, err := target.LogScore(x)
			if err != nil {
				t.Fatal(err)
			}
			set := make([]int, 0, 5)
			for _, p := range x.Parts() {
				set = append(set, p.Ingredient)
			}
			if target.LogLaw(x.UsedCount()) > math.Inf(-1) && score > math.Inf(-1) && d.allowsAllAmounts(x) && !o.Refuse(set) {
				want.Offer(x.Parts(), nil, score)
			}
		}
		r, err := Best(t.Context(), target, o)
		if err != nil {
			t.Fatal(err)
		}
		got, best := r.Archive.Best(), want.Best()
		if !reflect.DeepEqual(got[0], best[0]) {
			t.Errorf("seed %d: the best is %v, not %v", seed, best[0], got[0])
		}
		right := 0
		for _, f := range got {
			at, known := want.indexByNiche[want.nicheOf(f.Parts)]
			if !known || f.LogScore > want.compositions[at].LogScore {
				t.Errorf("seed %d: %v is none that may be found", seed, f)
			} else if f.LogScore == want.compositions[at].LogScore {
				right++
			}
		}
		t.Logf("seed %d: %d of %d kinds", seed, right, len(best))
		if 10*right < 8*len(best) {
			t.Errorf("seed %d: the best of %d kinds was found, there are %d", seed, right, len(best))
		}
		if r.Evaluations > int64(o.Evaluations) || r.Evaluations < int64(o.Evaluations)/2 {
			t.Errorf("seed %d: %d evaluations of %d", seed, r.Evaluations, o.Evaluations)
		}
	}
}

// TestSameOnAnyNumberOfWorkers: what is found follows from the seed.
func TestSameOnAnyNumberOfWorkers(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "rough", Property: rough(7), Weight: 1})
	find := func(seed uint64, workers int) *Result {
		r, err := Best(t.Context(), target, Options{Evaluations: 1000, Seed: seed, Workers: workers, DiverseCount: 3, Distance: NewDistance(5, nil), MinDistance: 0.4})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, many, other := find(1, 1), find(1, 5), find(2, 1)
	same := func(a, b *Result) bool {
		return reflect.DeepEqual(a.Archive.Best(), b.Archive.Best()) && reflect.DeepEqual(a.Diverse, b.Diverse) && a.Compositions == b.Compositions
	}
	if !same(one, many) {
		t.Error("five workers find something else than one")
	}
	if same(one, other) {
		t.Error("another seed finds the same: the test cannot tell")
	}
}

// TestDrawsStayTheSame: a search between two runs of a target changes no draw.
func TestDrawsStayTheSame(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 2})
	run := func() (draws [][]mcmc.Part) {
		sampler, err := mcmc.NewSampler("balanced", target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mcmc.Stream(t.Context(), sampler, mcmc.Settings{Chains: 1, Warmup: 50, Draws: 200, Thin: 1, Seed: 1}, 1, func(_, _ int, x *mcmc.State) error {
			draws = append(draws, x.Composition.Parts())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return draws
	}
	before := run()
	if _, err := Best(t.Context(), target, Options{Evaluations: 1000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, run()) {
		t.Error("the draws are others")
	}
}

// TestIdeasAreApart: ideas keep their distance, and the first is the best of all.
func TestIdeasAreApart(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1})
	d := NewDistance(5, nil)
	r, err := Best(t.Context(), target, Options{Evaluations: 10_000, Seed: 1, DiverseCount: 5, Distance: d, MinDistance: 0.4})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Diverse) != 5 || r.Diverse[0].LogScore != r.Archive.Best()[0].LogScore || r.Diverse[0].LogScore != 0 {
		t.Errorf("%d ideas, the first %v, and the best there is %v", len(r.Diverse), r.Diverse[0], r.Archive.Best()[0])
	}
	for a, f := range r.Diverse {
		for _, g := range r.Diverse[:a] {
			if d.Between(f.Parts, g.Parts) < 0.4 {
				t.Errorf("%v and %v are %v apart", f, g, d.Between(f.Parts, g.Parts))
			}
		}
	}
}

// TestStartsAreUsed: from a start one finds what no random composition leads to.
func TestStartsAreUsed(t *testing.T) {
	space, err := mcmc.NewSpace(400, 1000)
	if err != nil {
		t.Fatal(err)
	}
	needle := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if x.Amount(17) > 300 && x.Amount(211) > 300 && x.Amount(309) > 100 {
			return 1
		}
		return 1e-6
	})
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 5), mcmc.Objective{Name: "needle", Property: needle, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	// It breaks a dose, which is mended.
	start, err := mcmc.NewComposition(400, mcmc.Part{Ingredient: 17, Amount: 350}, mcmc.Part{Ingredient: 211, Amount: 510}, mcmc.Part{Ingredient: 309, Amount: 140})
	if err != nil {
		t.Fatal(err)
	}
	most := slices.Repeat([]int{500}, 400)
	for _, starts := range [][]*mcmc.Composition{nil, {start}} {
		r, err := Best(t.Context(), target, Options{Evaluations: 200, Seed: 1, Most: most, Starts: starts})
		if err != nil {
			t.Fatal(err)
		}
		best := r.Archive.Best()[0]
		if found := best.LogScore == 0; found != (starts != nil) || r.FeasibleStartCount != len(starts) {
			t.Errorf("with %d starts, of which %d could be used, the best is %v", len(starts), r.FeasibleStartCount, best)
		}
	}
}

// TestWalkOffersWhatKeepsDoses: a walk may stand where an amount is not allowed;
// what it offers there must not.
func TestWalkOffersWhatKeepsDoses(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1})
	s := &searcher{target: target, limits: newAmountLimits(target, nil, []int{9, 9, 9, 3, 9}), archive: newArchive(Niche{}, 10), scoreSD: 1}
	start := parts(t, 1, 2, 1, 5, 0)
	w, err := newWalker(s, Found{Parts: start.Parts()}, mcmc.NewRand(1, "test", 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.scoreLine(0, 1, 3); err != nil {
		t.Fatal(err)
	}
	w.offerBestChoices(0, 1, 3)
	if len(w.archive.compositions) != 0 {
		t.Errorf("%v was offered, with 5 of ingredient 3", w.archive.compositions)
	}
	if err := w.scoreLine(3, 1, 7); err != nil {
		t.Fatal(err)
	}
	w.offerBestChoices(3, 1, 7)
	if len(w.archive.compositions) == 0 {
		t.Error("nothing was offered")
	}
	for _, f := range w.archive.compositions {
		if x, _ := mcmc.NewComposition(5, f.Parts...); !s.limits.allowsAllAmounts(x) {
			t.Errorf("%v was offered", f)
		}
	}
}

func TestBestRefuses(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "rough", Property: rough(1), Weight: 1})
	for name, o := range map[string]Options{
		"no budget":     {},
		"short doses":   {Evaluations: 1, Most: []int{1}},
		"no distance":   {Evaluations: 1, DiverseCount: 2},
		"bands":         {Evaluations: 1, Niche: Niche{Bands: []float64{2, 1}}},
		"short groups":  {Evaluations: 1, Niche: Niche{Group: []int{0}}},
		"another space": {Evaluations: 1, Starts: []*mcmc.Composition{all(t, 3, 4)[0]}},
	} {
		if _, err := Best(t.Context(), target, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	never := newTarget(t, mcmc.Objective{Name: "never", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 0 }), Weight: 1})
	if _, err := Best(t.Context(), never, Options{Evaluations: 100}); !errors.Is(err, mcmc.ErrNoStart) {
		t.Errorf("nothing is allowed: %v", err)
	}
	bad := newTarget(t, mcmc.Objective{Name: "bad", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return math.NaN() }), Weight: 1})
	var scoreError *mcmc.ScoreError
	if _, err := Best(t.Context(), bad, Options{Evaluations: 100}); !errors.As(err, &scoreError) {
		t.Errorf("a property that is no number: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Best(ctx, target, Options{Evaluations: 100}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSmallest: one ingredient of one unit is all there is.
func TestSmallest(t *testing.T) {
	space, err := mcmc.NewSpace(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDistance(1, nil)
	r, err := Best(t.Context(), target, Options{Evaluations: 10, DiverseCount: 3, Distance: d})
	if err != nil {
		t.Fatal(err)
	}
	list, err := Shortlist(t.Context(), target, append(r.Diverse, r.Archive.Best()...), ListOptions{MaxEntries: 3, Distance: d})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Entries) != 1 || !slices.Equal(list.Entries[0].Parts, []mcmc.Part{{Ingredient: 0, Amount: 1}}) {
		t.Errorf("%+v", list.Entries)
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		iterations int64
		effort     float64
		want       int
	}{{440_000, 1, 100_000}, {440_000, 0, 0}, {4000, 1, 1000}, {440_000, 2.5, 250_000}, {160_000, 0.5, 20_000}} {
		if got := LineBudget(c.iterations, c.effort); got != c.want {
			t.Errorf("%d iterations, effort %v: %d", c.iterations, c.effort, got)
		}
	}
}

// TestPlain: weights of 30 and 0 become 1 and 0.
func TestPlain(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "a", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 30}, mcmc.Objective{Name: "b", Property: rough(1), Weight: 0})
	plain, err := UnweightedTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	if w := plain.Objectives(); w[0].Weight != 1 || w[1].Weight != 0 || target.Objectives()[0].Weight != 30 {
		t.Errorf("weights %v and %v", w[0].Weight, w[1].Weight)
	}
}
