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

// objectiveFloor is the least score of a value to maximise or minimise, so that even the worst value is not
// forbidden.
const objectiveFloor = 0.001

// An Objective is a value of compositions, compiled: which of its values are better, and the score from which a
// search computes its loss. Its name is that of a property, or of one of its figures.
type Objective struct {
	Property int    // index of the property
	Figure   int    // index of the figure; −1: the property itself
	Unit     string // unit of shown values

	Direction   config.Direction
	Least, Most float64 // bounds of config.Between, as shown values

	search.Objective
}

// compile sets the direction and what follows from it. The bounds are judged values of l.
func (o *Objective) compile(l *valueScale, direction config.Direction, least, most float64) (err error) {
	o.Direction = direction
	d := property.Exponential(direction.Sign())
	if direction == config.Between {
		o.Least, o.Most, o.Size = float64(least*l.scale), float64(most*l.scale), sizeOf(least, most)
		if d, err = property.SoftBounds(least, most, 1); err != nil {
			return err
		}
	}
	o.Score, err = l.asProperty(d)
	return err
}

// ShownLoss returns the loss of a shown value.
func (o *Objective) ShownLoss(v float64) float64 { return o.Direction.Loss(v, o.Least, o.Most) }

// ShownSize returns the magnitude of the shown values from whose difference the loss is computed; see
// [pareto.MergeTies]. It is 0 unless the direction is config.Between.
func (o *Objective) ShownSize() float64 { return sizeOf(o.Least, o.Most) }

// sizeOf returns the greater absolute value of two bounds, ignoring infinite ones.
func sizeOf(least, most float64) (size float64) {
	for _, v := range []float64{least, most} {
		if !math.IsInf(v, 0) {
			size = max(size, math.Abs(v))
		}
	}
	return size
}

// extremeDesirability returns the score of a value to maximise or minimise, from the worst to the best that the
// rules allow. It also returns a description, with shown values in the unit. A scale without a width gets
// that of the range.
func (l *valueScale) extremeDesirability(ctx context.Context, s *readContext, at *yaml.Node, unit string, o *config.Objective) (*property.Desirability, string, error) {
	direction, _, _ := o.Direction()
	worst, best, err := l.findRange(ctx, s, direction)
	if err != nil {
		return nil, "", err
	}
	if l.width == 0 {
		l.width = max(math.Abs(best-worst)/20, math.SmallestNonzeroFloat64)
	}
	d, err := property.UncappedRamp(worst, best, o.Shape.Or(1))
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	if d, err = d.Floor(o.Floor.Or(objectiveFloor)); err != nil {
		return nil, "", at.PlaceError(err)
	}
	in := func(v float64) string {
		text := strconv.FormatFloat(float64(l.scale*v), 'g', 4, 64)
		if unit != "" {
			text += " " + unit
		}
		return text
	}
	return d, fmt.Sprintf("%s; the rules allow from %s to %s", wantOf(o), in(min(worst, best)), in(max(worst, best))), nil
}

// spanLines is the number of lines that a search scores for each end of the range. spanSplits bounds the
// number of splits of lines for properties that are scored split by split.
const spanLines, spanSplits = 20_000, 4_000_000

// spanDraws is the number of random compositions from which the spread of values is estimated.
const spanDraws = 200

// findRange searches for the worst and the best judged value of compositions within the rules. It returns 0 and
// 0 if there is no space to search.
func (l *valueScale) findRange(ctx context.Context, s *readContext, direction config.Direction) (worst, best float64, err error) {
	if s.space == nil {
		return 0, 0, nil
	}
	s.reportProgress("looking for the worst and the best that the rules allow")
	law := mcmc.Power(s.law, 0) // all sizes are equally likely, even those that the law makes very rare
	t, err := mcmc.NewTarget(s.space, law)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(1, "scale of an objective", 0)
	for range spanDraws {
		x, err := prior.Draw(r)
		if err != nil {
			return 0, 0, err
		}
		if v := l.value(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
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
		lines := max(min(spanLines, spanSplits/s.Whole), 500)
		found, err := search.Best(ctx, t, search.Options{Evaluations: lines, Seed: 1, Workers: s.workers})
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
			if v := l.value(x); !math.IsNaN(v) && !math.IsInf(v, 0) && float64(sign*v) > float64(sign*ends[k]) {
				ends[k] = v
			}
		}
	}
	if direction == config.Minimize {
		return ends[1], ends[0], nil
	}
	return ends[0], ends[1], nil
}
