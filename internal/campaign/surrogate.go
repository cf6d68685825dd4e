package campaign

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// A Surrogate is a model of one label, learnt from few measurements. Its values are not in the unit
// of the label; [warp] converts between the two. Any model that can draw the values of several
// recipes jointly can be a Surrogate.
type Surrogate interface {
	// Predict returns the predicted mean of the value of recipe x and the standard deviation of the
	// prediction. The standard deviation does not include measurement noise.
	Predict(x recipe) (mean, sd float64)

	// Draws returns joint random draws of the values of the given recipes. Element [s][k] is the value
	// of recipe k in draw s, and there are count draws.
	Draws(recipes []recipe, count int, r *mcmc.Rand) [][]float64

	// Noise returns the standard deviation of one measurement around the true value.
	Noise() float64

	// R2 returns the share of the variance of held-out measurements that the model predicts. R2 is
	// at most 1. It is below 0 if the model is worse than the mean, and NaN if it cannot be
	// computed.
	R2() float64

	// IntervalScale returns the factor by which prediction intervals are widened, so that nine in ten
	// held-out measurements lie within their intervals.
	IntervalScale() float64
}

// A point is a recipe as the Gaussian process sees it. Each ingredient has one coordinate, the
// square root of its share. Near a share of 0 a small change of the share therefore matters most.
// The Euclidean distance of two points is √2 times the Hellinger distance. A numeric condition has
// one coordinate from 0.25 to 1. A category has the coordinate 1; see
// [kir/internal/compile.Setting].
type point []coordinate

// A coordinate is one nonzero coordinate of a [point].
type coordinate struct {
	variable int // index of the ingredient; indices from the number of ingredients on stand for conditions
	value    float64
}

// newPoint converts a recipe whose amounts sum to total to a point.
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

// normalPDFAndCDF returns the probability density and the cumulative probability of the standard
// normal distribution at z.
func normalPDFAndCDF(z float64) (density, cumulative float64) {
	return portable.Exp(float64(-z*z/2)) / math.Sqrt(2*math.Pi), float64(portable.Erfc(-z/math.Sqrt2) / 2)
}

// expectedImprovement returns E[max(v − threshold, 0)] for a normal variable v with the given mean
// and standard deviation.
func expectedImprovement(mean, sd, threshold float64) float64 {
	if !(sd > 0) {
		return max(mean-threshold, 0)
	}
	z := (mean - threshold) / sd
	density, below := normalPDFAndCDF(z)
	return float64(sd * (density + float64(z*below)))
}

// logExpectedImprovement returns the logarithm of [expectedImprovement]. The logarithm stays finite
// even where the expected improvement is too small for a float64.
func logExpectedImprovement(mean, sd, threshold float64) float64 {
	if !(sd > 0) {
		return portable.Log(max(mean-threshold, math.SmallestNonzeroFloat64))
	}
	z := (mean - threshold) / sd
	if z > -6 {
		density, below := normalPDFAndCDF(z)
		return portable.Log(float64(sd * (density + float64(z*below))))
	}
	// Asymptotically, φ(z) + z·Φ(z) = φ(z)/z² · (1 − 3/z² + ...) as z → −∞.
	return portable.Log(sd) - float64(z*z/2) - portable.Log(float64(z*z*math.Sqrt(2*math.Pi))) + portable.Log1p(-3/(z*z)+15/(z*z*z*z))
}
