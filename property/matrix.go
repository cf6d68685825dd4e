package property

// newMatrix returns a matrix of zeros whose rows share one allocation.
func newMatrix(rows, columns int) [][]float64 {
	all := make([]float64, rows*columns)
	m := make([][]float64, rows)
	for k := range m {
		m[k] = all[k*columns : (k+1)*columns : (k+1)*columns]
	}
	return m
}
