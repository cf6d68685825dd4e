package rule

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Factors and bounds of rules are decimal numbers. They are taken to as many
// decimals as fit sums of them into 62 bits, at most 9, so that whether a
// composition keeps a rule does not depend on the order in which it is summed.

// scaleOf returns the whole number, or its inverse, by which factors of at most top
// in size, and their bounds, are multiplied to make them whole: a power of ten.
func scaleOf(top float64, total int) float64 {
	scale := 1e9
	for scale > 1e-9 && top*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	return scale
}

// whole returns a decimal number in whole numbers of a scale.
func whole(v, scale float64) int64 { return int64(math.Round(v * scale)) }

// quotient returns the float nearest to a/(b·scale).
func quotient(a, b int64, scale float64) float64 {
	by := new(big.Rat).SetFloat64(scale)
	if scale < 1 {
		by.SetFrac64(1, int64(math.Round(1/scale)))
	}
	v, _ := new(big.Rat).Quo(big.NewRat(a, b), by).Float64()
	return v
}

// checkBounds says what is wrong with the bounds of a mean or a ratio.
func checkBounds(what string, least, most float64) error {
	switch {
	case math.IsNaN(least) || math.IsNaN(most):
		return errors.New("has a bound that is not a number")
	case least > most:
		return fmt.Errorf("asks for a %s of at least %v and at most %v", what, least, most)
	}
	return nil
}

// boundWords says the bounds that there are.
func boundWords(least, most float64) string {
	text := ""
	if !math.IsInf(least, -1) {
		text += fmt.Sprintf(" min %v", least)
	}
	if !math.IsInf(most, 1) {
		text += fmt.Sprintf(" max %v", most)
	}
	return text
}

// boundKnobs move the bounds of a figure, by units of the last decimal that
// counts. In whole numbers of the scale, the figure of a composition is from least
// to most.
func boundKnobs(lo, hi float64, least, most int64, scale float64, turned func(lo, hi float64) Rule) []knob {
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
	// What lies above all figures is as good as just above, and so below.
	at := func(v float64) int64 {
		return whole(min(max(v, float64(least-1)/scale), float64(most+1)/scale), scale)
	}
	if !math.IsInf(lo, -1) {
		add("min", "lower", lo, at(lo), -1, at(lo)-least, func(to float64) Rule { return turned(to, hi) })
	}
	if !math.IsInf(hi, 1) {
		add("max", "raise", hi, at(hi), 1, most-at(hi), func(to float64) Rule { return turned(lo, to) })
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
