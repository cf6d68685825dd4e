package model

import "math"

// A Calibration turns the probability that a model states of an event into how often
// such events came true among held-out rows: with λ = log p/(1 − p),
//
//	λ′ = slope·λ + shift
//
// (Platt 2000). Probabilities nearer to 0 or 1 than half a row of those that taught it
// count as that: what has not been seen is rare, and not impossible. It rises with p.
type Calibration struct {
	Slope float64 `json:"slope"`
	Shift float64 `json:"shift"`
	Clip  float64 `json:"clip"`
}

// The priors: what a model states is taken as it is until rows say otherwise.
const slopeSD, shiftSD = 0.5, 0.5 // of the slope's logarithm, and of the shift

// Calibrate returns the calibration by stated probabilities and whether the events came
// true; a NaN is no row.
func Calibrate(stated []float64, occurred []bool) Calibration {
	rows := 0
	for _, p := range stated {
		if !math.IsNaN(p) {
			rows++
		}
	}
	c := Calibration{Slope: 1, Clip: 0.5 / float64(rows+1)}
	odds := make([]float64, 0, rows)
	var came []bool
	for r, p := range stated {
		if !math.IsNaN(p) {
			odds, came = append(odds, c.odds(p)), append(came, occurred[r])
		}
	}
	theta := []float64{0, 0} // log slope, shift
	minimize(theta, func(x, g []float64) float64 {
		slope := exp(min(x[0], 5))
		energy := float64(x[0]*x[0])/(2*slopeSD*slopeSD) + float64(x[1]*x[1])/(2*shiftSD*shiftSD)
		g[0], g[1] = x[0]/(slopeSD*slopeSD), x[1]/(shiftSD*shiftSD)
		for k, l := range odds {
			z := float64(slope*l) + x[1]
			by := logistic(z)
			if came[k] {
				by--
				z = -z
			}
			energy += softplus(z)
			g[0] += float64(by * float64(slope*l))
			g[1] += by
		}
		return energy
	}, 50, 1e-6)
	c.Slope, c.Shift = exp(theta[0]), theta[1]
	return c
}

// odds returns log p/(1 − p) of a probability that is not too near 0 or 1.
func (c Calibration) odds(p float64) float64 {
	p = min(max(p, c.Clip), 1-c.Clip)
	return log(p / (1 - p))
}

// At returns the calibrated probability.
func (c Calibration) At(p float64) float64 {
	return logistic(float64(c.Slope*c.odds(p)) + c.Shift)
}

// logistic returns 1/(1 + e^−z).
func logistic(z float64) float64 {
	if z < 0 {
		e := exp(z)
		return e / (1 + e)
	}
	return 1 / (1 + exp(-z))
}

// softplus returns log(1 + e^z).
func softplus(z float64) float64 {
	if z > 0 {
		return z + log(1+exp(-z))
	}
	return log(1 + exp(z))
}
