package bound

import (
	"math"

	"kir/internal/constraint/linprog"
)

// A probe is a linear program of the conditions alone. It maximises the linear forms from which factors compute their
// bounds. All rows have bounds on both sides, so the basis left by one form and box is a valid start for the next,
// whatever the costs.
type probe struct {
	*linprog.Dual
	program   linprog.Program
	refreshed int64
}

// newProbe makes b.probe for boxes within n, if some factor is bounded by linear forms.
func (b *Bounder) newProbe(n *box) {
	x := b.x
	asked := false
	for k := range b.p.Factors {
		asked = asked || b.p.Factors[k].isBoundedByForms()
	}
	if x == nil || !asked {
		return
	}
	b.lo, b.hi = make([]float64, x.Columns), make([]float64, x.Columns)
	b.setColumnBounds(n)
	p := &probe{program: linprog.Program{Columns: x.Columns, Cost: make([]float64, x.Columns)}}
	for r, of := range x.Rows[:x.firstTangent] {
		from, to := -1.0, 1.0 // wider than the columns allow, so that the row has two bounds
		for _, e := range of {
			from += min(float64(e.Factor*b.lo[e.Column]), float64(e.Factor*b.hi[e.Column]))
			to += max(float64(e.Factor*b.lo[e.Column]), float64(e.Factor*b.hi[e.Column]))
		}
		if !math.IsInf(x.RowLo[r], -1) {
			from = x.RowLo[r]
		}
		if !math.IsInf(x.RowHi[r], 1) {
			to = x.RowHi[r]
		}
		p.program.AddRow(of, from, to)
	}
	p.Dual = linprog.NewDual(&p.program)
	b.probe = p
}

// isBoundedByForms reports whether the factor computes its bound from maxima of linear forms.
func (p Factor) isBoundedByForms() bool { return !p.hasColumn() && p.MaxOverForms != nil }

// boundByForms returns the sum over a box of the bounds of all factors that linear forms bound, and the solution of
// the last program. empty means that the box is proved to contain no composition.
func (b *Bounder) boundByForms(n *box) (amounts, uses []float64, above float64, empty bool) {
	b.setColumnBounds(n)
	p, x := b.probe, b.x
	if p.Work-p.refreshed > int64(100*p.Size()) {
		p.Refresh()
		p.refreshed = p.Work
	}
	for k := range b.p.Factors {
		part := &b.p.Factors[k]
		if !part.isBoundedByForms() {
			continue
		}
		own := part.MaxOverForms(func(perUnit, perUse []float64) float64 {
			above, none := b.maximizeForm(perUnit, perUse)
			empty = empty || none
			return min(above, b.greatestOf(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1))
		})
		if empty {
			return nil, nil, 0, true
		}
		above = addLogs(above, min(b.most[k], own))
	}
	for k := range x.ingredients {
		amounts, uses = append(amounts, p.Value[2*k]/x.unit), append(uses, p.Value[2*k+1])
	}
	return amounts, uses, above, false
}

// maximizeForm returns an upper bound of a linear form over the current box. empty means that the box is proved to
// contain no composition.
func (b *Bounder) maximizeForm(perUnit, perUse []float64) (above float64, empty bool) {
	p, x := b.probe, b.x
	clear(p.program.Cost)
	for k, i := range x.ingredients {
		p.program.Cost[2*k] = perUnit[i] / x.unit
		if perUse != nil {
			p.program.Cost[2*k+1] = perUse[i]
		}
	}
	p.Reprice()
	p.SetBounds(b.lo, b.hi)
	v, row := p.Solve(mostPivots, math.Inf(-1))
	b.work += int64(2 * p.program.Entries)
	if v == linprog.Infeasible && p.program.UpperBound(nil, p.FarkasMultipliers(row), b.lo, b.hi) < 0 {
		return 0, true
	}
	return p.program.UpperBound(p.program.Cost, p.Weights(), b.lo, b.hi), false
}
