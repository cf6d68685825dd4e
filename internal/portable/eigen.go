package portable

import (
	"cmp"
	"math"
	"slices"
)

// Eigen returns the eigenvalues of a symmetric n × n matrix, the smallest first, and for each eigenvalue an
// eigenvector of length 1. The eigenvectors are orthogonal. Eigen rotates pairs of axes until every number off
// the diagonal is below the rounding errors of the numbers on the diagonal (Jacobi 1846). This takes a few times
// n³ operations. All numbers must be finite, with finite squares.
func Eigen(symmetric [][]float64) (values []float64, vectors [][]float64) {
	n := len(symmetric)
	m, axes := make([][]float64, n), make([][]float64, n) // the rows of axes are the vectors
	for i := range m {
		m[i], axes[i] = slices.Clone(symmetric[i]), make([]float64, n)
		axes[i][i] = 1
	}
	const most = 60 // maximum number of sweeps; ten suffice, as convergence is quadratic
	for range most {
		beside, all := 0.0, 0.0
		for i, row := range m {
			all += Dot(row, row)
			beside += Dot(row[:i], row[:i])
		}
		if beside <= 1e-34*all {
			break
		}
		for p := range n {
			for q := range p {
				rotateAxes(m, axes, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(m[i][i], m[j][j]) })
	for _, i := range order {
		values, vectors = append(values, m[i][i]), append(vectors, axes[i])
	}
	return values, vectors
}

// rotateAxes rotates axes p and q of the symmetric matrix m so that m_pq becomes 0. Rows p and q of axes are
// rotated by the same angle.
func rotateAxes(m, axes [][]float64, p, q int) {
	if m[p][q] == 0 {
		return
	}
	cot := (m[q][q] - m[p][p]) / (2 * m[p][q]) // cotangent of twice the angle
	tan := math.Copysign(1/(math.Abs(cot)+Hypot(cot, 1)), cot)
	cos := 1 / math.Sqrt(float64(tan*tan)+1)
	sin := float64(tan * cos)
	rotate := func(a, b float64) (float64, float64) {
		return float64(cos*a) - float64(sin*b), float64(sin*a) + float64(cos*b)
	}
	for k := range m {
		m[k][p], m[k][q] = rotate(m[k][p], m[k][q])
	}
	for k := range m {
		m[p][k], m[q][k] = rotate(m[p][k], m[q][k])
		axes[p][k], axes[q][k] = rotate(axes[p][k], axes[q][k])
	}
	m[p][q], m[q][p] = 0, 0
}
