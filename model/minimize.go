package model

import (
	"math"

	"kir/internal/portable"
)

const (
	keptSteps       = 8    // number of past steps that the approximation of the Hessian keeps
	backtrackFactor = 0.5  // factor by which backtracking shortens a step
	minBacktrack    = 1e-8 // the search ends when backtracking shortens a step to less than this share
	minDescent      = 1e-4 // required descent, as a share of what the slope predicts
	maxChange       = 2    // greatest change of any coordinate in one step
)

// minimize searches for a minimum of a smooth function, starting from x, which it changes. It uses
// the limited-memory BFGS method (Nocedal 1980) with backtracking. value returns the function and
// writes its gradient; it is +Inf where the function is undefined. The search ends when an
// iteration descends by less than tolerance, or after so many iterations. It returns the value at
// x.
func minimize(x []float64, value func(x, gradient []float64) float64, iterations int, tolerance float64) float64 {
	n := len(x)
	g, next, gNext, step := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	var past stepMemory
	f := value(x, g)
	small := 0
	for range iterations {
		past.direction(g, step)
		slope := portable.Dot(g, step)
		if !(slope > 0) {
			copy(step, g)
			if slope = portable.Dot(g, g); !(slope > 0) {
				return f
			}
			past = nil
		}
		var fNext float64
		t := firstShare(step, len(past) == 0)
		for first := t; ; t = float64(t * backtrackFactor) {
			for i := range x {
				next[i] = x[i] - float64(t*step[i])
			}
			if fNext = value(next, gNext); fNext <= f-float64(minDescent*t*slope) {
				break
			}
			if t < first*minBacktrack {
				return f
			}
		}
		past.add(x, next, g, gNext)
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

// firstShare returns the share of a step to try first, which bounds the change of each coordinate.
func firstShare(step []float64, first bool) float64 {
	t, most := 1.0, 0.0
	for _, v := range step {
		most = max(most, math.Abs(v))
	}
	if most > maxChange {
		t = maxChange / most
	}
	if first && most > 0 {
		t = min(t, 0.5/most)
	}
	return t
}

// A stepMemory is the last steps, the oldest first.
type stepMemory []pastStep

// A pastStep is a step s with the change y of the gradient, and rho = 1/(s·y).
type pastStep struct {
	s, y []float64
	rho  float64
}

// direction sets step to the gradient g times an approximation of the inverse Hessian, by the
// two-loop recursion.
func (m stepMemory) direction(g, step []float64) {
	copy(step, g)
	weight := make([]float64, len(m))
	for k := len(m) - 1; k >= 0; k-- {
		p := m[k]
		weight[k] = float64(p.rho * portable.Dot(p.s, step))
		for i := range step {
			step[i] -= float64(weight[k] * p.y[i])
		}
	}
	if k := len(m); k > 0 {
		p := m[k-1]
		scale := 1 / (p.rho * portable.Dot(p.y, p.y))
		for i := range step {
			step[i] = float64(step[i] * scale)
		}
	}
	for k, p := range m {
		back := weight[k] - float64(p.rho*portable.Dot(p.y, step))
		for i := range step {
			step[i] += float64(back * p.s[i])
		}
	}
}

// add adds the step from x to next, unless the function is not convex along it.
func (m *stepMemory) add(x, next, g, gNext []float64) {
	p := pastStep{s: make([]float64, len(x)), y: make([]float64, len(x))}
	for i := range x {
		p.s[i], p.y[i] = next[i]-x[i], gNext[i]-g[i]
	}
	if curve := portable.Dot(p.s, p.y); curve > 1e-10*portable.Dot(p.y, p.y) {
		p.rho = 1 / curve
		if *m = append(*m, p); len(*m) > keptSteps {
			*m = (*m)[1:]
		}
	}
}
