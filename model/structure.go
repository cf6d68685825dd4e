package model

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// maxSmallLeaves is the largest number of leaves of a small tree. A word of 64 bits has one bit for
// each leaf.
const maxSmallLeaves = 64

// A compiledForest is a forest prepared for scoring. It does not depend on the [Want].
//
// The tests of its trees read slots. For N ingredients, slot i < N is the amount of ingredient i,
// and slot N+g is the total of group g. A test of the presence of a group compares its total with
// zero.
type compiledForest struct {
	ingredients int // number of ingredients

	groups      [][]int32 // by group: its ingredients, ascending; only groups that a tree tests
	groupStarts []int32   // by ingredient, plus one element: where its groups begin in groupList
	groupList   []int32   // indices of groups, ascending for each ingredient

	nodes       []slotNode // the nodes of all trees, tree by tree
	roots       []int32    // by tree: the index of its root in nodes
	firstLeaves []int32    // by tree: the index of its first leaf among the leaves of all trees

	slotTests  []slotTests // by tested slot (an ingredient or a group): the tests of the slot; element 0 stands for all slots without tests
	testsIndex []int32     // by slot (an ingredient or a group): the index of its tests in tests

	// thresholds holds the threshold of each level. A level is a pair of a slot and a threshold
	// with which the forest compares the slot. Levels are ordered by slot, then by threshold.
	thresholds []int32 // by level (a slot with a threshold): the threshold
	firstCells []int32 // by level (a slot with a threshold), plus one element: the index of its first cell
	nodeLevels []int32 // by node: the level of its test; −1 for a leaf
	maxDepth   int     // the largest number of tests on a path

	// smallTrees are the trees of up to 64 leaves. They are scored by bit masks of leaves.
	smallTrees     []smallTree
	smallTreeWords int      // number of words in a bit set of the small trees
	testingTrees   []uint64 // by tested slot (an ingredient or a group): a bit set of the small trees that test the slot
	entries        []entry  // the entries of all small trees, by slot, then by tree
	cells          []cell   // the cells of all small trees, by level, then by tree
	entryCells     []int32  // by entry: the indices of its cells, ascending

	// largeTrees are the trees of more than 64 leaves. They are scored by descent from the root.
	largeTrees     []largeTree
	largeTreeWords int // number of words in a bit set of the large trees
	pathCapacity   int // sum over the large trees of the number of nodes on a longest path, leaf included

	pointIndex pointIndex
}

// A slotNode is a node of a tree whose test reads a slot. The nodes of a tree are in preorder.
type slotNode struct {
	slot      int32 // the tested slot; −1 for a leaf
	threshold int32
	right     int32 // index of the right child; for a leaf, its index among the leaves of all trees
}

// A slotTests describes the tests of one slot.
type slotTests struct {
	firstLevel, levelEnd int32 // the levels of the slot: firstLevel ≤ level < levelEnd
	firstEntry           int32 // index of the slot's first [entry]
}

// A smallTree is a tree of at most 64 leaves in a [compiledForest].
type smallTree struct {
	firstLeaf int32 // index of its first leaf among the leaves of all trees
	root      int32 // index of its root
}

// An entry is the set of all tests of one slot in one small tree. Its cells have the indices
// entryCells[first:end].
type entry struct {
	blockable        uint64 // the leaves that a test of the entry can block
	threshold, level int32  // threshold and level of the entry's first cell, which is usually the only cell
	first, end       int32
}

// A cell is one test in a small tree, or several tests of the same slot with the same threshold. As
// the amount of the slot rises above the threshold, the leaves that the slot blocks change from
// leavesBefore to leavesAfter.
type cell struct {
	leavesBefore, leavesAfter uint64
	level                     int32
	tree                      int32 // index of the tree in smallTrees
	entry                     int32 // index of the entry
}

// A largeTree is a tree of more than 64 leaves in a [compiledForest].
type largeTree struct {
	root      int32
	pathStart int32 // index in [Scorer] pathNodes at which the current path of the tree begins
}

// slotCount returns the number of slots, one for each ingredient and each group.
func (s *compiledForest) slotCount() int { return s.ingredients + len(s.groups) }

// hasOnlyMasks reports whether all trees are small and test only amounts of single ingredients.
func (s *compiledForest) hasOnlyMasks() bool {
	return len(s.largeTrees) == 0 && len(s.groups) == 0 && s.pointIndex.maxBlocks >= 0
}

