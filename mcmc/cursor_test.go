package mcmc_test

import (
	"math"
	"testing"

	"kir/mcmc"
	"kir/rule"
)

// TestCursorScores compares what a cursor says along lines with the properties at
// the points, where rules are broken and where they are not, and where the law of n
// leaves some splits out.
func TestCursorScores(t *testing.T) {
	for _, law := range []mcmc.Sparsity{mcmc.Uniform(1, 4), mcmc.Table(map[int]float64{2: 1, 3: 1}), mcmc.Table(map[int]float64{1: 1, 2: 1, 4: 1})} {
		testCursorScores(t, law)
	}
}

func testCursorScores(t *testing.T, law mcmc.Sparsity) {
	space, err := mcmc.NewRuledSpace(t.Context(), rule.Set{Ingredients: 4, Total: 7, Rules: []rule.Rule{
		rule.Need{If: 0, Then: []int{2, 3}}, rule.Amount{Of: []int{1}, Max: 3},
	}}, mcmc.CountingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rough := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		return float64((3*x.Amount(0)+5*x.Amount(1)+x.Amount(2)*x.Amount(3))%7) / 7
	})
	target, err := mcmc.NewTarget(space, law, mcmc.Objective{Name: "rough", Property: rough, Weight: 2})
	if err != nil {
		t.Fatal(err)
	}
	start, err := mcmc.NewComposition(4, mcmc.Part{Ingredient: 0, Amount: 7}) // which needs another
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcmc.NewCursor(target, start)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(c.LogScore(), -1) {
		t.Errorf("a broken rule scores %v", c.LogScore())
	}
	r := mcmc.NewRand(1, "test", 0)
	finite := 0
	for range 500 {
		i, j := r.Intn(4), r.Intn(4)
		s := c.Composition().Amount(i) + c.Composition().Amount(j)
		if i == j || s == 0 {
			continue
		}
		p, err := c.LineScores(i, j)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, s+1)
		for k := range p.Len() {
			from, value := p.Piece(k)
			for q := from; q <= s; q++ {
				values[q] = value
			}
		}
		for k, value := range values {
			y := c.Composition().Clone()
			if err := y.Move(i, j, k); err != nil {
				t.Fatal(err)
			}
			want, err := target.LogScore(y)
			if err != nil {
				t.Fatal(err)
			}
			if math.IsInf(target.LogLaw(y.UsedCount()), -1) {
				values[k] = math.NaN() // it means nothing
				continue
			}
			if value != want {
				t.Fatalf("the line of %d and %d at %v has %v at split %d, the point %v", i, j, c.Composition(), value, k, want)
			}
			if !math.IsInf(value, -1) {
				finite++
			}
		}
		k := r.Intn(s + 1)
		if math.IsNaN(values[k]) {
			continue
		}
		c.Move(i, j, k, values[k])
		if c.Composition().Amount(i) != k || c.LogScore() != values[k] {
			t.Fatalf("moved to %v with score %v", c.Composition(), c.LogScore())
		}
	}
	if finite < 100 {
		t.Errorf("only %d splits had a score: the test does not see enough", finite)
	}
	if err := c.Set(start); err != nil || !c.Composition().Equal(start) || c.Composition() == start {
		t.Errorf("set to %v: %v", c.Composition(), err)
	}
	if short, _ := mcmc.NewComposition(4, mcmc.Part{Ingredient: 0, Amount: 6}); c.Set(short) == nil {
		t.Error("a cursor left the space")
	}
}
