package campaign

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// A Surrogate is a model of one label that was learnt from few measurements. Its values
// are on a scale of its own; see warp. It is all that the choice of a batch asks of a
// model, so that any model that has joint draws can stand here.
type Surrogate interface {
	// Predict returns the mean at a recipe and the standard deviation of what is not
	// known of it, without the noise of a measurement.
	Predict(x []mcmc.Part) (mean, sd float64)

	// Draws returns count joint draws of the values at recipes: by draw, by recipe.
	Draws(xs [][]mcmc.Part, count int, r *mcmc.Rand) [][]float64

	// Noise is the standard deviation of one measurement about the value.
	Noise() float64

	// R2 is the share of the variance that is predicted of measurements that are left
	// out, at most 1 and below 0 of a model that is worse than the mean; NaN if it
	// cannot be told.
	R2() float64

	// IntervalScale is by what intervals that follow from the standard deviations are to be
	// widened, so that those of the left out hold nine in ten.
	IntervalScale() float64
}

// A point is a recipe as models see it: the root of each share, so that a little of an
// ingredient is further from none of it than from a little more, and Euclid's distance is
// √2 times Hellinger's.
type point []coordinate

type coordinate struct {
	i int
	v float64
}

// pointOf returns the point of a recipe whose parts are by ingredient.
func pointOf(parts []mcmc.Part, total int) point {
	x := make(point, len(parts))
	for k, p := range parts {
		x[k] = coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / float64(total))}
	}
	return x
}

// drawNormal returns a draw of the standard normal law.
func drawNormal(r *mcmc.Rand) float64 {
	return portable.NormalQuantile(float64((float64(r.Uint64()>>11) + 0.5) * 0x1p-53))
}

// gaussian returns the density of the standard normal law, and its distribution function.
func gaussian(z float64) (density, below float64) {
	return portable.Exp(float64(-z*z/2)) / math.Sqrt(2*math.Pi), float64(portable.Erfc(-z/math.Sqrt2) / 2)
}

// improvement returns E[(v − b)₊] of a normal v.
func improvement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return max(mean-b, 0)
	}
	z := (mean - b) / sd
	density, below := gaussian(z)
	return float64(sd * (density + float64(z*below)))
}

// logImprovement is the logarithm of [improvement], which tells recipes apart even where
// it is too small for a number.
func logImprovement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return portable.Log(max(mean-b, math.SmallestNonzeroFloat64))
	}
	z := (mean - b) / sd
	if z > -6 {
		density, below := gaussian(z)
		return portable.Log(float64(sd * (density + float64(z*below))))
	}
	// φ(z) + z·Φ(z) = φ(z)/z² · (1 − 3/z² + ...) far below.
	return portable.Log(sd) - float64(z*z/2) - portable.Log(float64(z*z*math.Sqrt(2*math.Pi))) + portable.Log1p(-3/(z*z)+15/(z*z*z*z))
}
