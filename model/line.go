package model

import "math/bits"

// A lineBreak is a change of the score between k−1 and k.
type lineBreak struct {
	k    int32
	step int64
}

// A varyingSlot is a slot whose amount varies along a line: it is offset + slope·k at split k.
type varyingSlot struct {
	slot, offset int32
	slope        int32
}

// line is Line for a composition that has been taken over into x.
func (s *Scorer) line(i, j int32) (starts []int32, sums []int64) {
	k := s.x[i]
	total := k + s.x[j]
	s.breaks = s.breaks[:0]
	if total > 0 {
		if s.vary(s.x, i, j) {
			s.descendSmall(k, total)
		} else {
			s.maskSmall(s.leaves, i, j, total)
		}
		if len(s.score.large) > 0 {
			s.descendLarge(k, total)
		}
		s.collect(total)
	}
	return s.pieces(k, s.sum)
}

// Column scores the compositions in which ingredient i has the amount k, k = 0, …, most, and all others
// what they have, so that the total differs. It returns them as [Scorer.Line] does. The amount of
// i must be at most most, and the forest must not have descriptors.
func (s *Scorer) Column(i int, most int32) (starts []int32, sums []int64) {
	s.applyPending()
	k := s.x[i]
	s.breaks = s.breaks[:0]
	s.varying = append(s.varying[:0], varyingSlot{int32(i), 0, 1})
	for _, g := range s.score.groupsOf(int32(i)) {
		slot := int32(s.score.ingredients) + g
		s.varying = append(s.varying, varyingSlot{slot, s.x[slot] - k, 1})
	}
	s.descendSmall(k, most)
	if len(s.score.large) > 0 {
		s.descendLarge(k, most)
	}
	s.collect(most)
	return s.pieces(k, s.sum)
}

// vary lists the slots that vary along the line of i and j through x. It reports whether groups are
// among them: those that contain exactly one of the two.
func (s *Scorer) vary(x []int32, i, j int32) (groups bool) {
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

// maskSmall adds the steps of the small trees along the line of i and j, given the free leaves. i
// and j must be the only slots that vary.
//
// Along the line, a test of i with threshold t begins to fail at k = t+1. A test of j ceases to
// fail at k = s−t. Both hold for t < s only. The leaves that all other slots block are the same all
// along, so each cell makes a step by itself: the leaves that its slot blocks change from before to
// after, or back. Where a tree tests both slots, the leaves that the other slot blocks at that
// moment are added. Nothing about a cell can be predicted, so the loops have no branches that
// depend on it.
func (s *Scorer) maskSmall(leaves []freeLeaves, i, j, total int32) {
	sc := s.score
	knownI, knownJ := int(sc.known[i]), int(sc.known[j])
	testsI, testsJ := &sc.tests[knownI], &sc.tests[knownJ]
	setI := sc.testing[knownI*sc.treeWords:][:sc.treeWords]
	setJ := sc.testing[knownJ*sc.treeWords:][:sc.treeWords]
	values, current, step := sc.values, s.current, s.step

	endI := sc.levelsBelow(testsI, total)
	cells := sc.cells[sc.firstCell[testsI.level]:sc.firstCell[endI]]
	for n := range cells {
		c := &cells[n]
		l := &leaves[c.tree]
		free := l.without(current[c.entry])
		rise := values[l.base+firstSetBit(free&^c.leavesAfter)] - values[l.base+firstSetBit(free&^c.leavesBefore)]
		alone := setJ[c.tree>>6]>>(c.tree&63)&1 - 1
		step[c.level] += rise & int64(alone)
	}
	endJ := sc.levelsBelow(testsJ, total)
	cells = sc.cells[sc.firstCell[testsJ.level]:sc.firstCell[endJ]]
	for n := range cells {
		c := &cells[n]
		l := &leaves[c.tree]
		free := l.without(current[c.entry])
		rise := values[l.base+firstSetBit(free&^c.leavesBefore)] - values[l.base+firstSetBit(free&^c.leavesAfter)]
		alone := setI[c.tree>>6]>>(c.tree&63)&1 - 1
		step[c.level] += rise & int64(alone)
	}

	entryI, entryJ := testsI.entry, testsJ.entry
	for w, wordI := range setI {
		wordJ := setJ[w]
		for both := wordI & wordJ; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			s.maskBoth(&leaves[w<<6|bit], entryI+countBelow(wordI, bit), entryJ+countBelow(wordJ, bit), total)
		}
		entryI += int32(bits.OnesCount64(wordI))
		entryJ += int32(bits.OnesCount64(wordJ))
	}
}

