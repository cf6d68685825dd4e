package model

import "math"

// A lower is a lower triangular matrix, by rows: row i has i+1 numbers. Sums run in the
// order of the indices and no product is fused with a sum, so that they are the same
// everywhere.
type lower struct {
	n int
	a []float64
}

func newLower(n int) lower { return lower{n, make([]float64, n*(n+1)/2)} }

// row returns row i.
func (l lower) row(i int) []float64 { return l.a[i*(i+1)/2 : (i+1)*(i+2)/2] }

// factor replaces a symmetric matrix, of which it has the lower half, by its Cholesky
// factor L, L·Lᵀ = A. It returns false if A is not positive definite.
func (l lower) factor() bool {
	for i := range l.n {
		ri := l.row(i)
		for j := range i {
			rj := l.row(j)
			ri[j] = (ri[j] - dot(ri[:j], rj[:j])) / rj[j]
		}
		left := ri[i] - dot(ri[:i], ri[:i])
		if !(left > 0) || math.IsInf(left, 1) {
			return false
		}
		ri[i] = math.Sqrt(left)
	}
	return true
}

// dot returns Σ a·b, summed by four: term k goes to sum k modulo 4.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	k := 0
	for ; k+4 <= len(a); k += 4 {
		s0 += float64(a[k] * b[k])
		s1 += float64(a[k+1] * b[k+1])
		s2 += float64(a[k+2] * b[k+2])
		s3 += float64(a[k+3] * b[k+3])
	}
	for ; k < len(a); k++ {
		s0 += float64(a[k] * b[k])
	}
	return (s0 + s1) + (s2 + s3)
}

// forward replaces b by L⁻¹·b.
func (l lower) forward(b []float64) {
	for i := range l.n {
		ri := l.row(i)
		b[i] = (b[i] - dot(ri[:i], b[:i])) / ri[i]
	}
}

// backward replaces b by L⁻ᵀ·b.
func (l lower) backward(b []float64) {
	for i := l.n - 1; i >= 0; i-- {
		ri := l.row(i)
		b[i] /= ri[i]
		for j, v := range ri[:i] {
			b[j] -= float64(v * b[i])
		}
	}
}

// solve replaces b by A⁻¹·b.
func (l lower) solve(b []float64) {
	l.forward(b)
	l.backward(b)
}

// logDeterminant returns log det A.
func (l lower) logDeterminant() float64 {
	sum := 0.0
	for i := range l.n {
		sum += log(l.row(i)[i])
	}
	return float64(2 * sum)
}

// inverse returns A⁻¹, its lower half.
func (l lower) inverse() lower {
	// The columns of L⁻¹ are kept as rows of its transpose: u(j)[k] is (L⁻¹)[j+k][j].
	n := l.n
	columns := make([][]float64, n)
	for j := range n {
		c := make([]float64, n-j)
		c[0] = 1 / l.row(j)[j]
		for i := j + 1; i < n; i++ {
			ri := l.row(i)
			c[i-j] = -dot(ri[j:i], c[:i-j]) / ri[i]
		}
		columns[j] = c
	}
	inv := newLower(n)
	for i := range n {
		ri := inv.row(i)
		for j := range i + 1 {
			ri[j] = dot(columns[i], columns[j][i-j:])
		}
	}
	return inv
}
