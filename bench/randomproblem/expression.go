package randomproblem

import (
	"fmt"
	"math"
	"strconv"
)

// A term is a formula, and what it is worth at a composition.
type term struct {
	text  string
	value func(x []int) float64
}

// A condition is a formula that is true or false.
type condition struct {
	text  string
	holds func(x []int) bool
}

// drawExpression draws a formula that may be anything: exponentials and large
// powers, which underflow, quotients that are no number where n has no mass or a
// rule is broken, conditions. A formula that is no score somewhere in the space is
// thrown away by [New].
func (p *Pantry) drawExpression(d dice, w *Wish) {
	var t term
	switch d.IntN(8) {
	case 0: // a bell
		a, k, c := p.drawAsked(d), one(d, 1.0, 8, 100, 1e4), p.drawConstant(d)
		t = term{fmt.Sprintf("exp(-%v * (%s - %s)^2)", k, a.text, c.text), func(x []int) float64 {
			v := a.value(x) - c.value(x)
			return math.Exp(-k * math.Pow(v, 2))
		}}
	case 1: // a power of units
		i, base := d.IntN(len(p.Names)), one(d, 0.001, 0.5, 3, 1e8)
		t = term{fmt.Sprintf("%v ^ min(units(%q), 30)", number(base), p.Names[i]), func(x []int) float64 {
			return math.Pow(base, min(float64(x[i]), 30))
		}}
	case 2: // no number where all is used, or nothing of it
		i := d.IntN(len(p.Names))
		t = term{fmt.Sprintf("1/units(%q)", p.Names[i]), func(x []int) float64 { return 1 / float64(x[i]) }}
	case 3:
		n := d.between(1, min(len(p.Names), p.Total))
		t = term{fmt.Sprintf("1/abs(used - %d)", n), func(x []int) float64 { return 1 / math.Abs(float64(used(x)-n)) }}
	case 4: // a truth
		c := p.drawCondition(d, 2)
		t = term{c.text, func(x []int) float64 { return oneIf(c.holds(x)) }}
	case 5:
		c, a, b := p.drawCondition(d, 1), p.drawTerm(d, 1), p.drawTerm(d, 1)
		t = term{fmt.Sprintf("let m = %s; if %s {abs(m)} else {abs(%s)}", a.text, c.text, b.text), func(x []int) float64 {
			if c.holds(x) {
				return math.Abs(a.value(x))
			}
			return math.Abs(b.value(x))
		}}
	default:
		a := p.drawTerm(d, 3)
		t = term{"abs(" + a.text + ")", func(x []int) float64 { return math.Abs(a.value(x)) }}
	}
	w.yaml = t.text
	w.log = func(x []int) float64 { return math.Log(t.value(x)) }
}

// number writes a constant; one that is negative stands in brackets.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if v < 0 {
		return "(" + s + ")"
	}
	return s
}

func (p *Pantry) drawConstant(d dice) term {
	v := one(d, 0.3137, 0.5, 1, 2, 3, -1.25, 17.31, 1e3)
	return term{number(v), func([]int) float64 { return v }}
}

// drawAsked draws a question about a composition.
func (p *Pantry) drawAsked(d dice) term {
	i := d.IntN(len(p.Names))
	of, words := []int{i}, fmt.Sprintf("%q", p.Names[i])
	if value := p.Columns[0].Text[i]; value != "" && d.chance(0.4) {
		of, words = nil, fmt.Sprintf("%q, %q", "family", value)
		for k, v := range p.Columns[0].Text {
			if v == value {
				of = append(of, k)
			}
		}
	}
	units := func(x []int) float64 { u, _ := sum(x, of); return float64(u) }
	switch one(d, "units", "share", "share", "count", "mean", "used", "total") {
	case "units":
		return term{"units(" + words + ")", units}
	case "share":
		return term{"share(" + words + ")", func(x []int) float64 { return units(x) / float64(p.Total) }}
	case "count":
		return term{"count(" + words + ")", func(x []int) float64 { _, c := sum(x, of); return float64(c) }}
	case "mean":
		c := p.Columns[d.between(1, 2)]
		return term{fmt.Sprintf("mean(%q)", c.Name), func(x []int) float64 { return p.mean(c, x) }}
	case "used":
		return term{"used", func(x []int) float64 { return float64(used(x)) }}
	}
	return term{"total", func([]int) float64 { return float64(p.Total) }}
}

