package linprog

import "math"

// A DualSimplex solves a [Program] by the dual simplex method for bounded variables (Koberstein, The Dual Simplex
// Method, 2005, chapter 3). The basis stays dual feasible, that is, no permitted change of a single nonbasic
// variable raises the objective. The method brings the basic variables within their bounds one after another. The
// objective is an additional last row of the basis.
//
// The computation is in floating point. So conclusions are drawn only from weights of the rows, for which
// [Program.UpperBound] computes a safe bound.
type DualSimplex struct {
	basis
	program *Program
	Work    int64 // number of coefficients processed so far
}

// NewDual returns a DualSimplex for p whose basic variables are the activities of the rows, that is, the sums of
// the rows.
func NewDual(p *Program) *DualSimplex {
	m, n := len(p.Rows), p.Columns
	t := &DualSimplex{program: p, basis: basis{rows: make([][]float64, m+1), basicVariables: make([]int32, m), nonbasicVariables: make([]int32, n)}}
	t.lo, t.hi, t.Value = make([]float64, n+m), make([]float64, n+m), make([]float64, n+m)
	for r := range t.rows {
		t.rows[r] = make([]float64, n)
	}
	t.resetBasis()
	return t
}

// CloneFor returns a copy of t for p, which must be a copy of the program that t solves.
func (t *DualSimplex) CloneFor(p *Program) *DualSimplex {
	return &DualSimplex{basis: t.basis.clone(), program: p, Work: t.Work}
}

// resetBasis makes the activities of the rows, that is, the sums of the rows, the basic variables.
func (t *DualSimplex) resetBasis() {
	for r, of := range t.program.Rows {
		clear(t.rows[r])
		for _, e := range of {
			t.rows[r][e.Column] += e.Factor
		}
		t.basicVariables[r] = int32(t.program.Columns + r)
	}
	copy(t.rows[len(t.program.Rows)], t.program.Cost)
	for j := range t.nonbasicVariables {
		t.nonbasicVariables[j] = int32(j)
	}
	t.Work += int64(len(t.rows) * t.program.Columns)
}

// SetBounds sets the bounds of the columns and updates the values of all variables. Each nonbasic variable moves
// to the bound at which the objective is greater.
func (t *DualSimplex) SetBounds(lo, hi []float64) {
	n := t.program.Columns
	copy(t.lo, lo)
	copy(t.hi, hi)
	copy(t.lo[n:], t.program.RowLo)
	copy(t.hi[n:], t.program.RowHi)
	t.setValues()
}

// setValues moves each nonbasic variable to the bound at which the objective is greater, and computes the values
// of the basic variables.
func (t *DualSimplex) setValues() {
	d := t.rows[len(t.basicVariables)]
	for j, v := range t.nonbasicVariables {
		lo, hi := t.lo[v], t.hi[v]
		switch {
		case math.IsInf(lo, -1) || d[j] > minPivot && !math.IsInf(hi, 1):
			t.Value[v] = hi
		case d[j] < -minPivot || math.IsInf(hi, 1) || t.Value[v] != hi:
			t.Value[v] = lo
		}
	}
	t.setBasicValues()
	t.Work += int64(len(t.basicVariables) * len(t.nonbasicVariables))
}

// A Verdict is the outcome of solving a program.
type Verdict int

// These constants are the outcomes of [DualSimplex.Solve].
const (
	Optimal    Verdict = iota // the basic variables are within their bounds, so the basis is optimal
	Infeasible                // no values satisfy the program
	Stuck                     // the limit on pivots was reached
)

// Solve brings the basic variables within their bounds by at most the given number of pivots. If the objective
// falls to cutoff, Solve stops early with the verdict Optimal. If the verdict is Infeasible, row is the index of
// a row whose basic variable cannot be brought within its bounds.
func (t *DualSimplex) Solve(pivots int, cutoff float64) (v Verdict, row int) {
	for k := 0; ; k++ {
		if k%50 == 49 {
			t.setValues()
		}
		row, side := t.leavingRow()
		if row < 0 {
			return Optimal, -1
		}
		if k >= pivots {
			return Stuck, -1
		}
		j := t.enteringColumn(row, side)
		if j < 0 {
			return Infeasible, row
		}
		t.moveToBound(row, j, side)
		t.pivot(row, j)
		if t.Objective() <= cutoff {
			return Optimal, -1
		}
	}
}

// moveToBound changes the nonbasic variable in column j until the basic variable of the row reaches the violated
// bound. The parameter side is 1 if that bound is the upper bound, and −1 if that bound is the lower bound.
func (t *DualSimplex) moveToBound(row, j int, side float64) {
	b, v := t.basicVariables[row], t.nonbasicVariables[j]
	to := t.lo[b]
	if side > 0 {
		to = t.hi[b]
	}
	by := (to - t.Value[b]) / t.rows[row][j]
	for r, other := range t.basicVariables {
		t.Value[other] += float64(t.rows[r][j] * by)
	}
	t.Value[v] += by
	t.Value[b] = to
}

// Objective returns the value of the objective at the current basis.
func (t *DualSimplex) Objective() (v float64) {
	for j, d := range t.rows[len(t.basicVariables)] {
		if d != 0 {
			v += float64(d * t.Value[t.nonbasicVariables[j]])
		}
	}
	return v
}

// leavingRow returns the index of the row whose basic variable violates a bound most, or −1 if no basic variable
// violates a bound. The result side is 1 if the upper bound is violated, and −1 if the lower bound is violated.
func (t *DualSimplex) leavingRow() (row int, side float64) {
	row, most := -1, boundTolerance
	for r, b := range t.basicVariables {
		v := t.Value[b]
		if off := t.lo[b] - v; off > most {
			row, most, side = r, off, -1
		}
		if off := v - t.hi[b]; off > most {
			row, most, side = r, off, 1
		}
	}
	return row, side
}

