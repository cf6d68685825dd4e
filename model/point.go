package model

import "math/bits"

// A pointScratch is the working memory of [Score.Sum].
type pointScratch struct {
	// free holds the words of 64 leaves of [pointIndex]. A bit is set if no slot blocks the leaf.
	// All bits are set between uses.
	free         []uint64
	testingTrees []uint64 // bit set of the trees with a test of a slot that blocks leaves; empty between uses
	groupTotals  []int32  // total amount of each group of ingredients; 0 between uses
}

// newPointScratch returns working memory for [Score.Sum].
func (s *compiledForest) newPointScratch() *pointScratch {
	o := &s.pointIndex
	p := &pointScratch{free: make([]uint64, o.firstWords[len(s.roots)]), testingTrees: make([]uint64, o.treeWords), groupTotals: make([]int32, len(s.groups))}
	for k := range p.free {
		p.free[k] = ^uint64(0)
	}
	return p
}

// Sum returns the sum of leaf values for the dense composition x. The parameter used lists the
// ingredients with a positive amount, in any order. The result is that of [Score.Point], but Sum is
// faster.
func (s *Score) Sum(x, used []int32) int64 {
	if s.ensembleScore != nil {
		return s.Point(x)
	}
	p, ok := s.pointIndex.scratchPool.Get().(*pointScratch)
	if !ok {
		p = s.newPointScratch()
	}
	sum := s.sumWithScratch(p, x, used)
	s.pointIndex.scratchPool.Put(p)
	return sum
}

// sumWithScratch computes the result of [Score.Sum] with the working memory p.
func (s *Score) sumWithScratch(p *pointScratch, x, used []int32) int64 {
	o := &s.pointIndex
	blocks, tested := 0, 0
	if len(s.groups) == 0 && o.maxBlockedLeaves >= 0 {
		for _, i := range used {
			known := s.slotTestsIndex[i]
			t := &s.slotTests[known]
			blocks += int(o.firstBlocks[t.levelEnd] - o.firstBlocks[t.firstLevel])
			tested += int(o.testingTreeCounts[known])
		}
	}
	if blocks > o.maxBlockedLeaves {
		return s.Point(x)
	}

	for _, i := range used {
		s.blockLeaves(p, i, x[i])
	}
	if len(s.groups) > 0 {
		for _, i := range used {
			for _, g := range s.groupsOf(i) {
				p.groupTotals[g] += x[i]
			}
		}
		for _, i := range used {
			for _, g := range s.groupsOf(i) {
				if total := p.groupTotals[g]; total > 0 {
					p.groupTotals[g] = 0
					s.blockLeaves(p, int32(s.ingredientCount)+g, total)
				}
			}
		}
	}

	if tested >= len(s.roots) && len(p.free) == len(s.roots) {
		return s.sumAllTrees(p)
	}
	sum := s.emptySum
	for w, trees := range p.testingTrees {
		for p.testingTrees[w] = 0; trees != 0; trees &= trees - 1 {
			t := w<<6 | bits.TrailingZeros64(trees)
			base := int64(s.firstLeaves[t])
			sum -= s.leafValues[base]
			from, to := o.firstWords[t], o.firstWords[t+1]
			if to == from+1 {
				sum += s.leafValues[base+firstSetBit(p.free[from])]
				p.free[from] = ^uint64(0)
				continue
			}
			free := p.free[from:to]
			k := 0
			for free[k] == 0 {
				free[k] = ^uint64(0)
				k++
			}
			sum += s.leafValues[base+int64(k)<<6+firstSetBit(free[k])]
			for ; k < len(free); k++ {
				free[k] = ^uint64(0)
			}
		}
	}
	return sum
}

// sumAllTrees returns the sum of the values of the first free leaves of all trees. The slots of the
// composition must have blocked their leaves before. Every tree must have at most 64 leaves.
// Visiting all trees is faster than finding the trees that test a used ingredient if these are
// nearly all.
func (s *Score) sumAllTrees(p *pointScratch) (sum int64) {
	clear(p.testingTrees)
	for t, base := range s.firstLeaves {
		sum += s.leafValues[int64(base)+firstSetBit(p.free[t])]
		p.free[t] = ^uint64(0)
	}
	return sum
}

// blockLeaves marks as not free, in p.free, the leaves that a slot with the given amount blocks. If
// there are any, it adds the trees that test the slot to p.testingTrees.
func (s *Score) blockLeaves(p *pointScratch, slot, amount int32) {
	known := int(s.slotTestsIndex[slot])
	tests := &s.slotTests[known]
	to := s.endOfLevelsBelow(tests, amount)
	if to == tests.firstLevel {
		return
	}
	o := &s.pointIndex
	for w, trees := range o.testingTrees[known*o.treeWords:][:o.treeWords] {
		p.testingTrees[w] |= trees
	}
	free := p.free
	for _, b := range o.blockedLeaves[o.firstBlocks[tests.firstLevel]:o.firstBlocks[to]] {
		free[b.word] &^= b.leaves
	}
}
