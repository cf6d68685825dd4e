package model

import (
	"math/bits"
	"slices"
)

// maxPendingLines is the greatest number of lines that a [Scorer] scores through a pending
// composition before the scorer takes the composition over. A line through a pending composition
// uses the leaves that the other ingredients block, or descends from the roots of the trees. Taking
// the composition over costs about as much time as is then saved on maxPendingLines lines.
const maxPendingLines = 4

// Reset moves the scorer to the dense composition x. The parameter used lists the ingredients with
// a positive amount, in any order. Reset only reads both slices and does not keep them.
func (s *Scorer) Reset(x, used []int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Reset(x, used)
		return
	}
	s.pending = s.pending[:0]
	for _, i := range used {
		s.pending = append(s.pending, Part{i, x[i]})
	}
	s.pendingSum, s.hasPending, s.pendingLines = s.score.sumWithScratch(s.pointScratch, x, used), true, 0
}

// applyPending takes over the pending composition: it sets the amounts in x and updates the leaves
// of all trees.
func (s *Scorer) applyPending() {
	if !s.hasPending {
		return
	}
	s.hasPending = false
	for k, p := range s.pending {
		s.setAmount(p.Ingredient, p.Amount)
		s.swapUsed(p.Ingredient, k)
	}
	for len(s.used) > len(s.pending) {
		s.setAmount(s.used[len(s.used)-1], 0)
	}
	s.refreshPaths()
}

// swapUsed swaps the used ingredient i with the ingredient at index k of s.used.
func (s *Scorer) swapUsed(i int32, k int) {
	other, at := s.used[k], s.usedIndex[i]
	s.used[k], s.used[at] = i, other
	s.usedIndex[i], s.usedIndex[other] = int32(k), at
}

// Value returns the score of the current composition.
func (s *Scorer) Value() int64 {
	if s.descriptorScorer != nil {
		return s.descriptorValue()
	}
	if s.hasPending {
		return s.pendingSum
	}
	return s.sum
}

// Set moves the scorer to the composition in which ingredient i has amount xi, ingredient j has
// amount xj, and all other amounts are unchanged.
func (s *Scorer) Set(i int, xi int32, j int, xj int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Set(i, xi, j, xj)
		return
	}
	if s.movePendingAlongLine(int32(i), xi, int32(j), xj) {
		return
	}
	s.applyPending()
	s.setAmount(int32(i), xi)
	s.setAmount(int32(j), xj)
	s.refreshPaths()
}

// Line scores the compositions in which ingredients i ≠ j share their current sum s = x_i + x_j as
// (k, s−k), k = 0, …, s. The score is sums[p] for all k from starts[p] to starts[p+1] − 1. The
// first start is 0, and the last piece ends at k = s. The scores of neighbouring pieces differ.
// Both slices are valid until the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums []int64) {
	if s.descriptorScorer != nil {
		return s.descriptorLine(i, j)
	}
	if s.hasPending && s.pendingLines < maxPendingLines && s.score.pointIndex.maxBlocks >= 0 {
		return s.scorePendingLine(int32(i), int32(j))
	}
	s.applyPending()
	return s.scoreLine(int32(i), int32(j))
}

// scorePendingLine computes the result of [Scorer.Line] for a pending composition, without taking
// the composition over.
func (s *Scorer) scorePendingLine(i, j int32) (starts []int32, sums []int64) {
	s.pendingLines++
	s.lineI, s.lineJ = i, j
	k := int32(0)
	s.lineTotal = 0
	for _, p := range s.pending {
		if p.Ingredient == i {
			k = p.Amount
		}
		if p.Ingredient == i || p.Ingredient == j {
			s.lineTotal += p.Amount
		}
	}
	s.breaks = s.breaks[:0]
	if s.lineTotal > 0 {
		if s.score.hasOnlyMasks() {
			s.maskPendingLine(i, j)
		} else {
			s.descendPendingLine(i, j, k)
		}
		s.collectBreaks(s.lineTotal)
	}
	return s.buildPieces(k, s.pendingSum)
}

// maskPendingLine adds the steps of all trees along the line of i and j through the pending
// composition. All trees must be small. Bit masks give the leaves that the other ingredients block.
func (s *Scorer) maskPendingLine(i, j int32) {
	sc := s.score
	for _, p := range s.pending {
		if p.Ingredient != i && p.Ingredient != j {
			sc.blockLeaves(s.pointScratch, p.Ingredient, p.Amount)
		}
	}
	free := s.pointScratch.free
	testI, testJ := sc.testingTrees[int(sc.testsIndex[i])*sc.smallTreeWords:], sc.testingTrees[int(sc.testsIndex[j])*sc.smallTreeWords:]
	for w, blocked := range s.pointScratch.testingTrees {
		for tested := testI[w] | testJ[w]; tested != 0; tested &= tested - 1 {
			t := w<<6 | bits.TrailingZeros64(tested)
			s.freeWithoutPair[t].free = free[t]
		}
		for s.pointScratch.testingTrees[w] = 0; blocked != 0; blocked &= blocked - 1 {
			free[w<<6|bits.TrailingZeros64(blocked)] = ^uint64(0)
		}
	}
	s.varying = append(s.varying[:0], varyingSlot{i, 0, 1}, varyingSlot{j, s.lineTotal, -1})
	s.maskSmallTrees(s.freeWithoutPair, i, j, s.lineTotal)
}

// descendPendingLine adds the steps of all trees that test a varying slot, for the line of i and j
// through the pending composition. It descends each tree from the root. The current amount of
// ingredient i is k.
func (s *Scorer) descendPendingLine(i, j, k int32) {
	sc := s.score
	each := func(set func(slot, amount int32)) {
		for _, p := range s.pending {
			set(p.Ingredient, p.Amount)
			for _, g := range sc.groupsOf(p.Ingredient) {
				set(int32(sc.ingredients)+g, p.Amount)
			}
		}
	}
	each(func(slot, amount int32) { s.slotScratch[slot] += amount })
	s.setVarying(s.slotScratch, i, j)
	s.markVarying(s.slotScratch)
	o := &sc.pointIndex
	for w := range o.treeWords {
		trees := uint64(0)
		for _, v := range s.varying {
			trees |= o.testingTrees[int(sc.testsIndex[v.slot])*o.treeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.descend(s.slotScratch, span{sc.roots[w<<6|bits.TrailingZeros64(trees)], 0, s.lineTotal, -1, -1}, k)
		}
	}
	s.unmarkVarying(s.slotScratch)
	each(func(slot, _ int32) { s.slotScratch[slot] = 0 })
}

// movePendingAlongLine does the work of [Scorer.Set] for a pending composition if the move is along
// the last line scored. The new score is then known from that line. It returns false if the move is
// not along that line.
func (s *Scorer) movePendingAlongLine(i, xi, j, xj int32) bool {
	if !s.hasPending || s.pendingLines == 0 || xi+xj != s.lineTotal {
		return false
	}
	switch {
	case i == s.lineI && j == s.lineJ:
		s.pendingSum = s.lineSumAt(xi)
	case i == s.lineJ && j == s.lineI:
		s.pendingSum = s.lineSumAt(xj)
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

// lineSumAt returns the score of the last line where ingredient i of the line has amount k.
func (s *Scorer) lineSumAt(k int32) int64 {
	p := len(s.starts) - 1
	for s.starts[p] > k {
		p--
	}
	return s.sums[p]
}
