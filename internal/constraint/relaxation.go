package constraint

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"kir/rule"
)

// A Relaxation is a way to loosen a rule in small steps, called notches: from 1 up to MaxNotches. Every further
// notch loosens the rule more.
type Relaxation struct {
	MaxNotches    int                                   // maximum number of notches
	Relax         func(notches int) rule.Rule           // returns the rule, loosened by the given number of notches
	Text          func(notches int, name string) string // describes in words the loosening by the given number of notches of the rule that is called name
	UnitsPerNotch int                                   // number of units of a composition by which a notch moves the bound; 0 if the bound is not a number of units
	RoundUp       func(int) int                         // returns a number of notches, at least the given number, that makes the bound a rounder number, such as 40 instead of 39; may be nil
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

// addBoundRelaxation appends the relaxation of a bound that is a whole number. The parameter bound is the present
// bound, and notchSize is the change of the bound by one notch. If maxNotches is below 1, nothing is appended.
// The function write returns the text of a bound. The function withBound returns the rule with another bound. The parameter boundName names the bound in texts,
// such as "max".
func addBoundRelaxation(relaxations []Relaxation, boundName string, bound, maxNotches, notchSize int, write func(int) string, withBound func(to int) rule.Rule) []Relaxation {
	if maxNotches < 1 {
		return relaxations
	}
	verb := "raise"
	if notchSize < 0 {
		verb = "lower"
	}
	return append(relaxations, Relaxation{
		MaxNotches:    maxNotches,
		UnitsPerNotch: max(notchSize, -notchSize),
		Relax:         func(notches int) rule.Rule { return withBound(bound + notches*notchSize) },
		Text: func(notches int, name string) string {
			return fmt.Sprintf("%s the %s of %s from %s to %s", verb, boundName, name, write(bound), write(bound+notches*notchSize))
		},
	})
}

// boundRelaxations returns the relaxations of the bounds lo and hi of a number that a rule bounds, such as a
// mean. One notch is 1/scale. Over all compositions, the number times scale is between least and most. The
// function withBounds returns the rule with other bounds.
func boundRelaxations(lo, hi float64, least, most int64, scale float64, withBounds func(lo, hi float64) rule.Rule) []Relaxation {
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
		add("min", "lower", lo, at(lo), -1, at(lo)-least, func(to float64) rule.Rule { return withBounds(to, hi) })
	}
	if !math.IsInf(hi, 1) {
		add("max", "raise", hi, at(hi), 1, most-at(hi), func(to float64) rule.Rule { return withBounds(lo, to) })
	}
	return out
}

// roundOutwards returns a number of notches, at least minNotches and at most minNotches + minNotches/100, that
// turns a bound into a rounder number. The parameter bound is the present bound, and notchSize is the change of
// the bound by one notch.
func roundOutwards(bound, notchSize, minNotches int64) int {
	best := minNotches
	for unit := int64(10); unit <= minNotches/100+1 && unit < 1<<58; unit *= 10 {
		to := bound + notchSize*minNotches
		if rest := ((to % unit) + unit) % unit; rest != 0 {
			if notchSize < 0 {
				to -= rest
			} else {
				to += unit - rest
			}
		}
		if moved := (to - bound) * notchSize; moved-minNotches <= minNotches/100 {
			best = moved
		}
	}
	return int(best)
}
