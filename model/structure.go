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
// The tests of its trees read slots. A slot is an ingredient or a group of ingredients. For N
// ingredients, slot i < N is ingredient i with its amount, and slot N+g is group g with the total
// of its amounts. A test of the presence of a group compares the total with zero.
//
// A level is a pair of a slot and a threshold with which the slot is compared. Levels are sorted by
// slot, then by threshold. A leaf is blocked if a composition cannot reach it because a test fails.
// For small trees, an [entry] holds the tests of one slot, and a [cell] the tests of one level.
type compiledForest struct {
	ingredientCount int // number of ingredients

	groups [][]int32 // groups[g] lists the ingredients of group g, ascending; only groups that a tree tests
	// groupStarts[i] is the index in groupList of the first group of ingredient i; one more item
	// holds the end
	groupStarts []int32
	groupList   []int32 // the groups of each ingredient, ascending, one ingredient after another

	treeNodes   []slotNode // the nodes of all trees, one tree after another
	roots       []int32    // index in nodes of the root of each tree
	firstLeaves []int32    // index of the first leaf of each tree among the leaves of all trees

	// slotTests holds the tests of each slot (an ingredient or a group) that a tree tests. Element
	// 0 stands for all slots without tests.
	slotTests      []slotTests
	slotTestsIndex []int32 // slotTestsIndex[slot] is the index in slotTests of the tests of the slot

	// thresholds holds the threshold of each level, that is, of each pair of a slot and a threshold
	// with which trees compare the slot.
	thresholds []int32
	// firstCells[l] is the index in cells of the first cell of level l (a slot and a threshold);
	// one more item holds the end
	firstCells []int32
	nodeLevels []int32 // index of the level (a slot and a threshold) that each node tests; −1 for a leaf
	maxDepth   int     // the largest number of tests on a path of any tree

	// smallTrees are the trees of up to 64 leaves. Bit masks of leaves are used to score them.
	smallTrees     []smallTree
	smallTreeWords int      // number of words in a bit set of the small trees
	testingTrees   []uint64 // for each element of slotTests: a bit set of the small trees that test its slot
	entries        []entry  // the entries of all small trees (see [entry]), sorted by slot, then by tree
	cells          []cell   // the cells of all small trees (see [cell]), sorted by level, then by tree
	entryCells     []int32  // indices in cells of the cells of each [entry], one entry after another

	// largeTrees are the trees of more than 64 leaves. They are descended from the root.
	largeTrees     []largeTree
	largeTreeWords int // number of words in a bit set of the large trees
	pathCapacity   int // number of nodes on a longest path, leaf included, summed over the large trees

	pointIndex pointIndex // for scoring a single composition
}

// A slotNode is a node of a tree in a [compiledForest]: a test that compares a slot with a
// threshold, or a leaf. The nodes of a tree are in preorder.
type slotNode struct {
	slot      int32 // index of the tested ingredient or group; −1 for a leaf
	threshold int32
	right     int32 // index of the right child; for a leaf, its index among the leaves of all trees
}

// A slotTests describes the tests of one slot in a [compiledForest].
type slotTests struct {
	firstLevel int32 // index of the slot's first level, a pair of a slot and a threshold
	levelEnd   int32 // 1 + the index of the slot's last level
	firstEntry int32 // index of the first [entry] of the slot
}

// A smallTree is a tree of at most 64 leaves in a [compiledForest].
type smallTree struct {
	firstLeaf int32 // index of the tree's first leaf among the leaves of all trees
	root      int32 // index of the tree's root in [compiledForest] treeNodes
}

// An entry is the set of all tests of one slot in one small tree of a [compiledForest]. The cells
// of the entry have the indices entryCells[first:end].
type entry struct {
	blockable  uint64 // the leaves that the tests of the entry block if all of them fail
	threshold  int32  // threshold of the entry's first cell, which is usually the only cell
	level      int32  // index of the level (a slot and a threshold) of the entry's first cell
	first, end int32
}

// A cell is a test in a small tree of a [compiledForest], or several tests of the same slot with
// the same threshold. The slot blocks the leaves leavesBefore if its amount is at most the
// threshold, and leavesAfter if its amount is just above the threshold.
type cell struct {
	leavesBefore, leavesAfter uint64
	level                     int32 // index of the level, that is, of the slot and the threshold
	tree                      int32 // index of the tree in smallTrees
	entry                     int32 // index of the cell's [entry]
}

// A largeTree is a tree of more than 64 leaves in a [compiledForest].
type largeTree struct {
	root      int32 // index of the tree's root in [compiledForest] treeNodes
	pathStart int32 // index in [Scorer] pathNodes at which the current path of the tree begins
}

// slotCount returns the number of slots: one for each ingredient and one for each group.
func (s *compiledForest) slotCount() int { return s.ingredientCount + len(s.groups) }

// hasOnlyMasks reports whether all trees are small and test only amounts of single ingredients.
func (s *compiledForest) hasOnlyMasks() bool {
	return len(s.largeTrees) == 0 && len(s.groups) == 0 && s.pointIndex.maxBlockedLeaves >= 0
}