// slotAmount returns the amount of a slot in the dense composition x.
func (s *compiledForest) slotAmount(slot int32, x []int32) int32 {
	if int(slot) < s.ingredients {
		return x[slot]
	}
	sum := int32(0)
	for _, i := range s.groups[int(slot)-s.ingredients] {
		sum += x[i]
	}
	return sum
}

// groupsOf returns the indices of the groups to which ingredient i belongs, ascending.
func (s *compiledForest) groupsOf(i int32) []int32 {
	return s.groupList[s.groupStarts[i]:s.groupStarts[i+1]]
}

// compileForest prepares a forest for scoring.
func compileForest(f *Forest) *compiledForest {
	s := &compiledForest{ingredients: len(f.ingredients)}
	slotOf := s.addGroups(f)
	s.addNodes(f, slotOf)
	s.addLevels()
	s.addMasks(f)
	s.addPointIndex(f)
	return s
}

// addGroups sets the groups that a tree tests. It returns the slot of each feature, or −1 for a
// feature that no tree tests.
func (s *compiledForest) addGroups(f *Forest) []int32 {
	tested := make([]bool, len(f.features))
	for k := range f.trees {
		for _, n := range f.trees[k].nodes {
			if n.feature >= 0 {
				tested[n.feature] = true
			}
		}
	}
	slotOf := make([]int32, len(f.features))
	known := make(map[string]int32) // groups by their ingredients
	belongs := make([][]int32, s.ingredients)
	for k, feature := range f.features {
		slotOf[k] = -1
		if !tested[k] {
			continue
		}
		if len(feature.Ingredients) == 1 {
			slotOf[k] = feature.Ingredients[0]
			continue
		}
		members := slices.Sorted(slices.Values(feature.Ingredients))
		key, _ := binary.Append(nil, binary.LittleEndian, members)
		slot, found := known[string(key)]
		if !found {
			group := int32(len(s.groups))
			slot = int32(s.ingredients) + group
			known[string(key)] = slot
			s.groups = append(s.groups, members)
			for _, i := range members {
				belongs[i] = append(belongs[i], group)
			}
		}
		slotOf[k] = slot
	}
	s.groupStarts = make([]int32, 1, s.ingredients+1)
	for _, groups := range belongs {
		s.groupList = append(s.groupList, groups...)
		s.groupStarts = append(s.groupStarts, int32(len(s.groupList)))
	}
	return slotOf
}

// addNodes sets the nodes of all trees. The parameter slotOf holds the slot of each feature.
func (s *compiledForest) addNodes(f *Forest, slotOf []int32) {
	leaves := int32(0)
	for k := range f.trees {
		t := &f.trees[k]
		base := int32(len(s.nodes))
		s.roots = append(s.roots, base)
		s.firstLeaves = append(s.firstLeaves, leaves)
		for _, n := range t.nodes {
			if n.feature < 0 {
				s.nodes = append(s.nodes, slotNode{slot: -1, right: leaves + n.right})
			} else {
				s.nodes = append(s.nodes, slotNode{slotOf[n.feature], n.threshold, base + n.right})
			}
		}
		leaves += int32(t.leafCount())
		s.maxDepth = max(s.maxDepth, t.depth())
	}
}

// levelKey returns a number that orders nodes by slot, then by threshold.
func (n slotNode) levelKey() uint64 { return uint64(n.slot)<<32 | uint64(n.threshold) }

