// Package importedmodel scores compositions by tree ensembles of other programs. Its types
// implement [mcmc.LineProperty].
package importedmodel

import (
	"math"

	"kir/internal/ensemble"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Model scores a composition by the prediction of a tree ensemble that another program trained.
// The score of composition x is
//
//	y(x) = max(floor, d(v(x))),
//
// where v(x) are the sums that the ensemble computes for x, one for each target. The function d
// says how desirable these sums are. The scores of a whole line of compositions are computed
// together: see package ensemble.
type Model struct {
	score        *ensemble.Score              // computes the sums v(x)
	desirability func(sums []float64) float64 // the function d
	floor        float64                      // the least score
}

var _ mcmc.LineProperty = (*Model)(nil)

// New returns a [Model]. The function desirability is given the ensemble's sums, one for each
// target. Its result must depend on nothing else. The parameter floor is the least score, in [0,
// 1].
func New(score *ensemble.Score, desirability func(sums []float64) float64, floor float64) *Model {
	return &Model{score, desirability, floor}
}

// logScore returns the logarithm of the score of a composition, given the ensemble's sums.
func (m *Model) logScore(sums []float64) float64 {
	return portable.Log(max(m.floor, m.desirability(sums)))
}

// LogScore returns the logarithm of the score of x.
func (m *Model) LogScore(x *mcmc.Composition) float64 { return m.logScore(m.Sums(x)) }

// Sums returns the ensemble's sums for composition x, one for each target.
func (m *Model) Sums(x *mcmc.Composition) []float64 { return m.score.Sums(x.Amounts()) }

// Scorer returns a scorer of composition x. Every change of x must be announced to the scorer.
func (m *Model) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &modelScorer{property: m, x: x, scorer: m.score.NewScorer()}
}

// A modelScorer is the [mcmc.Scorer] of a [Model].
type modelScorer struct {
	property *Model            // the scored property
	x        *mcmc.Composition // the composition
	scorer   *ensemble.Scorer  // computes the sums of the current composition
	sums     []float64         // scratch memory: the sums of one composition
}

func (s *modelScorer) Reset() { s.scorer.Reset(s.x.Amounts(), s.x.Ingredients()) }

func (s *modelScorer) LogScore() float64 {
	s.sums = s.scorer.AppendSums(s.sums[:0])
	return s.property.logScore(s.sums)
}

func (s *modelScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	starts, sums := s.scorer.Line(i, j)
	last := math.NaN()
	for k, start := range starts {
		s.sums = s.sums[:0]
		for _, of := range sums {
			s.sums = append(s.sums, of[k])
		}
		if y := s.property.logScore(s.sums); y != last {
			p.Add(int(start), y)
			last = y
		}
	}
}

func (s *modelScorer) Moved(i, j int) {
	s.scorer.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}
