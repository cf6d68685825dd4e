package linprog

import (
	"math"
	"slices"
)

// A Program is a linear program: maximise Σ_j cost_j·x_j over values x_j within bounds, where each row Σ_j
// factor·x_j must also be within bounds. Coefficients and the bounds of columns are finite; a row may have
// infinite bounds.
type Program struct {
	Columns int       // number of columns
	Rows    [][]Entry // item r holds the coefficients of row r
	RowLo   []float64 // item r is the lower bound of row r; −Inf if row r has no lower bound
	RowHi   []float64 // item r is the upper bound of row r; +Inf if row r has no upper bound
	Cost    []float64 // item j is the coefficient of column j in the objective
	Entries int       // total number of coefficients of the rows
}

// An Entry is the coefficient Factor of a column in a row.
type Entry struct {
	Column int
	Factor float64
}

// AddRow adds the row lo ≤ Σ entries ≤ hi and returns the index of the row.
func (p *Program) AddRow(of []Entry, lo, hi float64) int {
	p.Rows = append(p.Rows, of)
	p.Entries += len(of)
	p.RowLo, p.RowHi = append(p.RowLo, lo), append(p.RowHi, hi)
	return len(p.Rows) - 1
}

// Clone returns a copy of p to which rows can be added, and whose costs can be changed.
func (p *Program) Clone() Program {
	c := *p
	c.Rows, c.RowLo, c.RowHi, c.Cost = slices.Clone(p.Rows), slices.Clone(p.RowLo), slices.Clone(p.RowHi), slices.Clone(p.Cost)
	return c
}

// UpperBound returns an upper bound of Σ cost·x for any weights w of the rows. The sum equals Σ_r w_r·(row r) +
// Σ_j (cost_j − Σ_r w_r·factor_rj)·x_j, and each summand is largest at one of its bounds. UpperBound adds the
// possible rounding error. The better the weights, the nearer the bound is to the optimum, but no weights can
// make the bound wrong. If all costs are 0, a bound below 0 proves that no values satisfy the rows.
func (p *Program) UpperBound(cost, w, lo, hi []float64) float64 {
	rest, size := make([]float64, p.Columns), make([]float64, p.Columns)
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
		at := p.RowHi[r]
		if weight < 0 {
			at = p.RowLo[r]
		}
		if math.IsInf(at, 0) {
			continue // a weight that is rounding error, or whose row has no bound on that side
		}
		v := float64(weight * at)
		sum += v
		sizes += math.Abs(v)
		for _, e := range p.Rows[r] {
			v := float64(weight * e.Factor)
			rest[e.Column] -= v
			size[e.Column] += math.Abs(v)
		}
	}
	for j, f := range rest {
		v := max(float64(f*lo[j]), float64(f*hi[j]))
		sum += v
		sizes += math.Abs(v) + float64(size[j]*max(math.Abs(lo[j]), math.Abs(hi[j])))
	}
	// Each number is rounded fewer times than there are rows and columns, by at most 2⁻⁵³ of the sum. The
	// coefficients may have been rounded once.
	return sum + float64(sizes*float64(len(p.Rows)+p.Columns+8)*0x1p-52)
}
