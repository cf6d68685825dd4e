package bound

import (
	"math"

	"kir/internal/constraint/linprog"
)

// A formProgram is a linear program of the conditions alone. The program maximises linear forms of the amounts;
// from the maxima, factors with MaxOverForms (see [Factor]) compute their bounds. All rows have bounds on both
// sides. So the final basis for one linear form and box is a valid start for the next, whatever the costs.
type formProgram struct {
	*linprog.DualSimplex
	program       linprog.Program // program that the embedded DualSimplex solves
	workAtRefresh int64           // value of Work when the tableau was last recomputed
}

// buildFormProgram sets b.formProgram, for use on boxes within the box n, if some factor has MaxOverForms (see
// [Factor]).
func (b *Bounder) buildFormProgram(n *box) {
	x := b.relaxation
	asked := false
	for k := range b.problem.Factors {
		asked = asked || b.problem.Factors[k].isBoundedByForms()
	}
	if x == nil || !asked {
		return
	}
	b.columnLo, b.columnHi = make([]float64, x.Columns), make([]float64, x.Columns)
	b.setColumnBounds(n)
	p := &formProgram{program: linprog.Program{Columns: x.Columns, Cost: make([]float64, x.Columns)}}
	for r, of := range x.Rows[:x.firstTangent] {
		from, to := -1.0, 1.0 // wider than the columns allow, so that the row has two bounds
		for _, e := range of {
			from += min(float64(e.Factor*b.columnLo[e.Column]), float64(e.Factor*b.columnHi[e.Column]))
			to += max(float64(e.Factor*b.columnLo[e.Column]), float64(e.Factor*b.columnHi[e.Column]))
		}
		if !math.IsInf(x.RowLo[r], -1) {
			from = x.RowLo[r]
		}
		if !math.IsInf(x.RowHi[r], 1) {
			to = x.RowHi[r]
		}
		p.program.AddRow(of, from, to)
	}
	p.DualSimplex = linprog.NewDual(&p.program)
	b.formProgram = p
}

// clone returns a copy that shares no memory with p that changes.
func (p *formProgram) clone() *formProgram {
	c := &formProgram{program: p.program.Clone(), workAtRefresh: p.workAtRefresh}
	c.DualSimplex = p.DualSimplex.CloneFor(&c.program)
	return c
}

// isBoundedByForms reports whether the bound of the factor is computed by MaxOverForms, from maxima of linear
// forms.
func (p Factor) isBoundedByForms() bool { return !p.hasLogColumn() && p.MaxOverForms != nil }

// boundByForms returns sumOfBounds, the sum of the bounds of all factors that compute their bounds from maxima of
// linear forms, for the compositions in a box. The results amounts and uses are the solution of the last linear
// program. The result empty means that the box is proved to contain no composition.
func (b *Bounder) boundByForms(n *box) (amounts, uses []float64, sumOfBounds float64, empty bool) {
	b.setColumnBounds(n)
	p, x := b.formProgram, b.relaxation
	if p.Work-p.workAtRefresh > int64(100*p.CoefficientCount()) {
		p.Refresh()
		p.workAtRefresh = p.Work
	}
	for k := range b.problem.Factors {
		part := &b.problem.Factors[k]
		if !part.isBoundedByForms() {
			continue
		}
		own := part.MaxOverForms(func(perUnit, perUse []float64) float64 {
			above, none := b.maximizeForm(perUnit, perUse)
			empty = empty || none
			return min(above, b.maxSignedForm(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1))
		})
		if empty {
			return nil, nil, 0, true
		}
		sumOfBounds = addLogs(sumOfBounds, min(b.maxFactorLogs[k], own))
	}
	for k := range x.ingredients {
		amounts, uses = append(amounts, p.Value[2*k]/x.unitValue), append(uses, p.Value[2*k+1])
	}
	return amounts, uses, sumOfBounds, false
}

// maximizeForm returns an upper bound of a linear form, given by its coefficients, for the compositions in the
// current box. The result empty means that the box is proved to contain no composition.
func (b *Bounder) maximizeForm(perUnit, perUse []float64) (upperBound float64, empty bool) {
	p, x := b.formProgram, b.relaxation
	clear(p.program.Cost)
	for k, i := range x.ingredients {
		p.program.Cost[2*k] = perUnit[i] / x.unitValue
		if perUse != nil {
			p.program.Cost[2*k+1] = perUse[i]
		}
	}
	p.UpdateCosts()
	p.SetBounds(b.columnLo, b.columnHi)
	v, row := p.Solve(maxPivots, math.Inf(-1))
	b.work += int64(2 * p.program.Entries)
	if v == linprog.Infeasible && p.program.UpperBound(nil, p.FarkasMultipliers(row), b.columnLo, b.columnHi) < 0 {
		return 0, true
	}
	return p.program.UpperBound(p.program.Cost, p.Weights(), b.columnLo, b.columnHi), false
}
