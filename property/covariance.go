package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// A CovarianceError describes why a matrix is not a covariance matrix.
type CovarianceError struct {
	Row    int // row of the faulty entry; −1 if the whole matrix is at fault
	Column int // column of the faulty entry; −1 if the whole matrix is at fault
	Reason string
}

func (e *CovarianceError) Error() string {
	if e.Row < 0 {
		return e.Reason
	}
	return fmt.Sprintf("row %d, column %d: %s", e.Row, e.Column, e.Reason)
}

// symmetryTolerance is the greatest difference allowed between entries (i, j) and (j, i) of a covariance
// matrix, as a fraction of the product of the standard deviations of i and j.
const symmetryTolerance = 1e-9

// eigenvalueTolerance is the greatest magnitude that a negative eigenvalue of a covariance matrix may have, as
// a fraction of √N times the largest variance. Rounding all entries to six digits of the largest entry moves
// eigenvalues by up to about 0.6·10⁻⁶·√N.
const eigenvalueTolerance = 1e-6

// CheckCovariance verifies that a square matrix is a covariance matrix. The matrix must be finite, symmetric to
// 10⁻⁹ of the product of the standard deviations, without negative variances, and positive semidefinite. No
// eigenvalue of the matrix, nor of the 2×2 matrix of any two rows, may be below −10⁻⁶·√N times the largest
// variance. This tolerance leaves room for entries rounded to six digits. CheckCovariance takes O(N³) time. The
// error is a [*CovarianceError].
func CheckCovariance(c [][]float64) error {
	n := len(c)
	largest := 0.0
	for i, row := range c {
		if len(row) != n {
			return &CovarianceError{i, 0, fmt.Sprintf("the matrix is not square: the row has %d numbers of %d", len(row), n)}
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &CovarianceError{i, j, fmt.Sprintf("%v is not a finite number", v)}
			}
		}
		if row[i] < 0 {
			return &CovarianceError{i, i, fmt.Sprintf("a variance of %v is negative", row[i])}
		}
		largest = max(largest, row[i])
	}
	slack := float64(eigenvalueTolerance * math.Sqrt(float64(n)) * largest)
	for i, row := range c {
		for j, v := range row[:i] {
			if math.Abs(v-c[j][i]) > symmetryTolerance*math.Sqrt(row[i])*math.Sqrt(c[j][j]) {
				return &CovarianceError{i, j, fmt.Sprintf("the matrix is not symmetric: %v here and %v across the diagonal", v, c[j][i])}
			}
			if bound := float64(math.Sqrt(row[i]+slack) * math.Sqrt(c[j][j]+slack)); math.Abs(v) > bound {
				return &CovarianceError{i, j, fmt.Sprintf("a covariance of %v is more than the variances %v and %v allow: at most %.6g", v, row[i], c[j][j], bound)}
			}
		}
	}
	if largest == 0 {
		return nil
	}
	// All entries are divided by the largest variance, so that no product overflows.
	scaled := func(i, j int) float64 {
		if i == j {
			return (c[i][i] + slack) / largest
		}
		return c[i][j] / largest
	}
	lower := portable.NewLower(n)
	for i := range n {
		row := lower.Row(i)
		for j := range row {
			row[j] = scaled(i, j)
		}
	}
	if lower.Factor() {
		return nil
	}
	reason := "the matrix is not positive semidefinite: some portfolio would have a negative variance"
	const small = 500 // smallestEigenvalue is slow: its bisection takes some forty Cholesky factorisations
	if n <= small {
		reason += fmt.Sprintf(" (its smallest eigenvalue is %.3g, its largest variance %.3g)", float64(smallestEigenvalue(n, scaled)*largest)-slack, largest)
	}
	return &CovarianceError{-1, -1, reason}
}

// smallestEigenvalue returns the smallest eigenvalue, to six digits, of a symmetric n×n matrix that is not positive
// definite. It finds by bisection the least number that must be added to the diagonal to make a Cholesky
// factorisation succeed.
func smallestEigenvalue(n int, at func(i, j int) float64) float64 {
	lower := portable.NewLower(n)
	below := func(value float64) bool {
		for i := range n {
			row := lower.Row(i)
			for j := range i {
				row[j] = at(i, j)
			}
			row[i] = at(i, i) - value
		}
		return lower.Factor()
	}
	low, high := -1.0, 0.0
	for !below(low) {
		low, high = low+low, low
	}
	for high-low > 1e-6*math.Abs(low) {
		if middle := float64((low + high) / 2); below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return float64((low + high) / 2)
}
