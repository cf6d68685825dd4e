package model

import (
	"math"

	"kir/internal/portable"
)

// The Gaussian process and the laws use only the functions of this file beyond the operations of
// package math that IEEE 754 fixes to the last bit.

// exp returns the exponential function, the same on every machine.
func exp(x float64) float64 { return portable.Exp(x) }

// log returns the natural logarithm, the same on every machine.
func log(x float64) float64 { return portable.Log(x) }

// normalCDF returns Φ(z), the distribution function of the standard normal distribution.
func normalCDF(z float64) float64 { return float64(portable.Erfc(-z/math.Sqrt2) / 2) }

// normalQuantile returns the p-quantile of the standard normal distribution, 0 < p < 1.
func normalQuantile(p float64) float64 { return portable.NormalQuantile(p) }
