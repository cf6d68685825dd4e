package bound

import (
	"math"
	"math/bits"

	"kir/internal/constraint"
	"kir/internal/constraint/linprog"
)

// A relaxation is the linear program of a problem. Each ingredient that may be used has two columns: its amount, in
// fractions of a power of two above the total, and its use. Further columns stand for the log of each factor bounded
// by tangents, and for each capped term of a sum. Coefficients are whole numbers times powers of two, as far as
// float64 allows.
type relaxation struct {
	linprog.Program
	ingredients  []int   // ingredient of each k, whose columns are 2k and 2k+1
	indexOf      []int   // k of each ingredient; −1 if it may not be used
	unit         float64 // value of a column of amounts for one unit
	firstTangent int     // index of the first row that is a tangent
	linear       []int   // factors with a column for their log
	first        int     // column of the first factor in linear
	lo, hi       []float64
	tangents     []int // for each factor in linear: how many tangents it has
}

const (
	mostUsable   = 300 // greatest number of ingredients for which there is a program
	mostTangents = 80  // greatest number of tangents of a factor with a linear form
	mostTouched  = 200 // greatest number of tangents of a concave factor
	least        = -1000.0
)

// newRelaxation returns the program of a problem, nil if it would be too large.
func newRelaxation(b *Bounder) *relaxation {
	p, c := b.p, b.p.Conditions
	x := &relaxation{unit: math.Ldexp(1, -bits.Len(uint(c.Total)))}
	if len(b.usable) > mostUsable {
		return nil
	}
	x.ingredients, x.indexOf = b.usable, make([]int, len(b.amounts))
	for i := range x.indexOf {
		x.indexOf[i] = -1
	}
	for k, i := range x.ingredients {
		x.indexOf[i] = k
	}
	x.Columns = 2 * len(x.ingredients)
	x.first = x.Columns
	for k := range p.Factors {
		if p.Factors[k].hasColumn() {
			x.linear = append(x.linear, k)
			x.Columns++
		}
	}
	x.tangents = make([]int, len(x.linear))
	var all, uses []linprog.Entry
	for k, i := range x.ingredients {
		d := b.amounts[i]
		all, uses = append(all, linprog.Entry{Column: 2 * k, Factor: 1}), append(uses, linprog.Entry{Column: 2*k + 1, Factor: 1})
		x.AddRow([]linprog.Entry{{Column: 2 * k, Factor: 1}, {Column: 2*k + 1, Factor: float64(-float64(d.Hi()) * x.unit)}}, math.Inf(-1), 0)
		x.AddRow([]linprog.Entry{{Column: 2 * k, Factor: 1}, {Column: 2*k + 1, Factor: float64(-float64(d.Lo) * x.unit)}}, 0, math.Inf(1))
	}
	x.AddRow(all, float64(float64(c.Total)*x.unit), float64(float64(c.Total)*x.unit))
	low, high := len(p.Sizes), 0
	for n, ok := range p.Sizes {
		if ok {
			low, high = min(low, n), max(high, n)
		}
	}
	x.AddRow(uses, float64(low), float64(high))
	x.addGroups(c)
	for _, n := range c.Needs {
		if x.indexOf[n.If] < 0 {
			continue
		}
		r := []linprog.Entry{{Column: 2*x.indexOf[n.If] + 1, Factor: -1}}
		for _, i := range n.Then {
			if x.indexOf[i] >= 0 {
				r = append(r, linprog.Entry{Column: 2*x.indexOf[i] + 1, Factor: 1})
			}
		}
		x.AddRow(r, 0, math.Inf(1))
	}
	for k := range c.Sums {
		x.addSum(&c.Sums[k], c.Total)
	}
	x.firstTangent = len(x.Rows)
	x.Cost = make([]float64, x.Columns)
	for k := range x.linear {
		x.Cost[x.first+k] = 1
	}
	return x
}

func (x *relaxation) addGroups(c *constraint.Conditions) {
	for _, g := range c.Groups {
		var amounts, uses []linprog.Entry
		for _, i := range g.Members {
			if k := x.indexOf[i]; k >= 0 {
				amounts, uses = append(amounts, linprog.Entry{Column: 2 * k, Factor: 1}), append(uses, linprog.Entry{Column: 2*k + 1, Factor: 1})
			}
		}
		if g.Used != nil {
			x.AddRow(uses, float64(g.Used.Min), float64(g.Used.Max))
		}
		if g.Total != nil {
			x.AddRow(amounts, float64(float64(g.Total.Min)*x.unit), float64(float64(g.Total.Max)*x.unit))
		}
	}
}

