package problem

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

// An objective is a value of compositions to maximise or minimise.
type objective struct {
	sign       float64 // 1 to maximise, −1 to minimise
	shape      float64
	floor      float64
	value      func(x *mcmc.Composition) float64
	asProperty func(d *property.Desirability) mcmc.Property // returns the value as a property with desirability d

	worst, best float64 // values within the rules, as found by a search
}

// width returns a typical difference between values.
func (o *objective) width() float64 {
	return max(math.Abs(o.best-o.worst)/20, math.SmallestNonzeroFloat64)
}

// newObjective returns the objective of a value to maximise or minimise.
func newObjective(e *config.Extremum) *objective {
	return &objective{sign: e.Sign(), shape: e.Shape.Or(1), floor: e.Floor.Or(objectiveFloor)}
}

// words describes the objective, such as "as small as possible".
func (o *objective) words() string {
	if o.sign < 0 {
		return "as small as possible"
	}
	return "as large as possible"
}

// desirability returns the score of the value, from the worst to the best that the rules allow. It also
// returns a description, with values multiplied by scale.
func (o *objective) desirability(ctx context.Context, s *readContext, at *yaml.Node, unit string, scale float64) (*property.Desirability, string, error) {
	worst, best, err := o.findRange(ctx, s)
	if err != nil {
		return nil, "", err
	}
	o.worst, o.best = worst, best
	d, err := property.Toward(worst, best, o.shape)
	if err != nil {
		return nil, "", at.PlaceError(err)
	}
	if d, err = d.Floor(o.floor); err != nil {
		return nil, "", at.PlaceError(err)
	}
	in := func(v float64) string {
		text := strconv.FormatFloat(float64(scale*v), 'g', 4, 64)
		if unit != "" {
			text += " " + unit
		}
		return text
	}
	return d, fmt.Sprintf("%s; the rules allow from %s to %s", o.words(), in(min(worst, best)), in(max(worst, best))), nil
}

// spanLines is the number of lines that a search scores for each end of the range. spanSplits bounds the
// number of splits of lines for properties that are scored split by split.
const spanLines, spanSplits = 20_000, 4_000_000

// spanDraws is the number of random compositions from which the spread of values is estimated.
const spanDraws = 200

// findRange searches for the worst and the best value of compositions within the rules. It returns 0 and 0
// if there is no space to search.
func (o *objective) findRange(ctx context.Context, s *readContext) (worst, best float64, err error) {
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
		if v := o.value(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return 0, 0, nil // no random composition has a value: a chain reports the recipe later
	}
	slope := 30 / max(hi-lo, 1e-9*math.Abs(hi), 1e-300)
	ends := [2]float64{lo, hi}
	for k, sign := range []float64{-1, 1} {
		steep := mcmc.Objective{Name: "value", Property: o.asProperty(property.Steep(float64(sign * slope))), Weight: 1}
		t, err := mcmc.NewTarget(s.space, law, steep)
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
			x, err := mcmc.NewComposition(s.space.N(), b.Parts...)
			if err != nil {
				return 0, 0, err
			}
			if v := o.value(x); !math.IsNaN(v) && !math.IsInf(v, 0) && float64(sign*v) > float64(sign*ends[k]) {
				ends[k] = v
			}
		}
	}
	if o.sign < 0 {
		return ends[1], ends[0], nil
	}
	return ends[0], ends[1], nil
}
