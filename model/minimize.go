package model

import (
	"math"

	"kir/internal/portable"
)

const (
	memory      = 8    // number of steps, with their changes of the gradient, that are kept
	shrink      = 0.5  // factor of a step that does not descend enough
	leastShrink = 1e-8 // the search ends at a shorter share of a step
	enough      = 1e-4 // required share of the descent that the slope predicts
	longest     = 2    // greatest change of any coordinate in one step
)

// minimize searches for a minimum of a smooth function, starting from x, which it changes. It uses
// the limited-memory BFGS method (Nocedal 1980) with backtracking. value returns the function and
// writes its gradient; it is +Inf where the function is undefined. The search ends when an
// iteration descends by less than tolerance, or after so many iterations. It returns the value at
// x.
func minimize(x []float64, value func(x, gradient []float64) float64, iterations int, tolerance float64) float64 {
	n := len(x)
	g, next, gNext, step := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	type pair struct {
		s, y []float64
		rho  float64
	}
	var pairs []pair
	f := value(x, g)
	small := 0
	for range iterations {
		copy(step, g)
		weight := make([]float64, len(pairs))
		for k := len(pairs) - 1; k >= 0; k-- {
			p := pairs[k]
			weight[k] = float64(p.rho * portable.Dot(p.s, step))
			for i := range step {
				step[i] -= float64(weight[k] * p.y[i])
			}
		}
		if k := len(pairs); k > 0 {
			p := pairs[k-1]
			scale := 1 / (p.rho * portable.Dot(p.y, p.y))
			for i := range step {
				step[i] = float64(step[i] * scale)
			}
		}
		for k, p := range pairs {
			back := weight[k] - float64(p.rho*portable.Dot(p.y, step))
			for i := range step {
				step[i] += float64(back * p.s[i])
			}
		}
		slope := portable.Dot(g, step)
		if !(slope > 0) {
			copy(step, g)
			if slope = portable.Dot(g, g); !(slope > 0) {
				return f
			}
			pairs = nil
		}
		t, most := 1.0, 0.0
		for _, v := range step {
			most = max(most, math.Abs(v))
		}
		if most > longest {
			t = longest / most
		}
		if len(pairs) == 0 && most > 0 {
			t = min(t, 0.5/most)
		}
		var fNext float64
		for first := t; ; t = float64(t * shrink) {
			for i := range x {
				next[i] = x[i] - float64(t*step[i])
			}
			if fNext = value(next, gNext); fNext <= f-float64(enough*t*slope) {
				break
			}
			if t < first*leastShrink {
				return f
			}
		}
		p := pair{s: make([]float64, n), y: make([]float64, n)}
		for i := range x {
			p.s[i], p.y[i] = next[i]-x[i], gNext[i]-g[i]
		}
		if curve := portable.Dot(p.s, p.y); curve > 1e-10*portable.Dot(p.y, p.y) {
			p.rho = 1 / curve
			if pairs = append(pairs, p); len(pairs) > memory {
				pairs = pairs[1:]
			}
		}
		down := f - fNext
		copy(x, next)
		copy(g, gNext)
		if f = fNext; down < tolerance {
			if small++; small == 2 {
				return f
			}
		} else {
			small = 0
		}
	}
	return f
}
