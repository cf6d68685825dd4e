package bound

import "math"

// A program is a linear program: the greatest Σ_j cost_j·x_j for x within bounds, where
// each row Σ_j factor·x_j is within bounds, too. Factors and the bounds of columns are
// finite; a row may have an infinite bound.
type program struct {
	columns int
	rows    [][]entry
	rowLo   []float64
	rowHi   []float64
	cost    []float64
	entries int // of all rows
}

type entry struct {
	column int
	factor float64
}

// addRow adds a row and returns its number.
func (p *program) addRow(of []entry, lo, hi float64) int {
	p.rows = append(p.rows, of)
	p.entries += len(of)
	p.rowLo, p.rowHi = append(p.rowLo, lo), append(p.rowHi, hi)
	return len(p.rows) - 1
}

// A tableau solves a program by the dual simplex method for bounded variables
// (Koberstein, The Dual Simplex Method, 2005, chapter 3): every row is a variable of its
// own, its activity, and the basic variables, activities at first, are sums of the others.
// Costs stay such that no change of one of the others alone raises the objective, and
// basic variables are brought within their bounds one after another.
//
// All is in floating point, and nothing is concluded from it but by weights of the rows:
// see [program.above].
type tableau struct {
	p        *program
	t        [][]float64 // of each basic variable, the factors of the others; last: the objective
	basic    []int32     // variable of each row: columns first, then activities
	nonbasic []int32     // variable of each column
	lo, hi   []float64   // by variable
	value    []float64   // by variable
	work     int64
}

const (
	outOfBounds = 1e-9
	smallPivot  = 1e-9
)

// newTableau returns a tableau in whose basis the activities are.
func newTableau(p *program) *tableau {
	m, n := len(p.rows), p.columns
	t := &tableau{p: p, t: make([][]float64, m+1), basic: make([]int32, m), nonbasic: make([]int32, n)}
	t.lo, t.hi, t.value = make([]float64, n+m), make([]float64, n+m), make([]float64, n+m)
	for r := range t.t {
		t.t[r] = make([]float64, n)
	}
	t.restart()
	return t
}

// restart makes the activities the basis.
func (t *tableau) restart() {
	for r, of := range t.p.rows {
		clear(t.t[r])
		for _, e := range of {
			t.t[r][e.column] += e.factor
		}
		t.basic[r] = int32(t.p.columns + r)
	}
	copy(t.t[len(t.p.rows)], t.p.cost)
	for j := range t.nonbasic {
		t.nonbasic[j] = int32(j)
	}
	t.work += int64(len(t.t) * t.p.columns)
}

// bound sets the bounds of the columns and updates all values: non-basic variables move to the
// bounds that favour the objective.
func (t *tableau) bound(lo, hi []float64) {
	n := t.p.columns
	copy(t.lo, lo)
	copy(t.hi, hi)
	copy(t.lo[n:], t.p.rowLo)
	copy(t.hi[n:], t.p.rowHi)
	t.setValues()
}

// setValues sets the non-basic variables to bounds, and the basic variables accordingly.
func (t *tableau) setValues() {
	d := t.t[len(t.basic)]
	for j, v := range t.nonbasic {
		lo, hi := t.lo[v], t.hi[v]
		switch {
		case math.IsInf(lo, -1) || d[j] > smallPivot && !math.IsInf(hi, 1):
			t.value[v] = hi
		case d[j] < -smallPivot || math.IsInf(hi, 1) || t.value[v] != hi:
			t.value[v] = lo
		}
	}
	for r, b := range t.basic {
		v := 0.0
		for j, f := range t.t[r] {
			if f != 0 {
				v += float64(f * t.value[t.nonbasic[j]])
			}
		}
		t.value[b] = v
	}
	t.work += int64(len(t.basic) * len(t.nonbasic))
}

// A verdict is the outcome of solving a program.
type verdict int

const (
	optimal verdict = iota
	infeasible
	stuck
)

// solve brings the basic variables within bounds, in at most the given number of pivots. It stops,
// as if optimal, once the objective has fallen to a cutoff. If the program is infeasible, row is
// the one that cannot be brought within its bounds.
func (t *tableau) solve(pivots int, cutoff float64) (v verdict, row int) {
	for k := 0; ; k++ {
		if k%50 == 49 {
			t.setValues()
		}
		row, side := t.leaving()
		if row < 0 {
			return optimal, -1
		}
		if k >= pivots {
			return stuck, -1
		}
		j := t.entering(row, side)
		if j < 0 {
			return infeasible, row
		}
		t.move(row, j, side)
		t.pivot(row, j)
		if t.objective() <= cutoff {
			return optimal, -1
		}
	}
}

