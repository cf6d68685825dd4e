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
		if wrong := belowAbove(c, c.score.UpperBoundInBox); wrong > 0 {
			t.Errorf("%s: %d of 300 compositions exceed the bound of a box that they are in", c.name, wrong)
		}
		r := rand.New(rand.NewPCG(4, 4))
		for range 50 {
			x := c.book.composition(r, nil)
			if got, want := c.score.UpperBoundInBox(x, x), c.score.Point(x); got != want {
				t.Errorf("%s: the bound of %v alone is %d, and its sum %d", c.name, x, got, want)
			}
		}
		without := *c.score
		without.leafValues = slices.Clone(c.score.leafValues)
		for tree, from := range without.firstLeaves {
			to := len(without.leafValues)
			if tree+1 < len(without.firstLeaves) {
				to = int(without.firstLeaves[tree+1])
			}
			of := without.leafValues[from:to]
			of[slices.Index(of, slices.Max(of))] = slices.Min(of)
		}
		if wrong := belowAbove(c, without.UpperBoundInBox); wrong == 0 && c.name != "single leaves" {
			t.Errorf("%s: nothing shows that the greatest leaves are left out", c.name)
		}
	}
}

// aboveOf returns what a score is at most in a box by its pieces.
func aboveOf(s *LearnedScore) func(lo, hi []int32, used int) float64 {
	of, join := s.Pieces()
	return func(lo, hi []int32, used int) float64 {
		numbers := make([]float64, len(of))
		for k, piece := range of {
			numbers[k], _, _, _ = piece(lo, hi, used)
		}
		return join(numbers)
	}
}

// The bounds of what is learnt hold in every box, those of processes among them, and come
// near to the score as boxes become small.
func TestLearnedAbove(t *testing.T) {
	b := book{rows: 60, ingredients: 6, total: 1000, seed: 6, sizes: []int{2, 3, 4}}
	for name, s := range learnedCases(t) {
		r := rand.New(rand.NewPCG(5, 5))
		above := aboveOf(s)
		for range 300 {
			x := b.composition(r, nil)
			lo, hi := boxAbout(r, x, b.total)
			used := len(usedIngredients(x))
			at := s.ScoreAt(x, usedIngredients(x))
			if above := above(lo, hi, used+r.IntN(3)); above < at {
				t.Fatalf("%s: %v scores %v, and is in a box bounded by %v", name, x, at, above)
			}
			if above := above(x, x, used); above < at || above > at+1e-6 {
				t.Fatalf("%s: %v scores %v, and alone is bounded by %v", name, x, at, above)
			}
		}
	}
}
