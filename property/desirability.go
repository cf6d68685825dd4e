package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// A Desirability maps a number to log d, where d in 0..1 is how desirable the number is. log d is
// −Inf where d is 0.
//
// Larger, Smaller and Target are those of Derringer and Suich, "Simultaneous Optimization of
// Several Response Variables", Journal of Quality Technology 12 (1980), 214–219, equations (1) and
// (2).
type Desirability struct {
	log  func(v float64) float64
	best float64 // log rises for values below best and falls for values above

	// slope is the derivative of log where d is neither 0 nor at its floor, except at best. There
	// log is concave. A nil slope means that log may not be concave.
	slope     func(v float64) float64
	low, high float64 // without a floor, d is 0 outside low..high
	floor     float64 // least value of log; −Inf if there is none
}

// newDesirability returns a desirability that is above 0 for all numbers. [Desirability.withSupport] restricts it.
func newDesirability(log func(v float64) float64, best float64, slope func(v float64) float64) *Desirability {
	return &Desirability{log: log, best: best, slope: slope, low: math.Inf(-1), high: math.Inf(1), floor: math.Inf(-1)}
}

// withSupport restricts d to the interval low..high, outside which it is 0. It returns d.
func (d *Desirability) withSupport(low, high float64) *Desirability {
	d.low, d.high = low, high
	return d
}

// zeroSlope is the slope of a desirability that is constant wherever it is not 0.
func zeroSlope(float64) float64 { return 0 }

// Log returns log d(v).
func (d *Desirability) Log(v float64) float64 { return d.log(v) }

// Best returns the value of the greatest desirability: log d rises up to it and falls beyond it. It may be infinite.
func (d *Desirability) Best() float64 { return d.best }

// Concave returns the derivative of log d and its domain. log d is at least floor between low and
// high and −Inf beyond. Wherever it is more than floor it is concave with that slope, except for a
// corner at the best value. ok is false if log d does not have this shape.
func (d *Desirability) Concave() (slope func(v float64) float64, low, high, floor float64, ok bool) {
	return d.slope, d.low, d.high, d.floor, d.slope != nil
}

// upperBound returns an upper bound of log d over all values between v and w, in either order.
func (d *Desirability) upperBound(v, w float64) float64 {
	l := d.log(max(min(v, w), min(max(v, w), d.best)))
	if l > 0 {
		return float64(l * (1 + 0x1p-50)) // a margin for the rounding of the logarithm
	}
	return float64(l * (1 - 0x1p-50))
}

// Larger is the desirability "the larger the better":
//
//	d = 0 for v ≤ from, ((v − from)/(to − from))^shape, 1 for v ≥ to.
//
// A shape above 1 makes values half way less desirable, a shape below 1 more. It returns an error
// unless from is below to, the shape is above 0, and all are finite.
func Larger(from, to, shape float64) (*Desirability, error) {
	if err := checkRising("from", from, "to", to); err != nil {
		return nil, err
	}
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	return newDesirability(ramp(from, to, shape), to, rampSlope(from, to, shape)).withSupport(from, math.Inf(1)), nil
}

// Smaller is the desirability "the smaller the better":
//
//	d = 1 for v ≤ from, ((to − v)/(to − from))^shape, 0 for v ≥ to.
func Smaller(from, to, shape float64) (*Desirability, error) {
	if _, err := Larger(from, to, shape); err != nil {
		return nil, err
	}
	rise, slope := ramp(-to, -from, shape), rampSlope(-to, -from, shape)
	return newDesirability(func(v float64) float64 { return rise(-v) }, from, func(v float64) float64 { return -slope(-v) }).withSupport(math.Inf(-1), to), nil
}

