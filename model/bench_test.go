package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
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

// BenchmarkForestPoint compares the ways to score a composition as a whole, in turns:
// tree by tree, by Sum, by a scorer that is set to it, which is what a candidate costs,
// and with a line through it then; and by a scorer that follows it there from another
// one, without and with a line. The least time of 40 for each.
func BenchmarkForestPoint(b *testing.B) {
	for _, c := range []struct {
		name string
		book book
	}{
		{"cocktails", cocktailBook},
		{"761x48", book{rows: 761, ingredients: 48, total: 1000, classes: 5, seed: 1, sizes: []int{5, 8, 12}}},
		{"761x48numbers", book{rows: 761, ingredients: 48, total: 1000, seed: 1, sizes: []int{5, 8, 12}}},
		{"761x48dense", book{rows: 761, ingredients: 48, total: 1000, classes: 60, seed: 1, sizes: []int{48}}},
		{"3000x500", book{rows: 3000, ingredients: 500, total: 1000, classes: 5, seed: 1, sizes: []int{10, 20, 25}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := mustGrow(b, c.book.data(), Options{Seed: 1})
			want := AtLeast(0)
			if !f.Numeric() {
				want = AnyOf(f.classes[0])
			}
			s := mustScore(b, f, want)
			random := rand.New(rand.NewPCG(5, 6))
			var xs, used [256][]int32
			for k := range xs {
				xs[k] = c.book.composition(random, nil)
				used[k] = usedIngredients(xs[k])
			}
			scorer := s.NewScorer()
			ways := []func(x, used []int32) int64{
				func(x, _ []int32) int64 { return s.Point(x) },
				s.Sum,
				func(x, used []int32) int64 {
					scorer.Reset(x, used)
					return scorer.Value()
				},
				func(x, used []int32) int64 {
					scorer.Reset(x, used)
					_, sums := scorer.Line(int(used[0]), int(used[1]))
					return sums[0]
				},
				func(x, used []int32) int64 {
					scorer.Reset(x, used)
					scorer.makePendingCurrent()
					return scorer.Value()
				},
				func(x, used []int32) int64 {
					scorer.Reset(x, used)
					scorer.makePendingCurrent()
					_, sums := scorer.Line(int(used[0]), int(used[1]))
					return sums[0]
				},
			}
			least := slices.Repeat([]time.Duration{time.Hour}, len(ways))
			for range 40 {
				for w, way := range ways {
					start := time.Now()
					for k, x := range xs {
						sink += way(x, used[k])
					}
					least[w] = min(least[w], time.Since(start)/256)
				}
			}
			b.ReportMetric(float64(least[0]), "ns/plain")
			b.ReportMetric(float64(least[1]), "ns/sum")
			for k, name := range []string{"set", "set-line", "followed", "followed-line"} {
				b.ReportMetric(float64(least[2+k]), "ns/"+name)
			}
			b.ReportMetric(float64(least[0])/float64(least[1]), "plain/sum")
			b.ReportMetric(0, "ns/op")
		})
	}
}

var sink int64

// BenchmarkForestLine scores a line on two forests: a used ingredient and
// another, at a composition that changes now and then.
func BenchmarkForestLine(b *testing.B) {
	c := newChain(twoForests(b), 7)
	pieces, n := 0, 0
	b.ReportAllocs()
	for ; b.Loop(); n++ {
		if n%64 == 0 {
			c.iterate()
		}
		i := int(c.used[c.below(len(c.used))])
		j := c.below(len(c.x) - 1)
		if j >= i {
			j++
		}
		for _, s := range c.scorers {
			starts, _ := s.Line(i, j)
			pieces += len(starts)
		}
	}
	b.ReportMetric(float64(pieces)/float64(n)-1, "pieces/op")
}