// move brings the basic variable of a row to the violated bound, by changing a column.
func (t *tableau) move(row, j int, side float64) {
	b, v := t.basic[row], t.nonbasic[j]
	to := t.lo[b]
	if side > 0 {
		to = t.hi[b]
	}
	by := (to - t.value[b]) / t.t[row][j]
	for r, other := range t.basic {
		t.value[other] += float64(t.t[r][j] * by)
	}
	t.value[v] += by
	t.value[b] = to
}

// objective returns its value.
func (t *tableau) objective() (v float64) {
	for j, d := range t.t[len(t.basic)] {
		if d != 0 {
			v += float64(d * t.value[t.nonbasic[j]])
		}
	}
	return v
}

// leaving returns the row whose basic variable violates its bounds most, and the violated side; −1
// if there is none.
func (t *tableau) leaving() (row int, side float64) {
	row, most := -1, outOfBounds
	for r, b := range t.basic {
		v := t.value[b]
		if off := t.lo[b] - v; off > most {
			row, most, side = r, off, -1
		}
		if off := v - t.hi[b]; off > most {
			row, most, side = r, off, 1
		}
	}
	return row, side
}

// entering returns the column that replaces the basic variable of a row at the least cost; −1 if
// none brings it to its bound.
func (t *tableau) entering(row int, side float64) int {
	best, least, size := -1, math.Inf(1), 0.0
	d := t.t[len(t.basic)]
	for j, f := range t.t[row] {
		if f < smallPivot && f > -smallPivot {
			continue
		}
		v := t.nonbasic[j]
		if t.lo[v] == t.hi[v] {
			continue
		}
		atLow := t.value[v] == t.lo[v]
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

// pivot exchanges the basic variable of a row and that of a column.
func (t *tableau) pivot(row, j int) {
	p := t.t[row]
	by := p[j]
	for k, f := range p {
		if f != 0 {
			p[k] = f / -by
		}
	}
	p[j] = 1 / by
	for r, other := range t.t {
		f := other[j]
		if r == row || f == 0 {
			continue
		}
		other[j] = 0
		for k, x := range p {
			if x != 0 {
				other[k] += float64(f * x)
			}
		}
	}
	t.basic[row], t.nonbasic[j] = t.nonbasic[j], t.basic[row]
	t.work += int64(len(t.t) * len(p))
}

// weights returns the rows' dual values.
func (t *tableau) weights() []float64 {
	w := make([]float64, len(t.basic))
	for j, v := range t.nonbasic {
		if k := int(v) - t.p.columns; k >= 0 {
			w[k] = t.t[len(t.basic)][j]
		}
	}
	return w
}

// farkasMultipliers returns row weights that prove infeasibility: the weighted sum of rows, for the
// row of an out-of-bounds basic variable, cannot be 0 as required.
func (t *tableau) farkasMultipliers(row int) []float64 {
	w := make([]float64, len(t.basic))
	sign := 1.0 // of the variable that is below: it less what the others make it is 0
	if b := t.basic[row]; t.value[b] < t.lo[b] {
		sign = -1
	}
	if k := int(t.basic[row]) - t.p.columns; k >= 0 {
		w[k] = sign
	}
	for j, v := range t.nonbasic {
		if k := int(v) - t.p.columns; k >= 0 {
			w[k] = float64(-sign * t.t[row][j])
		}
	}
	return w
}

// above returns an upper bound of Σ cost·x for any weights w of the rows. The sum equals Σ_r
// w_r·(row r) + Σ_j (cost_j − Σ_r w_r·factor_rj)·x_j, and each term is at most its value at one of
// its bounds. It adds the possible rounding error. Weights near the best give a bound near the
// optimum, and no weights can make it wrong. Without costs it is below 0 only if nothing satisfies
// the rows.
func (p *program) above(cost, w, lo, hi []float64) float64 {
	rest, size := make([]float64, p.columns), make([]float64, p.columns)
	if cost != nil {
		copy(rest, cost)
		for j, c := range cost {
			size[j] = math.Abs(c)
		}
	}
	sum, sizes := 0.0, 0.0
	for r, weight := range w {
		if weight == 0 {
			continue
		}
		at := p.rowHi[r]
		if weight < 0 {
			at = p.rowLo[r]
		}
		if math.IsInf(at, 0) {
			continue // a weight that is rounding, or of no use
		}
		v := float64(weight * at)
		sum += v
		sizes += math.Abs(v)
		for _, e := range p.rows[r] {
			v := float64(weight * e.factor)
			rest[e.column] -= v
			size[e.column] += math.Abs(v)
		}
	}
	for j, f := range rest {
		v := max(float64(f*lo[j]), float64(f*hi[j]))
		sum += v
		sizes += math.Abs(v) + float64(size[j]*max(math.Abs(lo[j]), math.Abs(hi[j])))
	}
	// Each number goes through fewer roundings than there are rows and columns, each of at most
	// 2⁻⁵³ of the sum, and the factors may be rounded once.
	return sum + float64(sizes*float64(len(p.rows)+p.columns+8)*0x1p-52)
}
