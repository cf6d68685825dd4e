package bound

import (
	"math"
	"math/bits"

	"kir/internal/constraint"
	"kir/internal/constraint/linprog"
)

// A relaxation is the program of a problem. There are two columns for each ingredient that
// may be used, its amount in parts of a power of two that is at least the total, and
// whether it is used; then one for the logarithm of each part that follows from a linear
// form, and one for each term of a sum that has a cap. Factors are whole numbers, as far as
// floating-point numbers are, times powers of two.
type relaxation struct {
	linprog.Program
	ingredients  []int   // the ingredients that may be used, whose columns are 2k and 2k+1
	at           []int   // by ingredient: its k, −1 for those that may not be used
	unit         float64 // of a column: what one unit of an ingredient is
	firstTangent int     // rows from here on are tangents
	linear       []int   // parts that have a column
	first        int     // the column of the first of them
	lo, hi       []float64
	tangents     []int // of each of them, how many rows
}

const (
	mostUsable   = 300 // ingredients, above which there is no program
	mostTangents = 80  // of a part that follows from a linear form
	mostTouched  = 200 // of a concave one
	least        = -1000.0
)

// newRelaxation returns the program of a problem, nil if it would be too large.
func newRelaxation(b *Bounder) *relaxation {
	p, c := b.p, b.p.Conditions
	x := &relaxation{unit: math.Ldexp(1, -bits.Len(uint(c.Total)))}
	if len(b.usable) > mostUsable {
		return nil
	}
	x.ingredients, x.at = b.usable, make([]int, len(b.doses))
	for i := range x.at {
		x.at[i] = -1
	}
	for k, i := range x.ingredients {
		x.at[i] = k
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
		d := b.doses[i]
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
		if x.at[n.If] < 0 {
			continue
		}
		r := []linprog.Entry{{Column: 2*x.at[n.If] + 1, Factor: -1}}
		for _, i := range n.Then {
			if x.at[i] >= 0 {
				r = append(r, linprog.Entry{Column: 2*x.at[i] + 1, Factor: 1})
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
			if k := x.at[i]; k >= 0 {
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

// addSum adds the row of a sum. A step may fall as suits either bound best.
func (x *relaxation) addSum(s *constraint.Sum, total int) {
	var of []linprog.Entry
	low, high := s.Min, s.Max
	top := 1.0
	for _, t := range s.Terms {
		k := x.at[t.Ingredient]
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
		if t.Whole != 0 {
			of = append(of, linprog.Entry{Column: 2*k + 1, Factor: float64(t.Whole)})
			top = max(top, math.Abs(float64(t.Whole)))
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

// slackened returns a bound widened by the largest error of its conversion to a float64.
func slackened(v, sign float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1<<52 || math.IsInf(v, 0) {
		return v
	}
	return v + float64(sign*math.Abs(v)*0x1p-52)
}

// form returns the columns of a linear form, and the constant.
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

// A line is at + slope·v.
type line struct{ slope, at float64 }

// tangent returns a line that is nowhere below the log of a factor between two values, and close to
// it at v. ok is false if there is none.
func (l *Linear) tangent(v, from, to float64, total int) (t line, ok bool) {
	log := l.Log(v)
	if log <= l.Floor {
		return t, false
	}
	slope := 0.0
	if v != l.Best { // where it is flat
		slope = l.Slope(v)
	}
	if math.IsNaN(slope) || math.IsInf(slope, 0) || math.IsInf(log, 0) {
		return t, false
	}
	at := log - float64(slope*v)
	if !math.IsInf(l.Floor, -1) {
		// Where the log is at its floor, it is so at one end or both.
		at = max(at, l.Floor-float64(slope*from), l.Floor-float64(slope*to))
	}
	if math.IsInf(at, 0) || math.IsNaN(at) {
		return t, false
	}
	// The rounding in the log and in the value.
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

// addTangent adds the row of a line for the k-th factor with a column.
func (x *relaxation) addTangent(b *Bounder, k int, t line) int {
	l := b.p.Factors[x.linear[k]].Linear
	at := t.at + float64(t.slope*l.Constant)
	at += float64(float64(math.Abs(at)+math.Abs(t.slope*l.Constant)) * 0x1p-50)
	x.tangents[k]++
	return x.addRowOf(k, x.form(l), t.slope, at)
}

// addRowOf adds a row: the k-th log is at most slope times a form, plus at.
func (x *relaxation) addRowOf(k int, form []linprog.Entry, slope, at float64) int {
	of := []linprog.Entry{{Column: x.first + k, Factor: 1}}
	top := 1.0
	for _, e := range form {
		e.Factor = -float64(slope * e.Factor)
		of = append(of, e)
		top = max(top, math.Abs(e.Factor))
	}
	_, exponent := math.Frexp(top)
	if exponent -= 10; exponent > 0 { // rows of much larger factors than others are hard to solve
		for j := range of {
			of[j].Factor = math.Ldexp(of[j].Factor, -exponent)
		}
		at = math.Ldexp(at, -exponent)
	}
	return x.AddRow(of, math.Inf(-1), at)
}
