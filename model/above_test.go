package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// boxAbout draws bounds of amounts that a composition keeps.
func boxAbout(r *rand.Rand, x []int32, total int) (lo, hi []int32) {
	lo, hi = slices.Clone(x), slices.Clone(x)
	far := int32(1 + r.IntN(total))
	for i := range x {
		switch r.IntN(4) {
		case 0: // as it is
		case 1:
			lo[i], hi[i] = 0, int32(total)
		default:
			lo[i], hi[i] = max(0, x[i]-r.Int32N(far)), min(int32(total), x[i]+r.Int32N(far))
		}
	}
	return lo, hi
}

// belowAbove counts how often the bound of a box is below the sum of a composition in it.
func belowAbove(c lineCase, above func(lo, hi []int32) int64) (wrong int) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		x := c.book.composition(r, nil)
		lo, hi := boxAbout(r, x, c.book.total)
		if r.IntN(2) == 0 {
			lo, hi = x, x
		}
		if above(lo, hi) < c.score.Point(x) {
			wrong++
		}
	}
	return wrong
}

// A forest's bound holds in every box, is the sum itself in a box of one composition, and
// would not hold without one leaf of each tree.
func TestForestAbove(t *testing.T) {
	for _, c := range lineCases(t) {
		if wrong := belowAbove(c, c.score.Above); wrong > 0 {
			t.Errorf("%s: %d of 300 compositions exceed the bound of a box that they are in", c.name, wrong)
		}
		r := rand.New(rand.NewPCG(4, 4))
		for range 50 {
			x := c.book.composition(r, nil)
			if got, want := c.score.Above(x, x), c.score.Point(x); got != want {
				t.Errorf("%s: the bound of %v alone is %d, and its sum %d", c.name, x, got, want)
			}
		}
		without := *c.score
		without.values = slices.Clone(c.score.values)
		for tree, from := range without.leafBase {
			to := len(without.values)
			if tree+1 < len(without.leafBase) {
				to = int(without.leafBase[tree+1])
			}
			of := without.values[from:to]
			of[slices.Index(of, slices.Max(of))] = slices.Min(of)
		}
		if wrong := belowAbove(c, without.Above); wrong == 0 && c.name != "single leaves" {
			t.Errorf("%s: nothing shows that the greatest leaves are left out", c.name)
		}
	}
}

// The bounds of what is learnt hold in every box, those of processes among them, and come
// near to the score as boxes become small.
func TestLearnedAbove(t *testing.T) {
	b := book{rows: 60, ingredients: 6, total: 1000, seed: 6, sizes: []int{2, 3, 4}}
	for name, s := range learnedCases(t) {
		r := rand.New(rand.NewPCG(5, 5))
		for range 300 {
			x := b.composition(r, nil)
			lo, hi := boxAbout(r, x, b.total)
			used := len(usedOf(x))
			at := s.At(x, usedOf(x))
			if above := s.Above(lo, hi, used+r.IntN(3)); above < at {
				t.Fatalf("%s: %v scores %v, and is in a box bounded by %v", name, x, at, above)
			}
			if above := s.Above(x, x, used); above < at || above > at+1e-6 {
				t.Fatalf("%s: %v scores %v, and alone is bounded by %v", name, x, at, above)
			}
		}
	}
}

// The bound of a process by its norm is reached where the process is one bump, at its top. So
// it shows there if the norm, or what the bound makes of it, is too small.
func TestProcessNorm(t *testing.T) {
	s := learnedCases(t)["process"].process
	p := s.Process
	for r := range p.alpha {
		p.alpha[r] = 0
	}
	p.alpha[0] = 3
	x := make([]int32, len(p.ingredients))
	for _, q := range p.known[0] {
		x[q.Ingredient] = int32(q.Amount)
	}
	at := make([]int64, len(p.known))
	p.measure(x, usedOf(x), at)
	top := (p.mean(at) - p.centre) / p.scale
	r := rand.New(rand.NewPCG(6, 6))
	near := 0
	for range 300 {
		lo, hi := boxAbout(r, x, p.total)
		above := p.newMeanBound(lo, hi, len(x)).normed(1)
		if above < top {
			t.Fatalf("the mean is %v above its centre, and the bound of a box is %v", top, above)
		}
		if above < top+0.01 {
			near++
		}
		// Elsewhere it is the norm that is not reached.
		y := book{rows: 1, ingredients: len(x), total: p.total, sizes: []int{2, 3}}.composition(r, nil)
		if above := p.newMeanBound(y, y, len(x)).normed(1); above > top {
			t.Errorf("alone %v is bounded by %v, more than the top at %v", y, above, top)
		}
	}
	if near < 100 {
		t.Errorf("%d bounds are near to what is reached", near)
	}
}
