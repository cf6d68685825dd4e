package property

import (
	"math"

	"kir"
	"kir/forest"
)

// Forest is a random forest's probability of what is wanted:
//
//	y(x) = max(floor, P(want | x)),
//
// where P is the mean over the trees of the leaf's share (Breiman 2001;
// Meinshausen 2006 for numbers). A probability of 0 forbids x unless there is
// a floor. A whole line is scored in one walk; see package forest.
type Forest struct {
	score *forest.Score
	floor float64
}

var _ kir.LineProperty = (*Forest)(nil)

// NewForest returns the property. floor is the least probability, in [0, 1].
func NewForest(score *forest.Score, floor float64) *Forest { return &Forest{score, floor} }

// LogScore returns log y(x).
func (f *Forest) LogScore(x *kir.Composition) float64 {
	return f.log(f.score.Point(x.Amounts()))
}

// log turns a sum over the trees into log y.
func (f *Forest) log(sum int64) float64 {
	return math.Log(max(f.floor, f.score.Probability(sum)))
}

// Scorer returns a scorer of x.
func (f *Forest) Scorer(x *kir.Composition) kir.Scorer {
	return &forestScorer{property: f, x: x, walk: f.score.NewScorer()}
}

type forestScorer struct {
	property *Forest
	x        *kir.Composition
	walk     *forest.Scorer
}

func (s *forestScorer) Reset()            { s.walk.Reset(s.x.Amounts(), s.x.Ingredients()) }
func (s *forestScorer) LogScore() float64 { return s.property.log(s.walk.Value()) }

func (s *forestScorer) Line(i, j int, p *kir.Pieces) {
	starts, sums := s.walk.Line(i, j)
	for k, start := range starts {
		p.Add(int(start), s.property.log(sums[k]))
	}
}

func (s *forestScorer) At(i, j, k int) float64 {
	return s.property.log(s.walk.At(i, j, int32(k)))
}

func (s *forestScorer) Moved(i, j int) {
	s.walk.Set(i, int32(s.x.Amount(i)), j, int32(s.x.Amount(j)))
}
