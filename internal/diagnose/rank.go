package diagnose

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
)

// A ranking holds all draws of a sample in sorted order. Ranks, quantiles and the ranks of the folded draws all
// come from this single sort.
type ranking struct {
	isSorted    bool         // whether the field draws holds the sorted draws of the current sample
	draws       []rankedDraw // all draws in ascending order
	foldedDraws []rankedDraw // distances of all draws from the median, in ascending order
}

// A rankedDraw is a draw, or the distance of a draw from the median, with the index of the draw in
// sample.allDraws.
type rankedDraw struct {
	value     float64
	drawIndex uint32
}

// sort fills the field draws with the draws x in ascending order. Equal draws stay in the order of chain and
// draw.
func (r *ranking) sort(x []float64) {
	r.draws = resize(r.draws, len(x))
	for i, v := range x {
		r.draws[i] = rankedDraw{v, uint32(i)}
	}
	slices.SortFunc(r.draws, func(a, b rankedDraw) int {
		if c := cmp.Compare(a.value, b.value); c != 0 {
			return c
		}
		return cmp.Compare(a.drawIndex, b.drawIndex)
	})
	r.isSorted = true
}

// at returns the draw at place i of the sorted order.
func (r *ranking) at(i int) float64 { return r.draws[i].value }

// median returns the median of all draws. For an even number of draws the median is the mean of the two middle
// draws.
func (r *ranking) median() float64 {
	n := len(r.draws)
	if n%2 == 1 {
		return r.at(n / 2)
	}
	low, high := r.at(n/2-1), r.at(n/2)
	if sum := low + high; !math.IsInf(sum, 0) {
		return float64(sum / 2)
	}
	return float64(low/2) + float64(high/2)
}

// normalScore returns Φ⁻¹((rank − 3/8) / (total + 1/4)), with the offset of Blom (1958). The score is
// antisymmetric about the middle rank, so opposite ranks have opposite scores.
func normalScore(rank float64, total int) float64 {
	middle := float64(float64(total+1) / 2)
	if rank == middle {
		return 0
	}
	if rank > middle {
		return -normalScore(float64(total+1)-rank, total)
	}
	return portable.NormalQuantile((rank - 3.0/8) / (float64(total) + 1.0/4))
}
