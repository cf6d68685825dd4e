package campaign

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// A Surrogate is a model of one label, learnt from few measurements. The values of the model are on
// a scale of its own; see [warp]. Any model with joint draws can be a Surrogate.
type Surrogate interface {
	// Predict returns the predicted mean of the value of recipe x and the standard deviation of the
	// prediction. The standard deviation does not include the noise of a measurement.
	Predict(x recipe) (mean, sd float64)

	// Draws returns count joint draws of the values of the recipes xs. The result is indexed by
	// draw, then by recipe.
	Draws(xs []recipe, count int, r *mcmc.Rand) [][]float64

	// Noise returns the standard deviation of one measurement about the true value.
	Noise() float64

	// R2 returns the share of the variance of held-out measurements that the model predicts. R2 is
	// at most 1. It is below 0 if the model is worse than the mean, and NaN if it cannot be
	// computed.
	R2() float64

	// IntervalScale returns the factor that widens prediction intervals so that they contain nine
	// in ten held-out measurements.
	IntervalScale() float64
}

// A point is a recipe as models see it. Each ingredient has one coordinate, the square root of its
// share. A little of an ingredient is then further from none than from a little more. The Euclidean
// distance is √2 times the Hellinger distance. A numeric condition has one coordinate from 0.25 to
// 1. A category has the coordinate 1; see [kir/internal/compile.Setting].
type point []coordinate

// A coordinate is one nonzero coordinate of a [point].
type coordinate struct {
	variable int // index of the ingredient; indices from the number of ingredients on stand for conditions
	value    float64
}

// newPoint converts a recipe to a point. The amounts of the recipe sum to total.
func newPoint(of recipe, total int) point {
	x := make(point, 0, len(of.parts)+len(of.conditionCodes))
	for _, p := range of.parts {
		x = append(x, coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / float64(total))})
	}
	for _, p := range of.conditionCodes {
		x = append(x, coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / model.MaxBesideAmount)})
	}
	return x
}

// drawNormal returns a draw from the standard normal distribution.
func drawNormal(r *mcmc.Rand) float64 {
	return portable.NormalQuantile(float64((float64(r.Uint64()>>11) + 0.5) * 0x1p-53))
}

// normalPDFAndCDF returns the density and the cumulative distribution function of the standard
// normal distribution at z.
func normalPDFAndCDF(z float64) (density, below float64) {
	return portable.Exp(float64(-z*z/2)) / math.Sqrt(2*math.Pi), float64(portable.Erfc(-z/math.Sqrt2) / 2)
}

// expectedImprovement returns E[(v − b)₊] for a normal variable v with the given mean and standard
// deviation.
func expectedImprovement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return max(mean-b, 0)
	}
	z := (mean - b) / sd
	density, below := normalPDFAndCDF(z)
	return float64(sd * (density + float64(z*below)))
}

// logExpectedImprovement returns the logarithm of [expectedImprovement]. It stays finite, and so
// still ranks recipes, where the expected improvement underflows.
func logExpectedImprovement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return portable.Log(max(mean-b, math.SmallestNonzeroFloat64))
	}
	z := (mean - b) / sd
	if z > -6 {
		density, below := normalPDFAndCDF(z)
		return portable.Log(float64(sd * (density + float64(z*below))))
	}
	// Asymptotically, φ(z) + z·Φ(z) = φ(z)/z² · (1 − 3/z² + ...) as z → −∞.
	return portable.Log(sd) - float64(z*z/2) - portable.Log(float64(z*z*math.Sqrt(2*math.Pi))) + portable.Log1p(-3/(z*z)+15/(z*z*z*z))
}
