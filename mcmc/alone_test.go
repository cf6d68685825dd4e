package mcmc_test

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// halves allows a composition of two halves alone, and says of its lines no more than
// that none is above 0.
type halves struct{}

func (halves) LogScore(x *mcmc.Composition) float64 {
	for _, p := range x.Parts() {
		if 2*p.Amount != x.Total() {
			return math.Inf(-1)
		}
	}
	return 0
}

func (h halves) Scorer(x *mcmc.Composition) mcmc.Scorer { return &halvesScorer{x: x} }

type halvesScorer struct {
	halves
	x    *mcmc.Composition
	i, j int
}

func (*halvesScorer) Reset() {}

func (s *halvesScorer) LogScore() float64 { return s.halves.LogScore(s.x) }

func (*halvesScorer) Moved(i, j int) {}

func (s *halvesScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	s.Curve(i, j)
	for k := range s.x.Amount(i) + s.x.Amount(j) + 1 {
		p.Add(k, s.ScoreAt(k))
	}
}

func (s *halvesScorer) Curve(i, j int) int {
	s.i, s.j = i, j
	return 0
}

func (s *halvesScorer) ScoreAt(k int) float64 {
	y := s.x.Clone()
	if err := y.Move(s.i, s.j, k); err != nil {
		panic(err)
	}
	return s.halves.LogScore(y)
}

func (*halvesScorer) UpperBound(int, int) float64 { return 0 }

// TestLinesOfOne: chains stay where a long line of a curved property has nothing else to
// draw, and go on along those that have. How often they were where is kept.
func TestLinesOfOne(t *testing.T) {
	kept := golden.Open(t)
	const ingredients, total = 4, 400
	target := newTarget(t, ingredients, total, mcmc.Uniform(1, 2), mcmc.Objective{Name: "halves", Property: halves{}, Weight: 1})
	for _, kernel := range []string{"accelerated", "gibbs", "balanced", "tempered"} {
		sampler, err := mcmc.NewSampler(kernel, target)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			c, err := sampler.NewChain(seed, 0)
			if err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]int)
			for range 60 {
				if err := c.Advance(1); err != nil {
					t.Fatalf("%s: %v", kernel, err)
				}
				seen[c.State.Composition.String()]++
				if s := c.State.AppendScores(nil); s[0] != 1 {
					t.Fatalf("%s is at %v, of score %v", kernel, c.State.Composition, s)
				}
			}
			kept.CheckText(t, fmt.Sprintf("%s, seed %d", kernel, seed), fmt.Sprintf("%v, %d updated", seen, c.ChangedCount()))
		}
	}
}
