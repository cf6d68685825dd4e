package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// A Desirability maps a number v to log d(v), where d in 0..1 is how desirable v is. log d is −Inf where d is 0.
// The desirabilities [UncappedRamp] and [Exponential] can exceed 1.
//
// [LargerIsBetter], [SmallerIsBetter] and [Target] are the desirabilities of Derringer and Suich, "Simultaneous Optimization of
// Several Response Variables", Journal of Quality Technology 12 (1980), 214–219, equations (1) and (2).
type Desirability struct {
	logDesirability func(v float64) float64
	bestValue       float64 // value v at which log d(v) is greatest; log d increases below bestValue and decreases above

	// logSlope is the derivative of log d where d is neither 0 nor at its floor, except at bestValue. In this
	// region log d is concave. A nil logSlope means that log d may not be concave.
	logSlope func(v float64) float64
	low      float64 // d is 0 below low, unless there is a floor
	high     float64 // d is 0 above high, unless there is a floor
	logFloor float64 // least value of log d; −Inf if there is none
}

// newDesirability returns a desirability d that is above 0 for all numbers. The arguments are the functions log
// d and its derivative, and the number where d is greatest. [Desirability.withSupport] restricts the
// desirability to an interval.
func newDesirability(log func(v float64) float64, best float64, slope func(v float64) float64) *Desirability {
	return &Desirability{logDesirability: log, bestValue: best, logSlope: slope, low: math.Inf(-1), high: math.Inf(1), logFloor: math.Inf(-1)}
}

// withSupport records that the desirability is 0 outside the interval low..high, and returns the receiver.
func (d *Desirability) withSupport(low, high float64) *Desirability {
	d.low, d.high = low, high
	return d
}

// zeroSlope returns 0. It is the derivative of log d for a desirability d that is constant wherever it is not
// 0.
func zeroSlope(float64) float64 { return 0 }

// Log returns log d(v), the natural logarithm of the desirability of the number v.
func (d *Desirability) Log(v float64) float64 { return d.logDesirability(v) }

// BestValue returns the number v with the greatest desirability d(v): d increases up to this number and
// decreases beyond. The number may be infinite.
func (d *Desirability) BestValue() float64 { return d.bestValue }

// Concave describes log d, the logarithm of the desirability, if it is concave wherever it exceeds a floor. The
// results are:
//   - slope: the derivative of log d where log d exceeds floor, except for a corner at the best value.
//   - low and high: the ends of the interval on which log d is at least floor. Outside the interval log d is
//     −Inf.
//   - ok: false if log d does not have this shape.
func (d *Desirability) Concave() (slope func(v float64) float64, low, high, floor float64, ok bool) {
	return d.logSlope, d.low, d.high, d.logFloor, d.logSlope != nil
}

// upperBound returns an upper bound of the log desirability over all numbers between v and w. v may be above w.
func (d *Desirability) upperBound(v, w float64) float64 {
	l := d.logDesirability(max(min(v, w), min(max(v, w), d.bestValue)))
	if l > 0 {
		return float64(l * (1 + 0x1p-50)) // a margin for the rounding of the logarithm
	}
	return float64(l * (1 - 0x1p-50))
}

// LargerIsBetter returns the desirability d(v) of a number v by the rule "the larger the better":
//
//	d = 0 for v ≤ from, ((v − from)/(to − from))^shape, 1 for v ≥ to.
//
// A shape above 1 makes the values between from and to less desirable, and a shape below 1 makes them more
// desirable. LargerIsBetter returns an error unless from is below to, the shape is above 0, and all arguments
// are finite.
func LargerIsBetter(from, to, shape float64) (*Desirability, error) {
	if err := checkAscending("from", from, "to", to); err != nil {
		return nil, err
	}
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	return newDesirability(logRamp(from, to, shape), to, logRampSlope(from, to, shape)).withSupport(from, math.Inf(1)), nil
}

// SmallerIsBetter returns the desirability d(v) of a number v by the rule "the smaller the better":
//
//	d = 1 for v ≤ from, ((to − v)/(to − from))^shape, 0 for v ≥ to.
//
// SmallerIsBetter returns an error unless from is below to, the shape is above 0, and all arguments are finite.
func SmallerIsBetter(from, to, shape float64) (*Desirability, error) {
	if _, err := LargerIsBetter(from, to, shape); err != nil {
		return nil, err
	}
	rise, slope := logRamp(-to, -from, shape), logRampSlope(-to, -from, shape)
	return newDesirability(func(v float64) float64 { return rise(-v) }, from, func(v float64) float64 { return -slope(-v) }).withSupport(math.Inf(-1), to), nil
}

// Target returns the desirability d(v) of a number v that is 1 at one number and falls on both sides:
//
//	d = ((v − from)/(at − from))^rise  for from ≤ v ≤ at,
//	    ((to − v)/(to − at))^fall      for at ≤ v ≤ to, 0 elsewhere.
//
// Target returns an error unless from < at < to, rise and fall are above 0, and all arguments are finite.
func Target(from, at, to, rise, fall float64) (*Desirability, error) {
	if err := checkAscending("from", from, "at", at); err != nil {
		return nil, err
	}
	if err := checkAscending("at", at, "to", to); err != nil {
		return nil, err
	}
	for _, shape := range []float64{rise, fall} {
		if err := checkShape(shape); err != nil {
			return nil, err
		}
	}
	up, down := logRamp(from, at, rise), logRamp(-to, -at, fall)
	rising, falling := logRampSlope(from, at, rise), logRampSlope(-to, -at, fall)
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

// WithinRange returns the desirability of a number v that is 1 for from ≤ v ≤ to and 0 elsewhere. It returns an
// error unless both bounds are finite and from ≤ to.
func WithinRange(from, to float64) (*Desirability, error) {
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

// BellShaped returns the bell-shaped desirability of a number v, exp(−(v − mean)²/(2·sd²)), which is above 0
// for all numbers. It returns an error unless both arguments are finite and sd is above 0.
func BellShaped(mean, sd float64) (*Desirability, error) {
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

// Floor returns the desirability max(floor, d), where d is the receiver. With a floor above 0 no number is
// impossible. Floor returns an error if floor is outside 0..1.
func (d *Desirability) Floor(floor float64) (*Desirability, error) {
	if !(floor >= 0 && floor <= 1) {
		return nil, fmt.Errorf("the floor is %v: it is the least desirability, from 0 to 1", floor)
	}
	if floor == 0 {
		return d, nil
	}
	least := portable.Log(floor)
	of := *d
	of.logDesirability, of.logFloor = func(v float64) float64 { return max(least, d.logDesirability(v)) }, max(least, d.logFloor)
	of.low, of.high = math.Inf(-1), math.Inf(1)
	return &of, nil
}

// logRamp returns the function v ↦ log d(v). The desirability d increases from 0 at low to 1 at high as a power
// with the exponent shape.
func logRamp(low, high, shape float64) func(v float64) float64 {
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

// logRampSlope returns the derivative of the function that [logRamp] returns. The derivative is 0 above high.
func logRampSlope(low, high, shape float64) func(v float64) float64 {
	return func(v float64) float64 {
		if v >= high {
			return 0
		}
		return shape / (v - low)
	}
}

func checkAscending(low string, from float64, high string, to float64) error {
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
