package model

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A cover is the index with which [Score.Sum] scores a point. For each test it lists the leaves
// that the test blocks if it fails, in words of 64 bits. A tree's words are consecutive.
type cover struct {
	firstWord  []int32  // by tree, then one more: the index of its first word
	treeWords  int      // number of words in a bit set of trees
	testing    []uint64 // by tested slot: the trees that test the slot, as a bit set
	count      []int32  // by tested slot: the number of trees that test the slot
	blocks     []block  // grouped by level, in ascending order
	firstBlock []int32  // by level, then one more: the index of its first block
	maxBlocks  int      // number of blocks up to which a cover is faster than walking the trees; −1: always walk
	points     sync.Pool
}

// A block is the set of leaves, within one word of a tree, that a failing test blocks.
type block struct {
	leaves uint64
	word   int32
}

// walkWorth is the number of blocks that take at most as long as a test on a longest path. Other
// paths are half as long.
const walkWorth = 4

// maxSpread bounds the blocks per test: a tree that is one long branch has as many as it has words.
const maxSpread = 8

// addCover builds the cover.
func (s *structure) addCover(f *Forest) {
	o := &s.cover
	o.treeWords = (len(s.roots) + 63) / 64
	o.testing = make([]uint64, len(s.tests)*o.treeWords)
	o.firstBlock = make([]int32, len(s.thresholds)+1)
	o.firstWord = []int32{0}
	for k := range f.trees {
		o.firstWord = append(o.firstWord, o.firstWord[k]+int32(f.trees[k].leaves()+63)/64)
		o.maxBlocks += walkWorth * f.trees[k].depth()
	}
	// Two passes over all tests: one counts the blocks of each level, the other places them.
	each := func(add func(tree int, level int32, b block) (more bool)) {
		var leaf []int32 // by node: the number of the leftmost leaf below the node
		for k := range f.trees {
			t := &f.trees[k]
			leaf = slices.Grow(leaf[:0], len(t.nodes))[:len(t.nodes)]
			for at, n := range slices.Backward(t.nodes) {
				if n.feature < 0 {
					leaf[at] = n.right
					continue
				}
				from, to := leaf[at+1], leaf[n.right]
				leaf[at] = from
				for word := from >> 6; word<<6 < to; word++ {
					low, high := max(from-word<<6, 0), min(to-word<<6, 64)
					mask := ^uint64(0) >> (64 - (high - low)) << low
					if !add(k, s.nodeLevel[int(s.roots[k])+at], block{mask, o.firstWord[k] + word}) {
						return
					}
				}
			}
		}
	}
	blocks, most := 0, min(maxSpread*len(s.nodes), math.MaxInt32)
	each(func(_ int, level int32, _ block) bool {
		o.firstBlock[level+1]++
		blocks++
		return blocks <= most
	})
	if blocks > most {
		o.maxBlocks = -1
		return
	}
	for level := range s.thresholds {
		o.firstBlock[level+1] += o.firstBlock[level]
	}
	o.blocks = make([]block, o.firstBlock[len(s.thresholds)])
	slots := make([]int32, len(s.thresholds)) // by level: the tested slot of the level
	for k := range s.tests {
		for level := s.tests[k].level; level < s.tests[k].levelEnd; level++ {
			slots[level] = int32(k)
		}
	}
	next := slices.Clone(o.firstBlock)
	each(func(tree int, level int32, b block) bool {
		o.blocks[next[level]] = b
		next[level]++
		o.testing[int(slots[level])*o.treeWords+tree>>6] |= 1 << (tree & 63)
		return true
	})
	o.count = make([]int32, len(s.tests))
	for k := range o.count {
		for _, trees := range o.testing[k*o.treeWords:][:o.treeWords] {
			o.count[k] += int32(bits.OnesCount64(trees))
		}
	}
}
