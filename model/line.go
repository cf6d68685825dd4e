package model

import "math/bits"

// A lineBreak is a change of the score along a line, between the compositions k−1 and k. The number
// k is the amount of the line's first ingredient.
type lineBreak struct {
	k    int32
	step int64 // by how much the score rises
}

// A varyingSlot is a slot whose amount varies along a line. The amount is offset + slope·k, where k
// is the amount of the line's first ingredient.
type varyingSlot struct {
	slot, offset int32
	slope        int32 // +1 or −1
}

// scoreLine computes the result of [Scorer.Line] for a composition that has been taken over into x.
func (s *Scorer) scoreLine(i, j int32) (starts []int32, sums []int64) {
	k := s.x[i]
	total := k + s.x[j]
	s.breaks = s.breaks[:0]
	if total > 0 {
		if s.setVarying(s.x, i, j) {
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

// Column scores the compositions in which ingredient i has the amount k = 0, …, most and all other
// amounts are unchanged. The totals of these compositions differ. The result has the form of that
// of [Scorer.Line]. The current amount of i must be at most most, and the forest must not have
// descriptors.
func (s *Scorer) Column(i int, most int32) (starts []int32, sums []int64) {
	s.applyPending()
	k := s.x[i]
	s.breaks = s.breaks[:0]
	s.varying = append(s.varying[:0], varyingSlot{int32(i), 0, 1})
	for _, g := range s.score.groupsOf(int32(i)) {
		slot := int32(s.score.ingredients) + g
		s.varying = append(s.varying, varyingSlot{slot, s.x[slot] - k, 1})
	}
	s.descendSmallTrees(k, most)
	if len(s.score.largeTrees) > 0 {
		s.descendLargeTrees(k, most)
	}
	s.collectBreaks(most)
	return s.buildPieces(k, s.sum)
}

// setVarying lists the slots that vary along the line of ingredients i and j through x. It reports
// whether any of these slots is a group. A group varies if it contains exactly one of the two
// ingredients.
func (s *Scorer) setVarying(x []int32, i, j int32) (groups bool) {
	k := x[i]
	s.varying = append(s.varying[:0],
		varyingSlot{i, 0, 1},
		varyingSlot{j, x[j] + k, -1})
	if len(s.score.groups) == 0 {
		return false
	}
	ofI, ofJ := s.score.groupsOf(i), s.score.groupsOf(j)
	for len(ofI) > 0 || len(ofJ) > 0 {
		switch {
		case len(ofJ) == 0 || len(ofI) > 0 && ofI[0] < ofJ[0]:
			slot := int32(s.score.ingredients) + ofI[0]
			s.varying = append(s.varying, varyingSlot{slot, x[slot] - k, 1})
			ofI = ofI[1:]
		case len(ofI) == 0 || ofJ[0] < ofI[0]:
			slot := int32(s.score.ingredients) + ofJ[0]
			s.varying = append(s.varying, varyingSlot{slot, x[slot] + k, -1})
			ofJ = ofJ[1:]
		default:
			ofI, ofJ = ofI[1:], ofJ[1:]
		}
	}
	return len(s.varying) > 2
}

// maskSmallTrees adds the steps of the small trees along the line of i and j, which has total
// units. The parameter leaves holds the free leaves of each tree. The slots of i and j must be the
// only slots that vary.
//
// Let s be the total. A test of i with threshold t begins to fail at k = t+1. A test of j ceases to
// fail at k = s−t. Both hold only for t < s. The leaves that all other slots block do not change
// along the line. So each [cell] of i or j makes one step: the leaves that the cell's slot blocks
// change from leavesBefore to leavesAfter, or back.
//
// If a tree tests both slots, the leaves that the other slot blocks at that moment are added.
// Nothing about a cell can be predicted. The loops therefore have no branches that depend on a
// cell.
func (s *Scorer) maskSmallTrees(leaves []freeLeaves, i, j, total int32) {
	sc := s.score
	knownI, knownJ := int(sc.testsIndex[i]), int(sc.testsIndex[j])
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

// maskSharedTree adds the steps of a small tree that tests both i and j. The parameter l holds the
// free leaves of the tree. The parameters i and j are the indices of the entries of the two slots
// in the tree, and total is the sum of their amounts.
//
// The line crosses a cell of i with threshold t while j has the amount total−t or, one step
// further, total−t−1. The same holds with i and j exchanged. If the line crosses two cells at once,
// the cell of i counts as the first.
func (s *Scorer) maskSharedTree(l *freeLeaves, i, j, total int32) {
	sc := s.score
	a, b := &sc.entries[i], &sc.entries[j]
	free := l.freeExcept(s.entryBlocks[i] | s.entryBlocks[j])
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

// lessMask returns a word of all ones if a < b, and 0 otherwise.
func lessMask(a, b int32) uint64 { return uint64((int64(a) - int64(b)) >> 63) }

// maskManyCells does the work of [Scorer.maskSharedTree] for two entries with any number of cells.
// The parameter free holds the leaves that no other slot blocks, and base is the index of the
// tree's first leaf.
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

// collectBreaks converts the steps of the levels to breaks, in ascending order of k. Several breaks
// with the same k are not merged yet.
func (s *Scorer) collectBreaks(total int32) {
	sc := s.score
	for r, v := range s.varying {
		begin := len(s.breaks)
		tests := &sc.slotTests[sc.testsIndex[v.slot]]
		if v.slope > 0 {
			for level := tests.firstLevel; level < tests.levelEnd; level++ {
				s.takeBreak(level, sc.thresholds[level]+1-v.offset)
			}
		} else {
			for level := tests.levelEnd - 1; level >= tests.firstLevel; level-- {
				s.takeBreak(level, v.offset-sc.thresholds[level])
			}
		}
		if r > 0 {
			s.mergeBreaks(begin)
		}
	}
}

// takeBreak moves the step of a level to the breaks, as a break at k. It does nothing if the step
// is 0.
func (s *Scorer) takeBreak(level, k int32) {
	if step := s.levelSteps[level]; step != 0 {
		s.levelSteps[level] = 0
		s.breaks = append(s.breaks, lineBreak{k, step})
	}
}

// mergeBreaks merges the two sorted lists breaks[:middle] and breaks[middle:] into one sorted list.
func (s *Scorer) mergeBreaks(middle int) {
	a, b := s.breaks[:middle], s.breaks[middle:]
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
	s.breaks, s.mergeBuffer = merged, s.breaks
}

// buildPieces converts the breaks to the pieces of the line. The parameter sum is the score of the
// current composition, which lies at k.
func (s *Scorer) buildPieces(k int32, sum int64) (starts []int32, sums []int64) {
	for _, b := range s.breaks {
		if b.k > k {
			break
		}
		sum -= b.step
	}
	s.starts = append(s.starts[:0], 0)
	s.sums = append(s.sums[:0], sum)
	for n := 0; n < len(s.breaks); {
		b := s.breaks[n]
		step := b.step
		for n++; n < len(s.breaks) && s.breaks[n].k == b.k; n++ {
			step += s.breaks[n].step
		}
		if step != 0 {
			sum += step
			s.starts = append(s.starts, b.k)
			s.sums = append(s.sums, sum)
		}
	}
	return s.starts, s.sums
}
