package bound

import "math"

// A probe is the program of the conditions alone. It bounds the linear forms that a factor asks
// for. Its rows have bounds on both sides, so the basis of one form and box is a valid start for
// the next, whatever the costs.
type probe struct {
	*tableau
	program   program
	refreshed int64
}

// newProbe makes the probe for the boxes within n, if a factor needs it.
func (b *Bounder) newProbe(n *box) {
	x := b.x
	asked := false
	for k := range b.p.Factors {
		asked = asked || b.p.Factors[k].isBoundedByForms()
	}
	if x == nil || !asked {
		return
	}
	b.lo, b.hi = make([]float64, x.columns), make([]float64, x.columns)
	b.setColumnBounds(n)
	p := &probe{program: program{columns: x.columns, cost: make([]float64, x.columns)}}
	for r, of := range x.rows[:x.firstTangent] {
		from, to := -1.0, 1.0 // beyond what the columns allow
		for _, e := range of {
			from += min(float64(e.factor*b.lo[e.column]), float64(e.factor*b.hi[e.column]))
			to += max(float64(e.factor*b.lo[e.column]), float64(e.factor*b.hi[e.column]))
		}
		if !math.IsInf(x.rowLo[r], -1) {
			from = x.rowLo[r]
		}
		if !math.IsInf(x.rowHi[r], 1) {
			to = x.rowHi[r]
		}
		p.program.addRow(of, from, to)
	}
	p.tableau = newTableau(&p.program)
	b.probe = p
}

// isBoundedByForms reports whether forms bound a factor.
func (p Factor) isBoundedByForms() bool { return !p.hasColumn() && p.MaxOverForms != nil }

// boundByForms returns the joint bound in a box of the factors that forms bound, or that the box is
// empty. It also returns the solution of the last program.
func (b *Bounder) boundByForms(n *box) (amounts, uses []float64, above float64, empty bool) {
	b.setColumnBounds(n)
	p, x := b.probe, b.x
	if p.work-p.refreshed > int64(100*len(p.t)*x.columns) {
		p.refresh()
		p.refreshed = p.work
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
		amounts, uses = append(amounts, p.value[2*k]/x.unit), append(uses, p.value[2*k+1])
	}
	return amounts, uses, above, false
}

// maximizeForm returns an upper bound of a form in the current box, or that the box is empty.
func (b *Bounder) maximizeForm(perUnit, perUse []float64) (above float64, empty bool) {
	p, x := b.probe, b.x
	clear(p.program.cost)
	for k, i := range x.ingredients {
		p.program.cost[2*k] = perUnit[i] / x.unit
		if perUse != nil {
			p.program.cost[2*k+1] = perUse[i]
		}
	}
	p.reprice()
	p.bound(b.lo, b.hi)
	v, row := p.solve(mostPivots, math.Inf(-1))
	b.work += int64(2 * p.program.entries)
	if v == infeasible && p.program.above(nil, p.farkasMultipliers(row), b.lo, b.hi) < 0 {
		return 0, true
	}
	return p.program.above(p.program.cost, p.weights(), b.lo, b.hi), false
}

// reprice recomputes the objective from the costs.
func (t *tableau) reprice() {
	d := t.t[len(t.basic)]
	for j, v := range t.nonbasic {
		d[j] = 0
		if int(v) < t.p.columns {
			d[j] = t.p.cost[v]
		}
	}
	for r, v := range t.basic {
		if int(v) >= t.p.columns || t.p.cost[v] == 0 {
			continue
		}
		for j, f := range t.t[r] {
			d[j] += float64(t.p.cost[v] * f)
		}
		t.work += int64(len(d))
	}
}
