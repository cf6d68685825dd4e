package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// A Desirability maps a number to log d, where d in 0..1 says how desirable it
// is: −Inf where it is not at all.
//
// Larger, Smaller and Target are those of Derringer and Suich, "Simultaneous
// Optimization of Several Response Variables", Journal of Quality Technology 12
// (1980), 214–219, equations (1) and (2).
type Desirability struct {
	log  func(v float64) float64
	best float64 // log rises up to here, and falls from here on
}

// Log returns log d(v).
func (d *Desirability) Log(v float64) float64 { return d.log(v) }

// above returns a bound of log d between two numbers, which need not be in order.
func (d *Desirability) above(v, w float64) float64 {
	l := d.log(max(min(v, w), min(max(v, w), d.best)))
	if l > 0 {
		return float64(l * (1 + 0x1p-50)) // a logarithm is rounded
	}
	return float64(l * (1 - 0x1p-50))
}

// Larger is the larger the better:
//
//	d = 0 for v ≤ from, ((v − from)/(to − from))^shape, 1 for v ≥ to.
//
// A shape above 1 asks for more than half way, one below 1 for less. The error
// says what is wrong: from must be below to, the shape above 0, all finite.
func Larger(from, to, shape float64) (*Desirability, error) {
	if err := checkRising("from", from, "to", to); err != nil {
		return nil, err
	}
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	return &Desirability{ramp(from, to, shape), to}, nil
}

// Smaller is the smaller the better:
//
//	d = 1 for v ≤ from, ((to − v)/(to − from))^shape, 0 for v ≥ to.
func Smaller(from, to, shape float64) (*Desirability, error) {
	if _, err := Larger(from, to, shape); err != nil {
		return nil, err
	}
	rise := ramp(-to, -from, shape)
	return &Desirability{func(v float64) float64 { return rise(-v) }, from}, nil
}

// Target is best at one value:
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
	return &Desirability{func(v float64) float64 {
		if v <= at {
			return up(v)
		}
		return down(-v)
	}, at}, nil
}

// Range is 1 for from ≤ v ≤ to and 0 elsewhere.
func Range(from, to float64) (*Desirability, error) {
	if err := checkFinite("bound", []float64{from, to}); err != nil {
		return nil, err
	}
	if from > to {
		return nil, fmt.Errorf("nothing is from %v to %v: write the lower one first", from, to)
	}
	return &Desirability{func(v float64) float64 {
		if from <= v && v <= to {
			return 0
		}
		return math.Inf(-1)
	}, from}, nil
}

// Normal is a bell that is never 0: d = exp(−(v − mean)²/(2·sd²)).
func Normal(mean, sd float64) (*Desirability, error) {
	if err := checkFinite("number", []float64{mean, sd}); err != nil {
		return nil, err
	}
	if sd <= 0 {
		return nil, fmt.Errorf("the sd is %v: it must be above 0", sd)
	}
	return &Desirability{func(v float64) float64 {
		z := (v - mean) / sd
		return float64(-z * z / 2)
	}, mean}, nil
}

// Floor returns max(floor, d), so that nothing is forbidden if floor > 0.
func (d *Desirability) Floor(floor float64) (*Desirability, error) {
	if !(floor >= 0 && floor <= 1) {
		return nil, fmt.Errorf("the floor is %v: it is the least desirability, from 0 to 1", floor)
	}
	if floor == 0 {
		return d, nil
	}
	least := portable.Log(floor)
	return &Desirability{func(v float64) float64 { return max(least, d.log(v)) }, d.best}, nil
}

// ramp rises from 0 at low to 1 at high.
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
