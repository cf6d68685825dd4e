package model

import (
	"math/bits"
	"slices"
)

// mostAhead bounds the lines through a pending composition that are scored without taking it over.
// Such a line uses the leaves that the other ingredients block, or starts from the roots. Taking
// the composition over costs about as much as that many lines save.
const mostAhead = 4

// Reset moves to the dense composition x. Used are the ingredients with a
// positive amount, in any order; both slices are only read.
func (s *Scorer) Reset(x, used []int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Reset(x, used)
		return
	}
	s.pending = s.pending[:0]
	for _, i := range used {
		s.pending = append(s.pending, Part{i, x[i]})
	}
	s.pendingSum, s.hasPending, s.lines = s.score.sumWith(s.point, x, used), true, 0
}

// applyPending takes over the pending composition.
func (s *Scorer) applyPending() {
	if !s.hasPending {
		return
	}
	s.hasPending = false
	for k, p := range s.pending {
		s.assign(p.Ingredient, p.Amount)
		s.placeUsed(p.Ingredient, k)
	}
	for len(s.used) > len(s.pending) {
		s.assign(s.used[len(s.used)-1], 0)
	}
	s.refresh()
}

// placeUsed swaps a used ingredient with the one at index k of s.used.
func (s *Scorer) placeUsed(i int32, k int) {
	other, at := s.used[k], s.place[i]
	s.used[k], s.used[at] = i, other
	s.place[i], s.place[other] = int32(k), at
}

// Value returns the score of the current composition.
func (s *Scorer) Value() int64 {
	if s.descriptorScorer != nil {
		return s.describedValue()
	}
	if s.hasPending {
		return s.pendingSum
	}
	return s.sum
}

// Set moves to the composition in which ingredient i has amount xi and
// ingredient j has amount xj, the others as they are.
func (s *Scorer) Set(i int, xi int32, j int, xj int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Set(i, xi, j, xj)
		return
	}
	if s.setPending(int32(i), xi, int32(j), xj) {
		return
	}
	s.applyPending()
	s.assign(int32(i), xi)
	s.assign(int32(j), xj)
	s.refresh()
}

// Line scores the compositions in which ingredients i ≠ j share their current
// sum s = x_i + x_j as (k, s−k), k = 0, …, s. The score is sums[p] for k in
// [starts[p], starts[p+1]), where starts[0] is 0 and after the last piece comes
// s+1. Neighbouring pieces differ. The slices are valid until the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums []int64) {
	if s.descriptorScorer != nil {
		return s.describedLine(i, j)
	}
	if s.hasPending && s.lines < mostAhead && s.score.cover.maxBlocks >= 0 {
		return s.linePending(int32(i), int32(j))
	}
	s.applyPending()
	return s.line(int32(i), int32(j))
}

// linePending is Line for a pending composition.
func (s *Scorer) linePending(i, j int32) (starts []int32, sums []int64) {
	s.lines++
	s.i, s.j = i, j
	k := int32(0)
	s.shared = 0
	for _, p := range s.pending {
		if p.Ingredient == i {
			k = p.Amount
		}
		if p.Ingredient == i || p.Ingredient == j {
			s.shared += p.Amount
		}
	}
	s.breaks = s.breaks[:0]
	if s.shared > 0 {
		if s.score.masked() {
			s.maskAhead(i, j)
		} else {
			s.descendAhead(i, j, k)
		}
		s.collect(s.shared)
	}
	return s.pieces(k, s.pendingSum)
}

// maskAhead adds the steps of trees for a line if all are small, given the leaves that the other
// ingredients block.
func (s *Scorer) maskAhead(i, j int32) {
	sc := s.score
	for _, p := range s.pending {
		if p.Ingredient != i && p.Ingredient != j {
			sc.block(s.point, p.Ingredient, p.Amount)
		}
	}
	free := s.point.free
	testI, testJ := sc.testing[int(sc.known[i])*sc.treeWords:], sc.testing[int(sc.known[j])*sc.treeWords:]
	for w, blocked := range s.point.trees {
		for tested := testI[w] | testJ[w]; tested != 0; tested &= tested - 1 {
			t := w<<6 | bits.TrailingZeros64(tested)
			s.others[t].free = free[t]
		}
		for s.point.trees[w] = 0; blocked != 0; blocked &= blocked - 1 {
			free[w<<6|bits.TrailingZeros64(blocked)] = ^uint64(0)
		}
	}
	s.varying = append(s.varying[:0], varyingSlot{i, 0, 1}, varyingSlot{j, s.shared, -1})
	s.maskSmall(s.others, i, j, s.shared)
}

// descendAhead adds the steps of all trees that test a varying slot, starting from their roots.
func (s *Scorer) descendAhead(i, j, k int32) {
	sc := s.score
	each := func(set func(slot, amount int32)) {
		for _, p := range s.pending {
			set(p.Ingredient, p.Amount)
			for _, g := range sc.groupsOf(p.Ingredient) {
				set(int32(sc.ingredients)+g, p.Amount)
			}
		}
	}
	each(func(slot, amount int32) { s.dense[slot] += amount })
	s.vary(s.dense, i, j)
	s.mark(s.dense)
	o := &sc.cover
	for w := range o.treeWords {
		trees := uint64(0)
		for _, v := range s.varying {
			trees |= o.testing[int(sc.known[v.slot])*o.treeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.descend(s.dense, span{sc.roots[w<<6|bits.TrailingZeros64(trees)], 0, s.shared, -1, -1}, k)
		}
	}
	s.unmark(s.dense)
	each(func(slot, _ int32) { s.dense[slot] = 0 })
}

// setPending is Set for a pending composition, along the last line that was scored, which has the
// new score. It returns false if the move is not along that line.
func (s *Scorer) setPending(i, xi, j, xj int32) bool {
	if !s.hasPending || s.lines == 0 || xi+xj != s.shared {
		return false
	}
	switch {
	case i == s.i && j == s.j:
		s.pendingSum = s.sumAt(xi)
	case i == s.j && j == s.i:
		s.pendingSum = s.sumAt(xj)
	default:
		return false
	}
	s.pending = slices.DeleteFunc(s.pending, func(p Part) bool { return p.Ingredient == i || p.Ingredient == j })
	if xi > 0 {
		s.pending = append(s.pending, Part{i, xi})
	}
	if xj > 0 {
		s.pending = append(s.pending, Part{j, xj})
	}
	return true
}

// sumAt returns the score of split k of the last line.
func (s *Scorer) sumAt(k int32) int64 {
	p := len(s.starts) - 1
	for s.starts[p] > k {
		p--
	}
	return s.sums[p]
}
