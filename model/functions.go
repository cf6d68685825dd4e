package model

import (
	"math"

	"kir/internal/portable"
)

// The Gaussian process and the laws use only the functions of this file beyond the operations of
// package math that IEEE 754 fixes to the last bit.

func exp(x float64) float64 { return portable.Exp(x) }

func log(x float64) float64 { return portable.Log(x) }

// normalShare returns Φ(z), the share of the standard normal law below z.
func normalShare(z float64) float64 { return float64(portable.Erfc(-z/math.Sqrt2) / 2) }

// normalQuantile returns the p-quantile of the standard normal law, 0 < p < 1.
func normalQuantile(p float64) float64 { return portable.NormalQuantile(p) }
