package model

import (
	"math"

	"kir/internal/portable"
)

const (
	maxKeptSteps    = 8   // number of past steps from which the inverse Hessian is approximated
	backtrackFactor = 0.5 // factor by which backtracking shortens a step
	// the search ends if backtracking shortens a step to less than this share of its first length
	minBacktrackShare   = 1e-8
	minDescentShare     = 1e-4 // a step must descend by at least this share of the descent that the gradient predicts
	maxCoordinateChange = 2    // greatest change of a coordinate in one step
)

// minimize searches for a minimum of a smooth function, starting from x. The method is
// limited-memory BFGS with backtracking (Nocedal 1980). It changes x to the best point found and
// returns the value of the function there.
//
// The function value returns the value at x and writes the gradient. It returns +Inf where the
// function is undefined. The search ends when two successive iterations each descend by less than
// tolerance, or after the given number of iterations.
func minimize(x []float64, value func(x, gradient []float64) float64, iterations int, tolerance float64) float64 {
	n := len(x)
	g, next, gNext, step := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	var past pastSteps
	f := value(x, g)
	small := 0
	for range iterations {
		past.setDirection(g, step)
		slope := portable.Dot(g, step)
		if !(slope > 0) {
			copy(step, g)
			if slope = portable.Dot(g, g); !(slope > 0) {
				return f
			}
			past = nil
		}
		var fNext float64
		t := initialStepShare(step, len(past) == 0)
		for first := t; ; t = float64(t * backtrackFactor) {
			for i := range x {
				next[i] = x[i] - float64(t*step[i])
			}
			if fNext = value(next, gNext); fNext <= f-float64(minDescentShare*t*slope) {
				break
			}
			if t < first*minBacktrackShare {
				return f
			}
		}
		past.addStep(x, next, g, gNext)
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

// initialStepShare returns the share of a step that the search tries first. The share limits the
// change of each coordinate to maxCoordinateChange, or to 0.5 in the first step of a search.
func initialStepShare(step []float64, first bool) float64 {
	t, most := 1.0, 0.0
	for _, v := range step {
		most = max(most, math.Abs(v))
	}
	if most > maxCoordinateChange {
		t = maxCoordinateChange / most
	}
	if first && most > 0 {
		t = min(t, 0.5/most)
	}
	return t
}

// A pastSteps holds the last steps of a search by [minimize], the oldest first.
type pastSteps []pastStep

// A pastStep is a step of a search by [minimize], in the notation of limited-memory BFGS.
type pastStep struct {
	s   []float64 // change of the point from the start to the end of the step
	y   []float64 // change of the gradient from the start to the end of the step
	rho float64   // 1/(s·y), where s·y is the dot product
}

// setDirection sets step to an approximation of H⁻¹·g, where H is the Hessian and g is the
// gradient. It uses the two-loop recursion of limited-memory BFGS.
func (m pastSteps) setDirection(g, step []float64) {
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

// addStep adds the step from point x to point next. The gradients at these points are g and gNext.
// It does nothing if the function is not convex along the step.
func (m *pastSteps) addStep(x, next, g, gNext []float64) {
	p := pastStep{s: make([]float64, len(x)), y: make([]float64, len(x))}
	for i := range x {
		p.s[i], p.y[i] = next[i]-x[i], gNext[i]-g[i]
	}
	if curve := portable.Dot(p.s, p.y); curve > 1e-10*portable.Dot(p.y, p.y) {
		p.rho = 1 / curve
		if *m = append(*m, p); len(*m) > maxKeptSteps {
			*m = (*m)[1:]
		}
	}
}