// slotAmount returns the amount of a slot, an ingredient or a group, in the dense composition x.
func (s *compiledForest) slotAmount(slot int32, x []int32) int32 {
	if int(slot) < s.ingredientCount {
		return x[slot]
	}
	sum := int32(0)
	for _, i := range s.groups[int(slot)-s.ingredientCount] {
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
	s := &compiledForest{ingredientCount: len(f.ingredients)}
	slotOf := s.addGroups(f)
	s.addNodes(f, slotOf)
	s.addLevels()
	s.addMasks(f)
	s.addPointIndex(f)
	return s
}

// addGroups sets the groups of ingredients that a tree tests. It returns the slot of each feature,
// or −1 for a feature that no tree tests.
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
	belongs := make([][]int32, s.ingredientCount)
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
			slot = int32(s.ingredientCount) + group
			known[string(key)] = slot
			s.groups = append(s.groups, members)
			for _, i := range members {
				belongs[i] = append(belongs[i], group)
			}
		}
		slotOf[k] = slot
	}
	s.groupStarts = make([]int32, 1, s.ingredientCount+1)
	for _, groups := range belongs {
		s.groupList = append(s.groupList, groups...)
		s.groupStarts = append(s.groupStarts, int32(len(s.groupList)))
	}
	return slotOf
}

// addNodes sets the nodes of all trees. The element slotOf[f] is the slot of feature f.
func (s *compiledForest) addNodes(f *Forest, slotOf []int32) {
	leaves := int32(0)
	for k := range f.trees {
		t := &f.trees[k]
		base := int32(len(s.treeNodes))
		s.roots = append(s.roots, base)
		s.firstLeaves = append(s.firstLeaves, leaves)
		for _, n := range t.nodes {
			if n.feature < 0 {
				s.treeNodes = append(s.treeNodes, slotNode{slot: -1, right: leaves + n.right})
			} else {
				s.treeNodes = append(s.treeNodes, slotNode{slotOf[n.feature], n.threshold, base + n.right})
			}
		}
		leaves += int32(t.leafCount())
		s.maxDepth = max(s.maxDepth, t.depth())
	}
}

// levelKey returns a number by which nodes are sorted by slot, then by threshold.
func (n slotNode) levelKey() uint64 { return uint64(n.slot)<<32 | uint64(n.threshold) }

// addLevels sets the levels of all tests: the pairs of a slot and a threshold.
func (s *compiledForest) addLevels() {
	var keys []uint64
	for _, n := range s.treeNodes {
		if n.slot >= 0 {
			keys = append(keys, n.levelKey())
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	s.slotTestsIndex = make([]int32, s.slotCount())
	s.slotTests = []slotTests{{}}
	s.thresholds = make([]int32, len(keys))
	for k, key := range keys {
		slot := key >> 32
		if s.slotTestsIndex[slot] == 0 {
			s.slotTestsIndex[slot] = int32(len(s.slotTests))
			s.slotTests = append(s.slotTests, slotTests{firstLevel: int32(k)})
		}
		s.slotTests[len(s.slotTests)-1].levelEnd = int32(k + 1)
		s.thresholds[k] = int32(uint32(key))
	}
	s.nodeLevels = make([]int32, len(s.treeNodes))
	for at, n := range s.treeNodes {
		s.nodeLevels[at] = -1
		if n.slot >= 0 {
			k, _ := slices.BinarySearch(keys, n.levelKey())
			s.nodeLevels[at] = int32(k)
		}
	}
}

// addMasks sets what is needed to score small trees by bit masks of leaves: the entries and cells.
// It also sets the list of large trees.
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
			all = append(all, blocking{s.slotTestsIndex[s.treeNodes[at].slot], s.nodeLevels[at], tree, leaves})
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

// endOfLevelsBelow returns 1 + the index of the last level of a slot whose threshold is below the
// amount. These are the levels whose tests fail if the slot has that amount.
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

// countBitsBelow returns the number of set bits of a word at positions below bit.
func countBitsBelow(word uint64, bit int) int32 {
	return int32(bits.OnesCount64(word & (1<<bit - 1)))
}

// leavesBlockedAt returns the leaves that the slot of an entry blocks if the slot has the given
// amount.
func (s *compiledForest) leavesBlockedAt(e *entry, amount int32) (blocked uint64) {
	for _, c := range s.entryCells[e.first:e.end] {
		if s.thresholds[s.cells[c].level] >= amount {
			break
		}
		blocked = s.cells[c].leavesAfter
	}
	return blocked
}

// firstLeaf returns the number of the leftmost leaf below the node with index nodeIndex. If the
// node is a leaf, it is the node's own number.
func (t *tree) firstLeaf(nodeIndex int) int32 {
	for t.nodes[nodeIndex].feature >= 0 {
		nodeIndex++
	}
	return t.nodes[nodeIndex].right
}

// firstSetBit returns the position of the lowest set bit. In a set of free leaves, it is the number
// of the first free leaf, which a composition reaches.
func firstSetBit(free uint64) int64 { return int64(bits.TrailingZeros64(free)) }
