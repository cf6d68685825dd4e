package campaign

import (
	"math"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
)

// A Surrogate is a model of one label, learnt from few measurements. Its values are on its own
// scale; see warp. The choice of a batch uses nothing else, so any model with joint draws can
// implement it.
type Surrogate interface {
	// Predict returns the mean at a recipe and the standard deviation of its uncertainty,
	// without the noise of a measurement.
	Predict(x recipe) (mean, sd float64)

	// Draws returns count joint draws of the values of recipes: by draw, by recipe.
	Draws(xs []recipe, count int, r *mcmc.Rand) [][]float64

	// Noise returns the standard deviation of one measurement about the value.
	Noise() float64

	// R2 returns the share of the variance of held-out measurements that the model predicts.
	// It is at most 1, below 0 if the model is worse than the mean, and NaN if it cannot be
	// computed.
	R2() float64

	// IntervalScale returns the factor by which to widen intervals so that they hold nine in
	// ten held-out measurements.
	IntervalScale() float64
}

// A point is a recipe as models see it: the root of each share. A little of an ingredient is
// then further from none than from a little more. The Euclidean distance is √2 times the
// Hellinger distance. A condition has a coordinate from 0.25 to 1 if it is a number, and a
// coordinate of 1 for its category otherwise; see [kir/internal/compile.Setting].
type point []coordinate

type coordinate struct {
	i int
	v float64
}

// pointOf returns the point of a recipe.
func pointOf(of recipe, total int) point {
	x := make(point, 0, len(of.parts)+len(of.codes))
	for _, p := range of.parts {
		x = append(x, coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / float64(total))})
	}
	for _, p := range of.codes {
		x = append(x, coordinate{p.Ingredient, math.Sqrt(float64(p.Amount) / model.BesideTotal)})
	}
	return x
}

// drawNormal returns a draw of the standard normal law.
func drawNormal(r *mcmc.Rand) float64 {
	return portable.NormalQuantile(float64((float64(r.Uint64()>>11) + 0.5) * 0x1p-53))
}

// gaussian returns the density and the distribution function of the standard normal law.
func gaussian(z float64) (density, below float64) {
	return portable.Exp(float64(-z*z/2)) / math.Sqrt(2*math.Pi), float64(portable.Erfc(-z/math.Sqrt2) / 2)
}

// improvement returns E[(v − b)₊] for a normal v.
func improvement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return max(mean-b, 0)
	}
	z := (mean - b) / sd
	density, below := gaussian(z)
	return float64(sd * (density + float64(z*below)))
}

// logImprovement returns the logarithm of [improvement]. It distinguishes recipes even where
// the improvement underflows.
func logImprovement(mean, sd, b float64) float64 {
	if !(sd > 0) {
		return portable.Log(max(mean-b, math.SmallestNonzeroFloat64))
	}
	z := (mean - b) / sd
	if z > -6 {
		density, below := gaussian(z)
		return portable.Log(float64(sd * (density + float64(z*below))))
	}
	// Asymptotically, φ(z) + z·Φ(z) = φ(z)/z² · (1 − 3/z² + ...) as z → −∞.
	return portable.Log(sd) - float64(z*z/2) - portable.Log(float64(z*z*math.Sqrt(2*math.Pi))) + portable.Log1p(-3/(z*z)+15/(z*z*z*z))
}
