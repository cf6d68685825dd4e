package bound

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/linprog"
)

// A relaxation is the linear program of a problem. Each ingredient that may be used has two columns: the amount
// and the use. Amounts are in fractions of a power of two above the total. Further columns stand for the logs of
// factors, which tangents bound from above, and for the terms of sums that have a cap. Coefficients are whole
// numbers times powers of two, as far as float64 allows.
type relaxation struct {
	linprog.Program
	ingredients        []int     // usable ingredients; ingredients[k] has the columns 2k and 2k+1
	ingredientIndex    []int     // item i is the index of ingredient i in ingredients; −1 if ingredient i may not be used
	unitValue          float64   // value of an amount column for one unit
	firstTangent       int       // index of the first row that is a tangent; tangents are the last rows
	logFactors         []int     // indices of the factors that have a column for their log
	firstLogColumn     int       // index of the column for the log of the first factor in logFactors
	cappedLo, cappedHi []float64 // bounds of the columns of capped terms
	tangentCounts      []int     // item k is the number of tangents of the k-th factor in logFactors
}

const (
	maxProgramIngredients = 300     // maximum number of ingredients for which a linear program is made
	maxLinearTangents     = 80      // maximum number of tangents of a factor with a linear form
	maxConcaveTangents    = 200     // maximum number of tangents of a concave factor
	minLog                = -1000.0 // lower bound of each column for a log
)

// newRelaxation returns the linear program of the problem of b, or nil if the program would be too large.
func newRelaxation(b *Bounder) *relaxation {
	p, c := b.problem, b.problem.Conditions
	x := &relaxation{unitValue: math.Ldexp(1, -bits.Len(uint(c.Total)))}
	if len(b.usableIngredients) > maxProgramIngredients {
		return nil
	}
	x.ingredients, x.ingredientIndex = b.usableIngredients, make([]int, len(b.amountSets))
	for i := range x.ingredientIndex {
		x.ingredientIndex[i] = -1
	}
	for k, i := range x.ingredients {
		x.ingredientIndex[i] = k
	}
	x.Columns = 2 * len(x.ingredients)
	x.firstLogColumn = x.Columns
	for k := range p.Factors {
		if p.Factors[k].hasLogColumn() {
			x.logFactors = append(x.logFactors, k)
			x.Columns++
		}
	}
	x.tangentCounts = make([]int, len(x.logFactors))
	var all, uses []linprog.Entry
	for k, i := range x.ingredients {
		d := b.amountSets[i]
		all, uses = append(all, linprog.Entry{Column: 2 * k, Factor: 1}), append(uses, linprog.Entry{Column: 2*k + 1, Factor: 1})
		x.AddRow([]linprog.Entry{{Column: 2 * k, Factor: 1}, {Column: 2*k + 1, Factor: float64(-float64(d.Hi()) * x.unitValue)}}, math.Inf(-1), 0)
		x.AddRow([]linprog.Entry{{Column: 2 * k, Factor: 1}, {Column: 2*k + 1, Factor: float64(-float64(d.Lo) * x.unitValue)}}, 0, math.Inf(1))
	}
	x.AddRow(all, float64(float64(c.Total)*x.unitValue), float64(float64(c.Total)*x.unitValue))
	low, high := len(p.AllowedUsedCounts), 0
	for n, ok := range p.AllowedUsedCounts {
		if ok {
			low, high = min(low, n), max(high, n)
		}
	}
	x.AddRow(uses, float64(low), float64(high))
	x.addGroups(c)
	for _, n := range c.Dependences {
		if x.ingredientIndex[n.If] < 0 {
			continue
		}
		r := []linprog.Entry{{Column: 2*x.ingredientIndex[n.If] + 1, Factor: -1}}
		for _, i := range n.Then {
			if x.ingredientIndex[i] >= 0 {
				r = append(r, linprog.Entry{Column: 2*x.ingredientIndex[i] + 1, Factor: 1})
			}
		}
		x.AddRow(r, 0, math.Inf(1))
	}
	for k := range c.Sums {
		x.addSum(&c.Sums[k], c.Total)
	}
	x.firstTangent = len(x.Rows)
	x.Cost = make([]float64, x.Columns)
	for k := range x.logFactors {
		x.Cost[x.firstLogColumn+k] = 1
	}
	return x
}

// clone returns a copy to which tangents can be added.
func (x *relaxation) clone() *relaxation {
	c := *x
	c.Program, c.tangentCounts = x.Program.Clone(), slices.Clone(x.tangentCounts)
	return &c
}

func (x *relaxation) addGroups(c *constraint.Conditions) {
	for _, g := range c.Groups {
		var amounts, uses []linprog.Entry
		for _, i := range g.Members {
			if k := x.ingredientIndex[i]; k >= 0 {
				amounts, uses = append(amounts, linprog.Entry{Column: 2 * k, Factor: 1}), append(uses, linprog.Entry{Column: 2*k + 1, Factor: 1})
			}
		}
		if g.Used != nil {
			x.AddRow(uses, float64(g.Used.Min), float64(g.Used.Max))
		}
		if g.Total != nil {
			x.AddRow(amounts, float64(float64(g.Total.Min)*x.unitValue), float64(float64(g.Total.Max)*x.unitValue))
		}
	}
}

