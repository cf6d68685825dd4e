package forest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// twoForests are forests of the size of the cocktails', for two labels.
func twoForests(b *testing.B) [2]*Score {
	second := cocktailBook
	second.classes, second.seed = 4, 2
	var scores [2]*Score
	for k, book := range []book{cocktailBook, second} {
		f := mustGrow(b, book.data(), Options{Seed: 1})
		scores[k] = mustScore(b, f, AnyOf(f.classes[0]))
	}
	return scores
}

// states are compositions in the book's style.
func states(n int) [][]int32 {
	random := rand.New(rand.NewPCG(5, 6))
	xs := make([][]int32, n)
	for k := range xs {
		xs[k] = cocktailBook.composition(random, nil)
	}
	return xs
}

// BenchmarkForestPoint evaluates two forests at a composition, tree by tree.
func BenchmarkForestPoint(b *testing.B) {
	scores := twoForests(b)
	xs := states(1024)
	sum := int64(0)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		x := xs[n%len(xs)]
		sum += scores[0].Point(x) + scores[1].Point(x)
	}
	sink = sum
}

var sink int64

// BenchmarkForestLine scores a line on two forests.
func BenchmarkForestLine(b *testing.B) {
	scores := twoForests(b)
	type line struct {
		scorers [2]*Scorer
		i, j    int
	}
	random := rand.New(rand.NewPCG(5, 6))
	var lines []line
	for _, x := range states(64) {
		used := usedOf(x)
		var scorers [2]*Scorer
		for k, s := range scores {
			scorers[k] = s.NewScorer()
			scorers[k].Reset(x, used)
		}
		for range 16 {
			i := int(used[random.IntN(len(used))])
			j := random.IntN(len(x) - 1)
			if j >= i {
				j++
			}
			lines = append(lines, line{scorers, i, j})
		}
	}
	pieces := 0
	b.ReportAllocs()
	n := 0
	for ; b.Loop(); n++ {
		l := &lines[n%len(lines)]
		for _, s := range l.scorers {
			starts, _ := s.Line(l.i, l.j)
			pieces += len(starts)
		}
	}
	b.ReportMetric(float64(pieces)/float64(n)-1, "pieces")
}

// BenchmarkForestIteration is what an iteration of the accelerated sampler asks
// of two forests: a used ingredient i and another j at random, the line on both
// forests, a split drawn by the product of their scores, and the move.
func BenchmarkForestIteration(b *testing.B) {
	scores := twoForests(b)
	chain := newChain(scores, 7)
	b.ReportAllocs()
	moves, n := 0, 0
	for ; b.Loop(); n++ {
		if chain.iterate() {
			moves++
		}
	}
	b.ReportMetric(float64(moves)/float64(n), "moves/op")
	b.ReportMetric(float64(chain.pieces)/float64(n), "pieces/op")
}

// A chain is a sampler of compositions with at most five ingredients whose
// target is the product of two scores.
type chain struct {
	random  *rand.PCG
	x       []int32
	used    []int32
	scorers [2]*Scorer
	scale   float64
	weights []float64
	from    []int32
	pieces  int
}

func newChain(scores [2]*Score, seed uint64) *chain {
	c := &chain{random: rand.NewPCG(seed, 0), x: states(1)[0], scale: 1 / float64(scores[0].One())}
	c.used = usedOf(c.x)
	for k, s := range scores {
		c.scorers[k] = s.NewScorer()
		c.scorers[k].Reset(c.x, c.used)
	}
	return c
}

func (c *chain) below(n int) int  { return int(uint64(uint32(c.random.Uint64())) * uint64(n) >> 32) }
func (c *chain) uniform() float64 { return float64(c.random.Uint64()>>11) / (1 << 53) }

func (c *chain) iterate() (moved bool) {
	i := int(c.used[c.below(len(c.used))])
	j := c.below(len(c.x) - 1)
	if j >= i {
		j++
	}
	total := c.x[i] + c.x[j]
	startsA, sumsA := c.scorers[0].Line(i, j)
	startsB, sumsB := c.scorers[1].Line(i, j)
	c.weights, c.from = c.weights[:0], c.from[:0]
	sum := 0.0
	for a, b, from := 0, 0, int32(0); from <= total; {
		end := total + 1
		if a+1 < len(startsA) {
			end = startsA[a+1]
		}
		if b+1 < len(startsB) {
			end = min(end, startsB[b+1])
		}
		// A floor keeps the chain moving where both scores are zero.
		weight := (float64(sumsA[a])*c.scale + 0.001) * (float64(sumsB[b])*c.scale + 0.001)
		sum += weight * float64(end-from)
		c.weights, c.from = append(c.weights, sum), append(c.from, from)
		if a+1 < len(startsA) && startsA[a+1] == end {
			a++
		}
		if b+1 < len(startsB) && startsB[b+1] == end {
			b++
		}
		from = end
	}
	c.pieces += len(c.from)
	u := c.uniform() * sum
	p := 0
	for p+1 < len(c.weights) && u >= c.weights[p] {
		p++
	}
	end := total + 1
	if p+1 < len(c.from) {
		end = c.from[p+1]
	}
	k := c.from[p] + int32(c.below(int(end-c.from[p])))
	if k == c.x[i] || total-k > 0 && c.x[j] == 0 && k > 0 && len(c.used) == 5 {
		return false
	}
	if (k == 0 || k == total) && c.x[j] > 0 && len(c.used) == 2 {
		return false
	}
	for _, s := range c.scorers {
		s.Set(i, k, j, total-k)
	}
	c.x[i], c.x[j] = k, total-k
	c.used = c.used[:0]
	for v, amount := range c.x {
		if amount > 0 {
			c.used = append(c.used, int32(v))
		}
	}
	return true
}

// BenchmarkForestGrow grows a forest.
func BenchmarkForestGrow(b *testing.B) {
	for _, c := range []struct {
		name string
		book book
	}{
		{"cocktails", cocktailBook},
		{"761x48", book{rows: 761, ingredients: 48, total: 1000, classes: 5, seed: 1, sizes: []int{5, 8, 12}}},
		{"761x48dense", book{rows: 761, ingredients: 48, total: 1000, classes: 5, seed: 1, sizes: []int{48}}},
		{"761x48numbers", book{rows: 761, ingredients: 48, total: 1000, seed: 1, sizes: []int{5, 8, 12}}},
		{"5000x2000", book{rows: 5000, ingredients: 2000, total: 1000, classes: 5, seed: 1, sizes: []int{15, 25, 35}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := c.book.data()
			var f *Forest
			for b.Loop() {
				var err error
				if f, err = Grow(context.Background(), d, Options{Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.Log(describe(f))
		})
	}
}

func describe(f *Forest) string {
	s := f.Shape()
	text := fmt.Sprintf("%d nodes a tree, median depth %d, deepest %d", s.Nodes/f.Trees(), s.MedianDepth, s.Deepest)
	if q := f.Quality(); q.Classes != nil {
		text += fmt.Sprintf("; accuracy %.3f (majority %.3f), log loss %.3f (prior %.3f)", q.Classes.Accuracy, q.Classes.MajorityAccuracy, q.Classes.LogLoss, q.Classes.PriorLogLoss)
	} else if q.Numbers != nil {
		text += fmt.Sprintf("; R2 %.3f, coverage %.3f %.3f", q.Numbers.R2, q.Numbers.Coverage50, q.Numbers.Coverage90)
	}
	return text
}
