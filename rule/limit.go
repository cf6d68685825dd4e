package rule

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// A Limit bounds a mean over the composition: Min ≤ Σ_i f_i·x_i / M ≤ Max.
//
// Factors and bounds are taken to as many decimals as fit sums of them into 62
// bits, at most 9, so that whether a composition keeps the limit does not
// depend on the order in which it is summed.
type Limit struct {
	Attribute string    // what the mean is of, where it has a name
	Factors   []float64 // one for each ingredient
	Min, Max  float64   // −Inf and +Inf where there is no bound
}

func (r Limit) words(*Set) string {
	text := "limit"
	if r.Attribute != "" {
		text += " of " + r.Attribute
	}
	if !math.IsInf(r.Min, -1) {
		text += fmt.Sprintf(" min %v", r.Min)
	}
	if !math.IsInf(r.Max, 1) {
		text += fmt.Sprintf(" max %v", r.Max)
	}
	return text
}

func (r Limit) check(s *Set) error {
	if len(r.Factors) != s.Ingredients {
		return fmt.Errorf("has %d factors for %d ingredients", len(r.Factors), s.Ingredients)
	}
	for i, f := range r.Factors {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("has the factor %v for ingredient %d", f, i)
		}
	}
	switch {
	case math.IsNaN(r.Min) || math.IsNaN(r.Max):
		return errors.New("has a bound that is not a number")
	case r.Min > r.Max:
		return fmt.Errorf("asks for a mean of at least %v and at most %v", r.Min, r.Max)
	}
	return nil
}

// scale returns the whole number, or its inverse, by which factors and bounds
// are multiplied to make them whole: a power of ten.
func (r Limit) scale(total int) float64 {
	top := 0.0
	for _, f := range r.Factors {
		top = max(top, math.Abs(f))
	}
	scale := 1e9
	for scale > 1e-9 && top*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	return scale
}

// sum writes the limit in whole numbers.
func (r Limit) sum(total int) Sum {
	scale := r.scale(total)
	sum := Sum{Factors: make([]int64, len(r.Factors))}
	for i, f := range r.Factors {
		sum.Factors[i] = int64(math.Round(f * scale))
	}
	if sum.Min = wholeBound(r.Min, scale, total); math.IsInf(r.Min, -1) {
		sum.Min = math.MinInt64
	}
	if sum.Max = wholeBound(r.Max, scale, total); math.IsInf(r.Max, 1) {
		sum.Max = math.MaxInt64
	}
	return sum
}

// wholeBound returns a bound of the mean as one of the sum. A bound that is a
// decimal number stays one: it is rounded to the scale first and multiplied by
// the total in whole numbers. What no sum reaches becomes the end of int64.
func wholeBound(b, scale float64, total int) int64 {
	if math.Abs(b)*scale*float64(total) > 1<<61 {
		if b > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return int64(math.Round(b*scale)) * int64(total)
}

func (r Limit) conditions(c *Conditions) { c.addSum(r.sum(c.Total)) }

func (r Limit) slacks(parts []Part, total int) []Slack {
	return []Slack{{Value: r.mean(parts, total), Min: r.Min, Max: r.Max, Unit: r.Attribute, Ingredient: -1}}
}

// mean returns the float nearest to the mean that is bounded, which at a bound
// is the bound.
func (r Limit) mean(parts []Part, total int) float64 {
	scale, sum := r.scale(total), int64(0)
	for _, p := range parts {
		sum += int64(math.Round(r.Factors[p.Ingredient]*scale)) * int64(p.Amount)
	}
	by := new(big.Rat).SetFloat64(scale)
	if scale < 1 {
		by.SetFrac64(1, int64(math.Round(1/scale)))
	}
	mean, _ := new(big.Rat).Quo(big.NewRat(sum, int64(total)), by).Float64()
	return mean
}

// knobs move a bound by units of the last decimal that counts.
func (r Limit) knobs(s *Set) []knob {
	sum, scale, total := r.sum(s.Total), r.scale(s.Total), int64(s.Total)
	least, most := slices.Min(sum.Factors), slices.Max(sum.Factors)
	decimal := func(whole int64) float64 {
		v, _ := new(big.Rat).SetFrac64(whole, 1).Float64()
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v/scale, 'g', 15, 64), 64)
		return v
	}
	var out []knob
	add := func(what, verb string, was float64, from, by, notches int64, turn func(to float64) Rule) {
		if notches < 1 {
			return
		}
		out = append(out, knob{
			limit: int(notches),
			turn:  func(n int) Rule { return turn(decimal(from + by*int64(n))) },
			text: func(n int, name string) string {
				return fmt.Sprintf("%s the %s of %s from %v to %v", verb, what, name, was, decimal(from+by*int64(n)))
			},
			round: func(n int) int { return roundOutwards(from, by, int64(n)) },
		})
	}
	if !math.IsInf(r.Min, -1) { // what lies above all means is as good as just above
		from := min(sum.Min, (most+1)*total) / total
		add("min", "lower", r.Min, from, -1, from-least, func(to float64) Rule { r := r; r.Min = to; return r })
	}
	if !math.IsInf(r.Max, 1) {
		from := max(sum.Max, (least-1)*total) / total
		add("max", "raise", r.Max, from, 1, most-from, func(to float64) Rule { r := r; r.Max = to; return r })
	}
	return out
}

// roundOutwards returns a number of notches that is at least n and leads to a
// rounder bound, as far as that changes the way by less than a hundredth.
func roundOutwards(from, by, n int64) int {
	best := n
	for unit := int64(10); unit <= n/100+1 && unit < 1<<58; unit *= 10 {
		to := from + by*n
		if rest := ((to % unit) + unit) % unit; rest != 0 {
			if by < 0 {
				to -= rest
			} else {
				to += unit - rest
			}
		}
		if moved := (to - from) * by; moved-n <= n/100 {
			best = moved
		}
	}
	return int(best)
}
