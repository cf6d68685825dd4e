package model

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A pointIndex is the index with which [Score.Sum] scores a single composition. For each test of a
// tree it lists the leaves that the test blocks if the test fails. Leaves are bits in words of 64
// bits, and the words of a tree are consecutive.
type pointIndex struct {
	firstWord    []int32         // by tree, plus one element: the index of the tree's first word of leaves
	treeWords    int             // number of words in a bit set of trees
	testingTrees []uint64        // by tested slot (an ingredient or a group): a bit set of the trees that test the slot, in treeWords words
	treeCounts   []int32         // by tested slot (an ingredient or a group): the number of trees that test the slot
	blocks       []blockedLeaves // the blocked leaves of all tests, by level in ascending order
	firstBlock   []int32         // by level (a slot with a threshold), plus one element: the index of the level's first element in blocks
	maxBlocks    int             // greatest number of blocks for which the index is faster than walking the trees; −1 means that walking is always faster
	scratchPool  sync.Pool       // a pool of *[pointScratch]
}

// A blockedLeaves is the set of leaves that a failing test blocks within one word of 64 leaves of a
// tree.
type blockedLeaves struct {
	leaves uint64 // bit set of leaves
	word   int32  // index of the word
}

// blocksPerWalkedTest is the number of blocks that can be applied in the time of one test on a
// longest path. Other paths are assumed to be half as long.
const blocksPerWalkedTest = 4

// maxBlocksPerTest limits the mean number of blocks per test. A tree that is one long branch has as
// many blocks per test as it has words of leaves.
const maxBlocksPerTest = 8

// addPointIndex builds the [pointIndex] of the forest.
func (s *compiledForest) addPointIndex(f *Forest) {
	o := &s.pointIndex
	o.treeWords = (len(s.roots) + 63) / 64
	o.testingTrees = make([]uint64, len(s.slotTests)*o.treeWords)
	o.firstBlock = make([]int32, len(s.thresholds)+1)
	o.firstWord = []int32{0}
	for k := range f.trees {
		o.firstWord = append(o.firstWord, o.firstWord[k]+int32(f.trees[k].leafCount()+63)/64)
		o.maxBlocks += blocksPerWalkedTest * f.trees[k].depth()
	}
	// Two passes over all tests: one counts the blocks of each level, the other places them.
	each := func(add func(tree int, level int32, b blockedLeaves) (more bool)) {
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
					if !add(k, s.nodeLevels[int(s.roots[k])+at], blockedLeaves{mask, o.firstWord[k] + word}) {
						return
					}
				}
			}
		}
	}
	blocks, most := 0, min(maxBlocksPerTest*len(s.nodes), math.MaxInt32)
	each(func(_ int, level int32, _ blockedLeaves) bool {
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
	o.blocks = make([]blockedLeaves, o.firstBlock[len(s.thresholds)])
	slots := make([]int32, len(s.thresholds)) // by level (a slot with a threshold): the tested slot of the level
	for k := range s.slotTests {
		for level := s.slotTests[k].firstLevel; level < s.slotTests[k].levelEnd; level++ {
			slots[level] = int32(k)
		}
	}
	next := slices.Clone(o.firstBlock)
	each(func(tree int, level int32, b blockedLeaves) bool {
		o.blocks[next[level]] = b
		next[level]++
		o.testingTrees[int(slots[level])*o.treeWords+tree>>6] |= 1 << (tree & 63)
		return true
	})
	o.treeCounts = make([]int32, len(s.slotTests))
	for k := range o.treeCounts {
		for _, trees := range o.testingTrees[k*o.treeWords:][:o.treeWords] {
			o.treeCounts[k] += int32(bits.OnesCount64(trees))
		}
	}
}
