package model

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// maxSmall is the largest number of leaves of a small tree: one bit each.
const maxSmall = 64

// A structure is a forest prepared for scoring; it does not depend on the Want.
//
// Its tests read slots: slot i < N is the amount of ingredient i, slot N+g the total of group g. A
// presence flag is a test of its total against zero.
type structure struct {
	ingredients int

	groups     [][]int32 // the ingredients of each tested group, ascending
	groupStart []int32   // by ingredient, then one more: where its groups begin in groupList
	groupList  []int32   // indices of groups, ascending for each ingredient

	nodes    []slotNode
	roots    []int32 // by tree: the index of its root
	leafBase []int32 // by tree: the index of its first leaf among all leaves

	tests []slotTests // by tested slot; entry 0 is that of the slots without tests
	known []int32     // by slot: the index of its tests

	// A level is a pair of a slot and a threshold that the forest compares it
	// with. Levels are numbered by slot, then by threshold.
	thresholds []int32 // by level: the threshold
	firstCell  []int32 // by level, then one more: the index of its first cell
	nodeLevel  []int32 // by node: the level of its test; −1 in a leaf
	deepest    int     // the largest number of tests on a path

	// Trees of up to 64 leaves, as masks over their leaves.
	small     []smallTree
	treeWords int      // number of words in a bit set of the small trees
	testing   []uint64 // by tested slot: the bit set of small trees that test it
	entries   []entry  // by slot, then tree
	cells     []cell   // by level, then tree
	ofEntry   []int32  // the cells of each entry in turn, ascending

	// Larger trees, which are descended.
	large      []largeTree
	largeWords int // number of words in a bit set of the large trees
	pathLength int // sum over the large trees of the nodes on a longest path, leaf included

	cover cover
}

// A slotNode is a node whose test is on a slot. A tree's nodes are in preorder.
type slotNode struct {
	slot      int32 // −1 in a leaf
	threshold int32
	right     int32 // in a leaf, its index among all leaves
}

// slotTests are the tests of one slot.
type slotTests struct {
	level, levelEnd int32 // the levels of the slot: level ≤ l < levelEnd
	entry           int32 // index of the slot's first entry
}

// A smallTree is a tree of at most 64 leaves.
type smallTree struct {
	base int32 // index of its first leaf among all leaves
	root int32
}

// An entry is the set of tests of one slot in one small tree: its cells are those listed in
// ofEntry[first:end].
type entry struct {
	blockable        uint64 // all leaves that a test of the entry can block
	threshold, level int32  // threshold and level of the entry's first cell, which is usually the only one
	first, end       int32
}

// A cell is a test in a small tree, or several equal ones. As the slot's amount rises above the
// threshold, the leaves that the slot blocks change from before to after.
type cell struct {
	leavesBefore, leavesAfter uint64
	level                     int32
	tree                      int32 // index of the tree in structure.small
	entry                     int32
}

// A largeTree is a tree of more than 64 leaves.
type largeTree struct {
	root int32
	path int32 // where its current path begins in a scorer's paths
}

// slots returns the number of ingredients and groups.
func (s *structure) slots() int { return s.ingredients + len(s.groups) }

// masked reports whether all trees are masks of one word that test only amounts.
func (s *structure) masked() bool {
	return len(s.large) == 0 && len(s.groups) == 0 && s.cover.maxBlocks >= 0
}

// amount returns the value of a slot at the dense composition x.
func (s *structure) amount(slot int32, x []int32) int32 {
	if int(slot) < s.ingredients {
		return x[slot]
	}
	sum := int32(0)
	for _, i := range s.groups[int(slot)-s.ingredients] {
		sum += x[i]
	}
	return sum
}

// groupsOf returns the groups that ingredient i belongs to, ascending.
func (s *structure) groupsOf(i int32) []int32 {
	return s.groupList[s.groupStart[i]:s.groupStart[i+1]]
}

func newStructure(f *Forest) *structure {
	s := &structure{ingredients: len(f.ingredients)}
	slotOf := s.addGroups(f)
	s.addNodes(f, slotOf)
	s.addLevels()
	s.addMasks(f)
	s.addCover(f)
	return s
}

// addGroups finds the tested groups and returns the slot of each feature, or −1 for features that
// are not tested.
func (s *structure) addGroups(f *Forest) []int32 {
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
	s.groupStart = make([]int32, 1, s.ingredients+1)
	for _, groups := range belongs {
		s.groupList = append(s.groupList, groups...)
		s.groupStart = append(s.groupStart, int32(len(s.groupList)))
	}
	return slotOf
}

func (s *structure) addNodes(f *Forest, slotOf []int32) {
	leaves := int32(0)
	for k := range f.trees {
		t := &f.trees[k]
		base := int32(len(s.nodes))
		s.roots = append(s.roots, base)
		s.leafBase = append(s.leafBase, leaves)
		for _, n := range t.nodes {
			if n.feature < 0 {
				s.nodes = append(s.nodes, slotNode{slot: -1, right: leaves + n.right})
			} else {
				s.nodes = append(s.nodes, slotNode{slotOf[n.feature], n.threshold, base + n.right})
			}
		}
		leaves += int32(t.leaves())
		s.deepest = max(s.deepest, t.depth())
	}
}

