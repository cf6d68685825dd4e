package linprog

import (
	"context"
	"math"
	"math/big"
)

// A WholeProgram is a linear program in whole numbers, without an objective. If the program is infeasible, the
// infeasibility can be proven exactly.
type WholeProgram struct {
	Lo, Hi []int64 // bounds of each column
	Rows   []WholeRow
}

// A WholeRow is the constraint Lo ≤ Σ factor·column ≤ Hi. The bounds math.MinInt64 and math.MaxInt64 mean no
// bound.
type WholeRow struct {
	Entries       []WholeEntry
	Lo, Hi        int64
	factorDivisor float64 // number by which the factors are divided for the simplex method; set by scaleRow
}

// A WholeEntry is the factor of a column in a row.
type WholeEntry struct {
	Column int
	Factor int64
}

// maxCoefficients is the maximum number of coefficients of a program's dense matrix, which takes 512 MiB.
const maxCoefficients = 1 << 26

// A WholeResult is the outcome of solving a [WholeProgram]: values that satisfy the program, or a proof of
// infeasibility. Neither is known if the program is too large or solving was interrupted.
type WholeResult struct {
	Values     []float64 // value of each column; nil if no values were found
	Infeasible bool      // whether the program is proven to be infeasible
	BlamedRows []int     // indices of the rows that the proof of infeasibility uses
	Work       int       // number of coefficients processed
}

// Solve looks for values of the columns that satisfy the program. The values need not be whole numbers.
func (x *WholeProgram) Solve(ctx context.Context) WholeResult {
	if len(x.Lo)*len(x.Rows) > maxCoefficients {
		return WholeResult{}
	}
	t := newFeasibilitySimplex(x.scaledMatrix())
	kept, weights := t.solve(ctx)
	r := WholeResult{Work: (t.pivotCount + 1) * len(x.Lo) * len(x.Rows)}
	switch {
	case kept:
		r.Values = make([]float64, len(x.Lo))
		for v := range r.Values {
			r.Values[v] = float64(x.Lo[v]) + float64(t.Value[v]*float64(x.Hi[v]-x.Lo[v]))
		}
	case weights != nil:
		r.Infeasible, r.BlamedRows = x.ProvesInfeasible(weights)
	}
	return r
}

// scaledMatrix returns the program as a matrix for the simplex method. Columns are in units of their ranges, and
// the greatest coefficient of each row is 1. The slices lo and hi hold the bounds of the columns, then of the
// rows.
func (x *WholeProgram) scaledMatrix() (factors [][]float64, lo, hi []float64) {
	columns := len(x.Lo)
	lo, hi = make([]float64, columns+len(x.Rows)), make([]float64, columns+len(x.Rows))
	for j := range columns {
		if x.Hi[j] > x.Lo[j] {
			hi[j] = 1
		}
	}
	factors = make([][]float64, len(x.Rows))
	for k := range x.Rows {
		factors[k], lo[columns+k], hi[columns+k] = x.scaleRow(&x.Rows[k])
	}
	return factors, lo, hi
}

// scaleRow returns the coefficients and bounds of a row for the simplex method, and sets the scale of the row.
func (x *WholeProgram) scaleRow(r *WholeRow) (f []float64, lo, hi float64) {
	f = make([]float64, len(x.Lo))
	top, at := 0.0, 0.0 // at: value of the row with all columns at their lower bounds
	for _, e := range r.Entries {
		f[e.Column] += float64(float64(e.Factor) * float64(x.Hi[e.Column]-x.Lo[e.Column]))
		at += float64(float64(e.Factor) * float64(x.Lo[e.Column]))
		top = max(top, math.Abs(f[e.Column]))
	}
	if top == 0 {
		top = 1
	}
	for j := range f {
		f[j] /= top
	}
	lo, hi = math.Inf(-1), math.Inf(1)
	if r.Lo != math.MinInt64 {
		lo = (float64(r.Lo) - at) / top
	}
	if r.Hi != math.MaxInt64 {
		hi = (float64(r.Hi) - at) / top
	}
	r.factorDivisor = top
	return f, lo, hi
}

// ProvesInfeasible checks in whole numbers that a weighted sum of the rows is infeasible. The proof has two
// parts: the bounds of the rows r with weights w_r require Σ_r w_r·Σ_v f_rv·v, over the columns v with factors
// f_rv, to be at least some value; and the bounds of the columns allow only less. The result blamed lists the
// indices of the rows with nonzero weight. [WholeProgram.Solve] must have been called.
func (x *WholeProgram) ProvesInfeasible(weights []float64) (proven bool, blamed []int) {
	top, scale := 0.0, 1.0
	for k, w := range weights {
		top, scale = max(top, math.Abs(w)), max(scale, x.Rows[k].factorDivisor)
	}
	exponent := 60 + math.Ilogb(scale/top)
	factors := make([]big.Int, len(x.Lo)) // the weighted sum's coefficient of each variable
	asked, product, whole := new(big.Int), new(big.Int), new(big.Int)
	for k, w := range weights {
		r := &x.Rows[k]
		if math.Abs(w) <= 1e-12*top {
			continue
		}
		bound := r.Lo
		if w < 0 {
			bound = r.Hi
		}
		if bound == math.MinInt64 || bound == math.MaxInt64 {
			continue // the remainder is rounding error
		}
		new(big.Float).SetMantExp(big.NewFloat(w/r.factorDivisor), exponent).Int(whole)
		asked.Add(asked, product.Mul(whole, big.NewInt(bound)))
		for _, e := range r.Entries {
			factors[e.Column].Add(&factors[e.Column], product.Mul(whole, big.NewInt(e.Factor)))
		}
		blamed = append(blamed, k)
	}
	for v := range factors {
		f := &factors[v]
		bound := x.Hi[v]
		if f.Sign() < 0 {
			bound = x.Lo[v]
		}
		asked.Sub(asked, product.Mul(f, big.NewInt(bound)))
	}
	return asked.Sign() > 0, blamed
}
