package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The shares of a leaf are the sum along its path, as the formula has it.
func TestShrink(t *testing.T) {
	d := book{rows: 80, ingredients: 6, total: 1000, classes: 3, seed: 6, sizes: []int{2, 3, 4}}.data()
	f, err := Grow(t.Context(), d, Options{Trees: 5, Seed: 3, shrink: 2})
	if err != nil {
		t.Fatal(err)
	}
	for k := range f.trees {
		tree := &f.trees[k]
		var below func(at int) []float64 // draws by class
		below = func(at int) []float64 {
			sums := make([]float64, len(f.classes))
			if n := tree.nodes[at]; n.feature < 0 {
				labels, counts := tree.leafContent(n.right)
				for c, label := range labels {
					sums[label] += float64(counts[c])
				}
			} else {
				for _, child := range []int{at + 1, int(n.right)} {
					for c, v := range below(child) {
						sums[c] += v
					}
				}
			}
			return sums
		}
		shares := func(at int) (of []float64, draws float64) {
			of = below(at)
			for _, v := range of {
				draws += v
			}
			for c := range of {
				of[c] /= draws
			}
			return of, draws
		}
		var check func(at int, above []float64, path []float64, draws float64)
		check = func(at int, above, path []float64, draws float64) {
			own, n := shares(at)
			here := slices.Clone(own)
			if above != nil {
				for c := range here {
					here[c] = path[c] + (own[c]-above[c])/(1+2/draws)
				}
			}
			if node := tree.nodes[at]; node.feature >= 0 {
				check(at+1, own, here, n)
				check(int(node.right), own, here, n)
				return
			}
			law := make([]float64, len(f.classes))
			tree.addShares(tree.nodes[at].right, law)
			sum := 0.0
			for c, v := range law {
				sum += v
				if math.Abs(v-here[c]) > 1e-12 || v < 0 || v > 1 {
					t.Fatalf("tree %d, node %d, class %d: %v, and by the formula %v", k, at, c, v, here[c])
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("tree %d, node %d: the shares sum to %v", k, at, sum)
			}
		}
		check(0, nil, nil, 0)
	}
}

// Where all trees are sure, what more recipes say is better still: the best of many
// compositions are not all alike.
func TestNoPlateau(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	b := book{rows: 120, ingredients: 6, total: 1000, sizes: []int{2, 3, 4}}
	d := &Data{Label: "taste", Ingredients: []string{"a", "b", "c", "d", "e", "f"}, Total: 1000}
	for range b.rows {
		x := b.composition(random, nil)
		d.Rows = append(d.Rows, PositiveParts(x))
		d.Classes = append(d.Classes, map[bool]string{true: "sour", false: "sweet"}[(2*x[0]+x[1]-x[2] > 350) != (random.Float64() < 0.15)])
	}
	s, err := learnt(t, d, LearnOptions{Forest: Options{Trees: 100, Seed: 2}}).Score(AnyOf("sour"))
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for range 3000 {
		x := b.composition(random, nil)
		scores = append(scores, s.ScoreAt(x, usedIngredients(x)))
	}
	slices.Sort(scores)
	best := scores[len(scores)-10:]
	if different := len(slices.Compact(slices.Clone(best))); different < 5 {
		t.Errorf("the ten best have %d different scores: %v", different, best)
	}
}

// A calibrated chance rises with what the model states up to its ends.
func TestCalibratedRises(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var stated []float64
	var came []bool
	for range 60 {
		p := random.Float64()
		stated, came = append(stated, p), append(came, random.Float64() < p)
	}
	c := Calibrate(stated, came, 100)
	v := c.newCurve()
	for k := range 1000 {
		p, more := float64(k)/1000, float64(k+1)/1000
		if !(v.chanceAt(more) > v.chanceAt(p)) || !(c.Value(more) > c.Value(p)) {
			t.Fatalf("from %v to %v the curve goes from %v to %v, the chance from %v to %v", p, more, v.chanceAt(p), v.chanceAt(more), c.Value(p), c.Value(more))
		}
	}
}
