package forest

import (
	"math/bits"
	"sync"
)

// A cover is what [Score.Sum] scores a point by: for each test the leaves that it
// blocks if it fails, in words of 64. A tree's words follow each other.
type cover struct {
	first   []int32  // by tree, its first word; trees+1
	trees   int      // words of a bit set of trees
	testing []uint64 // by tested slot: the bit set of trees that test it
	blocks  []block  // by level
	from    []int32  // by level, where its blocks begin; levels+1
	most    int32    // of how many blocks a composition may be without walking being faster
	points  sync.Pool
}

// A block is what a failing test blocks of a word.
type block struct {
	leaves uint64
	word   int32
}

// A point is the working memory of [Score.Sum].
type point struct {
	free   []uint64 // by word: the leaves that no slot blocks; all between uses
	trees  []uint64 // bit set of the trees that test a slot in use; empty between uses
	totals []int32  // by group; 0 between uses
}

func (s *structure) newPoint() *point {
	o := &s.cover
	p := &point{free: make([]uint64, o.first[len(s.roots)]), trees: make([]uint64, o.trees), totals: make([]int32, len(s.groups))}
	for k := range p.free {
		p.free[k] = ^uint64(0)
	}
	return p
}

// walkWorth is how many blocks take as long as a test of a path, at most.
const walkWorth = 8

// addCover lays out the cover.
func (s *structure) addCover(f *Forest) {
	o := &s.cover
	o.trees = (len(s.roots) + 63) / 64
	o.testing = make([]uint64, len(s.tests)*o.trees)
	o.from = make([]int32, len(s.thresholds)+1)
	o.first = []int32{0}
	for k := range f.trees {
		o.first = append(o.first, o.first[k]+int32(f.trees[k].leaves()+63)/64)
		o.most += walkWorth * f.trees[k].meanDepth()
	}
	// Twice over all tests: to count the blocks of each level, and to place them.
	each := func(add func(tree int, level int32, b block)) {
		for k := range f.trees {
			t := &f.trees[k]
			for at, n := range t.nodes {
				if n.feature < 0 {
					continue
				}
				from, to := t.firstLeaf(at), t.firstLeaf(int(n.right))
				for word := from >> 6; word<<6 < to; word++ {
					low, high := max(from-word<<6, 0), min(to-word<<6, 64)
					mask := ^uint64(0) >> (64 - (high - low)) << low
					add(k, s.nodeLevel[int(s.roots[k])+at], block{mask, o.first[k] + word})
				}
			}
		}
	}
	each(func(_ int, level int32, _ block) { o.from[level+1]++ })
	for level := range s.thresholds {
		o.from[level+1] += o.from[level]
	}
	o.blocks = make([]block, o.from[len(s.thresholds)])
	slots := make([]int32, len(s.thresholds)) // by level
	for k := range s.tests {
		for level := s.tests[k].level; level < s.tests[k].levelEnd; level++ {
			slots[level] = int32(k)
		}
	}
	next := append([]int32(nil), o.from...)
	each(func(tree int, level int32, b block) {
		o.blocks[next[level]] = b
		next[level]++
		o.testing[int(slots[level])*o.trees+tree>>6] |= 1 << (tree & 63)
	})
}

// Sum is [Score.Point] of a composition of which the ingredients with a positive
// amount are given, in any order.
func (s *Score) Sum(x, used []int32) int64 {
	if s.bound != nil {
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

// sumWith is Sum with working memory of the caller's.
func (s *Score) sumWith(p *point, x, used []int32) int64 {
	o := &s.cover
	if len(s.groups) == 0 {
		blocks := int32(0)
		for _, i := range used {
			t := &s.tests[s.known[i]]
			blocks += o.from[t.levelEnd] - o.from[t.level]
		}
		if blocks > o.most {
			return s.Point(x)
		}
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

	sum := s.empty
	for w, trees := range p.trees {
		for p.trees[w] = 0; trees != 0; trees &= trees - 1 {
			t := w<<6 | bits.TrailingZeros64(trees)
			base := int64(s.leafBase[t])
			sum -= s.values[base]
			from, to := o.first[t], o.first[t+1]
			if to == from+1 {
				sum += s.values[base+first(p.free[from])]
				p.free[from] = ^uint64(0)
				continue
			}
			free := p.free[from:to]
			k := 0
			for free[k] == 0 {
				free[k] = ^uint64(0)
				k++
			}
			sum += s.values[base+int64(k)<<6+first(free[k])]
			for ; k < len(free); k++ {
				free[k] = ^uint64(0)
			}
		}
	}
	return sum
}

// block takes the leaves that a slot of an amount blocks from those that are free.
func (s *Score) block(p *point, slot, amount int32) {
	known := int(s.known[slot])
	tests := &s.tests[known]
	to := s.levelsBelow(tests, amount)
	if to == tests.level {
		return
	}
	o := &s.cover
	for w, trees := range o.testing[known*o.trees:][:o.trees] {
		p.trees[w] |= trees
	}
	free := p.free
	for _, b := range o.blocks[o.from[tests.level]:o.from[to]] {
		free[b.word] &^= b.leaves
	}
}
