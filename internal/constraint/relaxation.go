package constraint

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"kir/rule"
)

// A Relaxation is a way to loosen a rule by 1 to Limit steps, called notches. Every further notch loosens the
// rule more.
type Relaxation struct {
	MaxNotches    int                                   // maximum number of notches
	Relax         func(notches int) rule.Rule           // returns the rule, loosened by a number of notches
	Text          func(notches int, name string) string // describes the loosening of the rule called name by a number of notches
	UnitsPerNotch int                                   // number of units by which a notch moves the bound; 0 if a notch is not a number of units
	RoundUp       func(int) int                         // returns a number of notches, at least the given number, that makes the bound a rounder number; may be nil
}

// Relaxations returns the ways to loosen the rule r of the set s, other than dropping the rule.
func Relaxations(r rule.Rule, s *rule.Set) []Relaxation {
	if k, ok := kindOf(r).(interface {
		relaxations(s *rule.Set) []Relaxation
	}); ok {
		return k.relaxations(s)
	}
	return nil
}

// addBoundRelaxation appends the relaxation of a bound that is a whole number. The present bound is from, one
// notch changes the bound by by, and limit is the maximum number of notches. If limit is below 1, nothing is
// appended. The function turn returns the rule with another bound, and what names the bound in texts.
func addBoundRelaxation(relaxations []Relaxation, what string, from, limit, by int, turn func(to int) rule.Rule) []Relaxation {
	if limit < 1 {
		return relaxations
	}
	verb := "raise"
	if by < 0 {
		verb = "lower"
	}
	return append(relaxations, Relaxation{
		MaxNotches:    limit,
		UnitsPerNotch: max(by, -by),
		Relax:         func(notches int) rule.Rule { return turn(from + notches*by) },
		Text: func(notches int, name string) string {
			return fmt.Sprintf("%s the %s of %s from %d to %d", verb, what, name, from, from+notches*by)
		},
	})
}

// boundRelaxations returns the relaxations of the bounds lo and hi of a figure. One notch is one unit of the
// last decimal of the scale. Over all compositions, the figure times scale is between least and most. The
// function turned returns the rule with other bounds.
func boundRelaxations(lo, hi float64, least, most int64, scale float64, turned func(lo, hi float64) rule.Rule) []Relaxation {
	decimal := func(whole int64) float64 {
		v, _ := new(big.Rat).SetFrac64(whole, 1).Float64()
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v/scale, 'g', 15, 64), 64)
		return v
	}
	var out []Relaxation
	add := func(what, verb string, was float64, from, by, notches int64, turn func(to float64) rule.Rule) {
		if notches < 1 {
			return
		}
		out = append(out, Relaxation{
			MaxNotches: int(notches),
			Relax:      func(n int) rule.Rule { return turn(decimal(from + by*int64(n))) },
			Text: func(n int, name string) string {
				return fmt.Sprintf("%s the %s of %s from %v to %v", verb, what, name, was, decimal(from+by*int64(n)))
			},
			RoundUp: func(n int) int { return roundOutwards(from, by, int64(n)) },
		})
	}
	// A bound above all figures is first moved to just above the greatest figure, and a bound below all figures
	// to just below the least figure.
	at := func(v float64) int64 {
		return roundToScale(min(max(v, float64(least-1)/scale), float64(most+1)/scale), scale)
	}
	if !math.IsInf(lo, -1) {
		add("min", "lower", lo, at(lo), -1, at(lo)-least, func(to float64) rule.Rule { return turned(to, hi) })
	}
	if !math.IsInf(hi, 1) {
		add("max", "raise", hi, at(hi), 1, most-at(hi), func(to float64) rule.Rule { return turned(lo, to) })
	}
	return out
}

// roundOutwards returns a number of notches, at least n and at most n + n/100, that turns the bound into a
// rounder number. The present bound is from, and one notch changes the bound by by.
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
