package bound

import (
	"kir/internal/constraint/linprog"
)

import "math"

// makeTableau builds the linear program with a few tangents of each factor's log. It does nothing if there is no
// relaxation or some factor has no bound.
func (b *Bounder) makeTableau() {
	x := b.x
	if x == nil || len(x.linear) == 0 {
		return
	}
	rest := 0.0 // sum of the positive bounds of all factors
	for k := range b.most {
		rest += max(b.most[k], 0)
	}
	if math.IsInf(rest, 1) {
		return
	}
	b.prunedBound = least + rest // Columns of logs are at least the constant least. Compositions below it score at most this.
	for k, part := range x.linear {
		l := b.p.Factors[part].Linear
		if l == nil {
			b.addConcaveTangent(k, b.middleAmounts(b.root))
			continue
		}
		from, to := max(b.ranges[part][0], l.DomainLow), min(b.ranges[part][1], l.DomainHigh)
		for q := range 7 {
			b.addLinearTangent(k, from+float64((to-from)*float64(q+1)/8))
		}
		b.addLinearTangent(k, min(max(from, l.Best), to))
	}
	b.tableau = linprog.NewDual(&x.Program)
	b.lo, b.hi = make([]float64, x.Columns), make([]float64, x.Columns)
}

// addLinearTangent adds to the program a tangent at v for the factor in the k-th column of logs. It returns false if
// there is no tangent at v or the factor already has the greatest number.
func (b *Bounder) addLinearTangent(k int, v float64) bool {
	x := b.x
	if x.tangents[k] >= mostTangents {
		return false
	}
	part := x.linear[k]
	t, ok := b.p.Factors[part].Linear.tangent(v, b.ranges[part][0], b.ranges[part][1], b.p.Conditions.Total)
	if ok {
		x.addTangent(b, k, t)
	}
	return ok
}

// These constants limit the simplex pivots for one box, and the rounds of new tangents.
const (
	mostPivots = 400
	firstCuts  = 15
	laterCuts  = 3
)

// solve solves the linear program of a box and lowers the box's bound to the result. It returns the solution, nil if
// the bound is no higher than the incumbent. empty means that the box is proved to contain no composition.
func (b *Bounder) solve(n *box, rest float64) (amounts, uses []float64, empty bool) {
	x, t := b.x, b.tableau
	b.setColumnBounds(n)
	t.SetBounds(b.lo, b.hi)
	cuts := laterCuts
	if n.depth == 0 {
		cuts = firstCuts
	}
	if t.Work-b.refreshed > int64(100*t.Size()) {
		b.refreshTableau()
	}
	again := true // whether the tableau may still be recomputed once
	for {
		v, row := t.Solve(mostPivots, b.incumbent-rest-1e-6)
		if v == linprog.Infeasible && x.UpperBound(nil, t.FarkasMultipliers(row), b.lo, b.hi) < 0 {
			b.work += int64(x.Entries)
			return nil, nil, true
		}
		above := x.UpperBound(x.Cost, t.Weights(), b.lo, b.hi)
		b.work += int64(x.Entries)
		if above+rest < n.upperBound {
			n.upperBound = above + rest
		}
		if n.upperBound <= b.incumbent+scoreTolerance {
			return nil, nil, false
		}
		if v != linprog.Optimal || above > t.Objective()+1e-7 {
			if !again {
				break
			}
			again = false
			b.refreshTableau()
			continue
		}
		if cuts--; cuts < 0 || !b.addCuts() {
			break
		}
	}
	for k := range x.ingredients {
		amounts, uses = append(amounts, t.Value[2*k]/x.unit), append(uses, t.Value[2*k+1])
	}
	return amounts, uses, false
}

// refreshTableau recomputes the tableau, which removes the rounding errors accumulated by pivots.
func (b *Bounder) refreshTableau() {
	b.tableau.Refresh()
	b.refreshed = b.tableau.Work
}

// addCuts adds a tangent for each factor whose log the program's solution exceeds. It reports whether it added any.
func (b *Bounder) addCuts() (added bool) {
	x, t := b.x, b.tableau
	for k, part := range x.linear {
		l := b.p.Factors[part].Linear
		if l == nil {
			added = b.addConcaveTangent(k, b.solvedAmounts()) || added
			continue
		}
		v := min(max(b.solvedForm(l), b.ranges[part][0]), b.ranges[part][1])
		if t.Value[x.first+k] > max(l.Log(v), l.Floor)+1e-10 && b.addLinearTangent(k, v) {
			added = true
		}
	}
	if added {
		t.AppendRows()
	}
	return added
}

// solvedAmounts returns the amount of each ingredient in the program's solution, in units.
func (b *Bounder) solvedAmounts() []float64 {
	amounts := make([]float64, len(b.amounts))
	for k, i := range b.x.ingredients {
		amounts[i] = max(b.tableau.Value[2*k], 0) / b.x.unit
	}
	return amounts
}

// solvedForm returns the value of a linear form in the program's solution.
func (b *Bounder) solvedForm(l *Linear) float64 {
	v := l.Constant
	for _, e := range b.x.form(l) {
		v += float64(e.Factor * b.tableau.Value[e.Column])
	}
	return v
}
