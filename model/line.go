package model

import "math/bits"

// A lineBreak is a place on a line (see [Scorer.Line]) where the score changes: from position k − 1
// to position k. At position k, the line's first ingredient has amount k.
type lineBreak struct {
	k    int32
	step int64 // increase of the score at the place
}

// A varyingSlot is a slot, an ingredient or a group, whose amount varies along a line (see
// [Scorer.Line]). At position k, where the line's first ingredient has amount k, the amount is
// offset + slope·k.
type varyingSlot struct {
	slot, offset int32
	slope        int32 // change of the amount from one position to the next: +1 or −1
}

// scoreLine computes the result of [Scorer.Line] for the current composition, whose amounts are in
// s.x.
func (s *Scorer) scoreLine(i, j int32) (starts []int32, sums []int64) {
	k := s.x[i]
	total := k + s.x[j]
	s.lineBreaks = s.lineBreaks[:0]
	if total > 0 {
		if s.setVaryingSlots(s.x, i, j) {
			s.descendSmallTrees(k, total)
		} else {
			s.maskSmallTrees(s.freeLeaves, i, j, total)
		}
		if len(s.score.largeTrees) > 0 {
			s.descendLargeTrees(k, total)
		}
		s.collectBreaks(total)
	}
	return s.buildPieces(k, s.sum)
}

// Column scores the compositions in which ingredient i has the amount k = 0, …, maxAmount and all
// other amounts are unchanged. The totals of these compositions differ. Piece p goes from k =
// starts[p] to k = starts[p+1] − 1 and has the score sums[p], as for [Scorer.Line]. The current
// amount of i must be at most maxAmount, and the forest must not have descriptors.
func (s *Scorer) Column(i int, maxAmount int32) (starts []int32, sums []int64) {
	s.makePendingCurrent()
	k := s.x[i]
	s.lineBreaks = s.lineBreaks[:0]
	s.varyingSlots = append(s.varyingSlots[:0], varyingSlot{int32(i), 0, 1})
	for _, g := range s.score.groupsOf(int32(i)) {
		slot := int32(s.score.ingredientCount) + g
		s.varyingSlots = append(s.varyingSlots, varyingSlot{slot, s.x[slot] - k, 1})
	}
	s.descendSmallTrees(k, maxAmount)
	if len(s.score.largeTrees) > 0 {
		s.descendLargeTrees(k, maxAmount)
	}
	s.collectBreaks(maxAmount)
	return s.buildPieces(k, s.sum)
}

// setVaryingSlots sets s.varyingSlots to the slots whose amounts vary along the line of ingredients
// i and j (see [Scorer.Line]). The slice x holds the amounts of all slots. A group varies if it
// contains exactly one of the two ingredients. The result reports whether any group varies.
func (s *Scorer) setVaryingSlots(x []int32, i, j int32) (groups bool) {
	k := x[i]
	s.varyingSlots = append(s.varyingSlots[:0],
		varyingSlot{i, 0, 1},
		varyingSlot{j, x[j] + k, -1})
	if len(s.score.groups) == 0 {
		return false
	}
	ofI, ofJ := s.score.groupsOf(i), s.score.groupsOf(j)
	for len(ofI) > 0 || len(ofJ) > 0 {
		switch {
		case len(ofJ) == 0 || len(ofI) > 0 && ofI[0] < ofJ[0]:
			slot := int32(s.score.ingredientCount) + ofI[0]
			s.varyingSlots = append(s.varyingSlots, varyingSlot{slot, x[slot] - k, 1})
			ofI = ofI[1:]
		case len(ofI) == 0 || ofJ[0] < ofI[0]:
			slot := int32(s.score.ingredientCount) + ofJ[0]
			s.varyingSlots = append(s.varyingSlots, varyingSlot{slot, x[slot] + k, -1})
			ofJ = ofJ[1:]
		default:
			ofI, ofJ = ofI[1:], ofJ[1:]
		}
	}
	return len(s.varyingSlots) > 2
}

