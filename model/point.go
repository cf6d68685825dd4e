package model

import "math/bits"

// A point is the working memory of [Score.Sum].
type point struct {
	free   []uint64 // by word: the leaves that no slot blocks; all bits set between uses
	trees  []uint64 // bit set of the trees that test a slot in use; empty between uses
	totals []int32  // by group; 0 between uses
}

func (s *structure) newPoint() *point {
	o := &s.cover
	p := &point{free: make([]uint64, o.firstWord[len(s.roots)]), trees: make([]uint64, o.treeWords), totals: make([]int32, len(s.groups))}
	for k := range p.free {
		p.free[k] = ^uint64(0)
	}
	return p
}

// Sum is [Score.Point] for a composition whose ingredients with a positive amount are listed in
// used, in any order.
func (s *Score) Sum(x, used []int32) int64 {
	if s.ensembleScore != nil {
		return s.Point(x)
	}
	p, ok := s.cover.points.Get().(*point)
	if !ok {
		p = s.newPoint()
	}
	sum := s.sumWith(p, x, used)
	s.cover.points.Put(p)
	return sum
}

// sumWith is Sum with the caller's working memory.
func (s *Score) sumWith(p *point, x, used []int32) int64 {
	o := &s.cover
	blocks, tested := 0, 0
	if len(s.groups) == 0 && o.maxBlocks >= 0 {
		for _, i := range used {
			known := s.known[i]
			t := &s.tests[known]
			blocks += int(o.firstBlock[t.levelEnd] - o.firstBlock[t.level])
			tested += int(o.count[known])
		}
	}
	if blocks > o.maxBlocks {
		return s.Point(x)
	}

	for _, i := range used {
		s.block(p, i, x[i])
	}
	if len(s.groups) > 0 {
		for _, i := range used {
			for _, g := range s.groupsOf(i) {
				p.totals[g] += x[i]
			}
		}
		for _, i := range used {
			for _, g := range s.groupsOf(i) {
				if total := p.totals[g]; total > 0 {
					p.totals[g] = 0
					s.block(p, int32(s.ingredients)+g, total)
				}
			}
		}
	}

	if tested >= len(s.roots) && len(p.free) == len(s.roots) {
		return s.sumAll(p)
	}
	sum := s.empty
	for w, trees := range p.trees {
		for p.trees[w] = 0; trees != 0; trees &= trees - 1 {
			t := w<<6 | bits.TrailingZeros64(trees)
			base := int64(s.leafBase[t])
			sum -= s.values[base]
			from, to := o.firstWord[t], o.firstWord[t+1]
			if to == from+1 {
				sum += s.values[base+firstSetBit(p.free[from])]
				p.free[from] = ^uint64(0)
				continue
			}
			free := p.free[from:to]
			k := 0
			for free[k] == 0 {
				free[k] = ^uint64(0)
				k++
			}
			sum += s.values[base+int64(k)<<6+firstSetBit(free[k])]
			for ; k < len(free); k++ {
				free[k] = ^uint64(0)
			}
		}
	}
	return sum
}

// sumAll looks at every tree, each of 64 leaves at most. If nearly all trees test an ingredient in
// use, this is faster than finding those that do.
func (s *Score) sumAll(p *point) (sum int64) {
	clear(p.trees)
	for t, base := range s.leafBase {
		sum += s.values[int64(base)+firstSetBit(p.free[t])]
		p.free[t] = ^uint64(0)
	}
	return sum
}

// block removes from the free leaves those that a slot with an amount blocks.
func (s *Score) block(p *point, slot, amount int32) {
	known := int(s.known[slot])
	tests := &s.tests[known]
	to := s.levelsBelow(tests, amount)
	if to == tests.level {
		return
	}
	o := &s.cover
	for w, trees := range o.testing[known*o.treeWords:][:o.treeWords] {
		p.trees[w] |= trees
	}
	free := p.free
	for _, b := range o.blocks[o.firstBlock[tests.level]:o.firstBlock[to]] {
		free[b.word] &^= b.leaves
	}
}