// addSum adds the row of a sum of the conditions. Contributions that are not linear are relaxed to the values that
// make each bound easiest to satisfy.
func (x *relaxation) addSum(s *constraint.Sum, total int) {
	var of []linprog.Entry
	low, high := s.Min, s.Max
	top := 1.0
	for _, t := range s.Terms {
		k := x.indexOf[t.Ingredient]
		if k < 0 {
			continue
		}
		if low != math.MinInt64 {
			low -= max(t.Off, 0)
		}
		if high != math.MaxInt64 {
			high -= min(t.Off, 0)
		}
		if t.PerUnit != 0 {
			column := 2 * k
			if t.Cap > 0 && t.Cap < total {
				column = x.Columns
				x.Columns++
				x.lo, x.hi = append(x.lo, 0), append(x.hi, float64(float64(t.Cap)*x.unit))
				x.AddRow([]linprog.Entry{{Column: column, Factor: 1}, {Column: 2 * k, Factor: -1}}, math.Inf(-1), 0)
			}
			f := float64(t.PerUnit) / x.unit
			of = append(of, linprog.Entry{Column: column, Factor: f})
			top = max(top, math.Abs(f))
		}
		if t.PerUse != 0 {
			of = append(of, linprog.Entry{Column: 2*k + 1, Factor: float64(t.PerUse)})
			top = max(top, math.Abs(float64(t.PerUse)))
		}
	}
	_, exponent := math.Frexp(top)
	for k := range of {
		of[k].Factor = math.Ldexp(of[k].Factor, -exponent)
	}
	from, to := math.Inf(-1), math.Inf(1)
	if low != math.MinInt64 {
		from = math.Ldexp(float64(low), -exponent)
	}
	if high != math.MaxInt64 {
		to = math.Ldexp(float64(high), -exponent)
	}
	x.AddRow(of, slackened(from, -1), slackened(to, 1))
}

// slackened returns a bound v, moved outwards (sign 1 up, −1 down) by the greatest error of its conversion to
// float64.
func slackened(v, sign float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1<<52 || math.IsInf(v, 0) {
		return v
	}
	return v + float64(sign*math.Abs(v)*0x1p-52)
}

// form returns the program's entries for a linear form, without the constant.
func (x *relaxation) form(l *Linear) (of []linprog.Entry) {
	for k, i := range x.ingredients {
		if f := l.PerUnit[i]; f != 0 {
			of = append(of, linprog.Entry{Column: 2 * k, Factor: f / x.unit})
		}
		if l.PerUse != nil && l.PerUse[i] != 0 {
			of = append(of, linprog.Entry{Column: 2*k + 1, Factor: l.PerUse[i]})
		}
	}
	return of
}

// A line is the function v ↦ at + slope·v.
type line struct{ slope, at float64 }

// tangent returns a line that is nowhere below the factor's log between from and to, and close to it at v. ok is
// false if there is none.
func (l *Linear) tangent(v, from, to float64, total int) (t line, ok bool) {
	log := l.Log(v)
	if log <= l.Floor {
		return t, false
	}
	slope := 0.0
	if v != l.Best { // the slope at Best is 0
		slope = l.Slope(v)
	}
	if math.IsNaN(slope) || math.IsInf(slope, 0) || math.IsInf(log, 0) {
		return t, false
	}
	at := log - float64(slope*v)
	if !math.IsInf(l.Floor, -1) {
		// The log equals its floor at one end or at both, so the line must reach the floor there.
		at = max(at, l.Floor-float64(slope*from), l.Floor-float64(slope*to))
	}
	if math.IsInf(at, 0) || math.IsNaN(at) {
		return t, false
	}
	// The line is raised by the rounding errors of the log and of the form's value.
	top := math.Abs(l.Constant)
	for i, f := range l.PerUnit {
		top = max(top, math.Abs(f)*float64(total))
		if l.PerUse != nil {
			top += math.Abs(l.PerUse[i])
		}
	}
	size := math.Abs(log) + float64(math.Abs(slope)*top) + math.Abs(at)
	return line{slope, at + float64(size*0x1p-46)}, true
}

// addTangent adds the row that keeps the k-th column of logs below the line t of the factor's form.
func (x *relaxation) addTangent(b *Bounder, k int, t line) int {
	l := b.p.Factors[x.linear[k]].Linear
	at := t.at + float64(t.slope*l.Constant)
	at += float64(float64(math.Abs(at)+math.Abs(t.slope*l.Constant)) * 0x1p-50)
	x.tangents[k]++
	return x.addRowOf(k, x.form(l), t.slope, at)
}

// addRowOf adds the row: k-th column of logs ≤ slope·form + at.
func (x *relaxation) addRowOf(k int, form []linprog.Entry, slope, at float64) int {
	of := []linprog.Entry{{Column: x.first + k, Factor: 1}}
	top := 1.0
	for _, e := range form {
		e.Factor = -float64(slope * e.Factor)
		of = append(of, e)
		top = max(top, math.Abs(e.Factor))
	}
	_, exponent := math.Frexp(top)
	if exponent -= 10; exponent > 0 { // Rows whose coefficients are much larger than those of others make the program hard to solve.
		for j := range of {
			of[j].Factor = math.Ldexp(of[j].Factor, -exponent)
		}
		at = math.Ldexp(at, -exponent)
	}
	return x.AddRow(of, math.Inf(-1), at)
}
