package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A lineCase is a forest with a want.
type lineCase struct {
	name  string
	book  book
	score *Score
}

// withGroups adds to the plain features totals of random groups, some equal or
// nested, and flags of ingredients and groups.
func withGroups(d *Data, random *rand.Rand) {
	d.Features = amountFeatures(d.Ingredients)
	n := len(d.Ingredients)
	add := func(name string, presence bool, ingredients ...int32) {
		d.Features = append(d.Features, Feature{Name: name, Ingredients: ingredients, Presence: presence})
	}
	for g := range 8 {
		var members []int32
		for _, i := range random.Perm(n)[:2+random.IntN(n/2)] {
			members = append(members, int32(i))
		}
		add(fmt.Sprintf("group %d", g), false, members...)
		add(fmt.Sprintf("group %d again", g), false, members...)
		add(fmt.Sprintf("any of group %d", g), true, members...)
	}
	for i := range int32(n) {
		add(fmt.Sprintf("has ingredient %d", i), true, i)
	}
}

func lineCases(tb testing.TB) []lineCase {
	var cases []lineCase
	add := func(name string, b book, o Options, groups bool, want func(f *Forest) Want) {
		d := b.data()
		if groups {
			withGroups(d, rand.New(rand.NewPCG(b.seed, 2)))
		}
		f := mustGrow(tb, d, o)
		cases = append(cases, lineCase{name, b, mustScore(tb, f, want(f))})
	}
	first := func(f *Forest) Want { return AnyOf(f.classes[0]) }
	some := func(f *Forest) Want { return AnyOf(f.classes[:(len(f.classes)+1)/2]...) }
	upper := func(f *Forest) Want { return AtLeast(f.numbers[len(f.numbers)/2]) }
	middle := func(f *Forest) Want {
		return Between(f.numbers[len(f.numbers)/3], f.numbers[len(f.numbers)*2/3])
	}
	dense := book{rows: 300, ingredients: 12, total: 50, classes: 3, seed: 3, sizes: []int{1, 2, 3, 5, 8, 12}}
	tiny := book{rows: 30, ingredients: 4, total: 6, classes: 2, seed: 4, sizes: []int{1, 2, 3, 4}}
	numbers := book{rows: 200, ingredients: 20, total: 300, seed: 5, sizes: []int{2, 4, 6}}

	add("cocktails", cocktailBook, Options{Seed: 1}, false, first)
	add("cocktails with groups", cocktailBook, Options{Seed: 2, Trees: 25}, true, some)
	add("dense, large trees", dense, Options{Seed: 3, Trees: 70}, false, some)
	add("dense, large trees, groups", dense, Options{Seed: 4, Trees: 30}, true, some)
	add("dense, mixed sizes of trees", book{rows: 160, ingredients: 12, total: 50, classes: 2, seed: 6, sizes: dense.sizes}, Options{Seed: 5, Trees: 80}, false, first)
	add("tiny", tiny, Options{Seed: 6, Trees: 150}, false, first)
	add("tiny with groups", tiny, Options{Seed: 7, Trees: 20}, true, first)
	add("single leaves", tiny, Options{Seed: 8, Trees: 3, SmallestLeaf: 30}, false, first)
	add("numbers", numbers, Options{Seed: 9, Trees: 40}, false, upper)
	add("numbers, large trees", numbers, Options{Seed: 10, Trees: 40, SmallestLeaf: 1}, false, middle)
	add("numbers with groups", numbers, Options{Seed: 11, Trees: 40}, true, middle)
	measured := numbers.data()
	for r := range measured.Rows {
		measured.SD = append(measured.SD, []float64{0, 5, 50}[r%3])
	}
	f := mustGrow(tb, measured, Options{Seed: 12, Trees: 40})
	cases = append(cases, lineCase{"numbers measured unequally well", numbers, mustScore(tb, f, upper(f))})
	return cases
}

// lineByPoints is Line by brute force.
func lineByPoints(s *Score, x []int32, i, j int) (starts []int32, sums []int64) {
	y := slices.Clone(x)
	total := x[i] + x[j]
	for k := range total + 1 {
		y[i], y[j] = k, total-k
		if sum := s.Point(y); k == 0 || sum != sums[len(sums)-1] {
			starts = append(starts, k)
			sums = append(sums, sum)
		}
	}
	return starts, sums
}

// compareColumn compares the scores of all amounts of ingredient i, the others as they are, with points.
func compareColumn(t *testing.T, scorer *Scorer, x []int32, i int) {
	t.Helper()
	most := slices.Max(x) + 3 // some of the tests' thresholds lie above it
	starts, sums := scorer.Column(i, most)
	y := slices.Clone(x)
	for k := range most + 1 {
		y[i] = k
		if got, want := sums[pieceOf(starts, k)], scorer.score.Point(y); got != want {
			t.Fatalf("x = %v with %d of ingredient %d: got %d, want %d", PositiveParts(x), k, i, got, want)
		}
	}
}