// BenchmarkForestIteration is an iteration of the accelerated sampler on two
// forests: the line of a used ingredient and another, a split drawn by the law of
// n and the product of the scores, and the move.
func BenchmarkForestIteration(b *testing.B) {
	chain := newChain(twoForests(b), 7)
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

// A chain samples the cocktails' law of n times two scores, each with a floor
// that keeps it moving where a forest says never.
type chain struct {
	random  *rand.PCG
	x       []int32
	used    []int32
	scorers [2]*Scorer
	scale   float64
	law     [8]float64 // by n: the law of n over the number of compositions
	splits  []run
	pieces  int
}

// A run is a range of equally likely splits, with the sum of all weights so far.
type run struct {
	from, end int32
	sum       float64
}

func newChain(scores [2]*Score, seed uint64) *chain {
	c := &chain{random: rand.NewPCG(seed, 0), x: states(1)[0], scale: 1 / float64(scores[0].SumForCertainty())}
	c.used = usedIngredients(c.x)
	for k, s := range scores {
		c.scorers[k] = s.NewScorer()
		c.scorers[k].Reset(c.x, c.used)
	}
	ways := 65.0 // compositions of 1000 units that use n of 65 ingredients
	for n, y := range [...]float64{2: 13, 3: 29, 4: 24, 5: 3} {
		if n >= 2 {
			ways *= float64(65-n+1) / float64(n) * float64(1000-n+1) / float64(n-1)
			c.law[n] = y / ways * 1e10
		}
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
	n := len(c.used) // at the ends of the line
	if c.x[j] > 0 {
		n--
	}
	c.splits = c.splits[:0]
	sum := 0.0
	add := func(from, end int32, weight float64) {
		sum += weight * float64(end-from)
		c.splits = append(c.splits, run{from, end, sum})
	}
	for a, b, from := 0, 0, int32(0); from <= total; {
		end := total + 1
		if a+1 < len(startsA) {
			end = startsA[a+1]
		}
		if b+1 < len(startsB) {
			end = min(end, startsB[b+1])
		}
		y := (float64(sumsA[a])*c.scale + 0.001) * (float64(sumsB[b])*c.scale + 0.001)
		if from == 0 {
			add(0, 1, y*c.law[n])
		}
		if from, end := max(from, 1), min(end, total); from < end {
			add(from, end, y*c.law[n+1])
		}
		if end == total+1 {
			add(total, total+1, y*c.law[n])
		}
		if a+1 < len(startsA) && startsA[a+1] == end {
			a++
		}
		if b+1 < len(startsB) && startsB[b+1] == end {
			b++
		}
		from = end
	}
	c.pieces += len(c.splits) - 2
	u := c.uniform() * sum
	p := 0
	for p+1 < len(c.splits) && u >= c.splits[p].sum {
		p++
	}
	k := c.splits[p].from + int32(c.below(int(c.splits[p].end-c.splits[p].from)))
	if k == c.x[i] {
		return false
	}
	alpha := func(k int32) float64 { // the chance to choose this line
		if k == 0 || k == total {
			return 1 / float64(n)
		}
		return 2 / float64(n+1)
	}
	if c.uniform()*alpha(c.x[i]) >= alpha(k) {
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
		{"761x48dense", book{rows: 761, ingredients: 48, total: 1000, classes: 60, seed: 1, sizes: []int{48}}},
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
	text := fmt.Sprintf("%d nodes a tree, median depth %d, deepest %d", s.Nodes/f.TreeCount(), s.MedianDepth, s.MaxDepth)
	if q := f.Quality(); q.Classes != nil {
		text += fmt.Sprintf("; accuracy %.3f (majority %.3f), log loss %.3f (prior %.3f)", q.Classes.Accuracy, q.Classes.MajorityAccuracy, q.Classes.LogLoss, q.Classes.PriorLogLoss)
	} else if q.Numbers != nil {
		text += fmt.Sprintf("; R2 %.3f, coverage %.3f %.3f", q.Numbers.R2, q.Numbers.Coverage50, q.Numbers.Coverage90)
	}
	return text
}
