package model

import (
	"math"
	"slices"
)

// A leftOutRows is a bit set of the rows that the bootstrap sample of a tree left out.
type leftOutRows []uint64

// contains reports whether the bootstrap sample left out row r.
func (b leftOutRows) contains(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBootstrap draws a bootstrap sample of len(drawn) rows with replacement. The rows are drawn in
// proportion to weights, or uniformly if weights is nil. It sets drawn[r] to the number of draws of
// row r and returns the rows that were not drawn. The random numbers are the first ones of a tree's
// stream.
func drawBootstrap(random stream, drawn []int32, weights []int64) leftOutRows {
	clear(drawn)
	if weights == nil {
		for range drawn {
			drawn[random.drawBelow(len(drawn))]++
		}
	} else {
		up := make([]int64, len(weights)) // cumulative weights: up[r] is the sum of those of rows 0..r
		sum := int64(0)
		for r, c := range weights {
			sum += c
			up[r] = sum
		}
		for range drawn {
			r, _ := slices.BinarySearch(up, int64(random.drawBelow(int(sum)))+1)
			drawn[r]++
		}
	}
	out := make(leftOutRows, (len(drawn)+63)/64)
	for r, n := range drawn {
		if n == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}

// drawBootstrap draws the bootstrap sample of a tree of the forest, as the function [drawBootstrap]
// does. If the rows form groups, whole groups are drawn uniformly, and the draw weights do not
// count.
func (f *Forest) drawBootstrap(random stream, drawn []int32) leftOutRows {
	if f.groupOfRow != nil {
		return drawGroupBootstrap(random, drawn, f.groupOfRow, f.groupCount)
	}
	return drawBootstrap(random, drawn, f.drawWeights)
}

// drawGroupBootstrap draws a bootstrap sample of count groups of rows, with replacement. The
// element groups[r] is the number of the group of row r. All rows of a group are drawn equally
// often. It sets drawn[r] to the number of draws of row r and returns the rows that were not drawn.
func drawGroupBootstrap(random stream, drawn []int32, groups []int32, count int) leftOutRows {
	times := make([]int32, count)
	for range count {
		times[random.drawBelow(count)]++
	}
	out := make(leftOutRows, (len(drawn)+63)/64)
	for r, g := range groups {
		if drawn[r] = times[g]; drawn[r] == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}

// maxDrawWeight is the weight of the row with the smallest measurement error. All other weights are
// relative to it.
const maxDrawWeight = 1 << 20

// drawWeights returns the relative probability with which a bootstrap draws each row. Row r has the
// weight 1/(1 + s_r²/s²), where s_r is the standard deviation of its measurement and s is half of
// the interquartile range of the numbers.
//
// In a mean of similar rows, a row has two variances: s², by which similar rows differ, and s_r²,
// that of the measurement. The mean is best if rows count in inverse proportion to the sum of both
// variances. A row without a standard deviation gets the median of the known standard deviations.
// drawWeights returns nil if all rows have the same weight.
func (d *Data) drawWeights() []int64 {
	known := slices.DeleteFunc(slices.Sorted(slices.Values(d.SD)), math.IsNaN)
	if len(known) == 0 {
		return nil
	}
	numbers := slices.Sorted(slices.Values(d.Numbers))
	n := len(numbers)
	spread := float64((numbers[(3*n-1)/4] - numbers[(n-1)/4]) / 2)
	if spread == 0 {
		return nil
	}
	shares := make([]float64, n)
	for r, s := range d.SD {
		if math.IsNaN(s) {
			s = known[len(known)/2]
		}
		ratio := s / spread
		shares[r] = 1 / (1 + float64(ratio*ratio))
	}
	largest := slices.Max(shares)
	weights := make([]int64, n)
	for r, v := range shares {
		weights[r] = max(1, int64(math.Round(float64(maxDrawWeight*(v/largest)))))
	}
	if slices.Min(weights) == slices.Max(weights) {
		return nil
	}
	return weights
}
