package property

import (
	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// Learned is how much of what is wanted a model expects that was learnt from recipes:
//
//	y(x) = max(floor, s(x)),
//
// where s is the [model.LearnedScore]. A whole line is scored at once; see package model.
type Learned struct {
	score *model.LearnedScore
	floor float64
}

var _ mcmc.LineProperty = (*Learned)(nil)

// NewLearned returns the property. floor is the least score, in [0, 1].
func NewLearned(score *model.LearnedScore, floor float64) *Learned { return &Learned{score, floor} }

// LogScore returns log y(x).
func (l *Learned) LogScore(x *mcmc.Composition) float64 {
	return l.log(l.score.At(x.Amounts(), x.Ingredients()))
}

func (l *Learned) log(score float64) float64 { return portable.Log(max(l.floor, score)) }

// Pieces returns what y is made of, as [model.LearnedScore.Pieces] does, and what log y is at
// most where they are at most so much.
func (l *Learned) Pieces() (of []func(lo, hi []int32, used int) (above float64, nanoseconds int64, along int, by float64), join func([]float64) float64) {
	of, score := l.score.Pieces()
	return of, func(above []float64) float64 { return l.log(score(above)) }
}

// LineCost is about how many nanoseconds it takes to score a line.
func (l *Learned) LineCost() int64 { return l.score.LineCost() }

// Scorer returns a scorer of x.
func (l *Learned) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &learnedScorer{l, x, l.score.NewScorer()}
}

type learnedScorer struct {
	property *Learned
	x        *mcmc.Composition
	walk     *model.LearnedScorer
}

func (s *learnedScorer) Reset()            { s.walk.Reset(s.x.Amounts(), s.x.Ingredients()) }
func (s *learnedScorer) LogScore() float64 { return s.property.log(s.walk.Value()) }

func (s *learnedScorer) Line(i, j int, p *mcmc.Pieces) {
	starts, values := s.walk.Line(i, j)
	for k, start := range starts {
		p.Add(int(start), s.property.log(values[k]))
	}
}

func (s *learnedScorer) Moved(i, j int) {
	s.walk.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}
