package property

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// ScoreTransform is the desirability of a value that the score of another property encodes:
//
//	y(x) = d(v(log y'(x))),
//
// y' is the score of the other property, and v a function of the log of this score. With a desirability that is
// only 0 or 1, such as [HardBounds], a ScoreTransform bounds the prediction of a model.
//
// A line (see [mcmc.Scorer]) has at most as many pieces of constant score as with the other property.
type ScoreTransform struct {
	base         mcmc.LineProperty
	valueOfScore func(logScore float64) float64
	desirability *Desirability
}

var _ mcmc.LineProperty = (*ScoreTransform)(nil)

// NewScoreTransform returns the [ScoreTransform] d(value(log score)), where log score is the log score of the
// property of.
func NewScoreTransform(of mcmc.LineProperty, value func(logScore float64) float64, d *Desirability) *ScoreTransform {
	return &ScoreTransform{of, value, d}
}

// HardBounds is the desirability that is 1 for least ≤ v ≤ most and 0 elsewhere. Either bound may be infinite.
func HardBounds(least, most float64) (*Desirability, error) {
	if math.IsNaN(least) || math.IsNaN(most) || least > most {
		return nil, fmt.Errorf("nothing is from %v to %v: write the lower one first", least, most)
	}
	return newDesirability(func(v float64) float64 {
		if least <= v && v <= most {
			return 0
		}
		return math.Inf(-1)
	}, min(max(least, -math.MaxFloat64), math.MaxFloat64), zeroSlope).withSupport(least, most), nil
}

// SoftBounds is the desirability that is 1 for least ≤ v ≤ most. Outside it falls by a factor of e for each
// distance of width from the nearer bound. Unlike [HardBounds], it shows a search in which direction the bounds
// lie. Either bound may be infinite.
func SoftBounds(least, most, width float64) (*Desirability, error) {
	if _, err := HardBounds(least, most); err != nil {
		return nil, err
	}
	if !(width > 0 && !math.IsInf(width, 0)) {
		return nil, fmt.Errorf("the width is %v: it must be a finite number above 0", width)
	}
	return newDesirability(func(v float64) float64 {
		return max(-max(least-v, v-most, 0)/width, -math.MaxFloat64)
	}, min(max(least, -math.MaxFloat64), math.MaxFloat64), nil), nil
}

func (l *ScoreTransform) logScoreFrom(logScore float64) float64 {
	if math.IsNaN(logScore) {
		return logScore
	}
	return l.desirability.logDesirability(l.valueOfScore(logScore))
}

// LogScore returns log y(x), the logarithm of the score of x.
func (l *ScoreTransform) LogScore(x *mcmc.Composition) float64 {
	return l.logScoreFrom(l.base.LogScore(x))
}

// Scorer returns a new scorer that follows the composition x.
func (l *ScoreTransform) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &scoreTransformScorer{transform: l, Scorer: l.base.Scorer(x)}
}

type scoreTransformScorer struct {
	transform *ScoreTransform
	mcmc.Scorer
	basePieces mcmc.PiecewiseConstant
}

func (s *scoreTransformScorer) LogScore() float64 {
	return s.transform.logScoreFrom(s.Scorer.LogScore())
}

func (s *scoreTransformScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	s.basePieces.Reset()
	s.Scorer.Line(i, j, &s.basePieces)
	last := 0.0
	for k := range s.basePieces.Len() {
		start, score := s.basePieces.Piece(k)
		if score = s.transform.logScoreFrom(score); k == 0 || score != last {
			p.Add(start, score)
			last = score
		}
	}
}
