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

// rank sorts the draws unless that is done.
func (s *sample) rank() {
	if !s.ranking.sorted {
		s.ranking.sort(s.flat)
	}
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

// normalScores returns the rank-normalised draws,
//
//	z = Φ⁻¹((r − 3/8) / (S + 1/4)),
//
// where r is the rank of a draw among all S draws of the split chains, and
// equal draws share the mean of their ranks (Vehtari et al. 2021, rank
// normalisation).
// The result is laid out as flat, with 0 for a middle draw that is in no half;
// it is valid until the next call.
func (s *sample) normalScores() []float64 {
	s.rank()
	s.scores = grow(s.scores, len(s.flat))
	r := &s.ranking
	total := 2 * s.half * s.chains
	r.table.resize(total)
	for i, before := 0, 0; i < len(r.keys); {
		j, members := i, 0
		for ; j < len(r.keys) && r.keys[j] == r.keys[i]; j++ {
			if !s.middle(r.order[j]) {
				members++
			}
		}
		z := r.table.score(before, members)
		for ; i < j; i++ {
			s.scores[r.order[i]] = z
		}
		before += members
	}
	s.clearMiddle()
	return s.scores
}

// foldedScores returns the normal scores of the folded draws |x − median|,
// laid out as those of normalScores. The median is that of all draws, a middle
// draw included, as in posterior; ArviZ leaves it out.
//
// Folding keeps the order on either side of the median, so the sorted draws are
// merged from the median outwards rather than sorted again.
func (s *sample) foldedScores() []float64 {
	s.rank()
	s.scores = grow(s.scores, len(s.flat))
	r := &s.ranking
	median := r.median()
	r.folded = grow(r.folded, len(r.keys))[:0]
	high := 0
	for high < len(r.keys) && r.at(high) < median {
		high++
	}
	low := high - 1
	for low >= 0 || high < len(r.keys) {
		if high == len(r.keys) || low >= 0 && median-r.at(low) <= r.at(high)-median {
			r.folded = append(r.folded, foldedDraw{median - r.at(low), r.order[low]})
			low--
		} else {
			r.folded = append(r.folded, foldedDraw{r.at(high) - median, r.order[high]})
			high++
		}
	}
	r.table.resize(2 * s.half * s.chains)
	for i, before := 0, 0; i < len(r.folded); {
		j, members := i, 0
		for ; j < len(r.folded) && r.folded[j].distance == r.folded[i].distance; j++ {
			if !s.middle(r.folded[j].place) {
				members++
			}
		}
		z := r.table.score(before, members)
		for ; i < j; i++ {
			s.scores[r.folded[i].place] = z
		}
		before += members
	}
	s.clearMiddle()
	return s.scores
}

// middle reports whether the draw at a place in flat is in neither half of its
// chain.
func (s *sample) middle(place uint32) bool {
	return s.draws%2 == 1 && int(place)%s.draws == s.half
}

// clearMiddle sets the scores of the draws that are in no half to 0.
func (s *sample) clearMiddle() {
	if s.draws%2 == 0 {
		return
	}
	for c := range s.chains {
		s.scores[c*s.draws+s.half] = 0
	}
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