// enteringColumn returns the index of the column whose nonbasic variable should become basic instead of the basic
// variable of the row. The choice keeps the basis dual feasible (see [DualSimplex]), as far as rounding allows.
// The result is −1 if no column can bring the basic variable to the violated bound.
func (t *DualSimplex) enteringColumn(row int, side float64) int {
	best, least, size := -1, math.Inf(1), 0.0
	d := t.rows[len(t.basicVariables)]
	for j, f := range t.rows[row] {
		if f < minPivot && f > -minPivot {
			continue
		}
		v := t.nonbasicVariables[j]
		if t.lo[v] == t.hi[v] {
			continue
		}
		atLow := t.Value[v] == t.lo[v]
		// A basic variable below its bound must rise, and each other variable can move in one direction only.
		if up := side < 0; atLow == (up == (f < 0)) {
			continue
		}
		f = math.Abs(f)
		ratio := math.Abs(d[j]) / f
		if ratio < least-1e-12 || ratio <= least+1e-12 && f > size {
			best, least, size = j, min(ratio, least), f
		}
	}
	return best
}

// pivot exchanges the basic variable of a row with the nonbasic variable of column j.
func (t *DualSimplex) pivot(row, j int) {
	t.exchange(row, j)
	t.Work += int64(len(t.rows) * len(t.nonbasicVariables))
}

// Weights returns the dual value (Lagrange multiplier) of each row at the current basis.
func (t *DualSimplex) Weights() []float64 {
	w := make([]float64, len(t.basicVariables))
	for j, v := range t.nonbasicVariables {
		if k := int(v) - t.program.Columns; k >= 0 {
			w[k] = t.rows[len(t.basicVariables)][j]
		}
	}
	return w
}

// FarkasMultipliers returns weights of the rows that prove that the program is infeasible. The basic variable of
// the given row must violate a bound that no column can repair. Then no values within the bounds of the columns
// satisfy the weighted sum of the rows.
func (t *DualSimplex) FarkasMultipliers(row int) []float64 {
	w := make([]float64, len(t.basicVariables))
	sign := 1.0 // −1 if the basic variable lies below its bounds, 1 if above
	if b := t.basicVariables[row]; t.Value[b] < t.lo[b] {
		sign = -1
	}
	if k := int(t.basicVariables[row]) - t.program.Columns; k >= 0 {
		w[k] = sign
	}
	for j, v := range t.nonbasicVariables {
		if k := int(v) - t.program.Columns; k >= 0 {
			w[k] = float64(-sign * t.rows[row][j])
		}
	}
	return w
}

// AppendRows adds to the tableau the rows that were added to the program since the last call. The activities of
// these rows, that is, the sums of the rows, become basic.
func (t *DualSimplex) AppendRows() {
	n := t.program.Columns
	where := make([]int, len(t.lo)+len(t.program.Rows))
	objective := t.rows[len(t.basicVariables)]
	t.rows = t.rows[:len(t.basicVariables)]
	for j, v := range t.nonbasicVariables {
		where[v] = j
	}
	for r, v := range t.basicVariables {
		where[v] = -1 - r
	}
	for r := len(t.basicVariables); r < len(t.program.Rows); r++ {
		row := make([]float64, n)
		for _, e := range t.program.Rows[r] {
			if at := where[e.Column]; at >= 0 {
				row[at] += e.Factor
			} else {
				for j, f := range t.rows[-1-at] {
					row[j] += float64(e.Factor * f)
				}
			}
		}
		v := 0.0
		for j, f := range row {
			v += float64(f * t.Value[t.nonbasicVariables[j]])
		}
		t.rows = append(t.rows, row)
		t.basicVariables = append(t.basicVariables, int32(n+r))
		t.lo, t.hi, t.Value = append(t.lo, t.program.RowLo[r]), append(t.hi, t.program.RowHi[r]), append(t.Value, v)
		t.Work += int64(n * len(t.program.Rows[r]))
	}
	t.rows = append(t.rows, objective)
}

// Refresh recomputes the tableau for the same basis, which removes accumulated rounding errors.
func (t *DualSimplex) Refresh() {
	n := t.program.Columns
	out := make([]bool, n+len(t.basicVariables)) // basic variables that must become nonbasic
	for _, v := range t.nonbasicVariables {
		out[v] = true
	}
	values := t.Value
	t.resetBasis()
	for r := range t.basicVariables {
		if !out[n+r] {
			continue
		}
		best, size := -1, 1e-7
		for j, v := range t.nonbasicVariables {
			if f := math.Abs(t.rows[r][j]); int(v) < n && !out[v] && f > size {
				best, size = j, f
			}
		}
		if best >= 0 {
			t.pivot(r, best)
		}
	}
	t.Value = values
	t.setValues()
}

// UpdateCosts recomputes the row of the objective in the tableau after a change of the program's costs.
func (t *DualSimplex) UpdateCosts() {
	d := t.rows[len(t.basicVariables)]
	for j, v := range t.nonbasicVariables {
		d[j] = 0
		if int(v) < t.program.Columns {
			d[j] = t.program.Cost[v]
		}
	}
	for r, v := range t.basicVariables {
		if int(v) >= t.program.Columns || t.program.Cost[v] == 0 {
			continue
		}
		for j, f := range t.rows[r] {
			d[j] += float64(t.program.Cost[v] * f)
		}
		t.Work += int64(len(d))
	}
}

// CoefficientCount returns the number of coefficients in the tableau.
func (t *DualSimplex) CoefficientCount() int { return len(t.rows) * t.program.Columns }
