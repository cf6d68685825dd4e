package model

import "math/bits"

// A pointScratch is the working memory of [Score.Sum].
type pointScratch struct {
	free         []uint64 // by word of [pointIndex]: the leaves that no slot blocks; all bits are set between uses
	testingTrees []uint64 // bit set of the trees that test a used ingredient or group; empty between uses
	groupTotals  []int32  // by group: the total of its amounts; 0 between uses
}

// newPointScratch returns working memory for [Score.Sum].
func (s *compiledForest) newPointScratch() *pointScratch {
	o := &s.pointIndex
	p := &pointScratch{free: make([]uint64, o.firstWord[len(s.roots)]), testingTrees: make([]uint64, o.treeWords), groupTotals: make([]int32, len(s.groups))}
	for k := range p.free {
		p.free[k] = ^uint64(0)
	}
	return p
}

// Sum returns the same sum as [Score.Point] for the dense composition x, but faster. The parameter
// used lists the ingredients with a positive amount, in any order.
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

// sumWithScratch does the work of [Score.Sum] in the working memory of the caller.
func (s *Score) sumWithScratch(p *pointScratch, x, used []int32) int64 {
	o := &s.pointIndex
	blocks, tested := 0, 0
	if len(s.groups) == 0 && o.maxBlocks >= 0 {
		for _, i := range used {
			known := s.testsIndex[i]
			t := &s.slotTests[known]
			blocks += int(o.firstBlock[t.levelEnd] - o.firstBlock[t.firstLevel])
			tested += int(o.treeCounts[known])
		}
	}
	if blocks > o.maxBlocks {
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
					s.blockLeaves(p, int32(s.ingredients)+g, total)
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
			from, to := o.firstWord[t], o.firstWord[t+1]
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

// sumAllTrees adds the leaf values of all trees, after the failing tests have blocked leaves. Every
// tree must have at most 64 leaves. If nearly all trees test a used ingredient, sumAllTrees is
// faster than finding the trees that do.
func (s *Score) sumAllTrees(p *pointScratch) (sum int64) {
	clear(p.testingTrees)
	for t, base := range s.firstLeaves {
		sum += s.leafValues[int64(base)+firstSetBit(p.free[t])]
		p.free[t] = ^uint64(0)
	}
	return sum
}

// blockLeaves marks the leaves that a slot with the given amount blocks as not free. It also marks
// the trees that test the slot.
func (s *Score) blockLeaves(p *pointScratch, slot, amount int32) {
	known := int(s.testsIndex[slot])
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
	for _, b := range o.blocks[o.firstBlock[tests.firstLevel]:o.firstBlock[to]] {
		free[b.word] &^= b.leaves
	}
}
