package property

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// Learned scores a composition by a model that was learnt from recipes:
//
//	y(x) = max(floor, s(x)),
//
// s is the [model.LearnedScore], the expected desirability. A whole line (see [mcmc.Scorer]) is scored at once; see
// package model.
type Learned struct {
	score *model.LearnedScore
	floor float64
}

var _ mcmc.LineProperty = (*Learned)(nil)

// NewLearned returns a [Learned]. The argument floor is the least score, in [0, 1].
func NewLearned(score *model.LearnedScore, floor float64) *Learned { return &Learned{score, floor} }

// LogScore returns log y(x), the logarithm of the score of x.
func (l *Learned) LogScore(x *mcmc.Composition) float64 {
	return l.logScoreFrom(l.score.ScoreAt(x.Amounts(), x.Ingredients()))
}

func (l *Learned) logScoreFrom(score float64) float64 { return portable.Log(max(l.floor, score)) }

// Pieces returns the terms of the model's score, as [model.LearnedScore.Pieces] does. It also returns the function
// join, which computes an upper bound of the log score from upper bounds of the terms.
func (l *Learned) Pieces() (of []func(lo, hi []int32, used int) (above float64, nanoseconds int64, along int, by float64), join func([]float64) float64) {
	of, score := l.score.Pieces()
	return of, func(above []float64) float64 { return l.logScoreFrom(score(above)) }
}

// LineCost returns the approximate time to score a line of two ingredients, in nanoseconds.
func (l *Learned) LineCost() int64 { return l.score.LineCost() }

// Scorer returns a new scorer that follows the composition x.
func (l *Learned) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &learnedScorer{l, x, l.score.NewScorer()}
}

type learnedScorer struct {
	property    *Learned
	x           *mcmc.Composition
	modelScorer *model.LearnedScorer
}

func (s *learnedScorer) Reset()            { s.modelScorer.Reset(s.x.Amounts(), s.x.Ingredients()) }
func (s *learnedScorer) LogScore() float64 { return s.property.logScoreFrom(s.modelScorer.Value()) }

func (s *learnedScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	starts, values := s.modelScorer.Line(i, j)
	for k, start := range starts {
		p.Add(int(start), s.property.logScoreFrom(values[k]))
	}
}

func (s *learnedScorer) Moved(i, j int) {
	s.modelScorer.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}

// scoreAmounts adds to p the scores of the compositions in which ingredient i has each of the ascending amounts.
func (s *learnedScorer) scoreAmounts(i int, amounts []int32, p *mcmc.PiecewiseConstant) {
	score, last := 0.0, math.NaN()
	for v, value := range s.modelScorer.Column(i, amounts) {
		if value == last {
			continue
		}
		last = value
		if logged := s.property.logScoreFrom(value); v == 0 || logged != score {
			p.Add(v, logged)
			score = logged
		}
	}
}
