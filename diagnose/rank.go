package diagnose

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ranking is the sorted order of all draws of a sample. Ranks, quantiles and
// the ranks of the folded draws are all read off one sort.
type ranking struct {
	sorted bool
	keys   []uint64 // the draws in ascending order, as sortable integers
	order  []uint32 // order[r] is the place in flat of the draw at place r

	spareKeys  []uint64
	spareOrder []uint32
	counts     [][radix]uint32
	folded     []foldedDraw
	table      normalTable
}

// foldedDraw is a draw's distance from the median and its place in flat.
type foldedDraw struct {
	distance float64
	place    uint32
}

const (
	radixBits   = 11
	radix       = 1 << radixBits
	radixPasses = (64 + radixBits - 1) / radixBits
)

// sortKey maps a number to an integer such that integers sort like numbers,
// and −0 like 0.
func sortKey(x float64) uint64 {
	b := math.Float64bits(x + 0)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// sortValue is the inverse of sortKey.
func sortValue(k uint64) float64 {
	if k>>63 != 0 {
		return math.Float64frombits(k &^ (1 << 63))
	}
	return math.Float64frombits(^k)
}

// sort sorts the draws x by radix: one pass counts the digits of all keys, and
// then one pass for each digit moves them; a digit in which all keys agree is
// left out, so that integers take few passes. It is stable, so that equal draws
// stay in the order of chain and draw.
func (r *ranking) sort(x []float64) {
	n := len(x)
	r.keys, r.spareKeys = grow(r.keys, n), grow(r.spareKeys, n)
	r.order, r.spareOrder = grow(r.order, n), grow(r.spareOrder, n)
	r.counts = grow(r.counts, radixPasses)
	clear(r.counts)
	for i, v := range x {
		k := sortKey(v)
		r.keys[i], r.order[i] = k, uint32(i)
		for p := range radixPasses {
			r.counts[p][k>>(p*radixBits)%radix]++
		}
	}
	for p := range radixPasses {
		counts, shift := &r.counts[p], p*radixBits
		if int(counts[r.keys[0]>>shift%radix]) == n {
			continue
		}
		var start uint32
		for d, c := range counts {
			counts[d] = start
			start += c
		}
		order := r.order
		for i, k := range r.keys {
			to := counts[k>>shift%radix]
			counts[k>>shift%radix]++
			r.spareKeys[to], r.spareOrder[to] = k, order[i]
		}
		r.keys, r.spareKeys = r.spareKeys, r.keys
		r.order, r.spareOrder = r.spareOrder, r.order
	}
	r.sorted = true
}

// at returns the draw at place i of the sorted order.
func (r *ranking) at(i int) float64 { return sortValue(r.keys[i]) }

// median returns the median of all draws: the mean of the two in the middle
// when their number is even.
func (r *ranking) median() float64 {
	n := len(r.keys)
	if n%2 == 1 {
		return r.at(n / 2)
	}
	low, high := r.at(n/2-1), r.at(n/2)
	if sum := low + high; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return low/2 + high/2
}

// normalTable holds the normal scores of the ranks 1..total. Draws without ties
// always have the same set of scores, so that it is computed once for all
// statistics of a run.
type normalTable struct {
	total  int
	scores []float64 // of the lower half; the upper half mirrors it
}

// resize computes the table for another total.
func (t *normalTable) resize(total int) {
	if t.total == total {
		return
	}
	t.total = total
	t.scores = grow(t.scores, total/2)
	for i := range t.scores {
		t.scores[i] = normalScore(float64(i+1), total)
	}
}

// score returns the score of a group of equal draws that has before draws below
// it.
func (t *normalTable) score(before, members int) float64 {
	if members == 1 {
		switch rank := before + 1; {
		case 2*rank <= t.total:
			return t.scores[rank-1]
		case 2*rank > t.total+1:
			return -t.scores[t.total-rank]
		}
		return 0
	}
	return normalScore(float64(before)+float64(members+1)/2, t.total)
}

// normalScore is Φ⁻¹((rank − 3/8) / (total + 1/4)), with the offset that Blom
// (1958) recommends, mirrored at the middle rank so that opposite ranks have
// opposite scores.
func normalScore(rank float64, total int) float64 {
	middle := float64(total+1) / 2
	if rank == middle {
		return 0
	}
	if rank > middle {
		return -normalScore(float64(total+1)-rank, total)
	}
	return mathext.NormalQuantile((rank - 3.0/8) / (float64(total) + 1.0/4))
}
