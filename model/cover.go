package model

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A pointIndex lets [Score.Sum] score a single composition without walking every tree. For each
// test of a tree it lists the blocked leaves: those that a composition cannot reach if the test
// fails. Sets of leaves are bit sets. The leaves of each tree take one or more words of 64 bits.
type pointIndex struct {
	// firstWords[t] is the index of the first word of the leaves of tree t; one more element holds
	// the end
	firstWords []int32
	treeWords  int // number of 64-bit words in a bit set of trees
	// testingTrees holds, for each [slotTests], a bit set of the trees that test its ingredient or
	// group. Each bit set has treeWords words.
	testingTrees      []uint64
	testingTreeCounts []int32         // for each [slotTests]: the number of trees that test its slot
	blockedLeaves     []blockedLeaves // the blocked leaves of all tests, sorted by level (see [compiledForest])
	// firstBlocks[l] is the index in blockedLeaves of the first block of level l; one more element
	// holds the end
	firstBlocks []int32
	// maxBlockedLeaves is the greatest number of blocks with which the index is faster than walking
	// the trees. If it is −1, walking is always faster.
	maxBlockedLeaves int
	scratchPool      sync.Pool // a pool of *[pointScratch], the working memory of [Score.Sum]
}

// A blockedLeaves is a set of leaves of one tree, among 64 consecutive leaves, that a composition
// cannot reach if a test fails.
type blockedLeaves struct {
	leaves uint64 // bit set of the blocked leaves
	word   int32  // index of the word of 64 leaves in [pointScratch] free
}

// blocksPerWalkedTest is an estimate of how many elements of [pointIndex] blockedLeaves can be
// applied in the time of one test of a tree. The number of tests that a walk makes in a tree is
// taken to be half of the tree's depth.
const blocksPerWalkedTest = 4

// maxBlocksPerTest limits the mean number of elements of [pointIndex] blockedLeaves for a test of a
// tree. A test has one element for each word of 64 leaves in which it blocks a leaf. In a tree that
// is one long branch, a test can block the leaves of all words.
const maxBlocksPerTest = 8

// addPointIndex builds the [pointIndex] of forest f.
func (s *compiledForest) addPointIndex(f *Forest) {
	o := &s.pointIndex
	o.treeWords = (len(s.roots) + 63) / 64
	o.testingTrees = make([]uint64, len(s.slotTests)*o.treeWords)
	o.firstBlocks = make([]int32, len(s.thresholds)+1)
	o.firstWords = []int32{0}
	for k := range f.trees {
		o.firstWords = append(o.firstWords, o.firstWords[k]+int32(f.trees[k].leafCount()+63)/64)
		o.maxBlockedLeaves += blocksPerWalkedTest * f.trees[k].depth()
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
					if !add(k, s.nodeLevels[int(s.roots[k])+at], blockedLeaves{mask, o.firstWords[k] + word}) {
						return
					}
				}
			}
		}
	}
	blocks, most := 0, min(maxBlocksPerTest*len(s.treeNodes), math.MaxInt32)
	each(func(_ int, level int32, _ blockedLeaves) bool {
		o.firstBlocks[level+1]++
		blocks++
		return blocks <= most
	})
	if blocks > most {
		o.maxBlockedLeaves = -1
		return
	}
	for level := range s.thresholds {
		o.firstBlocks[level+1] += o.firstBlocks[level]
	}
	o.blockedLeaves = make([]blockedLeaves, o.firstBlocks[len(s.thresholds)])
	slots := make([]int32, len(s.thresholds)) // by level (a slot with a threshold): the tested slot of the level
	for k := range s.slotTests {
		for level := s.slotTests[k].firstLevel; level < s.slotTests[k].levelEnd; level++ {
			slots[level] = int32(k)
		}
	}
	next := slices.Clone(o.firstBlocks)
	each(func(tree int, level int32, b blockedLeaves) bool {
		o.blockedLeaves[next[level]] = b
		next[level]++
		o.testingTrees[int(slots[level])*o.treeWords+tree>>6] |= 1 << (tree & 63)
		return true
	})
	o.testingTreeCounts = make([]int32, len(s.slotTests))
	for k := range o.testingTreeCounts {
		for _, trees := range o.testingTrees[k*o.treeWords:][:o.treeWords] {
			o.testingTreeCounts[k] += int32(bits.OnesCount64(trees))
		}
	}
}
