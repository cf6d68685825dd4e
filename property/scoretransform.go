package property

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// ScoreTransform is the desirability of a value that another property's score encodes:
//
//	y(x) = d(v(log y'(x))),
//
// y' is the other property and v a function of its log score. With a desirability that is only 0 or
// 1, as [HardBounds], it bounds a model's prediction.
//
// A line has at most as many pieces as the other property's line.
type ScoreTransform struct {
	base  mcmc.LineProperty
	value func(logScore float64) float64
	d     *Desirability
}

var _ mcmc.LineProperty = (*ScoreTransform)(nil)

// NewScoreTransform returns a [ScoreTransform]: d of value of the log score of the property of.
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

// SoftBounds is the desirability that is 1 for least ≤ v ≤ most and falls outside by a factor of e for each width.
// Unlike [HardBounds], it shows a search in which direction the bounds lie. Either bound may be infinite.
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

func (l *ScoreTransform) log(logScore float64) float64 {
	if math.IsNaN(logScore) {
		return logScore
	}
	return l.d.log(l.value(logScore))
}

// LogScore returns log y(x).
func (l *ScoreTransform) LogScore(x *mcmc.Composition) float64 { return l.log(l.base.LogScore(x)) }

// Scorer returns a scorer of x.
func (l *ScoreTransform) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &scoreTransformScorer{level: l, Scorer: l.base.Scorer(x)}
}

type scoreTransformScorer struct {
	level *ScoreTransform
	mcmc.Scorer
	line mcmc.Pieces
}

func (s *scoreTransformScorer) LogScore() float64 { return s.level.log(s.Scorer.LogScore()) }

func (s *scoreTransformScorer) Line(i, j int, p *mcmc.Pieces) {
	s.line.Reset()
	s.Scorer.Line(i, j, &s.line)
	last := 0.0
	for k := range s.line.Len() {
		start, score := s.line.Piece(k)
		if score = s.level.log(score); k == 0 || score != last {
			p.Add(start, score)
			last = score
		}
	}
}
