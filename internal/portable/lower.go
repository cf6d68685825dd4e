package portable

import "math"

// A LowerTriangular is a lower triangular matrix, stored by rows: row i has i+1 numbers, of which the last is on
// the diagonal. All methods give results with the same bits on every machine: sums run in the order of the
// indices, and no multiplication is fused with an addition.
type LowerTriangular struct {
	rowCount int       // number of rows
	values   []float64 // all rows one after the other
}

// NewLower returns a lower triangular matrix of n rows, all zeros.
func NewLower(n int) LowerTriangular { return LowerTriangular{n, make([]float64, n*(n+1)/2)} }

// Row returns row i. The slice shares the memory of the matrix.
func (l LowerTriangular) Row(i int) []float64 { return l.values[i*(i+1)/2 : (i+1)*(i+2)/2] }

// Factor replaces a symmetric matrix A, given by its lower half, by the Cholesky factor L of A with L·Lᵀ = A.
// Factor returns false if A is not positive definite.
func (l LowerTriangular) Factor() bool {
	for i := range l.rowCount {
		ri := l.Row(i)
		for j := range i {
			rj := l.Row(j)
			ri[j] = (ri[j] - Dot(ri[:j], rj[:j])) / rj[j]
		}
		left := ri[i] - Dot(ri[:i], ri[:i])
		if !(left > 0) || math.IsInf(left, 1) {
			return false
		}
		ri[i] = math.Sqrt(left)
	}
	return true
}

// Forward replaces b by L⁻¹·b, where L is the matrix.
func (l LowerTriangular) Forward(b []float64) {
	for i := range l.rowCount {
		ri := l.Row(i)
		b[i] = (b[i] - Dot(ri[:i], b[:i])) / ri[i]
	}
}

// Backward replaces b by L⁻ᵀ·b, where L is the matrix.
func (l LowerTriangular) Backward(b []float64) {
	for i := l.rowCount - 1; i >= 0; i-- {
		ri := l.Row(i)
		b[i] /= ri[i]
		AddScaled(b[:i], -b[i], ri[:i])
	}
}

// Solve replaces b by A⁻¹·b. The receiver is the Cholesky factor of A, as computed by [LowerTriangular.Factor].
func (l LowerTriangular) Solve(b []float64) {
	l.Forward(b)
	l.Backward(b)
}

// LogDeterminant returns log det A. The receiver is the Cholesky factor of A, as computed by
// [LowerTriangular.Factor].
func (l LowerTriangular) LogDeterminant() float64 {
	sum := 0.0
	for i := range l.rowCount {
		sum += Log(l.Row(i)[i])
	}
	return float64(2 * sum)
}

// Inverse returns the lower half of A⁻¹. The receiver is the Cholesky factor of A, as computed by
// [LowerTriangular.Factor].
func (l LowerTriangular) Inverse() LowerTriangular {
	// The columns of L⁻¹ are stored as slices without the leading zeros: columns[j][k] is (L⁻¹)[j+k][j].
	n := l.rowCount
	columns := make([][]float64, n)
	for j := range n {
		c := make([]float64, n-j)
		c[0] = 1 / l.Row(j)[j]
		for i := j + 1; i < n; i++ {
			ri := l.Row(i)
			c[i-j] = -Dot(ri[j:i], c[:i-j]) / ri[i]
		}
		columns[j] = c
	}
	inv := NewLower(n)
	for i := range n {
		ri := inv.Row(i)
		for j := range i + 1 {
			ri[j] = Dot(columns[i], columns[j][i-j:])
		}
	}
	return inv
}
