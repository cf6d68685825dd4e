package linprog

import "math"

// A Dual solves a [Program] by the dual simplex method for bounded variables (Koberstein, The Dual Simplex Method,
// 2005, chapter 3). It keeps the basis dual feasible: no change of a single nonbasic variable raises the objective.
// It brings the basic variables within their bounds one after another. The objective is an additional last row of the
// basis.
//
// The computation is in floating point. Conclusions rest only on weights of the rows: see [Program.UpperBound].
type Dual struct {
	basis
	p    *Program
	Work int64 // number of coefficients processed so far
}

// NewDual returns a Dual for p whose basic variables are the rows' activities.
func NewDual(p *Program) *Dual {
	m, n := len(p.Rows), p.Columns
	t := &Dual{p: p, basis: basis{rows: make([][]float64, m+1), basic: make([]int32, m), nonbasic: make([]int32, n)}}
	t.lo, t.hi, t.Value = make([]float64, n+m), make([]float64, n+m), make([]float64, n+m)
	for r := range t.rows {
		t.rows[r] = make([]float64, n)
	}
	t.restart()
	return t
}

// restart sets the basis to the rows' activities.
func (t *Dual) restart() {
	for r, of := range t.p.Rows {
		clear(t.rows[r])
		for _, e := range of {
			t.rows[r][e.Column] += e.Factor
		}
		t.basic[r] = int32(t.p.Columns + r)
	}
	copy(t.rows[len(t.p.Rows)], t.p.Cost)
	for j := range t.nonbasic {
		t.nonbasic[j] = int32(j)
	}
	t.Work += int64(len(t.rows) * t.p.Columns)
}

// SetBounds sets the bounds of the columns and updates all values: non-basic variables move to the
// bounds that favour the objective.
func (t *Dual) SetBounds(lo, hi []float64) {
	n := t.p.Columns
	copy(t.lo, lo)
	copy(t.hi, hi)
	copy(t.lo[n:], t.p.RowLo)
	copy(t.hi[n:], t.p.RowHi)
	t.setValues()
}

// setValues moves the nonbasic variables to the bounds that favour the objective, and computes the basic ones.
func (t *Dual) setValues() {
	d := t.rows[len(t.basic)]
	for j, v := range t.nonbasic {
		lo, hi := t.lo[v], t.hi[v]
		switch {
		case math.IsInf(lo, -1) || d[j] > smallPivot && !math.IsInf(hi, 1):
			t.Value[v] = hi
		case d[j] < -smallPivot || math.IsInf(hi, 1) || t.Value[v] != hi:
			t.Value[v] = lo
		}
	}
	t.setBasicValues()
	t.Work += int64(len(t.basic) * len(t.nonbasic))
}

// A Verdict is the outcome of solving a program.
type Verdict int

// These are the results of [Dual.Solve]. Stuck means that the program took too many pivots.
const (
	Optimal Verdict = iota
	Infeasible
	Stuck
)

// Solve brings the basic variables within their bounds by at most the given number of pivots. It stops as if optimal
// once the objective has fallen to cutoff. If it finds the program infeasible, row is the row that cannot be brought
// within its bounds.
func (t *Dual) Solve(pivots int, cutoff float64) (v Verdict, row int) {
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
		j := t.entering(row, side)
		if j < 0 {
			return Infeasible, row
		}
		t.move(row, j, side)
		t.pivot(row, j)
		if t.Objective() <= cutoff {
			return Optimal, -1
		}
	}
}

// move changes the nonbasic variable of column j until the row's basic variable reaches its violated bound.
func (t *Dual) move(row, j int, side float64) {
	b, v := t.basic[row], t.nonbasic[j]
	to := t.lo[b]
	if side > 0 {
		to = t.hi[b]
	}
	by := (to - t.Value[b]) / t.rows[row][j]
	for r, other := range t.basic {
		t.Value[other] += float64(t.rows[r][j] * by)
	}
	t.Value[v] += by
	t.Value[b] = to
}

// Objective returns the objective's value at the current basis.
func (t *Dual) Objective() (v float64) {
	for j, d := range t.rows[len(t.basic)] {
		if d != 0 {
			v += float64(d * t.Value[t.nonbasic[j]])
		}
	}
	return v
}

