package model

import (
	"math"
	"slices"
)

// A leftOutRows is a bit set of the rows that are not in the bootstrap sample of a tree.
type leftOutRows []uint64

// contains reports whether row r is in the set, that is, not in the bootstrap sample.
func (b leftOutRows) contains(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBootstrap draws a bootstrap sample: as many rows as len(drawn), with replacement. The
// probability of a row is proportional to its weight. If weights is nil, it is the same for all
// rows. drawBootstrap sets drawn[r] to the number of draws of row r and returns the rows that were
// not drawn. It takes the first random numbers of a tree's stream.
func drawBootstrap(random randomStream, drawn []int32, weights []int64) leftOutRows {
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
// does. If the rows form groups (see [Data.groupRows]), it draws whole groups with equal
// probability and ignores the draw weights.
func (f *Forest) drawBootstrap(random randomStream, drawn []int32) leftOutRows {
	if f.groupOfRow != nil {
		return drawGroupBootstrap(random, drawn, f.groupOfRow, f.groupCount)
	}
	return drawBootstrap(random, drawn, f.drawWeights)
}

// drawGroupBootstrap draws a bootstrap sample of groups of rows: as many groups as count, with
// replacement. The element groups[r] is the index of the group of row r. Each draw of a group draws
// all of its rows. drawGroupBootstrap sets drawn[r] to the number of draws of row r and returns the
// rows that were not drawn.
func drawGroupBootstrap(random randomStream, drawn []int32, groups []int32, count int) leftOutRows {
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

// maxDrawWeight is the weight of the row with the smallest measurement error. The weights of all
// other rows are relative to this weight.
const maxDrawWeight = 1 << 20

// drawWeights returns the weight of each row: the relative probability with which a bootstrap draws
// the row. Row r has the weight 1/(1 + s_r²/s²), where s_r is the standard deviation of its
// measurement, and s is half of the interquartile range of the labels.
//
// The reason is the variance of a mean of similar rows. The label of row r has two variances: s²
// between similar rows, and s_r² of the measurement. The mean has the least variance if the weight
// of each row is inversely proportional to the sum of the two.
//
// A row without a known standard deviation gets the median of the known ones. If all rows have the
// same weight, drawWeights returns nil.
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