// maskSmallTrees adds up the changes of the score along the line of ingredients i and j (see
// [Scorer.Line]), for all small trees, which have at most 64 leaves. The sum of the two ingredients
// is total. The parameter leaves holds the free leaves of each tree: those that no failing test
// blocks. No group of ingredients may vary along the line.
//
// A composition at position k has k units of i and total − k units of j. A test of i with threshold
// t begins to fail at k = t + 1. A test of j with threshold t begins to pass at k = total − t. Both
// happen on the line only if t < total. The leaves that tests of other ingredients block are the
// same along the line. Each [cell] of i or j therefore changes the score once: where the leaves
// that its ingredient blocks change from leavesBefore to leavesAfter, or back.
//
// If a tree tests both ingredients, the leaves that the other ingredient blocks at that position
// are added. The loops have no branches that depend on a cell, because cells are unpredictable.
func (s *Scorer) maskSmallTrees(leaves []freeLeaves, i, j, total int32) {
	sc := s.score
	knownI, knownJ := int(sc.slotTestsIndex[i]), int(sc.slotTestsIndex[j])
	testsI, testsJ := &sc.slotTests[knownI], &sc.slotTests[knownJ]
	setI := sc.testingTrees[knownI*sc.smallTreeWords:][:sc.smallTreeWords]
	setJ := sc.testingTrees[knownJ*sc.smallTreeWords:][:sc.smallTreeWords]
	values, current, step := sc.leafValues, s.entryBlocks, s.levelSteps

	endI := sc.endOfLevelsBelow(testsI, total)
	cells := sc.cells[sc.firstCells[testsI.firstLevel]:sc.firstCells[endI]]
	for n := range cells {
		c := &cells[n]
		l := &leaves[c.tree]
		free := l.freeExcept(current[c.entry])
		rise := values[l.firstLeaf+firstSetBit(free&^c.leavesAfter)] - values[l.firstLeaf+firstSetBit(free&^c.leavesBefore)]
		alone := setJ[c.tree>>6]>>(c.tree&63)&1 - 1
		step[c.level] += rise & int64(alone)
	}
	endJ := sc.endOfLevelsBelow(testsJ, total)
	cells = sc.cells[sc.firstCells[testsJ.firstLevel]:sc.firstCells[endJ]]
	for n := range cells {
		c := &cells[n]
		l := &leaves[c.tree]
		free := l.freeExcept(current[c.entry])
		rise := values[l.firstLeaf+firstSetBit(free&^c.leavesBefore)] - values[l.firstLeaf+firstSetBit(free&^c.leavesAfter)]
		alone := setI[c.tree>>6]>>(c.tree&63)&1 - 1
		step[c.level] += rise & int64(alone)
	}

	entryI, entryJ := testsI.firstEntry, testsJ.firstEntry
	for w, wordI := range setI {
		wordJ := setJ[w]
		for both := wordI & wordJ; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			s.maskSharedTree(&leaves[w<<6|bit], entryI+countBitsBelow(wordI, bit), entryJ+countBitsBelow(wordJ, bit), total)
		}
		entryI += int32(bits.OnesCount64(wordI))
		entryJ += int32(bits.OnesCount64(wordJ))
	}
}

// maskSharedTree adds up the changes of the score along a line (see [Scorer.Line]), for a small
// tree that tests both ingredients of the line. The parameter l holds the free leaves of the tree.
// The parameters entryI and entryJ are the indices of the tree's entries for the two ingredients:
// see [entry]. The parameter total is the sum of the two amounts.
//
// Where a test of the first ingredient with threshold t changes its result, the amount of the
// second ingredient goes from total − t to total − t − 1. The same holds with the ingredients
// exchanged. If tests of both change their results at the same position, the test of the first
// ingredient counts as the earlier.
func (s *Scorer) maskSharedTree(l *freeLeaves, entryI, entryJ, total int32) {
	sc := s.score
	a, b := &sc.entries[entryI], &sc.entries[entryJ]
	free := l.freeExcept(s.entryBlocks[entryI] | s.entryBlocks[entryJ])
	if a.end-a.first > 1 || b.end-b.first > 1 {
		s.maskManyCells(l.firstLeaf, free, a, b, total)
		return
	}
	values := sc.leafValues
	together := lessMask(a.threshold, total-b.threshold)
	freeI, freeJ := free&^(b.blockable&together), free&^(a.blockable&together)
	stepI := values[l.firstLeaf+firstSetBit(freeI&^a.blockable)] - values[l.firstLeaf+firstSetBit(freeI)]
	stepJ := values[l.firstLeaf+firstSetBit(freeJ)] - values[l.firstLeaf+firstSetBit(freeJ&^b.blockable)]
	s.levelSteps[a.level] += stepI & int64(lessMask(a.threshold, total))
	s.levelSteps[b.level] += stepJ & int64(lessMask(b.threshold, total))
}

// lessMask returns a word whose bits are all 1 if a < b, and all 0 otherwise.
func lessMask(a, b int32) uint64 { return uint64((int64(a) - int64(b)) >> 63) }

