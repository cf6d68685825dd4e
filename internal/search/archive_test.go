package search

import (
	"slices"
	"testing"

	"kir/mcmc"
)

// TestArchiveKinds: parts come in any order, float sums of an attribute or not,
// and each kind keeps its best.
func TestArchiveKinds(t *testing.T) {
	kind := Niche{Group: []int{0, 1, 1, 2}, Attribute: []float64{1, 2, 3, 10}, Bands: []float64{2, 5}}
	a := newArchive(kind, 2)
	for _, c := range []struct {
		x    *mcmc.Composition
		want nicheKey
	}{
		{parts(t, 4, 3, 3, 0), nicheKey{3, 1, 0}},  // 1.9; the group of two has most
		{parts(t, 5, 5, 0, 0), nicheKey{2, 0, 0}},  // of equals the first
		{parts(t, 0, 10, 0, 0), nicheKey{1, 1, 1}}, // a bound begins a band
		{parts(t, 0, 0, 4, 6), nicheKey{2, 2, 2}},
	} {
		if got := a.nicheOf(c.x.Parts()); got != c.want {
			t.Errorf("%v is of the kind %v, not %v", c.x, got, c.want)
		}
	}
	for k, score := range []float64{-3, -1, -2} {
		a.Offer(parts(t, 0, 10-k, k, 0).Parts(), nil, score)
		a.Offer(parts(t, 9-k, 1, k, 0).Parts(), nil, score-1)
		a.Offer(parts(t, 0, 0, 4, 6+k).Parts(), nil, score-9)
	}
	best := a.Best()
	if len(best) != 2 || best[0].LogScore != -1 || best[1].LogScore != -2 {
		t.Errorf("the two best kinds are %v", best)
	}
	known := []*mcmc.Composition{parts(t, 1, 0, 0, 0), parts(t, 0, 1, 0, 0), parts(t, 0, 0, 1, 0)}
	if got := AttributeBands(kind.Attribute, known); !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("bands %v", got)
	}
	for _, c := range []struct{ known, want []int }{{[]int{0, 0, 0}, nil}, {[]int{0, 0, 1}, []int{0, 1}}, {[]int{0, 1, 1}, []int{1, 1}}} {
		var some []*mcmc.Composition
		var want []float64
		for _, i := range c.known {
			some = append(some, known[i])
		}
		for _, i := range c.want {
			want = append(want, kind.Attribute[i])
		}
		if got := AttributeBands(kind.Attribute, some); !slices.Equal(got, want) {
			t.Errorf("bands of %v are %v, not %v", c.known, got, want)
		}
	}
	if got := AttributeBands(kind.Attribute, known[:2]); got != nil {
		t.Errorf("bands of two: %v", got)
	}
}

func TestDoses(t *testing.T) {
	least, most := KnownAmountRanges(3, []*mcmc.Composition{parts(t, 4, 6, 0), parts(t, 9, 1, 0)})
	if !slices.Equal(least, []int{4, 1, 0}) || !slices.Equal(most, []int{9, 6, 0}) {
		t.Errorf("doses from %v to %v", least, most)
	}
}

// TestRepair brings random compositions to random doses: what comes out keeps them
// and the sum, and where it fails there was no room.
func TestRepair(t *testing.T) {
	space, err := mcmc.NewSpace(6, 40)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 6))
	if err != nil {
		t.Fatal(err)
	}
	r, prior := mcmc.NewRand(3, "test", 0), mcmc.NewPrior(target)
	mended, failed := 0, 0
	for range 3000 {
		least, most := make([]int, 6), make([]int, 6)
		for i := range least {
			least[i], most[i] = r.Intn(12), r.Intn(30)
		}
		x, err := prior.Draw(r)
		if err != nil {
			t.Fatal(err)
		}
		d := newAmountLimits(target, least, most)
		y, ok := d.repairAmounts(x)
		low, high := 0, 0
		for _, p := range x.Parts() {
			if d.maxAmounts[p.Ingredient] > 0 {
				low += int(d.minAmounts[p.Ingredient])
				high += int(d.maxAmounts[p.Ingredient])
			}
		}
		if ok != (low <= 40 && 40 <= high) {
			t.Fatalf("%v with doses from %v to %v: repaired %v, room from %d to %d", x, least, most, ok, low, high)
		}
		if !ok {
			failed++
			continue
		}
		if y != x {
			mended++
		}
		if !d.allowsAllAmounts(y) || y.Total() != 40 {
			t.Fatalf("%v with doses from %v to %v became %v", x, least, most, y)
		}
	}
	if mended < 100 || failed < 100 {
		t.Errorf("%d mended, %d failed: the test does not see enough", mended, failed)
	}
}