// addSum adds the row of a sum of the conditions. A contribution that is not linear in the amount is replaced by
// a linear contribution that makes the row easier to satisfy, never harder.
func (x *relaxation) addSum(s *constraint.Sum, total int) {
	var of []linprog.Entry
	low, high := s.Min, s.Max
	top := 1.0
	for _, t := range s.Terms {
		k := x.ingredientIndex[t.Ingredient]
		if k < 0 {
			continue
		}
		if low != math.MinInt64 {
			low -= max(t.OffStepAddend, 0)
		}
		if high != math.MaxInt64 {
			high -= min(t.OffStepAddend, 0)
		}
		if t.PerUnit != 0 {
			column := 2 * k
			if t.Cap > 0 && t.Cap < total {
				column = x.Columns
				x.Columns++
				x.cappedLo, x.cappedHi = append(x.cappedLo, 0), append(x.cappedHi, float64(float64(t.Cap)*x.unitValue))
				x.AddRow([]linprog.Entry{{Column: column, Factor: 1}, {Column: 2 * k, Factor: -1}}, math.Inf(-1), 0)
			}
			f := float64(t.PerUnit) / x.unitValue
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
	x.AddRow(of, widenedBound(from, -1), widenedBound(to, 1))
}

// widenedBound moves a bound upwards (sign 1) or downwards (sign −1) by the maximum error of the conversion of
// the bound to float64.
func widenedBound(bound, sign float64) float64 {
	if bound == math.Trunc(bound) && math.Abs(bound) < 1<<52 || math.IsInf(bound, 0) {
		return bound
	}
	return bound + float64(sign*math.Abs(bound)*0x1p-52)
}

// formEntries returns the entries of a row whose value is the linear form l without its constant.
func (x *relaxation) formEntries(l *Linear) (of []linprog.Entry) {
	for k, i := range x.ingredients {
		if f := l.PerUnit[i]; f != 0 {
			of = append(of, linprog.Entry{Column: 2 * k, Factor: f / x.unitValue})
		}
		if l.PerUse != nil && l.PerUse[i] != 0 {
			of = append(of, linprog.Entry{Column: 2*k + 1, Factor: l.PerUse[i]})
		}
	}
	return of
}

// A tangentLine is the function v ↦ intercept + slope·v.
type tangentLine struct{ slope, intercept float64 }

// tangent returns a straight line that is nowhere below the log of the factor, for values of the linear form
// between from and to, and that is close to the log at v. The result ok is false if there is no such line.
func (l *Linear) tangent(v, from, to float64, total int) (t tangentLine, ok bool) {
	log := l.Log(v)
	if log <= l.Floor {
		return t, false
	}
	slope := 0.0
	if v != l.LogMaximizer { // the slope at LogMaximizer is 0
		slope = l.Slope(v)
	}
	if math.IsNaN(slope) || math.IsInf(slope, 0) || math.IsInf(log, 0) {
		return t, false
	}
	at := log - float64(slope*v)
	if !math.IsInf(l.Floor, -1) {
		// The log equals its floor at one end or at both ends, so the line must reach the floor there.
		at = max(at, l.Floor-float64(slope*from), l.Floor-float64(slope*to))
	}
	if math.IsInf(at, 0) || math.IsNaN(at) {
		return t, false
	}
	// The line is raised by the rounding errors of the log and of the value of the form.
	top := math.Abs(l.Constant)
	for i, f := range l.PerUnit {
		top = max(top, math.Abs(f)*float64(total))
		if l.PerUse != nil {
			top += math.Abs(l.PerUse[i])
		}
	}
	size := math.Abs(log) + float64(math.Abs(slope)*top) + math.Abs(at)
	return tangentLine{slope, at + float64(size*0x1p-46)}, true
}

// addTangent adds the row that keeps the log of the factor with index logFactors[logIndex] at or below the
// tangent, a straight line as a function of the factor's linear form.
func (x *relaxation) addTangent(b *Bounder, logIndex int, tangent tangentLine) int {
	l := b.problem.Factors[x.logFactors[logIndex]].Linear
	at := tangent.intercept + float64(tangent.slope*l.Constant)
	at += float64(float64(math.Abs(at)+math.Abs(tangent.slope*l.Constant)) * 0x1p-50)
	x.tangentCounts[logIndex]++
	return x.addLogRow(logIndex, x.formEntries(l), tangent.slope, at)
}

// addLogRow adds the row: log of the factor with index logFactors[logIndex] ≤ slope·form + constant. The linear
// form is given by entries of the program.
func (x *relaxation) addLogRow(logIndex int, form []linprog.Entry, slope, constant float64) int {
	of := []linprog.Entry{{Column: x.firstLogColumn + logIndex, Factor: 1}}
	top := 1.0
	for _, e := range form {
		e.Factor = -float64(slope * e.Factor)
		of = append(of, e)
		top = max(top, math.Abs(e.Factor))
	}
	_, exponent := math.Frexp(top)
	if exponent -= 10; exponent > 0 { // Rows whose coefficients are much larger than the coefficients of other rows make the program hard to solve.
		for j := range of {
			of[j].Factor = math.Ldexp(of[j].Factor, -exponent)
		}
		constant = math.Ldexp(constant, -exponent)
	}
	return x.AddRow(of, math.Inf(-1), constant)
}
