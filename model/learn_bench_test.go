package model

import (
	"testing"
	"time"
)

// BenchmarkLearnedLine compares lines of what is learnt with those of the forest of best
// splits with 300 trees, over the same lines in turn: of the forest alone, and of its
// average with a process.
func BenchmarkLearnedLine(b *testing.B) {
	for _, of := range []struct {
		name string
		book book
	}{
		{"200x12", book{rows: 200, ingredients: 12, total: 200, seed: 1, sizes: []int{3, 4, 5}}},
		{"69x63", book{rows: 69, ingredients: 63, total: 1000, seed: 1, sizes: []int{2, 3, 4, 5}}},
		{"500x96", book{rows: 500, ingredients: 96, total: 1000, seed: 1, sizes: []int{8, 12, 16}}},
	} {
		b.Run(of.name, func(b *testing.B) {
			d := of.book.data()
			best, err := mustGrow(b, d, Options{Splits: BestSplits, Trees: 300, Seed: 1}).Score(Maximize())
			if err != nil {
				b.Fatal(err)
			}
			before := best.NewScorer()
			var learnt [2]*LearnedScorer
			for k, kind := range []ModelKind{ForestAlone, BestKind} {
				m, err := Learn(b.Context(), d, LearnOptions{Kind: kind, Forest: Options{Trees: 100, Seed: 1}})
				if err != nil {
					b.Fatal(err)
				}
				score, err := m.Score(Maximize())
				if err != nil {
					b.Fatal(err)
				}
				learnt[k] = score.NewScorer()
			}
			var took [3]time.Duration
			x := make([]int32, len(d.Ingredients))
			n := 0
			for b.Loop() {
				clear(x)
				for _, p := range d.Rows[n%len(d.Rows)] {
					x[p.Ingredient] = p.Amount
				}
				used := usedIngredients(x)
				before.Reset(x, used)
				learnt[0].Reset(x, used)
				learnt[1].Reset(x, used)
				n++
				for _, i := range used {
					for j := range x {
						if j == int(i) {
							continue
						}
						start := time.Now()
						before.Line(int(i), j)
						one := time.Now()
						learnt[0].Line(int(i), j)
						two := time.Now()
						learnt[1].Line(int(i), j)
						took[0] += one.Sub(start)
						took[1] += two.Sub(one)
						took[2] += time.Since(two)
					}
				}
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "forest/before")
			b.ReportMetric(took[2].Seconds()/took[0].Seconds(), "average/before")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkLearn learns books of numbers: the forest of 300 trees alone, and all.
func BenchmarkLearn(b *testing.B) {
	for _, of := range []struct {
		name string
		rows int
		o    LearnOptions
	}{
		{"300 trees of 200 rows", 200, LearnOptions{Kind: ForestAlone, Forest: Options{Trees: 300, Seed: 1}}},
		{"200 rows", 200, LearnOptions{Forest: Options{Trees: 100, Seed: 1}}},
		{"1000 rows", 1000, LearnOptions{Forest: Options{Trees: 100, Seed: 1}}},
	} {
		d := book{rows: of.rows, ingredients: 40, total: 1000, seed: 1, sizes: []int{5, 8, 12}}.data()
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Learn(b.Context(), d, of.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