// Target is a desirability with its best at one value:
//
//	d = ((v − from)/(at − from))^rise  for from ≤ v ≤ at,
//	    ((to − v)/(to − at))^fall      for at ≤ v ≤ to, 0 elsewhere.
func Target(from, at, to, rise, fall float64) (*Desirability, error) {
	if err := checkRising("from", from, "at", at); err != nil {
		return nil, err
	}
	if err := checkRising("at", at, "to", to); err != nil {
		return nil, err
	}
	for _, shape := range []float64{rise, fall} {
		if err := checkShape(shape); err != nil {
			return nil, err
		}
	}
	up, down := ramp(from, at, rise), ramp(-to, -at, fall)
	rising, falling := rampSlope(from, at, rise), rampSlope(-to, -at, fall)
	return newDesirability(func(v float64) float64 {
		if v <= at {
			return up(v)
		}
		return down(-v)
	}, at, func(v float64) float64 {
		if v <= at {
			return rising(v)
		}
		return -falling(-v)
	}).withSupport(from, to), nil
}

// Range is the desirability that is 1 for from ≤ v ≤ to and 0 elsewhere.
func Range(from, to float64) (*Desirability, error) {
	if err := checkFinite("bound", []float64{from, to}); err != nil {
		return nil, err
	}
	if from > to {
		return nil, fmt.Errorf("nothing is from %v to %v: write the lower one first", from, to)
	}
	return newDesirability(func(v float64) float64 {
		if from <= v && v <= to {
			return 0
		}
		return math.Inf(-1)
	}, from, zeroSlope).withSupport(from, to), nil
}

// Normal is the bell-shaped desirability exp(−(v − mean)²/(2·sd²)), which is nowhere 0.
func Normal(mean, sd float64) (*Desirability, error) {
	if err := checkFinite("number", []float64{mean, sd}); err != nil {
		return nil, err
	}
	if sd <= 0 {
		return nil, fmt.Errorf("the sd is %v: it must be above 0", sd)
	}
	return newDesirability(func(v float64) float64 {
		z := (v - mean) / sd
		return float64(-z * z / 2)
	}, mean, func(v float64) float64 { return (mean - v) / sd / sd }), nil
}

// Floor returns the desirability max(floor, d). With a floor above 0 no value is forbidden.
func (d *Desirability) Floor(floor float64) (*Desirability, error) {
	if !(floor >= 0 && floor <= 1) {
		return nil, fmt.Errorf("the floor is %v: it is the least desirability, from 0 to 1", floor)
	}
	if floor == 0 {
		return d, nil
	}
	least := portable.Log(floor)
	of := *d
	of.log, of.floor = func(v float64) float64 { return max(least, d.log(v)) }, max(least, d.floor)
	of.low, of.high = math.Inf(-1), math.Inf(1)
	return &of, nil
}

// ramp returns the function v ↦ log d(v), where d rises from 0 at low to 1 at high as a power with the exponent
// shape.
func ramp(low, high, shape float64) func(v float64) float64 {
	width := high - low
	return func(v float64) float64 {
		switch {
		case v <= low:
			return math.Inf(-1)
		case v >= high:
			return 0
		}
		return float64(shape * portable.Log((v-low)/width))
	}
}

// rampSlope returns the derivative of the function that ramp returns. It is 0 above high.
func rampSlope(low, high, shape float64) func(v float64) float64 {
	return func(v float64) float64 {
		if v >= high {
			return 0
		}
		return shape / (v - low)
	}
}

func checkRising(low string, from float64, high string, to float64) error {
	if err := checkFinite("bound", []float64{from, to}); err != nil {
		return err
	}
	if from >= to {
		return fmt.Errorf("%s is %v and %s is %v: the first must be lower", low, from, high, to)
	}
	if math.IsInf(to-from, 0) {
		return fmt.Errorf("%s and %s are further apart than can be computed", low, high)
	}
	return nil
}

func checkShape(shape float64) error {
	if !(shape > 0 && !math.IsInf(shape, 0)) {
		return fmt.Errorf("a shape is %v: it must be a finite number above 0", shape)
	}
	return nil
}
