package mcmc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
)

// said is a property whose points and lines are what it is told, and which says why it
// has no score.
type said struct {
	point func(x *mcmc.Composition) float64
	line  func(x *mcmc.Composition, i, j, k int) float64 // nil: as the points
}

func (p said) LogScore(x *mcmc.Composition) float64 { return p.point(x) }

func (said) Err() error { return errors.New("the scale is broken") }

func (p said) Scorer(x *mcmc.Composition) mcmc.Scorer { return &saidScorer{p, x} }

type saidScorer struct {
	said
	x *mcmc.Composition
}

func (*saidScorer) Reset() {}

func (s *saidScorer) LogScore() float64 { return s.point(s.x) }

func (*saidScorer) Moved(i, j int) {}

func (s *saidScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	for k := range sum + 1 {
		if s.line != nil {
			p.Add(k, s.line(s.x, i, j, k))
			continue
		}
		y := s.x.Clone()
		if err := y.Move(i, j, k); err != nil {
			panic(err)
		}
		p.Add(k, s.point(y))
	}
}

// TestScoresFail keeps what chains of all kernels say where a property has no score: on
// all of a line or a part of it, at ends or between them, at the point, the line or both,
// beside another that forbids what has none, and where several together have none.
func TestScoresFail(t *testing.T) {
	kept := golden.Open(t)
	nan, inf := math.NaN(), math.Inf(1)
	when := func(at func(x *mcmc.Composition) bool, v float64) func(x *mcmc.Composition) float64 {
		return func(x *mcmc.Composition) float64 {
			if at(x) {
				return v
			}
			return 0.25 * float64(x.Amount(1))
		}
	}
	of := func(name string, weight float64, p mcmc.Property) mcmc.Objective {
		return mcmc.Objective{Name: name, Weight: weight, Property: p}
	}
	third := func(x *mcmc.Composition) bool { return x.Amount(2) == 5 }
	many := func(x *mcmc.Composition) bool { return x.UsedCount() == 4 }
	whole := func(x *mcmc.Composition) bool { return x.UsedCount() == 1 }
	zero := func(*mcmc.Composition) float64 { return 0 }
	along := func(at func(k, sum int) bool, v float64) func(x *mcmc.Composition, i, j, k int) float64 {
		return func(x *mcmc.Composition, i, j, k int) float64 {
			if i+j == 5 && at(k, x.Amount(i)+x.Amount(j)) {
				return v
			}
			return 0
		}
	}
	for name, wishes := range map[string][]mcmc.Objective{
		"a point": {of("odd", 2, logScores(when(third, nan)))}, "a point, infinite": {of("odd", 0.5, logScores(when(many, inf)))}, "one alone": {of("odd", 1, logScores(when(whole, nan)))}, "negative": {wish("odd", 1, func(x *mcmc.Composition) float64 { return 3 - float64(x.Amount(2)) })},
		"the second": {wish("even", 1, func(x *mcmc.Composition) float64 { return float64(1 + x.Amount(0)) }), of("odd", 1, said{point: when(third, nan)})}, "what is not asked": {of("even", 1, said{point: zero}), of("odd", 0, logScores(when(third, nan)))}, "forbidden where it is bad": {of("odd", 1, said{point: when(third, nan)}), of("not there", 1, said{point: when(third, -inf)})}, "forbidden elsewhere": {of("odd", 1, said{point: when(third, nan)}), of("not there", 1, logScores(when(many, -inf)))},
		"together": {of("great", 1, logScores(when(third, 1.7e308))), of("greater", 1, said{point: when(third, 1.7e308)})}, "a line and its points": {of("odd", 3, said{point: when(many, inf)})},
		"the line alone, first": {of("odd", 1, said{zero, along(func(k, _ int) bool { return k == 0 }, nan)})}, "the line alone, last": {of("odd", 1, said{zero, along(func(k, sum int) bool { return k == sum }, inf)})}, "the line alone, between": {of("odd", 1, said{zero, along(func(k, sum int) bool { return k == sum/2 }, nan)})}, "the line alone, all": {of("odd", 1, said{zero, along(func(int, int) bool { return true }, nan)})}, "the line forbids all": {of("odd", 1, said{zero, along(func(int, int) bool { return true }, -inf)})},
		"the point alone": {of("odd", 1, said{when(third, nan), func(*mcmc.Composition, int, int, int) float64 { return 0 }})},
	} {
		for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced", "tempered"} {
			sampler, err := mcmc.NewSampler(kernel, newTarget(t, 6, 14, mcmc.Uniform(1, 4), wishes...))
			if err == nil {
				var c *mcmc.Chain
				if c, err = sampler.NewChain(3, 0); err == nil {
					for range 100 {
						if err = c.Advance(10); err != nil {
							break
						}
					}
				}
			}
			text := fmt.Sprint(err)
			if bad, is := errors.AsType[*mcmc.ScoreError](err); is {
				text += fmt.Sprintf(" | %s %v %s %v %v", bad.Objective, bad.Value, bad.Composition, bad.Parts, bad.Err)
			}
			kept.CheckText(t, name+", "+kernel, text)
		}
	}
}
