package randomproblem

import (
	"math"
	"slices"
	"strconv"
)

// A Limit bounds what a wish makes of a composition: the value of an objective, the score
// of any other.
type Limit struct {
	yaml  map[string]any
	keeps func(x []int) bool
}

// NewLimited draws a problem as NewObjectives does, with limits on what the objectives make of
// compositions, which some composition keeps.
func NewLimited(seed uint64) *Problem {
	for try := uint64(0); ; try++ {
		d := newDice(seed, 1<<45|try)
		p := NewObjectives(d.Uint64())
		p.Seed = seed
		e := p.feasible()
		for _, w := range p.Wishes {
			if w.goal == nil && (w.log == nil || w.Kind == "blend") { // whose mean is limited, and no score
				continue
			}
			if d.chance(0.2) {
				w.Weight = 0
			}
			if d.chance(0.8) {
				p.drawLimit(d, w, e)
			}
		}
		if len(p.Limits) > 0 && p.limited(e) {
			return p
		}
	}
}

// drawLimit draws a limit between values that compositions have, so that rounding decides
// nothing.
func (p *Problem) drawLimit(d dice, w *Wish, e *Enumeration) {
	value := func(x []int) float64 { return math.Exp(w.log(x)) }
	write := func(v float64) any { return v }
	if w.goal != nil {
		value = w.goal.value
		if w.Kind == "markowitz" { // a year's return or volatility, which limits have with the sign
			write = func(v float64) any { return strconv.FormatFloat(100*v, 'g', -1, 64) + "%" }
		}
	}
	var values []float64
	for s, x := range e.States {
		if v := value(x); e.Mass(s) && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	var between []float64
	for k := 1; k < len(values); k++ {
		if a, b := values[k-1], values[k]; b-a > 1e-4*(values[len(values)-1]-values[0]) && b-a > 1e-6*math.Abs(b) {
			between = append(between, (a+b)/2)
		}
	}
	if len(between) < 2 {
		return
	}
	k := d.IntN(len(between))
	least, most := math.Inf(-1), math.Inf(1)
	f := map[string]any{"property": w.Name}
	switch one(d, "min", "max", "both") {
	case "min":
		least = between[k]
	case "max":
		most = between[k]
	default:
		least = between[k]
		if j := d.IntN(len(between)); j > k {
			most = between[j]
		}
	}
	if !math.IsInf(least, 0) {
		f["min"] = write(least)
	}
	if !math.IsInf(most, 0) {
		f["max"] = write(most)
	}
	p.Limits = append(p.Limits, Limit{map[string]any{"limit": f}, func(x []int) bool {
		v := value(x)
		return least <= v && v <= most
	}})
}

// limited says whether some composition keeps all limits and has a score above 0 of every
// wish that counts.
func (p *Problem) limited(e *Enumeration) bool {
	for s, x := range e.States {
		if !e.Mass(s) || !p.keepsLimits(x) {
			continue
		}
		if !slices.ContainsFunc(p.Wishes, func(w *Wish) bool {
			return w.Weight > 0 && w.goal == nil && (w.log == nil || math.IsInf(w.log(x), -1))
		}) {
			return true
		}
	}
	return false
}

// keepsLimits says whether a composition keeps every limit.
func (p *Problem) keepsLimits(x []int) bool {
	return !slices.ContainsFunc(p.Limits, func(l Limit) bool { return !l.keeps(x) })
}
