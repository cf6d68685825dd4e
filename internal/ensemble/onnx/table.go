package onnx

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// A table is a function from the trees' sums to a list of numbers.
type table struct {
	width   int
	single  bool
	classes []string
	of      func(sums []float64, k int) float64
}

// values returns all numbers of a table for given sums.
func values(t *table, sums []float64) []float32 {
	all := make([]float32, t.width)
	for k := range all {
		all[k] = float32(t.of(sums, k))
	}
	return all
}

func exp32(v float32) float32  { return float32(portable.Exp(float64(v))) }
func log32(v float32) float32  { return float32(portable.Log(float64(v))) }
func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func logistic(v float32) float32 {
	p := 1 / (1 + exp32(-max(v, -v)))
	if v < 0 {
		return 1 - p
	}
	return p
}

// probit approximates the normal quantile function as ONNX Runtime does, by S. Winitzki's approximation of the
// inverse error function (2008).
func probit(v float32) float32 {
	x := float32(2*v) - 1
	sign := float32(1)
	if x < 0 {
		sign = -1
	}
	log := log32(float32((1 - x) * (1 + x)))
	a := float32(2)/(float32(math.Pi)*0.147) + float32(0.5*log)
	b := float32(float32(1) / 0.147 * log)
	return float32(1.41421356 * (sign * sqrt32(-a+sqrt32(float32(a*a)-b))))
}

// softmax returns the softmax of all numbers. With zeros true, numbers that are nearly 0 do not enter the normalising
// sum and stay nearly 0.
func softmax(all []float32, zeros bool) []float64 {
	most := all[0]
	for _, v := range all {
		most = max(most, v)
	}
	sum := float32(0)
	for k, v := range all {
		if zeros && v <= 0.0000001 && v >= -0.0000001 {
			all[k] = float32(v * exp32(-most))
			continue
		}
		all[k] = exp32(v - most)
		sum += all[k]
	}
	made := make([]float64, len(all))
	for k, v := range all {
		made[k] = float64(v / sum)
	}
	return made
}

// postTransform returns the table after the named post-transform.
func postTransform(t *table, name string) (*table, error) {
	made := *t
	each := func(f func(float32) float32) {
		made.of = func(sums []float64, k int) float64 { return float64(f(float32(t.of(sums, k)))) }
	}
	switch name {
	case "NONE":
	case "LOGISTIC":
		each(logistic)
	case "PROBIT":
		each(probit)
	case "SOFTMAX":
		made.of = func(sums []float64, k int) float64 { return softmax(values(t, sums), false)[k] }
	case "SOFTMAX_ZERO":
		made.of = func(sums []float64, k int) float64 { return softmax(values(t, sums), true)[k] }
	default:
		return nil, fmt.Errorf("the post-transform %.40q is not supported", name)
	}
	return &made, nil
}