// key returns a number that orders nodes by slot, then by threshold.
func (n slotNode) key() uint64 { return uint64(n.slot)<<32 | uint64(n.threshold) }

func (s *structure) addLevels() {
	var keys []uint64
	for _, n := range s.nodes {
		if n.slot >= 0 {
			keys = append(keys, n.key())
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	s.known = make([]int32, s.slots())
	s.tests = []slotTests{{}}
	s.thresholds = make([]int32, len(keys))
	for k, key := range keys {
		slot := key >> 32
		if s.known[slot] == 0 {
			s.known[slot] = int32(len(s.tests))
			s.tests = append(s.tests, slotTests{level: int32(k)})
		}
		s.tests[len(s.tests)-1].levelEnd = int32(k + 1)
		s.thresholds[k] = int32(uint32(key))
	}
	s.nodeLevel = make([]int32, len(s.nodes))
	for at, n := range s.nodes {
		s.nodeLevel[at] = -1
		if n.slot >= 0 {
			k, _ := slices.BinarySearch(keys, n.key())
			s.nodeLevel[at] = int32(k)
		}
	}
}

// addMasks prepares the small trees as masks and lists the large ones.
func (s *structure) addMasks(f *Forest) {
	type blocking struct { // a test, or several equal ones, of a small tree
		tests, level, tree int32
		leaves             uint64
	}
	var all []blocking
	for k := range f.trees {
		t := &f.trees[k]
		root := s.roots[k]
		if t.leaves() > maxSmall {
			s.large = append(s.large, largeTree{root: root, path: int32(s.pathLength)})
			s.pathLength += t.depth() + 1
			continue
		}
		tree := int32(len(s.small))
		s.small = append(s.small, smallTree{base: s.leafBase[k], root: root})
		for at, n := range t.nodes {
			if n.feature < 0 {
				continue
			}
			// The leaves below the left child lie between the first leaf after
			// this node and the first leaf after the right child.
			from, to := t.firstLeaf(at), t.firstLeaf(int(n.right))
			leaves := (uint64(1)<<(to-from) - 1) << from
			at := root + int32(at)
			all = append(all, blocking{s.known[s.nodes[at].slot], s.nodeLevel[at], tree, leaves})
		}
	}
	s.treeWords = (len(s.small) + 63) / 64
	s.largeWords = (len(s.large) + 63) / 64

	// The leaves that an entry blocks accumulate as the threshold rises.
	slices.SortFunc(all, func(a, b blocking) int {
		return cmp.Or(cmp.Compare(a.tests, b.tests), cmp.Compare(a.tree, b.tree), cmp.Compare(a.level, b.level))
	})
	s.testing = make([]uint64, len(s.tests)*s.treeWords)
	for k, b := range all {
		newEntry := k == 0 || b.tests != all[k-1].tests || b.tree != all[k-1].tree
		if newEntry {
			if k == 0 || b.tests != all[k-1].tests {
				s.tests[b.tests].entry = int32(len(s.entries))
			}
			s.testing[int(b.tests)*s.treeWords+int(b.tree>>6)] |= 1 << (b.tree & 63)
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
	s.firstCell = make([]int32, len(s.thresholds)+1)
	s.ofEntry = make([]int32, len(s.cells))
	filled := make([]int32, len(s.entries))
	for c := range s.cells {
		cell := &s.cells[c]
		s.firstCell[cell.level+1]++
		s.ofEntry[s.entries[cell.entry].first+filled[cell.entry]] = int32(c)
		filled[cell.entry]++
	}
	for level := range s.thresholds {
		s.firstCell[level+1] += s.firstCell[level]
	}
}

// levelsBelow returns the end of the slot's levels whose thresholds are below the amount: those
// whose tests the amount fails.
func (s *structure) levelsBelow(t *slotTests, amount int32) int32 {
	// No branch depends on a threshold, because it could not be predicted.
	from := t.level
	for n := t.levelEnd - from; n > 0; {
		half := (n + 1) / 2
		if s.thresholds[from+half-1] < amount {
			from += half
		}
		n -= half
	}
	return from
}

// countBelow returns how many elements of a word of a bit set come before bit.
func countBelow(word uint64, bit int) int32 {
	return int32(bits.OnesCount64(word & (1<<bit - 1)))
}

// blockedBy returns the leaves that an entry blocks if its slot has this amount.
func (s *structure) blockedBy(e *entry, amount int32) (blocked uint64) {
	for _, c := range s.ofEntry[e.first:e.end] {
		if s.thresholds[s.cells[c].level] >= amount {
			break
		}
		blocked = s.cells[c].leavesAfter
	}
	return blocked
}

// firstLeaf returns the number of the leftmost leaf below node at.
func (t *tree) firstLeaf(at int) int32 {
	for t.nodes[at].feature >= 0 {
		at++
	}
	return t.nodes[at].right
}

// firstSetBit returns the number of the first leaf in a mask.
func firstSetBit(free uint64) int64 { return int64(bits.TrailingZeros64(free)) }
