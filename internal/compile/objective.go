package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/search"
	"kir/mcmc"
	"kir/property"
)

// objectiveFloor is the default minimum of the score of an objective to maximise or to minimise. It is
// positive, so that even the worst value is not forbidden.
const objectiveFloor = 0.001

// An Objective is a value of compositions that a trade-off improves. It tells in which direction the value is
// better, and has the score that the search uses. Its name is the name of a property or of a [Figure] of a
// property.
type Objective struct {
	Property int    // index of the property
	Figure   int    // index in [Property.Figures]; −1 stands for the value of the property itself
	Unit     string // unit of the values in reports

	Direction   config.Direction
	Least, Most float64 // bounds in the unit of Unit, if the direction is config.Between

	search.Objective
}

// setDirection sets the direction, the bounds and the score of the objective. The parameters least and most are
// bounds of the scored value of l.
func (o *Objective) setDirection(l *valueScale, direction config.Direction, least, most float64) (err error) {
	o.Direction = direction
	d := property.Exponential(direction.Sign())
	if direction == config.Between {
		o.Least, o.Most, o.LossMagnitude = float64(least*l.shownFactor), float64(most*l.shownFactor), maxAbsBound(least, most)
		if d, err = property.SoftBounds(least, most, 1); err != nil {
			return err
		}
	}
	o.Score, err = l.asProperty(d)
	return err
}

// ShownLoss returns the loss of a value v that is in the unit of reports. The loss is lower for better values.
func (o *Objective) ShownLoss(v float64) float64 { return o.Direction.Loss(v, o.Least, o.Most) }

// ShownSize returns the greater absolute value of the two bounds, in the unit of reports. The loss of a value
// is its difference from a bound, so this size tells the precision of losses; see [pareto.MergeTies]. It is 0
// unless the direction is config.Between.
func (o *Objective) ShownSize() float64 { return maxAbsBound(o.Least, o.Most) }

// maxAbsBound returns the greater absolute value of two bounds. It ignores infinite bounds.
func maxAbsBound(least, most float64) (size float64) {
	for _, v := range []float64{least, most} {
		if !math.IsInf(v, 0) {
			size = max(size, math.Abs(v))
		}
	}
	return size
}

// extremeDesirability returns the desirability of a value to maximise or to minimise. The desirability rises
// from the worst to the best value that the rules allow. The second result is a description, with values in the
// given unit. If typicalSpread is 0, extremeDesirability sets it from the range of values.
func (l *valueScale) extremeDesirability(ctx context.Context, s *readContext, at *yaml.Node, unit string, o *config.Objective) (*property.Desirability, string, error) {
	direction, _, _ := o.Direction()
	worst, best, err := l.searchWorstAndBest(ctx, s, direction)
	if err != nil {
		return nil, "", err
	}
	if l.typicalSpread == 0 {
		l.typicalSpread = max(math.Abs(best-worst)/20, math.SmallestNonzeroFloat64)
	}
	d, err := property.UncappedRamp(worst, best, o.Shape.Or(1))
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	if d, err = d.Floor(o.Floor.Or(objectiveFloor)); err != nil {
		return nil, "", at.PlaceError(err)
	}
	in := func(v float64) string {
		text := strconv.FormatFloat(float64(l.shownFactor*v), 'g', 4, 64)
		if unit != "" {
			text += " " + unit
		}
		return text
	}
	return d, fmt.Sprintf("%s; the rules allow from %s to %s", modelWant(o), in(min(worst, best)), in(max(worst, best))), nil
}

// Limits of the search for the worst and the best value. rangeSearchLines is the number of lines that the
// search scores for each of the two values. A line is all ways (splits) in which two ingredients of a
// composition can share their joint amount. maxRangeSearchSplits is the maximum number of splits of all lines
// together.
const rangeSearchLines, maxRangeSearchSplits = 20_000, 4_000_000

// rangeSampleDraws is the number of random compositions from which the typical difference between values is
// estimated.
const rangeSampleDraws = 200

// searchWorstAndBest searches for the worst and the best scored value of compositions that keep the rules. It
// returns 0 and 0 if the compositions are not yet counted.
func (l *valueScale) searchWorstAndBest(ctx context.Context, s *readContext, direction config.Direction) (worst, best float64, err error) {
	if s.space == nil {
		return 0, 0, nil
	}
	s.reportProgress("looking for the worst and the best that the rules allow")
	law := mcmc.Power(s.sparsityLaw, 0) // all sizes are equally likely, even those that the law makes very rare
	t, err := mcmc.NewTarget(s.space, law)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(1, "scale of an objective", 0)
	for range rangeSampleDraws {
		x, err := prior.Draw(r)
		if err != nil {
			return 0, 0, err
		}
		if v := l.scoredValue(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return 0, 0, nil // no random composition has a value: a chain reports the recipe later
	}
	slope := 30 / max(hi-lo, 1e-9*math.Abs(hi), 1e-300)
	ends := [2]float64{lo, hi}
	for k, sign := range []float64{-1, 1} {
		steep, err := l.asProperty(property.Exponential(float64(sign * slope)))
		if err != nil {
			return 0, 0, err
		}
		t, err := mcmc.NewTarget(s.space, law, mcmc.Objective{Name: "value", Property: steep, Weight: 1})
		if err != nil {
			return 0, 0, err
		}
		lines := max(min(rangeSearchLines, maxRangeSearchSplits/s.CompositionTotal), 500)
		found, err := search.Best(ctx, t, search.Options{Evaluations: lines, Seed: 1, Workers: s.workerCount})
		var score *mcmc.ScoreError
		switch {
		case errors.As(err, &score), errors.Is(err, mcmc.ErrNoStart):
			continue // a chain meets this error too, and reports it
		case err != nil:
			return 0, 0, err
		}
		for _, b := range found.Archive.Best() {
			x, err := s.space.Composition(b.Parts, b.Conditions)
			if err != nil {
				return 0, 0, err
			}
			if v := l.scoredValue(x); !math.IsNaN(v) && !math.IsInf(v, 0) && float64(sign*v) > float64(sign*ends[k]) {
				ends[k] = v
			}
		}
	}
	if direction == config.Minimize {
		return ends[1], ends[0], nil
	}
	return ends[0], ends[1], nil
}
