package diagnose

import "math"

// moments holds three statistics of a set of numbers: the count, the mean, and the sum of the squared deviations
// from the mean.
type moments struct {
	count                   int
	mean, squaredDeviations float64
}

// partialSumLength is the count of numbers that are summed separately before the partial sum is added to the
// total. Long sums lose fewer digits that way.
const partialSumLength = 128

// momentsOf returns the moments of x in two passes. The second pass corrects the rounding error of the first
// pass. If all numbers are equal, the sum of squares is exactly 0.
func momentsOf(x []float64) moments {
	if len(x) == 0 {
		return moments{}
	}
	if allEqual(x) {
		return moments{count: len(x), mean: x[0]}
	}
	n := float64(len(x))
	m := sum(x) / n
	var rest, squares float64
	for start := 0; start < len(x); start += partialSumLength {
		var r, q float64
		for _, v := range x[start:min(start+partialSumLength, len(x))] {
			d := v - m
			r += d
			q += float64(d * d)
		}
		rest += r
		squares += q
	}
	return moments{count: len(x), mean: m + rest/n, squaredDeviations: math.Max(0, squares-rest*rest/n)}
}

// sum returns the sum of x.
func sum(x []float64) float64 {
	var total float64
	for start := 0; start < len(x); start += partialSumLength {
		part := 0.0
		for _, v := range x[start:min(start+partialSumLength, len(x))] {
			part += v
		}
		total += part
	}
	return total
}

// merge returns the moments of two sets of numbers together (Chan, Golub and LeVeque, Updating formulae and a
// pairwise algorithm for computing sample variances, 1979).
func (m moments) merge(o moments) moments {
	if m.count == 0 {
		return o
	}
	if o.count == 0 {
		return m
	}
	n := m.count + o.count
	d := o.mean - m.mean
	return moments{
		count:             n,
		mean:              m.mean + float64(d*(float64(o.count)/float64(n))),
		squaredDeviations: m.squaredDeviations + o.squaredDeviations + float64(d*d*(float64(m.count)*(float64(o.count)/float64(n)))),
	}
}

// meanOrError returns the mean, or ErrScale if the sum of the numbers overflowed.
func (m moments) meanOrError() (float64, error) {
	if math.IsNaN(m.mean) || math.IsInf(m.mean, 0) {
		return math.NaN(), ErrScale
	}
	return m.mean, nil
}

// sd returns the standard deviation with divisor n−1. The caller ensures that the numbers are not all equal.
func (m moments) sd() (float64, error) {
	if m.count < 2 {
		return math.NaN(), fewDrawsError(m.count, 2)
	}
	v := m.squaredDeviations / float64(m.count-1)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), ErrScale
	}
	return math.Sqrt(v), nil
}

// allEqual reports whether all numbers in x are equal.
func allEqual(x []float64) bool {
	for _, v := range x[1:] {
		if v != x[0] {
			return false
		}
	}
	return true
}

// resize returns a slice of length n with arbitrary contents. resize reuses the memory of x if the capacity of x
// suffices.
func resize[T any](x []T, n int) []T {
	if cap(x) >= n {
		return x[:n]
	}
	return make([]T, n)
}

// momentsOfAll returns the moments of each series. momentsOfAll reuses the memory of m.
func momentsOfAll(m []moments, series [][]float64) []moments {
	m = m[:0]
	for _, x := range series {
		m = append(m, momentsOf(x))
	}
	return m
}

// varianceOfMeans returns the variance of the means of the series. The divisor is the number of series minus
// one.
func varianceOfMeans(series []moments) float64 {
	if len(series) < 2 {
		return 0
	}
	var m moments
	for _, s := range series {
		m = m.merge(moments{count: 1, mean: s.mean})
	}
	return m.squaredDeviations / float64(m.count-1)
}