// leavingRow returns the row whose basic variable violates its bounds most, or −1. side is 1 or −1 for the
// violated bound.
func (t *Dual) leavingRow() (row int, side float64) {
	row, most := -1, outOfBounds
	for r, b := range t.basic {
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

// entering returns the column whose variable should replace the row's basic variable, at the least loss of dual
// feasibility. It returns −1 if none can bring the variable to its bound.
func (t *Dual) entering(row int, side float64) int {
	best, least, size := -1, math.Inf(1), 0.0
	d := t.rows[len(t.basic)]
	for j, f := range t.rows[row] {
		if f < smallPivot && f > -smallPivot {
			continue
		}
		v := t.nonbasic[j]
		if t.lo[v] == t.hi[v] {
			continue
		}
		atLow := t.Value[v] == t.lo[v]
		// A basic variable below its bound must rise, and each other variable can move one way.
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
func (t *Dual) pivot(row, j int) {
	t.exchange(row, j)
	t.Work += int64(len(t.rows) * len(t.nonbasic))
}

// Weights returns the dual value of each row at the current basis.
func (t *Dual) Weights() []float64 {
	w := make([]float64, len(t.basic))
	for j, v := range t.nonbasic {
		if k := int(v) - t.p.Columns; k >= 0 {
			w[k] = t.rows[len(t.basic)][j]
		}
	}
	return w
}

// FarkasMultipliers returns row weights that prove infeasibility: the weighted sum of rows, for the
// row of an out-of-bounds basic variable, cannot be 0 as required.
func (t *Dual) FarkasMultipliers(row int) []float64 {
	w := make([]float64, len(t.basic))
	sign := 1.0 // −1 if the basic variable lies below its bounds, 1 if above
	if b := t.basic[row]; t.Value[b] < t.lo[b] {
		sign = -1
	}
	if k := int(t.basic[row]) - t.p.Columns; k >= 0 {
		w[k] = sign
	}
	for j, v := range t.nonbasic {
		if k := int(v) - t.p.Columns; k >= 0 {
			w[k] = float64(-sign * t.rows[row][j])
		}
	}
	return w
}

// AppendRows adds to the tableau the rows that the program has gained. Their activities become basic.
func (t *Dual) AppendRows() {
	n := t.p.Columns
	where := make([]int, len(t.lo)+len(t.p.Rows))
	objective := t.rows[len(t.basic)]
	t.rows = t.rows[:len(t.basic)]
	for j, v := range t.nonbasic {
		where[v] = j
	}
	for r, v := range t.basic {
		where[v] = -1 - r
	}
	for r := len(t.basic); r < len(t.p.Rows); r++ {
		row := make([]float64, n)
		for _, e := range t.p.Rows[r] {
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
			v += float64(f * t.Value[t.nonbasic[j]])
		}
		t.rows = append(t.rows, row)
		t.basic = append(t.basic, int32(n+r))
		t.lo, t.hi, t.Value = append(t.lo, t.p.RowLo[r]), append(t.hi, t.p.RowHi[r]), append(t.Value, v)
		t.Work += int64(n * len(t.p.Rows[r]))
	}
	t.rows = append(t.rows, objective)
}

// Refresh recomputes the tableau for the same basis, which removes accumulated rounding errors.
func (t *Dual) Refresh() {
	n := t.p.Columns
	out := make([]bool, n+len(t.basic)) // basic variables that must become nonbasic
	for _, v := range t.nonbasic {
		out[v] = true
	}
	values := t.Value
	t.restart()
	for r := range t.basic {
		if !out[n+r] {
			continue
		}
		best, size := -1, 1e-7
		for j, v := range t.nonbasic {
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

// Reprice recomputes the objective's row after a change of the program's costs.
func (t *Dual) Reprice() {
	d := t.rows[len(t.basic)]
	for j, v := range t.nonbasic {
		d[j] = 0
		if int(v) < t.p.Columns {
			d[j] = t.p.Cost[v]
		}
	}
	for r, v := range t.basic {
		if int(v) >= t.p.Columns || t.p.Cost[v] == 0 {
			continue
		}
		for j, f := range t.rows[r] {
			d[j] += float64(t.p.Cost[v] * f)
		}
		t.Work += int64(len(d))
	}
}

// Size returns the number of coefficients in the tableau.
func (t *Dual) Size() int { return len(t.rows) * t.p.Columns }