// addLevels sets the levels of all tests.
func (s *compiledForest) addLevels() {
	var keys []uint64
	for _, n := range s.nodes {
		if n.slot >= 0 {
			keys = append(keys, n.levelKey())
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	s.testsIndex = make([]int32, s.slotCount())
	s.slotTests = []slotTests{{}}
	s.thresholds = make([]int32, len(keys))
	for k, key := range keys {
		slot := key >> 32
		if s.testsIndex[slot] == 0 {
			s.testsIndex[slot] = int32(len(s.slotTests))
			s.slotTests = append(s.slotTests, slotTests{firstLevel: int32(k)})
		}
		s.slotTests[len(s.slotTests)-1].levelEnd = int32(k + 1)
		s.thresholds[k] = int32(uint32(key))
	}
	s.nodeLevels = make([]int32, len(s.nodes))
	for at, n := range s.nodes {
		s.nodeLevels[at] = -1
		if n.slot >= 0 {
			k, _ := slices.BinarySearch(keys, n.levelKey())
			s.nodeLevels[at] = int32(k)
		}
	}
}

// addMasks sets the entries and cells of the small trees, and the list of large trees.
func (s *compiledForest) addMasks(f *Forest) {
	type blocking struct { // a test, or several equal ones, of a small tree
		tests, level, tree int32
		leaves             uint64
	}
	var all []blocking
	for k := range f.trees {
		t := &f.trees[k]
		root := s.roots[k]
		if t.leafCount() > maxSmallLeaves {
			s.largeTrees = append(s.largeTrees, largeTree{root: root, pathStart: int32(s.pathCapacity)})
			s.pathCapacity += t.depth() + 1
			continue
		}
		tree := int32(len(s.smallTrees))
		s.smallTrees = append(s.smallTrees, smallTree{firstLeaf: s.firstLeaves[k], root: root})
		for at, n := range t.nodes {
			if n.feature < 0 {
				continue
			}
			// The leaves below the left child lie between the first leaf after
			// this node and the first leaf after the right child.
			from, to := t.firstLeaf(at), t.firstLeaf(int(n.right))
			leaves := (uint64(1)<<(to-from) - 1) << from
			at := root + int32(at)
			all = append(all, blocking{s.testsIndex[s.nodes[at].slot], s.nodeLevels[at], tree, leaves})
		}
	}
	s.smallTreeWords = (len(s.smallTrees) + 63) / 64
	s.largeTreeWords = (len(s.largeTrees) + 63) / 64

	// The leaves that an entry blocks accumulate as the threshold rises.
	slices.SortFunc(all, func(a, b blocking) int {
		return cmp.Or(cmp.Compare(a.tests, b.tests), cmp.Compare(a.tree, b.tree), cmp.Compare(a.level, b.level))
	})
	s.testingTrees = make([]uint64, len(s.slotTests)*s.smallTreeWords)
	for k, b := range all {
		newEntry := k == 0 || b.tests != all[k-1].tests || b.tree != all[k-1].tree
		if newEntry {
			if k == 0 || b.tests != all[k-1].tests {
				s.slotTests[b.tests].firstEntry = int32(len(s.entries))
			}
			s.testingTrees[int(b.tests)*s.smallTreeWords+int(b.tree>>6)] |= 1 << (b.tree & 63)
			s.entries = append(s.entries, entry{
				first: int32(len(s.cells)), level: b.level, threshold: s.thresholds[b.level],
			})
		}
		e := &s.entries[len(s.entries)-1]
		if newEntry || b.level != all[k-1].level {
			s.cells = append(s.cells, cell{
				leavesBefore: e.blockable, level: b.level, tree: b.tree, entry: int32(len(s.entries) - 1),
			})
		}
		e.blockable |= b.leaves
		s.cells[len(s.cells)-1].leavesAfter = e.blockable
		e.end = int32(len(s.cells))
	}

	slices.SortFunc(s.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.tree, b.tree))
	})
	s.firstCells = make([]int32, len(s.thresholds)+1)
	s.entryCells = make([]int32, len(s.cells))
	filled := make([]int32, len(s.entries))
	for c := range s.cells {
		cell := &s.cells[c]
		s.firstCells[cell.level+1]++
		s.entryCells[s.entries[cell.entry].first+filled[cell.entry]] = int32(c)
		filled[cell.entry]++
	}
	for level := range s.thresholds {
		s.firstCells[level+1] += s.firstCells[level]
	}
}

// endOfLevelsBelow returns the end of the slot's levels whose thresholds are below the amount. A
// slot with that amount fails the tests of these levels.
func (s *compiledForest) endOfLevelsBelow(t *slotTests, amount int32) int32 {
	// No branch depends on a threshold, because it could not be predicted.
	from := t.firstLevel
	for n := t.levelEnd - from; n > 0; {
		half := (n + 1) / 2
		if s.thresholds[from+half-1] < amount {
			from += half
		}
		n -= half
	}
	return from
}

// countBitsBelow returns the number of set bits of a word below the position bit.
func countBitsBelow(word uint64, bit int) int32 {
	return int32(bits.OnesCount64(word & (1<<bit - 1)))
}

// leavesBlockedAt returns the leaves that an entry blocks if its slot has the given amount.
func (s *compiledForest) leavesBlockedAt(e *entry, amount int32) (blocked uint64) {
	for _, c := range s.entryCells[e.first:e.end] {
		if s.thresholds[s.cells[c].level] >= amount {
			break
		}
		blocked = s.cells[c].leavesAfter
	}
	return blocked
}

// firstLeaf returns the number of the leftmost leaf below the node with index at.
func (t *tree) firstLeaf(at int) int32 {
	for t.nodes[at].feature >= 0 {
		at++
	}
	return t.nodes[at].right
}

// firstSetBit returns the position of the lowest set bit, that is, the number of the first free
// leaf.
func firstSetBit(free uint64) int64 { return int64(bits.TrailingZeros64(free)) }
