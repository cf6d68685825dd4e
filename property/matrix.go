package property

import (
	"math"

	"kir/internal/portable"
)

// newMatrix returns rows of zeros that are contiguous in memory.
func newMatrix(rows, columns int) [][]float64 {
	all := make([]float64, rows*columns)
	m := make([][]float64, rows)
	for k := range m {
		m[k] = all[k*columns : (k+1)*columns : (k+1)*columns]
	}
	return m
}

// cholesky overwrites the lower half of a symmetric matrix m with L, where L·Lᵀ = m. It does not
// read the upper half. It returns false if m is not positive definite.
func cholesky(m [][]float64) bool {
	for i, row := range m {
		for j := range i {
			row[j] = (row[j] - portable.Dot(row[:j], m[j])) / m[j][j]
		}
		square := row[i] - portable.Dot(row[:i], row)
		if !(square > 0) {
			return false
		}
		row[i] = math.Sqrt(square)
	}
	return true
}