// drawTerm draws a formula of some depth.
func (p *Pantry) drawTerm(d dice, depth int) term {
	if depth == 0 {
		if d.chance(0.7) {
			return p.drawAsked(d)
		}
		return p.drawConstant(d)
	}
	a, b := p.drawTerm(d, depth-1), p.drawTerm(d, depth-1)
	binary := func(sign string, of func(a, b float64) float64) term {
		return term{"(" + a.text + " " + sign + " " + b.text + ")", func(x []int) float64 { return of(a.value(x), b.value(x)) }}
	}
	call := func(name string, of func(a float64) float64) term {
		return term{name + "(" + a.text + ")", func(x []int) float64 { return of(a.value(x)) }}
	}
	switch d.IntN(15) {
	case 0, 1:
		return binary("+", func(a, b float64) float64 { return a + b })
	case 2:
		return binary("-", func(a, b float64) float64 { return a - b })
	case 3, 4:
		return binary("*", func(a, b float64) float64 { return a * b })
	case 5:
		return binary("/", func(a, b float64) float64 { return a / b })
	case 6:
		c := one(d, 2.0, 0.5, 3)
		return term{"(" + a.text + ")^" + number(c), func(x []int) float64 { return math.Pow(a.value(x), c) }}
	case 7:
		return call("exp", math.Exp)
	case 8:
		return call("sqrt", math.Sqrt)
	case 9:
		return term{"log(1 + " + a.text + ")", func(x []int) float64 { return math.Log(1 + a.value(x)) }}
	case 10:
		return call("abs", math.Abs)
	case 11:
		return term{"max(" + a.text + ", " + b.text + ")", func(x []int) float64 { return max(a.value(x), b.value(x)) }}
	case 12:
		return term{"min(" + a.text + ", " + b.text + ")", func(x []int) float64 { return min(a.value(x), b.value(x)) }}
	case 13:
		return term{"(units(" + fmt.Sprintf("%q", p.Names[0]) + ") % 3)", func(x []int) float64 { return math.Mod(float64(x[0]), 3) }}
	}
	c := p.drawCondition(d, 0)
	return term{"(" + c.text + " ? " + a.text + " : " + b.text + ")", func(x []int) float64 {
		if c.holds(x) {
			return a.value(x)
		}
		return b.value(x)
	}}
}

// drawCondition draws a condition. Sides that may be equal in exact arithmetic are
// compared only where both are whole numbers, which floating point keeps.
func (p *Pantry) drawCondition(d dice, depth int) condition {
	if depth > 0 {
		a, b := p.drawCondition(d, depth-1), p.drawCondition(d, depth-1)
		switch d.IntN(4) {
		case 0:
			return condition{"(" + a.text + " and " + b.text + ")", func(x []int) bool { return a.holds(x) && b.holds(x) }}
		case 1:
			return condition{"(" + a.text + " or " + b.text + ")", func(x []int) bool { return a.holds(x) || b.holds(x) }}
		case 2:
			return condition{"not (" + a.text + ")", func(x []int) bool { return !a.holds(x) }}
		}
	}
	if d.chance(0.5) {
		v := one(d, 0.23137, 0.5171, 4.713)
		a := p.drawAsked(d)
		return condition{a.text + " < " + number(v), func(x []int) bool { return a.value(x) < v }}
	}
	i, k := d.IntN(len(p.Names)), d.IntN(p.Total+1)
	name := fmt.Sprintf("units(%q)", p.Names[i])
	switch d.IntN(5) {
	case 0:
		return condition{fmt.Sprintf("%s >= %d", name, k), func(x []int) bool { return x[i] >= k }}
	case 1:
		return condition{fmt.Sprintf("%s != %d", name, k), func(x []int) bool { return x[i] != k }}
	case 2:
		return condition{fmt.Sprintf("used == %d", 1+k%3), func(x []int) bool { return used(x) == 1+k%3 }}
	case 3:
		return condition{fmt.Sprintf("%s > %d", name, k/2), func(x []int) bool { return x[i] > k/2 }}
	}
	return condition{fmt.Sprintf("%s <= %d", name, k), func(x []int) bool { return x[i] <= k }}
}