// maskBoth adds the steps of a small tree that tests both i and j, given its entries. A cell of i
// with threshold t is crossed while j has the amount s−t or, one further, s−t−1, and the reverse.
// Where two are crossed at once, i's counts as the first.
func (s *Scorer) maskBoth(l *freeLeaves, i, j, total int32) {
	sc := s.score
	a, b := &sc.entries[i], &sc.entries[j]
	free := l.without(s.current[i] | s.current[j])
	if a.end-a.first > 1 || b.end-b.first > 1 {
		s.maskMany(l.base, free, a, b, total)
		return
	}
	values := sc.values
	together := lessMask(a.threshold, total-b.threshold)
	freeI, freeJ := free&^(b.blockable&together), free&^(a.blockable&together)
	stepI := values[l.base+firstSetBit(freeI&^a.blockable)] - values[l.base+firstSetBit(freeI)]
	stepJ := values[l.base+firstSetBit(freeJ)] - values[l.base+firstSetBit(freeJ&^b.blockable)]
	s.step[a.level] += stepI & int64(lessMask(a.threshold, total))
	s.step[b.level] += stepJ & int64(lessMask(b.threshold, total))
}

// lessMask returns all ones if a < b and zero otherwise.
func lessMask(a, b int32) uint64 { return uint64((int64(a) - int64(b)) >> 63) }

// maskMany is maskBoth for entries of any number of cells.
func (s *Scorer) maskMany(base int64, free uint64, a, b *entry, total int32) {
	if (a.blockable|b.blockable)&free&-free == 0 {
		return // neither slot blocks the first leaf that the other slots leave free
	}
	sc := s.score
	for _, n := range sc.ofEntry[a.first:a.end] {
		c := &sc.cells[n]
		threshold := sc.thresholds[c.level]
		if threshold >= total {
			break
		}
		free := free &^ sc.blockedBy(b, total-threshold)
		s.step[c.level] += sc.values[base+firstSetBit(free&^c.leavesAfter)] - sc.values[base+firstSetBit(free&^c.leavesBefore)]
	}
	for _, n := range sc.ofEntry[b.first:b.end] {
		c := &sc.cells[n]
		threshold := sc.thresholds[c.level]
		if threshold >= total {
			break
		}
		free := free &^ sc.blockedBy(a, total-threshold)
		s.step[c.level] += sc.values[base+firstSetBit(free&^c.leavesBefore)] - sc.values[base+firstSetBit(free&^c.leavesAfter)]
	}
}

// collect converts the steps to breaks, ascending in k. It does not yet merge equal ones.
func (s *Scorer) collect(total int32) {
	sc := s.score
	for r, v := range s.varying {
		begin := len(s.breaks)
		tests := &sc.tests[sc.known[v.slot]]
		if v.slope > 0 {
			for level := tests.level; level < tests.levelEnd; level++ {
				s.takeBreak(level, sc.thresholds[level]+1-v.offset)
			}
		} else {
			for level := tests.levelEnd - 1; level >= tests.level; level-- {
				s.takeBreak(level, v.offset-sc.thresholds[level])
			}
		}
		if r > 0 {
			s.mergeBreaks(begin)
		}
	}
}

// takeBreak moves the step of a level, if there is one, to the breaks.
func (s *Scorer) takeBreak(level, k int32) {
	if step := s.step[level]; step != 0 {
		s.step[level] = 0
		s.breaks = append(s.breaks, lineBreak{k, step})
	}
}

// mergeBreaks merges breaks[:middle] and breaks[middle:], each ascending.
func (s *Scorer) mergeBreaks(middle int) {
	a, b := s.breaks[:middle], s.breaks[middle:]
	if len(a) == 0 || len(b) == 0 || a[len(a)-1].k <= b[0].k {
		return
	}
	merged := s.merged[:0]
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
	s.breaks, s.merged = merged, s.breaks
}

// pieces converts the breaks to pieces, given the current k and its score.
func (s *Scorer) pieces(k int32, sum int64) (starts []int32, sums []int64) {
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
