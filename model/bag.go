package model

import (
	"math"
	"slices"
)

// A bag says which rows the bootstrap of a tree left out: a bit set of them.
type bag []uint64

func (b bag) leftOut(r int) bool { return b[r>>6]>>(r&63)&1 != 0 }

// drawBag draws a bootstrap sample, which a tree's stream of numbers begins with:
// as many rows as there are, with replacement, each as often as its chances say; nil:
// alike. It counts them in drawn.
func drawBag(random stream, drawn []int32, chances []int64) bag {
	clear(drawn)
	if chances == nil {
		for range drawn {
			drawn[random.below(len(drawn))]++
		}
	} else {
		up := make([]int64, len(chances)) // to each row
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

// mostChance is the chance of the row that is measured best.
const mostChance = 1 << 20

// chances returns how likely the rows are to be drawn, beside each other, where they are
// measured with standard deviations s_r: 1/(1 + s_r²/s²). What a row adds to the variance of
// a mean of rows that are alike is what they differ, s², and what it was measured with; the
// mean is best if rows count as much as the inverse of that. s is half of what the first and
// the third quartile of the numbers differ. A row without a standard deviation has that of
// the others in the middle. It is nil if all are drawn alike.
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
