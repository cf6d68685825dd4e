package search

import (
	"math"
	"slices"
	"testing"

	"kir/mcmc"
)

func parts(t *testing.T, amounts ...int) *mcmc.Composition {
	t.Helper()
	var p []mcmc.Part
	for i, a := range amounts {
		if a > 0 {
			p = append(p, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), p...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDistance compares distances with the definition, by hand and for random
// compositions, where it is a metric.
func TestDistance(t *testing.T) {
	d := NewDistance(4, nil)
	for _, c := range []struct {
		x, y *mcmc.Composition
		want float64
	}{
		{parts(t, 5, 5, 0, 0), parts(t, 5, 5, 0, 0), 0},
		{parts(t, 5, 5, 0, 0), parts(t, 0, 0, 9, 1), 1},
		{parts(t, 10, 0, 0, 0), parts(t, 9, 1, 0, 0), math.Sqrt(1 - math.Sqrt(0.9))},
		{parts(t, 4, 1, 0, 0), parts(t, 1, 4, 0, 0), math.Sqrt(1 - 0.8)},
	} {
		if got := d.Between(c.x.Parts(), c.y.Parts()); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v are %v apart, not %v", c.x, c.y, got, c.want)
		}
	}

	list := all(t, 4, 6)
	r := mcmc.NewRand(1, "test", 0)
	for range 2000 {
		x, y, z := list[r.Intn(len(list))].Parts(), list[r.Intn(len(list))].Parts(), list[r.Intn(len(list))].Parts()
		if d.Between(x, y) != d.Between(y, x) || d.Between(x, z) > d.Between(x, y)+d.Between(y, z)+1e-12 || (d.Between(x, y) < 1e-9) != slices.Equal(x, y) {
			t.Fatalf("%v, %v and %v are no triangle", x, y, z)
		}
	}
}

// TestDistanceLeavesOutWhatAllHave: water does not make two lotions alike.
func TestDistanceLeavesOutWhatAllHave(t *testing.T) {
	d := NewDistance(3, []*mcmc.Composition{parts(t, 8, 2, 0), parts(t, 6, 0, 4)})
	if !d.Common(0) || d.Common(1) {
		t.Error("ingredient 0 is in all recipes, 1 is not")
	}
	for _, c := range []struct {
		x, y *mcmc.Composition
		want float64
	}{
		{parts(t, 9, 1, 0), parts(t, 9, 0, 1), 1},
		{parts(t, 9, 1, 0), parts(t, 1, 9, 0), 0},
		{parts(t, 10, 0, 0), parts(t, 10, 0, 0), 0},
		{parts(t, 10, 0, 0), parts(t, 9, 1, 0), 1},
	} {
		if got := d.Between(c.x.Parts(), c.y.Parts()); got != c.want {
			t.Errorf("%v and %v are %v apart, not %v", c.x, c.y, got, c.want)
		}
	}
	if got := NewDistance(3, nil).Typical([]*mcmc.Composition{parts(t, 5, 0, 0), parts(t, 0, 5, 0), parts(t, 0, 5, 0)}); got != 1 {
		t.Errorf("of distances 1, 1 and 0 the median is %v", got)
	}
	if !math.IsNaN(d.Typical(nil)) {
		t.Error("nothing has a typical distance")
	}
}

// TestShortlist checks a shortlist against what is looked at point by point: its
// entries are apart, and each amount of a range keeps everything and is nearly as
// good.
func TestShortlist(t *testing.T) {
	target := newTarget(t,
		mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1},
		mcmc.Objective{Name: "told", Property: smooth([]int{0, 9, 0, 0, 0}), Weight: 0})
	d := NewDistance(5, nil)
	known := []*mcmc.Composition{parts(t, 3, 3, 2, 1, 0), parts(t, 9, 0, 0, 0, 0)}
	r, err := Best(t.Context(), target, Options{Evaluations: 5000, Seed: 1, Least: []int{2, 1, 1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	candidates := r.Archive.Best()
	for _, x := range all(t, 5, 9) { // much of which breaks rules or sizes
		if score, err := target.LogScore(x); err == nil {
			candidates = append(candidates, Found{Parts: x.Parts(), LogScore: score})
		}
	}
	o := ListOptions{MaxEntries: 6, Distance: d, MinDistance: 0.45, Known: known, Tolerance: 0.3, Least: []int{2, 1, 1, 1, 1}}
	list, err := Shortlist(t.Context(), target, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Entries) != 6 || list.Entries[0].LogScore != 0 || list.Evaluations == 0 {
		t.Fatalf("%d entries, the first %+v", len(list.Entries), list.Entries[0])
	}
	doses := newAmountLimits(target, o.Least, nil)
	wide, variants := 0, 0
	for k, e := range list.Entries {
		x, err := mcmc.NewComposition(5, e.Parts...)
		if err != nil {
			t.Fatal(err)
		}
		score, err := target.LogScore(x)
		if err != nil {
			t.Fatal(err)
		}
		if score != e.LogScore || !doses.allowsIngredientCount(x.UsedCount()) || !doses.allowsAllAmounts(x) {
			t.Errorf("entry %d, %v, scores %v, not %v", k, x, score, e.LogScore)
		}
		if len(e.Scores) != 2 || math.Abs(e.Scores[0]-math.Exp(score)) > 1e-12 {
			t.Errorf("entry %d has the scores %v", k, e.Scores)
		}
		nearest := math.Inf(1)
		for _, f := range list.Entries[:k] {
			nearest = min(nearest, d.Between(e.Parts, f.Parts))
		}
		if k > 0 && (e.EarlierDistance != nearest || e.LogScore > list.Entries[k-1].LogScore) || k == 0 && !math.IsNaN(e.EarlierDistance) {
			t.Errorf("entry %d is said to be %v apart, and is %v", k, e.EarlierDistance, nearest)
		}
		if len(e.Nearest) != 2 || e.Nearest[0].Distance > e.Nearest[1].Distance ||
			e.Nearest[0].Distance != d.Between(known[e.Nearest[0].KnownIndex].Parts(), e.Parts) {
			t.Errorf("entry %d is near %v", k, e.Nearest)
		}
		variants += len(e.Variants)
		for _, v := range e.Variants {
			if sameIngredients(v.Parts, e.Parts) || d.Between(v.Parts, e.Parts) > 0.25 {
				t.Errorf("entry %d, %v, has the variant %v", k, e.Parts, v)
			}
		}
		for p, part := range e.Parts {
			for amount := e.Ranges[p].Low; amount <= e.Ranges[p].High; amount++ {
				if !asGood(t, target, doses, x, part, amount, e.LogScore+math.Log(0.7)) {
					t.Errorf("entry %d, %v, is not as good with %d of ingredient %d", k, x, amount, part.Ingredient)
				}
			}
			wide += e.Ranges[p].High - e.Ranges[p].Low
		}
	}
	if variants == 0 {
		t.Error("no entry has a variant")
	}
	if wide < 5 {
		t.Errorf("the ranges are %d wide together: the test does not see enough", wide)
	}

	o.Refuse = func(set []int) bool { return len(set) == 4 }
	if list, err = Shortlist(t.Context(), target, candidates, o); err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Entries {
		if len(e.Parts) == 4 {
			t.Errorf("%v is on the list, and was refused", e.Parts)
		}
	}
	for _, bad := range []ListOptions{{}, {MaxEntries: -1, Distance: d}, {Distance: d, MinDistance: math.NaN()}, {Distance: d, Tolerance: 1}} {
		if _, err := Shortlist(t.Context(), target, nil, bad); err == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}

// asGood says whether x, with that amount of a part and the difference given to or
// taken from one other of its ingredients, keeps everything and scores at least so
// much.
func asGood(t *testing.T, target *mcmc.Target, doses *amountLimits, x *mcmc.Composition, part mcmc.Part, amount int, least float64) bool {
	t.Helper()
	for _, other := range x.Parts() {
		s := part.Amount + other.Amount
		if other.Ingredient == part.Ingredient || amount >= s {
			continue
		}
		y := x.Clone()
		if err := y.Move(part.Ingredient, other.Ingredient, amount); err != nil {
			t.Fatal(err)
		}
		if score, err := target.LogScore(y); err == nil && score >= least-1e-12 && doses.allowsAllAmounts(y) {
			return true
		}
	}
	return x.UsedCount() == 1 && amount == part.Amount
}

// TestShortlistRelaxes: where little is apart, the list goes on with what is less.
func TestShortlistRelaxes(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1})
	r, err := Best(t.Context(), target, Options{Evaluations: 2000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	list, err := Shortlist(t.Context(), target, r.Archive.Best(), ListOptions{MaxEntries: 8, Distance: NewDistance(5, nil), MinDistance: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	far := 0
	for _, e := range list.Entries[1:] {
		if e.EarlierDistance >= 0.9 {
			far++
		}
	}
	if len(list.Entries) != 8 || far == 7 {
		t.Errorf("%d entries, %d of them far from all before", len(list.Entries), far)
	}
}

// TestCompare compares a comparison with what is counted by hand.
func TestCompare(t *testing.T) {
	target := newTarget(t, mcmc.Objective{Name: "smooth", Property: smooth([]int{3, 3, 2, 1, 0}), Weight: 1})
	d := NewDistance(5, nil)
	known := []*mcmc.Composition{parts(t, 3, 3, 2, 1, 0), parts(t, 3, 3, 1, 2, 0), parts(t, 2, 4, 1, 2, 0), parts(t, 9, 0, 0, 0, 0)}
	entry := func(x *mcmc.Composition, score float64) Entry {
		return Entry{Found: Found{Parts: x.Parts(), LogScore: math.Log(score)}}
	}
	list := []Entry{entry(parts(t, 3, 3, 2, 1, 0), 1), entry(parts(t, 0, 0, 0, 0, 9), 0.5), entry(parts(t, 4, 3, 1, 1, 0), 0.4)}
	c, err := Compare(t.Context(), target, list, CompareOptions{RandomCount: 500, Seed: 1, Distance: d, Known: known, KnownScores: []float64{0.3, 0.9, math.NaN(), 0.1}})
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Shortlist; s.Number != 3 || math.Abs(float64(s.Mean)-1.9/3) > 1e-12 || s.Median != 0.5 || s.Greatest != 1 || s.Least < 0.4-1e-12 {
		t.Errorf("the shortlist is %+v", s)
	}
	if c.Known.Number != 3 || math.Abs(float64(c.KnownShareBelow)-2./3) > 1e-12 {
		t.Errorf("the known ones are %+v, of which %v are beaten", c.Known, c.KnownShareBelow)
	}
	// The mean over random compositions, from the law of n and the sets of each
	// size; the tolerance is 4 standard errors: a false alarm in 16,000.
	want, mass := 0.0, 0.0
	for _, x := range all(t, 5, 9) {
		score, err := target.LogScore(x)
		if err != nil {
			t.Fatal(err)
		}
		if p := math.Exp(target.LogLaw(x.UsedCount())); p > 0 && !math.IsInf(score, -1) {
			want += p * math.Exp(score)
			mass += p
		}
	}
	if want /= mass; math.Abs(float64(c.Random.Mean)-want) > float64(4*c.Random.SE) {
		t.Errorf("random compositions have a mean of %v ± %v, not %v", c.Random.Mean, c.Random.SE, want)
	}
	if c.Random.Number != 500 || c.RandomShareBelow < 0.5 {
		t.Errorf("random: %+v, beaten %v", c.Random, c.RandomShareBelow)
	}
	// The second entry has nothing in common with any known recipe.
	if len(c.ExtrapolatingEntries) != 1 || c.ExtrapolatingEntries[0] != 1 {
		t.Errorf("beyond a reach of %v are %v", c.Reach, c.ExtrapolatingEntries)
	}
	if _, err := Compare(t.Context(), target, list, CompareOptions{Distance: d, RandomCount: 1, Known: known, KnownScores: []float64{1}}); err == nil {
		t.Error("one score of four known ones passed")
	}
	one, err := Compare(t.Context(), target, list[1:2], CompareOptions{RandomCount: 1, Seed: 1, Distance: d})
	if err != nil || one.Shortlist.SE.IsKnown() { // of one number
		t.Errorf("one entry compares as %+v, %v", one, err)
	}
	if one.Shortlist.SE = 0; one.Shortlist != (Scores{1, 0.5, 0, 0.5, 0.5, 0.5, 0.5}) {
		t.Errorf("one entry compares as %+v, %v", one, err)
	}
	none, err := Compare(t.Context(), target, nil, CompareOptions{RandomCount: 10, Distance: d})
	if err != nil || !math.IsNaN(float64(none.Shortlist.Mean)) || !math.IsNaN(float64(none.Reach)) || none.Known.Number != 0 {
		t.Errorf("nothing compares as %+v, %v", none, err)
	}
}

// TestCheck: a shortlist keeps what two targets agree on, and loses what only its
// own has made up.
func TestCheck(t *testing.T) {
	truth := smooth([]int{3, 3, 2, 1, 0})
	withNoise := func(seed uint64) *mcmc.Target {
		noise := rough(seed)
		return newTarget(t, mcmc.Objective{Name: "y", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
			return math.Exp(truth.LogScore(x)) * (0.2 + 0.8*math.Exp(noise.LogScore(x)))
		})})
	}
	d := NewDistance(5, nil)
	o := Options{Evaluations: 3000, Seed: 1}
	l := ListOptions{MaxEntries: 4, Distance: d, MinDistance: 0.2}
	own := withNoise(1)
	for _, c := range []struct {
		other     *mcmc.Target
		low, high float64
	}{{own, 1, 1}, {withNoise(2), 0.1, 0.95}} {
		p, err := CheckOptimism(t.Context(), own, c.other, o, l)
		if err != nil {
			t.Fatal(err)
		}
		if left := float64(p.RemainingGain); !(left >= c.low-1e-9 && left <= c.high+1e-9) {
			t.Errorf("%v is left of %+v", left, p)
		}
	}
}
