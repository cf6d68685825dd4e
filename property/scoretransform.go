package property

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// ScoreTransform scores a composition by the desirability of a value that is computed from the score of another
// property:
//
//	y(x) = d(v(log y'(x))),
//
// y' is the score of the other property, v a function of the log of this score, and d the desirability. For
// example, if y' encodes the prediction v of a model, and d is 1 within bounds and 0 outside, then y allows
// only compositions whose prediction is within the bounds; see [HardBounds].
//
// Among all divisions of the joint amount of two ingredients, neighbours have equal scores wherever the other
// property gives them equal scores.
type ScoreTransform struct {
	base         mcmc.LineProperty
	valueOfScore func(logScore float64) float64 // function v of the log score of the other property
	desirability *Desirability
}

var _ mcmc.LineProperty = (*ScoreTransform)(nil)

// NewScoreTransform returns the [ScoreTransform] that computes a value from the log score of the property base,
// and scores the desirability of this value.
func NewScoreTransform(base mcmc.LineProperty, valueOfScore func(logScore float64) float64, desirability *Desirability) *ScoreTransform {
	return &ScoreTransform{base, valueOfScore, desirability}
}

// HardBounds returns the desirability d(v) of a number v that is 1 for least ≤ v ≤ most and 0 elsewhere. Either
// bound may be infinite.
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

// SoftBounds returns the desirability d(v) of a number v that is 1 for least ≤ v ≤ most. Outside, d falls by a
// factor of e for each distance of width from the nearer bound. Unlike [HardBounds], SoftBounds shows a search
// in which direction the bounds lie. Either bound may be infinite.
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

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (l *ScoreTransform) LogScore(x *mcmc.Composition) float64 {
	return l.logScoreFrom(l.base.LogScore(x))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
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
