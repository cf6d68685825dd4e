package randomproblem

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule is an entry of the constraints.
type Rule struct {
	yaml  map[string]any
	also  map[string]any    // a second entry, that says the rest; may be nil
	files map[string]string // that the rule names, by name
	keeps func(x []int) bool
}

// A selection is ingredients, and how a problem file names them.
type selection struct {
	yaml any
	of   []int
}

// drawSelection draws a name, a list, a name with stars, or a group.
func (p *Pantry) drawSelection(d dice) selection {
	n := len(p.Names)
	switch d.IntN(6) {
	case 0:
		return selection{"*", d.some(n, n)}
	case 1:
		ending := strings.Fields(p.Names[d.IntN(n)])[1]
		var of []int
		for i, name := range p.Names {
			if strings.HasSuffix(name, " "+ending) {
				of = append(of, i)
			}
		}
		return selection{"* " + one(d, ending, strings.ToUpper(ending)), of}
	case 2:
		family := p.Columns[0].Text
		var of []int
		value := family[d.IntN(n)]
		for i, v := range family {
			if v == value {
				of = append(of, i)
			}
		}
		if value != "" {
			return selection{map[string]any{"family": value}, of}
		}
	case 3, 4:
		return p.list(d.some(d.between(1, n), n))
	}
	i := d.IntN(n)
	return selection{p.Names[i], []int{i}}
}

// list names ingredients one by one.
func (p *Pantry) list(of []int) selection {
	var names []string
	for _, i := range of {
		names = append(names, p.Names[i])
	}
	return selection{names, of}
}

// units writes a number of units, as a percentage where that is whole and the
// dice say so.
func (p *Pantry) units(d dice, u int) any {
	if 100*u%p.Total == 0 && d.chance(0.5) {
		return fmt.Sprintf("%d%%", 100*u/p.Total)
	}
	return u
}

// sum adds up the members' units and counts those used.
func sum(x []int, of []int) (units, count int) {
	for _, i := range of {
		units += x[i]
		if x[i] > 0 {
			count++
		}
	}
	return units, count
}

// drawRule draws a rule, nil if its kind does not fit the problem.
func (p *Pantry) drawRule(d dice) *Rule {
	n := len(p.Names)
	switch one(d, "require", "exclude", "amount", "amount", "amount", "amount", "group", "group", "group", "never", "needs", "limit") {
	case "require":
		s := p.list(d.some(1, n))
		return &Rule{yaml: map[string]any{"require": s.yaml}, keeps: func(x []int) bool { _, c := sum(x, s.of); return c == len(s.of) }}
	case "exclude":
		s := p.list(d.some(1, n))
		return &Rule{yaml: map[string]any{"exclude": s.yaml}, keeps: func(x []int) bool { _, c := sum(x, s.of); return c == 0 }}
	case "amount":
		return p.drawAmount(d)
	case "group":
		return p.drawGroup(d)
	case "never":
		if n < 2 {
			return nil
		}
		s := p.list(d.some(d.between(2, n), n))
		return &Rule{yaml: map[string]any{"never": s.yaml}, keeps: func(x []int) bool { _, c := sum(x, s.of); return c <= 1 }}
	case "needs":
		if n < 2 {
			return nil
		}
		first := d.IntN(n)
		then := slices.DeleteFunc(d.some(d.between(1, n-1), n), func(i int) bool { return i == first })
		if len(then) == 0 {
			return nil
		}
		return &Rule{yaml: map[string]any{"needs": map[string]any{"if": p.Names[first], "then": p.list(then).yaml}}, keeps: func(x []int) bool {
			_, c := sum(x, then)
			return x[first] == 0 || c > 0
		}}
	}
	return p.drawLimit(d)
}

// drawAmount draws what ingredients may take when they are used: min, min + step,
// and so on up to max; with a step and no min, multiples of the step.
func (p *Pantry) drawAmount(d dice) *Rule {
	s := p.drawSelection(d)
	least, most, step := 0, p.Total, 0
	f := map[string]any{"of": s.yaml}
	if d.chance(0.6) {
		least = d.between(1, max(1, p.Total/one(d, 1, 2, 4, 4)))
		f["min"] = p.units(d, least)
	}
	if d.chance(0.5) {
		most = d.between(max(least, 1), p.Total)
		f["max"] = p.units(d, most)
	}
	if d.chance(0.4) {
		step = d.between(1, max(1, min(4, p.Total)))
		if least == 0 && step > most {
			step = most
		}
		f["step"] = step
	}
	if len(f) == 1 {
		least = 1
		f["min"] = 1
	}
	from := least
	if least == 0 {
		from = step
	}
	return &Rule{yaml: map[string]any{"amount": f}, keeps: func(x []int) bool {
		for _, i := range s.of {
			if x[i] > 0 && (x[i] < least || x[i] > most || step > 0 && (x[i] < from || (x[i]-from)%step != 0)) {
				return false
			}
		}
		return true
	}}
}

// drawGroup draws bounds on how many members are used and on what they take
// together.
func (p *Pantry) drawGroup(d dice) *Rule {
	s := p.drawSelection(d)
	f := map[string]any{"of": s.yaml}
	least, most, low, high := 0, len(s.of), 0, p.Total
	if d.chance(0.6) {
		least = one(d, 0, 0, d.between(0, len(s.of)))
		most = d.between(least, len(s.of))
		f["used"] = []int{least, most}
	}
	if len(f) == 1 || d.chance(0.4) {
		low = one(d, 0, d.between(0, p.Total))
		high = one(d, p.Total, d.between(low, p.Total))
		f["total"] = []any{p.units(d, low), p.units(d, high)}
	}
	return &Rule{yaml: map[string]any{"group": f}, keeps: func(x []int) bool {
		u, c := sum(x, s.of)
		return least <= c && c <= most && low <= u && u <= high
	}}
}

// drawLimit draws bounds on the mean of an attribute, in hundredths, which are
// kept and missed in whole numbers.
func (p *Pantry) drawLimit(d dice) *Rule {
	c := p.Columns[d.between(1, 2)]
	lo, hi := slices.Min(c.Hundredths), slices.Max(c.Hundredths)
	low, high := d.between(lo, hi), d.between(lo, hi)
	if low > high {
		low, high = high, low
	}
	f := map[string]any{"attribute": c.Name}
	switch d.IntN(3) {
	case 0:
		f["min"], high = float64(low)/100, hi
	case 1:
		f["max"], low = float64(high)/100, lo
	case 2:
		f["min"], f["max"] = float64(low)/100, float64(high)/100
	}
	total := p.Total
	return &Rule{yaml: map[string]any{"limit": f}, keeps: func(x []int) bool {
		mean := 0
		for i, a := range x {
			mean += c.Hundredths[i] * a
		}
		return low*total <= mean && mean <= high*total
	}}
}
