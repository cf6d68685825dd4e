package model

import (
	"math"
	"slices"
)

// A bag is a bit set of the rows that a tree's bootstrap left out.
type bag []uint64

func (b bag) leftOut(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBag draws a bootstrap sample, the first numbers of a tree's stream. It draws as many rows as
// there are, with replacement, in proportion to their chances, or uniformly if chances is nil. It
// counts them in drawn.
func drawBag(random stream, drawn []int32, chances []int64) bag {
	clear(drawn)
	if chances == nil {
		for range drawn {
			drawn[random.below(len(drawn))]++
		}
	} else {
		up := make([]int64, len(chances)) // cumulative chances: up[r] is the sum of those of rows 0..r
		sum := int64(0)
		for r, c := range chances {
			sum += c
			up[r] = sum
		}
		for range drawn {
			r, _ := slices.BinarySearch(up, int64(random.below(int(sum)))+1)
			drawn[r]++
		}
	}
	out := make(bag, (len(drawn)+63)/64)
	for r, n := range drawn {
		if n == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}

// drawBag draws the bootstrap sample of a tree of the forest. Groups of rows are drawn whatever their
// chances.
func (f *Forest) drawBag(random stream, drawn []int32) bag {
	if f.groups != nil {
		return drawGroupBag(random, drawn, f.groups, f.groupCount)
	}
	return drawBag(random, drawn, f.chances)
}

// drawGroupBag is drawBag where rows of one group are drawn or left out together: it draws as many
// groups as there are, with replacement.
func drawGroupBag(random stream, drawn []int32, groups []int32, count int) bag {
	times := make([]int32, count)
	for range count {
		times[random.below(count)]++
	}
	out := make(bag, (len(drawn)+63)/64)
	for r, g := range groups {
		if drawn[r] = times[g]; drawn[r] == 0 {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return out
}

// mostChance is the chance of the most precisely measured row.
const mostChance = 1 << 20

// chances returns the relative probabilities of drawing the rows, given the standard deviations s_r
// of their measurements: 1/(1 + s_r²/s²). A row adds two variances to a mean of similar rows: how
// much they differ, s², and its measurement's. The mean is best if rows count in inverse proportion
// to the sum. s is half of the interquartile range of the numbers. A row without a standard
// deviation gets the median of the others. chances returns nil if all rows are drawn uniformly.
func (d *Data) chances() []int64 {
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
	chances := make([]int64, n)
	for r, v := range shares {
		chances[r] = max(1, int64(math.Round(float64(mostChance*(v/largest)))))
	}
	if slices.Min(chances) == slices.Max(chances) {
		return nil
	}
	return chances
}