// maskManyCells does the work of [Scorer.maskSharedTree] for two entries, a and b, with any number
// of cells. The parameter free holds the leaves that no other slot blocks. The parameter base is
// the index of the tree's first leaf.
func (s *Scorer) maskManyCells(base int64, free uint64, a, b *entry, total int32) {
	if (a.blockable|b.blockable)&free&-free == 0 {
		return // neither slot blocks the first leaf that the other slots leave free
	}
	sc := s.score
	for _, n := range sc.entryCells[a.first:a.end] {
		c := &sc.cells[n]
		threshold := sc.thresholds[c.level]
		if threshold >= total {
			break
		}
		free := free &^ sc.leavesBlockedAt(b, total-threshold)
		s.levelSteps[c.level] += sc.leafValues[base+firstSetBit(free&^c.leavesAfter)] - sc.leafValues[base+firstSetBit(free&^c.leavesBefore)]
	}
	for _, n := range sc.entryCells[b.first:b.end] {
		c := &sc.cells[n]
		threshold := sc.thresholds[c.level]
		if threshold >= total {
			break
		}
		free := free &^ sc.leavesBlockedAt(a, total-threshold)
		s.levelSteps[c.level] += sc.leafValues[base+firstSetBit(free&^c.leavesBefore)] - sc.leafValues[base+firstSetBit(free&^c.leavesAfter)]
	}
}

// collectBreaks sets s.lineBreaks to the changes of the score along the line, in ascending order of
// their positions. It takes the changes from levelSteps. Several breaks at the same position are
// not merged.
func (s *Scorer) collectBreaks(total int32) {
	sc := s.score
	for r, v := range s.varyingSlots {
		begin := len(s.lineBreaks)
		tests := &sc.slotTests[sc.slotTestsIndex[v.slot]]
		if v.slope > 0 {
			for level := tests.firstLevel; level < tests.levelEnd; level++ {
				s.moveLevelStepToBreaks(level, sc.thresholds[level]+1-v.offset)
			}
		} else {
			for level := tests.levelEnd - 1; level >= tests.firstLevel; level-- {
				s.moveLevelStepToBreaks(level, v.offset-sc.thresholds[level])
			}
		}
		if r > 0 {
			s.mergeBreaks(begin)
		}
	}
}

// moveLevelStepToBreaks moves the change of the score at a level from levelSteps to the breaks, as
// a break at position k. It does nothing if the change is 0.
func (s *Scorer) moveLevelStepToBreaks(level, k int32) {
	if step := s.levelSteps[level]; step != 0 {
		s.levelSteps[level] = 0
		s.lineBreaks = append(s.lineBreaks, lineBreak{k, step})
	}
}

// mergeBreaks merges the two sorted lists breaks[:middle] and breaks[middle:] into one sorted list.
func (s *Scorer) mergeBreaks(middle int) {
	a, b := s.lineBreaks[:middle], s.lineBreaks[middle:]
	if len(a) == 0 || len(b) == 0 || a[len(a)-1].k <= b[0].k {
		return
	}
	merged := s.mergeBuffer[:0]
	for len(a) > 0 && len(b) > 0 {
		if a[0].k <= b[0].k {
			merged = append(merged, a[0])
			a = a[1:]
		} else {
			merged = append(merged, b[0])
			b = b[1:]
		}
	}
	merged = append(merged, a...)
	merged = append(merged, b...)
	s.lineBreaks, s.mergeBuffer = merged, s.lineBreaks
}

// buildPieces converts the breaks to the pieces of the line. The parameter sum is the score of the
// current composition, which is at position k of the line.
func (s *Scorer) buildPieces(k int32, sum int64) (starts []int32, sums []int64) {
	for _, b := range s.lineBreaks {
		if b.k > k {
			break
		}
		sum -= b.step
	}
	s.lineStarts = append(s.lineStarts[:0], 0)
	s.lineSums = append(s.lineSums[:0], sum)
	for n := 0; n < len(s.lineBreaks); {
		b := s.lineBreaks[n]
		step := b.step
		for n++; n < len(s.lineBreaks) && s.lineBreaks[n].k == b.k; n++ {
			step += s.lineBreaks[n].step
		}
		if step != 0 {
			sum += step
			s.lineStarts = append(s.lineStarts, b.k)
			s.lineSums = append(s.lineSums, sum)
		}
	}
	return s.lineStarts, s.lineSums
}
