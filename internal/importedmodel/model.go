// Package importedmodel scores compositions by tree ensembles of other programs. Its types
// implement [mcmc.LineProperty].
package importedmodel

import (
	"math"

	"kir/internal/ensemble"
	"kir/internal/portable"
	"kir/mcmc"
)

// A Model scores a composition by the prediction of a tree ensemble of another program. The score
// is
//
//	y(x) = max(floor, d(v(x))),
//
// where v(x) are the sums of the ensemble's targets for composition x. The function d says how
// desirable these sums are. A whole line of compositions is scored in one walk of the trees: see
// package ensemble.
type Model struct {
	score        *ensemble.Score
	desirability func(sums []float64) float64 // d
	floor        float64                      // the least score
}

var _ mcmc.LineProperty = (*Model)(nil)

// New returns a [Model]. The function desirability takes the sums of the ensemble's targets, and
// must depend on nothing else. The parameter floor is the least score, in [0, 1].
func New(score *ensemble.Score, desirability func(sums []float64) float64, floor float64) *Model {
	return &Model{score, desirability, floor}
}

// logScore returns the logarithm of the score, given the sums of the targets.
func (m *Model) logScore(sums []float64) float64 {
	return portable.Log(max(m.floor, m.desirability(sums)))
}

// LogScore returns the logarithm of the score of x.
func (m *Model) LogScore(x *mcmc.Composition) float64 { return m.logScore(m.Sums(x)) }

// Sums returns the sums of the ensemble's targets for x.
func (m *Model) Sums(x *mcmc.Composition) []float64 { return m.score.Sums(x.Amounts()) }

// Scorer returns a scorer that follows x.
func (m *Model) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &modelScorer{property: m, x: x, scorer: m.score.NewScorer()}
}

// A modelScorer is the [mcmc.Scorer] of a [Model].
type modelScorer struct {
	property *Model
	x        *mcmc.Composition
	scorer   *ensemble.Scorer
	sums     []float64 // scratch memory: the sums of the targets
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
