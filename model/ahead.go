package model

import (
	"math/bits"
	"slices"
)

// maxPendingLines is the greatest number of lines that a [Scorer] scores through a pending
// composition. On the next line, the scorer makes the pending composition the current one. A
// pending composition is one that [Scorer.Reset] has set, for which the scorer has not updated its
// counts and paths. Scoring a line without them is slower. Updating them costs about as much time
// as is then saved on maxPendingLines lines.
const maxPendingLines = 4

// Reset makes the dense composition x the composition of the scorer. The parameter used lists the
// ingredients with a positive amount, in any order. Reset only reads both slices and does not keep
// them.
func (s *Scorer) Reset(x, used []int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Reset(x, used)
		return
	}
	s.pendingParts = s.pendingParts[:0]
	for _, i := range used {
		s.pendingParts = append(s.pendingParts, Part{i, x[i]})
	}
	s.pendingSum, s.hasPending, s.pendingLines = s.score.sumWithScratch(s.pointScratch, x, used), true, 0
}

// makePendingCurrent makes the pending composition, which [Scorer.Reset] has set, the current
// composition. It sets the amounts in s.x and updates the leaves of all trees. It does nothing if
// there is no pending composition.
func (s *Scorer) makePendingCurrent() {
	if !s.hasPending {
		return
	}
	s.hasPending = false
	for k, p := range s.pendingParts {
		s.setAmount(p.Ingredient, p.Amount)
		s.swapUsed(p.Ingredient, k)
	}
	for len(s.usedIngredients) > len(s.pendingParts) {
		s.setAmount(s.usedIngredients[len(s.usedIngredients)-1], 0)
	}
	s.refreshPaths()
}

// swapUsed exchanges the positions of two ingredients in s.usedIngredients: the used ingredient i
// and the ingredient at index k.
func (s *Scorer) swapUsed(i int32, k int) {
	other, at := s.usedIngredients[k], s.usedIndex[i]
	s.usedIngredients[k], s.usedIngredients[at] = i, other
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

// Set changes the amount of ingredient i to xi and the amount of ingredient j to xj. All other
// amounts are unchanged.
func (s *Scorer) Set(i int, xi int32, j int, xj int32) {
	if s.descriptorScorer != nil {
		s.descriptorScorer.Set(i, xi, j, xj)
		return
	}
	if s.movePendingAlongLine(int32(i), xi, int32(j), xj) {
		return
	}
	s.makePendingCurrent()
	s.setAmount(int32(i), xi)
	s.setAmount(int32(j), xj)
	s.refreshPaths()
}

// Line scores all compositions on a line. The line consists of the compositions in which
// ingredients i ≠ j share their current sum s = x_i + x_j as (k, s−k), for k = 0, …, s. A piece of
// the line is a range of k with equal scores. Piece p goes from k = starts[p] to k = starts[p+1] −
// 1 and has the score sums[p]. The first piece starts at 0, and the last piece ends at s. The
// scores of neighbouring pieces differ. Both slices are valid until the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums []int64) {
	if s.descriptorScorer != nil {
		return s.descriptorLine(i, j)
	}
	if s.hasPending && s.pendingLines < maxPendingLines && s.score.pointIndex.maxBlockedLeaves >= 0 {
		return s.scorePendingLine(int32(i), int32(j))
	}
	s.makePendingCurrent()
	return s.scoreLine(int32(i), int32(j))
}

