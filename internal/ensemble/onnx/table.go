package onnx

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// An outputTable is a list of numbers that are computed from the sums of the trees.
type outputTable struct {
	width     int                                 // number of numbers
	isFloat32 bool                                // whether the numbers are float32 instead of float64
	classes   []string                            // name of the class of each number; nil if the numbers do not belong to classes
	value     func(sums []float64, k int) float64 // computes the number with index k
}

// tableValues returns all numbers of a table, given the sums of the trees.
func tableValues(t *outputTable, sums []float64) []float32 {
	all := make([]float32, t.width)
	for k := range all {
		all[k] = float32(t.value(sums, k))
	}
	return all
}

func exp32(v float32) float32  { return float32(portable.Exp(float64(v))) }
func log32(v float32) float32  { return float32(portable.Log(float64(v))) }
func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// logistic returns the logistic function 1/(1 + exp(−v)), computed as ONNX Runtime does.
func logistic(v float32) float32 {
	p := 1 / (1 + exp32(-max(v, -v)))
	if v < 0 {
		return 1 - p
	}
	return p
}

// probit returns an approximation of the normal quantile function, as ONNX Runtime computes it. It
// uses S. Winitzki's approximation of the inverse error function (2008).
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

// softmax returns the softmax of all numbers. If zeros is true, numbers that are nearly 0 do not
// count in the sum by which the others are divided, and they stay nearly 0.
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

// applyPostTransform returns the table with the named post-transform applied, such as "LOGISTIC".
func applyPostTransform(t *outputTable, name string) (*outputTable, error) {
	made := *t
	each := func(f func(float32) float32) {
		made.value = func(sums []float64, k int) float64 { return float64(f(float32(t.value(sums, k)))) }
	}
	switch name {
	case "NONE":
	case "LOGISTIC":
		each(logistic)
	case "PROBIT":
		each(probit)
	case "SOFTMAX":
		made.value = func(sums []float64, k int) float64 { return softmax(tableValues(t, sums), false)[k] }
	case "SOFTMAX_ZERO":
		made.value = func(sums []float64, k int) float64 { return softmax(tableValues(t, sums), true)[k] }
	default:
		return nil, fmt.Errorf("the post-transform %.40q is not supported", name)
	}
	return &made, nil
}