// TestLineEqualsPoints moves a scorer through random compositions and compares
// what it says of each, of lines through it and of single splits with the plain
// evaluation of every point, bit for bit.
func TestLineEqualsPoints(t *testing.T) {
	for _, c := range lineCases(t) {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(12, 34))
			scorer := c.score.NewScorer()
			x := make([]int32, c.book.ingredients)
			if got, want := scorer.Value(), c.score.Point(x); got != want {
				t.Fatalf("value of the empty composition: got %d, want %d", got, want)
			}
			pieces, points := 0, 0
			for step := 0; points < 20000 && step < 400; step++ {
				if step%20 == 0 {
					x = c.book.composition(random, nil)
					scorer.Reset(x, usedIngredients(x))
					if got, want := scorer.Value(), c.score.Point(x); got != want {
						t.Fatalf("step %d, x = %v: value %d when set as a whole, want %d", step, PositiveParts(x), got, want)
					}
				}
				i := random.IntN(len(x))
				if random.IntN(8) > 0 { // seldom both absent, so that s = 0
					used := usedIngredients(x)
					i = int(used[random.IntN(len(used))])
				}
				j := random.IntN(len(x) - 1)
				if j >= i {
					j++
				}
				if random.IntN(2) == 0 {
					i, j = j, i
				}
				wantStarts, wantSums := lineByPoints(c.score, x, i, j)
				starts, sums := scorer.Line(i, j)
				if !slices.Equal(starts, wantStarts) || !slices.Equal(sums, wantSums) {
					t.Fatalf("step %d, x = %v, line (%d, %d):\n got %v %v\nwant %v %v",
						step, PositiveParts(x), i, j, starts, sums, wantStarts, wantSums)
				}
				if step%3 == 0 {
					compareColumn(t, scorer, x, i)
				}
				total := x[i] + x[j]
				pieces += len(starts)
				points += int(total) + 1
				k := random.Int32N(total + 1)
				switch random.IntN(4) {
				case 0:
					k = 0
				case 1:
					k = total
				}
				switch random.IntN(8) {
				case 0, 1:
				case 2: // off the line
					if random.IntN(2) == 0 {
						j = (i + 1 + random.IntN(len(x)-1)) % len(x)
					}
					x[i] = x[i]/2 + 1
					scorer.Set(i, x[i], j, x[j])
				case 3: // along a line like the last one, of another composition
					if other := random.IntN(len(x)); other != i && other != j {
						x[other] = x[other]/2 + 1
						scorer.Reset(x, usedIngredients(x))
					}
					x[i], x[j] = k, total-k
					scorer.Set(i, k, j, total-k)
				default:
					x[i], x[j] = k, total-k
					scorer.Set(i, k, j, total-k)
				}
				if got, want := scorer.Value(), c.score.Point(x); got != want {
					t.Fatalf("step %d, x = %v: value %d, want %d", step, PositiveParts(x), got, want)
				}
				if got, want := c.score.Sum(x, usedIngredients(x)), c.score.Point(x); got != want {
					t.Fatalf("step %d, x = %v: sum %d, want %d", step, PositiveParts(x), got, want)
				}
			}
			if c.name != "single leaves" && pieces < 100 {
				t.Errorf("only %d pieces: the test sees too little", pieces)
			}
		})
	}
}

// A tree that is one long branch, of which masks would take memory that grows with the
// square of its length, is walked.
func TestLongBranch(t *testing.T) {
	const length = 200_000
	branch := tree{leafStarts: []int32{0}}
	for k := range int32(length) {
		branch.nodes = append(branch.nodes, node{0, length - k, 2*length - k})
	}
	for leaf := range int32(length + 1) {
		branch.nodes = append(branch.nodes, node{-1, 0, leaf})
		branch.leafStarts = append(branch.leafStarts, leaf+1)
		branch.labels, branch.counts = append(branch.labels, leaf&1), append(branch.counts, 1)
	}
	f := &Forest{classes: []string{"even", "odd"}, ingredients: []string{"a", "b"}, totalAmount: length + 10, trees: []tree{branch}}
	f.features = amountFeatures(f.ingredients)
	s := mustScore(t, f, AnyOf("odd"))
	for _, a := range []int32{0, 1, 2, 17, length, length + 9} {
		x := []int32{a, length + 10 - a}
		if got, want := s.Sum(x, usedIngredients(x)), s.Point(x); got != want || want != int64(max(min(a, length+1)-1, 0)&1)<<fixedPointBits {
			t.Errorf("%d units score %d, and should %d", a, got, want)
		}
	}
}

func pieceOf(starts []int32, k int32) int {
	p, found := slices.BinarySearch(starts, k)
	if !found {
		p--
	}
	return p
}

// TestScorerDoesNotAllocate counts allocations while a scorer moves about.
func TestScorerDoesNotAllocate(t *testing.T) {
	for _, c := range lineCases(t) {
		random := rand.New(rand.NewPCG(1, 2))
		scorer := c.score.NewScorer()
		x := c.book.composition(random, nil)
		used := usedIngredients(x)
		scorer.Reset(x, used)
		i := int(used[0])
		step := func() {
			j := random.IntN(len(x) - 1)
			if j >= i {
				j++
			}
			total := x[i] + x[j]
			scorer.Line(i, j)
			k := random.Int32N(total + 1)
			x[i], x[j] = k, total-k
			scorer.Set(i, k, j, total-k)
			if k == 0 {
				i = j
			}
			sink += scorer.Value()
		}
		steps := func() {
			for range 500 {
				step()
			}
		}
		if n := testing.AllocsPerRun(4, steps); n > 0 {
			t.Errorf("%s: %g allocations in 500 steps", c.name, n)
		}
	}
}