// scorePendingLine computes the result of [Scorer.Line] for a line through the pending composition,
// which [Scorer.Reset] has set. It does not make the pending composition the current one.
func (s *Scorer) scorePendingLine(i, j int32) (starts []int32, sums []int64) {
	s.pendingLines++
	s.lineI, s.lineJ = i, j
	k := int32(0)
	s.lineTotal = 0
	for _, p := range s.pendingParts {
		if p.Ingredient == i {
			k = p.Amount
		}
		if p.Ingredient == i || p.Ingredient == j {
			s.lineTotal += p.Amount
		}
	}
	s.lineBreaks = s.lineBreaks[:0]
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

// maskPendingLine adds up the changes of the score along the line of ingredients i and j (see
// [Scorer.Line]) through the pending composition, which [Scorer.Reset] has set. It uses bit masks
// of the leaves that the other ingredients block. All trees must have at most 64 leaves.
func (s *Scorer) maskPendingLine(i, j int32) {
	sc := s.score
	for _, p := range s.pendingParts {
		if p.Ingredient != i && p.Ingredient != j {
			sc.blockLeaves(s.pointScratch, p.Ingredient, p.Amount)
		}
	}
	free := s.pointScratch.free
	testI, testJ := sc.testingTrees[int(sc.slotTestsIndex[i])*sc.smallTreeWords:], sc.testingTrees[int(sc.slotTestsIndex[j])*sc.smallTreeWords:]
	for w, blocked := range s.pointScratch.testingTrees {
		for tested := testI[w] | testJ[w]; tested != 0; tested &= tested - 1 {
			t := w<<6 | bits.TrailingZeros64(tested)
			s.freeWithoutPair[t].free = free[t]
		}
		for s.pointScratch.testingTrees[w] = 0; blocked != 0; blocked &= blocked - 1 {
			free[w<<6|bits.TrailingZeros64(blocked)] = ^uint64(0)
		}
	}
	s.varyingSlots = append(s.varyingSlots[:0], varyingSlot{i, 0, 1}, varyingSlot{j, s.lineTotal, -1})
	s.maskSmallTrees(s.freeWithoutPair, i, j, s.lineTotal)
}

// descendPendingLine adds up the changes of the score along the line of ingredients i and j (see
// [Scorer.Line]) through the pending composition, which [Scorer.Reset] has set. It descends, from
// the root, each tree that tests an ingredient or group whose amount varies along the line. The
// parameter k is the amount of ingredient i in the pending composition.
func (s *Scorer) descendPendingLine(i, j, k int32) {
	sc := s.score
	each := func(set func(slot, amount int32)) {
		for _, p := range s.pendingParts {
			set(p.Ingredient, p.Amount)
			for _, g := range sc.groupsOf(p.Ingredient) {
				set(int32(sc.ingredientCount)+g, p.Amount)
			}
		}
	}
	each(func(slot, amount int32) { s.slotScratch[slot] += amount })
	s.setVaryingSlots(s.slotScratch, i, j)
	s.markVaryingSlots(s.slotScratch)
	o := &sc.pointIndex
	for w := range o.treeWords {
		trees := uint64(0)
		for _, v := range s.varyingSlots {
			trees |= o.testingTrees[int(sc.slotTestsIndex[v.slot])*o.treeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.descend(s.slotScratch, span{sc.roots[w<<6|bits.TrailingZeros64(trees)], 0, s.lineTotal, -1, -1}, k)
		}
	}
	s.unmarkVaryingSlots(s.slotScratch)
	each(func(slot, _ int32) { s.slotScratch[slot] = 0 })
}

// movePendingAlongLine makes the change of [Scorer.Set] to the pending composition, if the new
// composition is on the line that was last scored. The score of the new composition is known from
// that line. If the new composition is not on that line, movePendingAlongLine changes nothing and
// returns false.
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
	s.pendingParts = slices.DeleteFunc(s.pendingParts, func(p Part) bool { return p.Ingredient == i || p.Ingredient == j })
	if xi > 0 {
		s.pendingParts = append(s.pendingParts, Part{i, xi})
	}
	if xj > 0 {
		s.pendingParts = append(s.pendingParts, Part{j, xj})
	}
	return true
}

// lineSumAt returns the score of the composition on the last scored line in which the line's first
// ingredient has amount k.
func (s *Scorer) lineSumAt(k int32) int64 {
	p := len(s.lineStarts) - 1
	for s.lineStarts[p] > k {
		p--
	}
	return s.lineSums[p]
}
