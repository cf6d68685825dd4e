package search

import (
	"math"
	"testing"

	"kir/internal/pareto"
	"kir/mcmc"
)

// conditionTarget is a target of four ingredients, a total of 6, and conditions of 5 and 3 values, of
// which a property has its peak at one composition and one value each.
func conditionTarget(t *testing.T) (*mcmc.Target, func(x *mcmc.Composition) float64) {
	t.Helper()
	base, err := mcmc.NewSpace(4, 6)
	if err != nil {
		t.Fatal(err)
	}
	space, err := mcmc.WithConditions(base, []mcmc.Condition{{Name: "a", Weights: []float64{1, 1, 1, 1, 1}}, {Name: "b", Weights: []float64{3, 1, 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	score := func(x *mcmc.Composition) float64 {
		off := math.Abs(float64(x.Amount(1)-4)) + math.Abs(float64(x.Amount(2)-2))
		return math.Exp(-off - math.Abs(float64(x.Condition(0)-x.Amount(1)+1)) - float64((x.Condition(1)+1)%3))
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), mcmc.Objective{Name: "peak", Weight: 1, Property: mcmc.ScoreFunc(score)})
	if err != nil {
		t.Fatal(err)
	}
	return target, score
}

// eachPair visits every composition and value of a small target.
func eachPair(t *testing.T, target *mcmc.Target, visit func(x *mcmc.Composition)) {
	t.Helper()
	for a := 0; a <= 6; a++ {
		for b := 0; a+b <= 6; b++ {
			for c := 0; a+b+c <= 6; c++ {
				var list []mcmc.Part
				for i, amount := range []int{a, b, c, 6 - a - b - c} {
					if amount > 0 {
						list = append(list, mcmc.Part{Ingredient: i, Amount: amount})
					}
				}
				for v := range int32(5) {
					for w := range int32(3) {
						x, err := target.Space().Composition(list, []int32{v, w})
						if err != nil {
							t.Fatal(err)
						}
						if len(list) <= 3 {
							visit(x)
						}
					}
				}
			}
		}
	}
}

// A search finds the best pair of a composition and conditions, and the shortlist says by how much a
// condition may change. A known recipe without conditions is a start.
func TestBestWithConditions(t *testing.T) {
	t.Parallel()
	target, _ := conditionTarget(t)
	known, err := mcmc.NewComposition(4, mcmc.Part{Ingredient: 0, Amount: 3}, mcmc.Part{Ingredient: 3, Amount: 3})
	if err != nil {
		t.Fatal(err)
	}
	d := NewDistance(4, nil)
	o := Options{Evaluations: 4000, Seed: 1, Starts: []*mcmc.Composition{known}, DiverseCount: 3, Distance: d, MinDistance: 0.3}
	r, err := Best(t.Context(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Shortlist(t.Context(), target, r.Archive.Best(), ListOptions{MaxEntries: 3, Distance: d, MinDistance: 0.3, Tolerance: 0.7})
	if err != nil {
		t.Fatal(err)
	}
	e := l.Entries[0]
	x, err := target.Space().Composition(e.Parts, e.Conditions)
	if err != nil {
		t.Fatal(err)
	}
	if x.String() != "{1: 4, 2: 2 | 3, 2}" || e.LogScore != 0 || r.FeasibleStartCount != 1 {
		t.Errorf("the best is %v at %v after %d starts", x, e.LogScore, r.FeasibleStartCount)
	}
	if e.ConditionRanges[0] != (Range{2, 4}) || e.ConditionRanges[1] != (Range{2, 2}) {
		t.Errorf("the ranges of the conditions are %v", e.ConditionRanges)
	}
	for _, f := range r.Diverse {
		best := math.Inf(-1)
		eachPair(t, target, func(y *mcmc.Composition) {
			if d.Between(y.Parts(), f.Parts) == 0 {
				score, err := target.LogScore(y)
				if err != nil {
					t.Fatal(err)
				}
				best = max(best, score)
			}
		})
		if math.Abs(best-f.LogScore) > 1e-12 {
			t.Errorf("%v scores %v, and with its best conditions %v", f.Parts, f.LogScore, best)
		}
	}
}

// The front of two losses, one of which the conditions alone decide, is that of an enumeration.
func TestTradeOffWithConditions(t *testing.T) {
	t.Parallel()
	target, score := conditionTarget(t)
	cost := func(x *mcmc.Composition) float64 {
		return float64(x.Condition(0)*3+x.Condition(1)) + float64(x.Amount(1))/2
	}
	objectives := []Objective{
		{Name: "peak", Score: mcmc.ScoreFunc(score)},
		{Name: "cost", Score: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return math.Exp(-cost(x)) })},
	}
	var points [][]float64
	eachPair(t, target, func(x *mcmc.Composition) {
		points = append(points, []float64{objectives[0].Loss(x), objectives[1].Loss(x)})
	})
	var want [][]float64
	for _, k := range pareto.NonDominated(points) {
		want = append(want, points[k])
	}
	r, err := TradeOff(t.Context(), target, objectives, TradeOptions{Lines: 8000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Front) != len(want) {
		t.Fatalf("the front has %d members, and there are %d", len(r.Front), len(want))
	}
	for k, m := range r.Front {
		for d := range m.Losses {
			if math.Abs(m.Losses[d]-want[k][d]) > 1e-9 {
				t.Errorf("member %d has the losses %v, and the front %v", k, m.Losses, want[k])
			}
		}
	}
}
