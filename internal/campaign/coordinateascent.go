package campaign

import (
	"context"
	"slices"

	"kir/internal/browsersched"
)

// A coordinateAscent maximises the posterior density of the length scales and the noise of a
// Gaussian process. It multiplies or divides one parameter at a time by a factor, as long as the
// density rises.
type coordinateAscent struct {
	process           *gaussianProcess
	centredValues     []float64 // values of the training rows minus their mean
	lengthScaleGroups [][]int   // groups of variable indices; the variables of a group share a length scale
	bestLogDensity    float64   // greatest log posterior density found so far
}

// maxAscentRounds is the maximum number of passes over all parameters for each factor.
const maxAscentRounds = 3

// minRise is the least rise of the log density for which a step is kept.
const minRise = 1e-3

// run maximises the density with large steps first and small steps afterwards.
func (a *coordinateAscent) run(ctx context.Context) error {
	coordinates := a.coordinates()
	for _, factor := range []float64{2, 1.4} {
		for range maxAscentRounds {
			moved, err := a.climbEach(ctx, coordinates, factor)
			if err != nil {
				return err
			}
			if !moved {
				break
			}
		}
	}
	return nil
}

// coordinates returns the parameters that the ascent changes in turn. The first element is nil and
// stands for the noise. The second element lists all variables, and each further element lists the
// variables of one length scale.
func (a *coordinateAscent) coordinates() [][]int {
	all := make([]int, len(a.process.inverseSquareLengths))
	for i := range all {
		all[i] = i
	}
	return append([][]int{nil, all}, a.lengthScaleGroups...)
}

// climbEach climbs along each coordinate, with the factor and with 1/factor. It reports whether the
// density rose.
func (a *coordinateAscent) climbEach(ctx context.Context, coordinates [][]int, factor float64) (moved bool, err error) {
	for _, group := range coordinates {
		for _, by := range []float64{factor, 1 / factor} {
			rose, err := a.climb(ctx, group, by)
			if err != nil {
				return false, err
			}
			moved = moved || rose
		}
	}
	return moved, nil
}

// climb repeats a step along one coordinate until the density rises no further. It reports whether
// the density rose at all.
func (a *coordinateAscent) climb(ctx context.Context, group []int, by float64) (moved bool, err error) {
	for {
		if err := browsersched.Err(ctx); err != nil {
			return false, err
		}
		if !a.step(group, by) {
			return moved, nil
		}
		moved = true
	}
}

// step multiplies one parameter by a factor and reports whether the density rose. If the density
// did not rise, step restores the parameter.
func (a *coordinateAscent) step(group []int, by float64) bool {
	g := a.process
	weight, noise := slices.Clone(g.inverseSquareLengths), g.noiseRatio
	if group == nil {
		g.noiseRatio = float64(g.noiseRatio * by)
	}
	for _, i := range group {
		g.inverseSquareLengths[i] /= by * by
	}
	if g.noiseRatio > 1e-6 && g.noiseRatio < 100 && g.fit(a.centredValues) {
		if d := g.logPosterior(a.lengthScaleGroups); d > a.bestLogDensity+minRise {
			a.bestLogDensity = d
			return true
		}
	}
	copy(g.inverseSquareLengths, weight)
	g.noiseRatio = noise
	return false
}
