package conflict

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"kir/internal/condition"
	"kir/rule"
)

// A knob is a way to loosen a rule: by 1 to limit notches, each more than the
// one before.
type knob struct {
	limit int
	turn  func(notches int) rule.Rule
	text  func(notches int, name string) string
	by    int           // of a notch, 0 if the knob drops something
	round func(int) int // to more notches that make a rounder number; may be nil
}

// bound adds the knob of a bound in whole numbers, if it can be turned.
func bound(knobs []knob, what string, from, limit, by int, turn func(to int) rule.Rule) []knob {
	if limit < 1 {
		return knobs
	}
	verb := "raise"
	if by < 0 {
		verb = "lower"
	}
	return append(knobs, knob{
		limit: limit,
		by:    max(by, -by),
		turn:  func(notches int) rule.Rule { return turn(from + notches*by) },
		text: func(notches int, name string) string {
			return fmt.Sprintf("%s the %s of %s from %d to %d", verb, what, name, from, from+notches*by)
		},
	})
}

// knobsOf returns the ways to loosen a rule of a set, but for dropping it.
func knobsOf(r rule.Rule, s *rule.Set) []knob {
	switch r := r.(type) {
	case rule.Amount:
		return amountKnobs(r, s)
	case rule.Group:
		return groupKnobs(r, s)
	case rule.Limit:
		return limitKnobs(r, s)
	case rule.Ratio:
		return ratioKnobs(r, s)
	case rule.Near:
		return nearKnobs(r, s)
	case rule.If:
		knobs := knobsOf(r.Then, s)
		for k, q := range knobs {
			knobs[k].turn = func(notches int) rule.Rule { r := r; r.Then = q.turn(notches); return r }
		}
		return knobs
	}
	return nil
}

func amountKnobs(r rule.Amount, s *rule.Set) []knob {
	var out []knob
	if step := max(r.Step, 1); r.Min > 0 {
		out = bound(out, "min", r.Min, (r.Min-1)/step, -step, func(to int) rule.Rule { r := r; r.Min = to; return r })
	}
	if r.Max > 0 {
		out = bound(out, "max", r.Max, s.Total-r.Max, 1, func(to int) rule.Rule { r := r; r.Max = to; return r })
	}
	if r.Step > 1 {
		out = append(out, knob{
			limit: 1,
			turn:  func(int) rule.Rule { r := r; r.Step = 1; return r },
			text:  func(_ int, name string) string { return "drop the step of " + name },
		})
	}
	return out
}

func groupKnobs(r rule.Group, s *rule.Set) []knob {
	var out []knob
	if u := r.Used; u != nil {
		to := func(used rule.Range) rule.Rule { r := r; r.Used = &used; return r }
		out = bound(out, "least used", u.Min, u.Min, -1, func(v int) rule.Rule { return to(rule.Range{Min: v, Max: u.Max}) })
		out = bound(out, "most used", u.Max, len(r.Of)-u.Max, 1, func(v int) rule.Rule { return to(rule.Range{Min: u.Min, Max: v}) })
	}
	if t := r.Total; t != nil {
		to := func(total rule.Range) rule.Rule { r := r; r.Total = &total; return r }
		out = bound(out, "least total", t.Min, t.Min, -1, func(v int) rule.Rule { return to(rule.Range{Min: v, Max: t.Max}) })
		out = bound(out, "greatest total", t.Max, s.Total-t.Max, 1, func(v int) rule.Rule { return to(rule.Range{Min: t.Min, Max: v}) })
	}
	return out
}

func limitKnobs(r rule.Limit, s *rule.Set) []knob {
	least, most, scale := condition.Mean(r, s.Total)
	if least > most {
		return nil
	}
	return boundKnobs(r.Min, r.Max, least, most, scale, func(lo, hi float64) rule.Rule {
		r := r
		r.Min, r.Max = lo, hi
		return r
	})
}

func ratioKnobs(r rule.Ratio, s *rule.Set) []knob {
	lo, hi, scale := condition.Ratio(r, s.Total)
	if lo == 0 {
		lo = math.Inf(-1)
	}
	return boundKnobs(lo, hi, 0, condition.Whole(float64(s.Total), scale), scale, func(lo, hi float64) rule.Rule {
		r := r
		r.Min, r.Max = lo, hi
		return r
	})
}

func nearKnobs(r rule.Near, s *rule.Set) []knob {
	var out []knob
	if r.Changes >= 0 {
		out = bound(out, "changes", r.Changes, s.Ingredients-r.Changes, 1, func(to int) rule.Rule { r := r; r.Changes = to; return r })
	}
	if r.Distance >= 0 {
		out = bound(out, "distance", r.Distance, s.Total-r.Distance, 1, func(to int) rule.Rule { r := r; r.Distance = to; return r })
	}
	return out
}

// boundKnobs move the bounds of a figure, by units of the last decimal that
// counts. In whole numbers of the scale, the figure of a composition is from least
// to most.
func boundKnobs(lo, hi float64, least, most int64, scale float64, turned func(lo, hi float64) rule.Rule) []knob {
	decimal := func(whole int64) float64 {
		v, _ := new(big.Rat).SetFrac64(whole, 1).Float64()
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v/scale, 'g', 15, 64), 64)
		return v
	}
	var out []knob
	add := func(what, verb string, was float64, from, by, notches int64, turn func(to float64) rule.Rule) {
		if notches < 1 {
			return
		}
		out = append(out, knob{
			limit: int(notches),
			turn:  func(n int) rule.Rule { return turn(decimal(from + by*int64(n))) },
			text: func(n int, name string) string {
				return fmt.Sprintf("%s the %s of %s from %v to %v", verb, what, name, was, decimal(from+by*int64(n)))
			},
			round: func(n int) int { return roundOutwards(from, by, int64(n)) },
		})
	}
	// What lies above all figures is as good as just above, and so below.
	at := func(v float64) int64 {
		return condition.Whole(min(max(v, float64(least-1)/scale), float64(most+1)/scale), scale)
	}
	if !math.IsInf(lo, -1) {
		add("min", "lower", lo, at(lo), -1, at(lo)-least, func(to float64) rule.Rule { return turned(to, hi) })
	}
	if !math.IsInf(hi, 1) {
		add("max", "raise", hi, at(hi), 1, most-at(hi), func(to float64) rule.Rule { return turned(lo, to) })
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

// spare returns a rule that requires or excludes without some ingredients.
func spare(r rule.Rule, of ...int) rule.Rule {
	switch r := r.(type) {
	case rule.Require:
		return rule.Require{Of: without(r.Of, of...)}
	case rule.Exclude:
		return rule.Exclude{Of: without(r.Of, of...)}
	}
	return r
}

// without returns a list without some of its members.
func without(list []int, some ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return slices.Contains(some, i) })
}
