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
// s is the [model.LearnedScore], the expected desirability of the predicted value. All divisions of the joint
// amount of two ingredients are scored at once; see package model.
type Learned struct {
	score *model.LearnedScore
	floor float64
}

var _ mcmc.LineProperty = (*Learned)(nil)

// NewLearned returns a [Learned]. floor is the least score that it gives, in [0, 1].
func NewLearned(score *model.LearnedScore, floor float64) *Learned { return &Learned{score, floor} }

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (l *Learned) LogScore(x *mcmc.Composition) float64 {
	return l.logScoreFrom(l.score.ScoreAt(x.Amounts(), x.Ingredients()))
}

func (l *Learned) logScoreFrom(score float64) float64 { return portable.Log(max(l.floor, score)) }

// Pieces returns one function per term of the model's score; see [model.LearnedScore.Pieces]. Each function
// computes an upper bound of its term over a set of compositions. The result join computes an upper bound of
// the log score from the upper bounds of all terms.
func (l *Learned) Pieces() (of []func(lo, hi []int32, used int) (above float64, nanoseconds int64, along int, by float64), join func([]float64) float64) {
	of, score := l.score.Pieces()
	return of, func(above []float64) float64 { return l.logScoreFrom(score(above)) }
}

// LineCost returns the approximate time, in nanoseconds, to score all divisions of the joint amount of two
// ingredients.
func (l *Learned) LineCost() int64 { return l.score.LineCost() }

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
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

// scoreAmounts adds to p one log score for each of the given ascending amounts: the score of the composition
// with this amount of ingredient i.
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
