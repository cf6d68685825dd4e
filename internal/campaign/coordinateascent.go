package campaign

import (
	"context"
	"slices"

	"kir/internal/browsersched"
)

// A coordinateAscent maximises the posterior density of the length scales and the noise of a
// Gaussian process. It changes one parameter at a time: it multiplies or divides the parameter by a
// factor for as long as the density rises.
type coordinateAscent struct {
	process           *gaussianProcess
	centredValues     []float64 // centredValues[i] is the value of training row i minus the mean of all values
	lengthScaleGroups [][]int   // groups of variable indices; the variables of a group share a length scale
	bestLogDensity    float64   // greatest log posterior density found so far
}

// maxAscentRounds is the maximum number of passes over all parameters that are made with the same
// factor.
const maxAscentRounds = 3

// minRise is the least increase of the log density for which a step is kept.
const minRise = 1e-3

// maximizeDensity maximises the density with large steps first and small steps afterwards.
func (a *coordinateAscent) maximizeDensity(ctx context.Context) error {
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

// coordinates returns the parameters that the ascent changes in turn, each as a list of variables:
//
//   - nil stands for the noise
//   - the list of all variables stands for all length scales together
//   - each further list has the variables that share one length scale
func (a *coordinateAscent) coordinates() [][]int {
	all := make([]int, len(a.process.inverseSquareLengths))
	for i := range all {
		all[i] = i
	}
	return append([][]int{nil, all}, a.lengthScaleGroups...)
}

// climbEach changes each coordinate in turn, first by the factor and then by 1/factor, as long as
// the density rises. It reports whether the density rose.
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

// climb multiplies the parameter of one coordinate by factor again and again until the density
// rises no further. It reports whether the density rose at all.
func (a *coordinateAscent) climb(ctx context.Context, group []int, factor float64) (moved bool, err error) {
	for {
		if err := browsersched.Err(ctx); err != nil {
			return false, err
		}
		if !a.tryStep(group, factor) {
			return moved, nil
		}
		moved = true
	}
}

// tryStep multiplies the parameter of one coordinate by factor. If the density does not rise,
// tryStep restores the parameter and returns false.
func (a *coordinateAscent) tryStep(group []int, factor float64) bool {
	g := a.process
	weight, noise := slices.Clone(g.inverseSquareLengths), g.noiseRatio
	if group == nil {
		g.noiseRatio = float64(g.noiseRatio * factor)
	}
	for _, i := range group {
		g.inverseSquareLengths[i] /= factor * factor
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
