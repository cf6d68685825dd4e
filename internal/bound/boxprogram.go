package bound

import (
	"kir/internal/constraint/linprog"
)

import "math"

// buildTableau builds the linear program with a few tangents of the log of each factor that has a column.
// buildTableau does nothing if there is no relaxation or some factor has no bound.
func (b *Bounder) buildTableau() {
	x := b.relaxation
	if x == nil || len(x.logFactors) == 0 {
		return
	}
	rest := 0.0 // sum of the positive bounds of all factors
	for k := range b.maxFactorLogs {
		rest += max(b.maxFactorLogs[k], 0)
	}
	if math.IsInf(rest, 1) {
		return
	}
	b.prunedBound = minLog + rest // Columns of logs are at least minLog. A composition with a lower log scores at most this bound.
	for k, part := range x.logFactors {
		l := b.problem.Factors[part].Linear
		if l == nil {
			b.addConcaveTangent(k, b.middleAmounts(b.root))
			continue
		}
		from, to := max(b.formRanges[part][0], l.DomainLow), min(b.formRanges[part][1], l.DomainHigh)
		for q := range 7 {
			b.addLinearTangent(k, from+float64((to-from)*float64(q+1)/8))
		}
		b.addLinearTangent(k, min(max(from, l.LogMaximizer), to))
	}
	b.tableau = linprog.NewDual(&x.Program)
	b.columnLo, b.columnHi = make([]float64, x.Columns), make([]float64, x.Columns)
}

// addLinearTangent adds a row to the linear program: the tangent, at the value v of the linear form, of the log
// of the factor with index logFactors[logIndex]. The result is false if there is no tangent at v or the factor
// already has the maximum number of tangents.
func (b *Bounder) addLinearTangent(logIndex int, v float64) bool {
	x := b.relaxation
	if x.tangentCounts[logIndex] >= maxLinearTangents {
		return false
	}
	part := x.logFactors[logIndex]
	t, ok := b.problem.Factors[part].Linear.tangent(v, b.formRanges[part][0], b.formRanges[part][1], b.problem.Conditions.Total)
	if ok {
		x.addTangent(b, logIndex, t)
	}
	return ok
}

// These constants limit the work on the linear program of one box. Each round adds tangents at the program's
// solution and solves the program again.
const (
	maxPivots        = 400 // maximum number of pivots of the simplex method
	maxRootCutRounds = 15  // maximum number of rounds for the box of all compositions
	maxCutRounds     = 3   // maximum number of rounds for any other box
)

// solveProgram solves the linear program of a box and lowers the upper bound of the box to the result. The
// parameter rest is the sum of the bounds of the factors outside the program. solveProgram returns the amounts
// and uses of the solution, or nil if the bound is no higher than the best known score. The result empty means
// that the box is proved to contain no composition.
func (b *Bounder) solveProgram(n *box, rest float64) (amounts, uses []float64, empty bool) {
	x, t := b.relaxation, b.tableau
	b.setColumnBounds(n)
	t.SetBounds(b.columnLo, b.columnHi)
	cuts := maxCutRounds
	if n.Depth == 0 {
		cuts = maxRootCutRounds
	}
	if t.Work-b.workAtRefresh > int64(100*t.CoefficientCount()) {
		b.refreshTableau()
	}
	again := true // whether the tableau may still be recomputed once
	for {
		v, row := t.Solve(maxPivots, b.incumbent-rest-1e-6)
		if v == linprog.Infeasible && x.UpperBound(nil, t.FarkasMultipliers(row), b.columnLo, b.columnHi) < 0 {
			b.work += int64(x.Entries)
			return nil, nil, true
		}
		above := x.UpperBound(x.Cost, t.Weights(), b.columnLo, b.columnHi)
		b.work += int64(x.Entries)
		if above+rest < n.UpperBound {
			n.UpperBound = above + rest
		}
		if n.UpperBound <= b.incumbent+scoreTolerance {
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
		amounts, uses = append(amounts, t.Value[2*k]/x.unitValue), append(uses, t.Value[2*k+1])
	}
	return amounts, uses, false
}

// refreshTableau recomputes the tableau, which removes the rounding errors accumulated by pivots.
func (b *Bounder) refreshTableau() {
	b.tableau.Refresh()
	b.workAtRefresh = b.tableau.Work
}

// addCuts adds a tangent for each factor whose log, at the solution of the linear program, is below the value of
// the factor's column. The result reports whether a tangent was added.
func (b *Bounder) addCuts() (added bool) {
	x, t := b.relaxation, b.tableau
	for k, part := range x.logFactors {
		l := b.problem.Factors[part].Linear
		if l == nil {
			added = b.addConcaveTangent(k, b.solvedAmounts()) || added
			continue
		}
		v := min(max(b.solvedFormValue(l), b.formRanges[part][0]), b.formRanges[part][1])
		if t.Value[x.firstLogColumn+k] > max(l.Log(v), l.Floor)+1e-10 && b.addLinearTangent(k, v) {
			added = true
		}
	}
	if added {
		t.AppendRows()
	}
	return added
}

// solvedAmounts returns the amount of each ingredient in the solution of the linear program, in units.
func (b *Bounder) solvedAmounts() []float64 {
	amounts := make([]float64, len(b.amountSets))
	for k, i := range b.relaxation.ingredients {
		amounts[i] = max(b.tableau.Value[2*k], 0) / b.relaxation.unitValue
	}
	return amounts
}

// solvedFormValue returns the value of the linear form l in the solution of the linear program.
func (b *Bounder) solvedFormValue(l *Linear) float64 {
	v := l.Constant
	for _, e := range b.relaxation.formEntries(l) {
		v += float64(e.Factor * b.tableau.Value[e.Column])
	}
	return v
}
