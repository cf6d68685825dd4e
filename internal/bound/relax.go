package bound

import (
	"math"
	"math/bits"

	"kir/internal/constraint"
)

// A relaxation is the program of a problem. There are two columns for each ingredient that
// may be used, its amount in parts of a power of two that is at least the total, and
// whether it is used; then one for the logarithm of each part that follows from a linear
// form, and one for each term of a sum that has a cap. Factors are whole numbers, as far as
// floating-point numbers are, times powers of two.
type relaxation struct {
	program
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
	x.columns = 2 * len(x.ingredients)
	x.first = x.columns
	for k := range p.Factors {
		if p.Factors[k].hasColumn() {
			x.linear = append(x.linear, k)
			x.columns++
		}
	}
	x.tangents = make([]int, len(x.linear))
	var all, uses []entry
	for k, i := range x.ingredients {
		d := b.doses[i]
		all, uses = append(all, entry{2 * k, 1}), append(uses, entry{2*k + 1, 1})
		x.addRow([]entry{{2 * k, 1}, {2*k + 1, float64(-float64(d.Hi()) * x.unit)}}, math.Inf(-1), 0)
		x.addRow([]entry{{2 * k, 1}, {2*k + 1, float64(-float64(d.Lo) * x.unit)}}, 0, math.Inf(1))
	}
	x.addRow(all, float64(float64(c.Total)*x.unit), float64(float64(c.Total)*x.unit))
	low, high := len(p.Sizes), 0
	for n, ok := range p.Sizes {
		if ok {
			low, high = min(low, n), max(high, n)
		}
	}
	x.addRow(uses, float64(low), float64(high))
	x.addGroups(c)
	for _, n := range c.Needs {
		if x.at[n.If] < 0 {
			continue
		}
		r := []entry{{2*x.at[n.If] + 1, -1}}
		for _, i := range n.Then {
			if x.at[i] >= 0 {
				r = append(r, entry{2*x.at[i] + 1, 1})
			}
		}
		x.addRow(r, 0, math.Inf(1))
	}
	for k := range c.Sums {
		x.addSum(&c.Sums[k], c.Total)
	}
	x.firstTangent = len(x.rows)
	x.cost = make([]float64, x.columns)
	for k := range x.linear {
		x.cost[x.first+k] = 1
	}
	return x
}

func (x *relaxation) addGroups(c *constraint.Conditions) {
	for _, g := range c.Groups {
		var amounts, uses []entry
		for _, i := range g.Members {
			if k := x.at[i]; k >= 0 {
				amounts, uses = append(amounts, entry{2 * k, 1}), append(uses, entry{2*k + 1, 1})
			}
		}
		if g.Used != nil {
			x.addRow(uses, float64(g.Used.Min), float64(g.Used.Max))
		}
		if g.Total != nil {
			x.addRow(amounts, float64(float64(g.Total.Min)*x.unit), float64(float64(g.Total.Max)*x.unit))
		}
	}
}

// addSum adds the row of a sum. A step may fall as suits either bound best.
func (x *relaxation) addSum(s *constraint.Sum, total int) {
	var of []entry
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
				column = x.columns
				x.columns++
				x.lo, x.hi = append(x.lo, 0), append(x.hi, float64(float64(t.Cap)*x.unit))
				x.addRow([]entry{{column, 1}, {2 * k, -1}}, math.Inf(-1), 0)
			}
			f := float64(t.PerUnit) / x.unit
			of = append(of, entry{column, f})
			top = max(top, math.Abs(f))
		}
		if t.Whole != 0 {
			of = append(of, entry{2*k + 1, float64(t.Whole)})
			top = max(top, math.Abs(float64(t.Whole)))
		}
	}
	_, exponent := math.Frexp(top)
	for k := range of {
		of[k].factor = math.Ldexp(of[k].factor, -exponent)
	}
	from, to := math.Inf(-1), math.Inf(1)
	if low != math.MinInt64 {
		from = math.Ldexp(float64(low), -exponent)
	}
	if high != math.MaxInt64 {
		to = math.Ldexp(float64(high), -exponent)
	}
	x.addRow(of, slackened(from, -1), slackened(to, 1))
}

// slackened returns a bound widened by the largest error of its conversion to a float64.
func slackened(v, sign float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1<<52 || math.IsInf(v, 0) {
		return v
	}
	return v + float64(sign*math.Abs(v)*0x1p-52)
}

// form returns the columns of a linear form, and the constant.
func (x *relaxation) form(l *Linear) (of []entry) {
	for k, i := range x.ingredients {
		if f := l.PerUnit[i]; f != 0 {
			of = append(of, entry{2 * k, f / x.unit})
		}
		if l.PerUse != nil && l.PerUse[i] != 0 {
			of = append(of, entry{2*k + 1, l.PerUse[i]})
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
func (x *relaxation) addRowOf(k int, form []entry, slope, at float64) int {
	of := []entry{{x.first + k, 1}}
	top := 1.0
	for _, e := range form {
		e.factor = -float64(slope * e.factor)
		of = append(of, e)
		top = max(top, math.Abs(e.factor))
	}
	_, exponent := math.Frexp(top)
	if exponent -= 10; exponent > 0 { // rows of much larger factors than others are hard to solve
		for j := range of {
			of[j].factor = math.Ldexp(of[j].factor, -exponent)
		}
		at = math.Ldexp(at, -exponent)
	}
	return x.addRow(of, math.Inf(-1), at)
}

// append adds to the tableau the rows of the program that it lacks. Their activities are basic.
func (t *tableau) append() {
	n := t.p.columns
	where := make([]int, len(t.lo)+len(t.p.rows))
	objective := t.t[len(t.basic)]
	t.t = t.t[:len(t.basic)]
	for j, v := range t.nonbasic {
		where[v] = j
	}
	for r, v := range t.basic {
		where[v] = -1 - r
	}
	for r := len(t.basic); r < len(t.p.rows); r++ {
		row := make([]float64, n)
		for _, e := range t.p.rows[r] {
			if at := where[e.column]; at >= 0 {
				row[at] += e.factor
			} else {
				for j, f := range t.t[-1-at] {
					row[j] += float64(e.factor * f)
				}
			}
		}
		v := 0.0
		for j, f := range row {
			v += float64(f * t.value[t.nonbasic[j]])
		}
		t.t = append(t.t, row)
		t.basic = append(t.basic, int32(n+r))
		t.lo, t.hi, t.value = append(t.lo, t.p.rowLo[r]), append(t.hi, t.p.rowHi[r]), append(t.value, v)
		t.work += int64(n * len(t.p.rows[r]))
	}
	t.t = append(t.t, objective)
}

// refresh recomputes the tableau for the same basis, which removes accumulated rounding.
func (t *tableau) refresh() {
	n := t.p.columns
	out := make([]bool, n+len(t.basic)) // variables that are not to be basic
	for _, v := range t.nonbasic {
		out[v] = true
	}
	values := t.value
	t.restart()
	for r := range t.basic {
		if !out[n+r] {
			continue
		}
		best, size := -1, 1e-7
		for j, v := range t.nonbasic {
			if f := math.Abs(t.t[r][j]); int(v) < n && !out[v] && f > size {
				best, size = j, f
			}
		}
		if best >= 0 {
			t.pivot(r, best)
		}
	}
	t.value = values
	t.setValues()
}
