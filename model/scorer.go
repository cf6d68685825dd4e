package model

import (
	"slices"

	"kir/internal/ensemble"
)

// A Scorer keeps the score of a composition that moves step by step. It also scores lines: all
// compositions that differ from the current one only in how two ingredients share their sum. It is
// the working memory of one Markov chain: several goroutines must not use it at once. Its methods
// no longer allocate memory after its lists have grown.
//
// All scores are sums of fixed-point leaf values, as [Score.Point] returns. [Score.Probability]
// converts a sum to a probability.
type Scorer struct {
	score     *Score
	sum       int64   // score of the composition in x
	x         []int32 // by slot (an ingredient or a group): the current amount of an ingredient or the current total of a group
	used      []int32 // the ingredients with a positive amount in x
	usedIndex []int32 // by ingredient: its index in used

	// hasPending tells whether there is a pending composition, which [Scorer.Reset] has set as a
	// whole. The scorer first scores a pending composition as a single point, and the first lines
	// through it without changing x. After that it takes the composition over into x. Most
	// candidates are rejected before that, and many accepted candidates are soon replaced.
	hasPending      bool
	pending         []Part // the ingredients of the pending composition with their amounts
	pendingSum      int64  // score of the pending composition
	pointScratch    *pointScratch
	freeWithoutPair []freeLeaves // by tree: the leaves that are free without the two ingredients of the line; all leaves between uses
	slotScratch     []int32      // by slot (an ingredient or a group): the amounts and totals of the pending composition while a line is scored; zero between uses
	pendingLines    int          // number of lines scored through the pending composition
	lineI, lineJ    int32        // ingredients of the last line scored through the pending composition
	lineTotal       int32        // sum of the amounts of the two ingredients of that line

	// freeLeaves holds, for each small tree, the leaves that the current composition leaves free.
	freeLeaves  []freeLeaves
	blockCounts []blockCount // by small tree: the number of slots that block each leaf
	entryBlocks []uint64     // by [entry]: the leaves that the entry's slot blocks

	// leafValues holds the value of the current leaf of each large tree. This field and the fields
	// below describe the current paths of the large trees.
	leafValues   []int64
	pathNodes    []int32  // by large tree: the nodes on its current path, leaf included
	pathSlots    []int32  // the slots that the elements of pathNodes test
	pathLengths  []int32  // by large tree: the number of tests on its current path
	pathTrees    []uint64 // by tested slot (an ingredient or a group): a bit set of the large trees whose current path tests the slot
	staleTrees   []uint64 // bit set of the large trees whose path may have changed, because a slot on the path has
	changedSlots []int32  // slots that have changed since the stale trees were last updated

	// varying lists the slots that vary along the current line.
	varying        []varyingSlot
	slopes         []int8      // by slot (an ingredient or a group): how its amount changes along the line, +1 or −1, or 0 if it does not; 1 for a changed slot while paths are updated
	savedAmounts   []int32     // by slot (an ingredient or a group): the amount of a varying slot while [varyingAmount] replaces it
	levelSteps     []int64     // by level (a slot with a threshold): the rise of the score where the line crosses the level
	breaks         []lineBreak // the changes of the score along the line
	mergeBuffer    []lineBreak // scratch memory of mergeBreaks
	starts         []int32     // the result of the last line
	sums           []int64
	treesToDescend []uint64 // bit set of the small trees that test a varying slot
	pendingSpans   []span   // scratch memory of descend: a stack

	// descriptorScorer scores a forest with descriptors. It is nil for other forests. With it, only
	// the fields score, sums and descriptorSums are used.
	descriptorScorer *ensemble.Scorer
	descriptorSums   []float64 // scratch memory
}

// A freeLeaves holds two bit sets of leaves of a small tree: those that no slot blocks (free), and
// those that exactly one slot blocks (blockedOnce). The last leaf is always free.
type freeLeaves struct {
	free, blockedOnce uint64
	firstLeaf         int64 // index of the tree's first leaf among the leaves of all trees
}

// freeExcept returns the leaves that no slot blocks if one or two slots are ignored. The parameter
// mask is the union of the leaves that the ignored slots block.
//
// With two slots, the result lacks the leaves that both slots block. This is correct along the line
// of the two slots: at each place of the line, one of the slots has at least its current amount and
// still blocks those leaves.
func (l *freeLeaves) freeExcept(mask uint64) uint64 { return l.free | l.blockedOnce&mask }

// A blockCount counts, for each leaf of a small tree, the slots that block the leaf. The counts are
// binary numbers: bit l of word p is bit p of the count of leaf l. A tree of 64 leaves has 63
// tests, so that at most 63 slots block a leaf.
type blockCount [6]uint64

// NewScorer returns a scorer of the score. All amounts of its composition are 0. Call
// [Scorer.Reset] before other methods.
func (s *Score) NewScorer() *Scorer {
	if s.ensembleScore != nil {
		return &Scorer{score: s, descriptorScorer: s.ensembleScore.NewScorer()}
	}
	levels := len(s.thresholds)
	sc := &Scorer{
		score:          s,
		x:              make([]int32, s.slotCount()),
		usedIndex:      make([]int32, s.ingredients),
		freeLeaves:     make([]freeLeaves, len(s.smallTrees)),
		blockCounts:    make([]blockCount, len(s.smallTrees)),
		entryBlocks:    make([]uint64, len(s.entries)),
		leafValues:     make([]int64, len(s.largeTrees)),
		pathNodes:      make([]int32, s.pathCapacity),
		pathSlots:      make([]int32, s.pathCapacity),
		pathLengths:    make([]int32, len(s.largeTrees)),
		pathTrees:      make([]uint64, len(s.slotTests)*s.largeTreeWords),
		staleTrees:     make([]uint64, s.largeTreeWords),
		varying:        make([]varyingSlot, 0, 2+len(s.groups)),
		slopes:         make([]int8, s.slotCount()),
		savedAmounts:   make([]int32, s.slotCount()),
		levelSteps:     make([]int64, levels),
		breaks:         make([]lineBreak, 0, levels+1),
		mergeBuffer:    make([]lineBreak, 0, levels+1),
		starts:         make([]int32, 0, levels+1),
		sums:           make([]int64, 0, levels+1),
		treesToDescend: make([]uint64, s.smallTreeWords),
		pendingSpans:   make([]span, 0, s.maxDepth+1),
		pointScratch:   s.newPointScratch(),
	}
	for t := range s.smallTrees {
		base := int64(s.smallTrees[t].firstLeaf)
		sc.freeLeaves[t] = freeLeaves{free: ^uint64(0), firstLeaf: base}
		sc.sum += s.leafValues[base]
	}
	if s.hasOnlyMasks() {
		sc.freeWithoutPair = slices.Clone(sc.freeLeaves)
	} else {
		sc.slotScratch = make([]int32, s.slotCount())
	}
	for t, tree := range s.largeTrees {
		sc.followPath(t, 0, tree.root)
	}
	return sc
}

// setAmount sets the amount of ingredient i in x, and updates the totals of its groups.
func (s *Scorer) setAmount(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	switch {
	case old == 0:
		s.usedIndex[i] = int32(len(s.used))
		s.used = append(s.used, i)
	case amount == 0:
		last := s.used[len(s.used)-1]
		s.used[s.usedIndex[i]] = last
		s.usedIndex[last] = s.usedIndex[i]
		s.used = s.used[:len(s.used)-1]
	}
	s.setSlotAmount(i, amount)
	for _, g := range s.score.groupsOf(i) {
		slot := int32(s.score.ingredients) + g
		s.setSlotAmount(slot, s.x[slot]+amount-old)
	}
}

// setSlotAmount sets the amount of a slot in x. It updates the small trees and marks the large trees
// as stale whose current path tests the slot.
func (s *Scorer) setSlotAmount(slot, amount int32) {
	sc := s.score
	old := s.x[slot]
	s.x[slot] = amount
	known := int(sc.testsIndex[slot])
	tests := &sc.slotTests[known]
	if amount > old {
		from, to := sc.endOfLevelsBelow(tests, old), sc.endOfLevelsBelow(tests, amount)
		cells := sc.cells[sc.firstCells[from]:sc.firstCells[to]]
		for k := range cells {
			c := &cells[k]
			s.entryBlocks[c.entry] = c.leavesAfter
			s.blockCounts[c.tree].increment(c.leavesAfter &^ c.leavesBefore)
			s.updateLeaf(c.tree)
		}
	} else {
		from, to := sc.endOfLevelsBelow(tests, amount), sc.endOfLevelsBelow(tests, old)
		cells := sc.cells[sc.firstCells[from]:sc.firstCells[to]]
		for k := len(cells) - 1; k >= 0; k-- {
			c := &cells[k]
			s.entryBlocks[c.entry] = c.leavesBefore
			s.blockCounts[c.tree].decrement(c.leavesAfter &^ c.leavesBefore)
			s.updateLeaf(c.tree)
		}
	}
	if sc.largeTreeWords > 0 {
		s.changedSlots = append(s.changedSlots, slot)
		for w, trees := range s.pathTrees[known*sc.largeTreeWords : (known+1)*sc.largeTreeWords] {
			s.staleTrees[w] |= trees
		}
	}
}

// updateLeaf updates the free leaves of a small tree from the counts, and the score.
func (s *Scorer) updateLeaf(tree int32) {
	c, l := &s.blockCounts[tree], &s.freeLeaves[tree]
	before := firstSetBit(l.free)
	high := c[2] | c[3] | c[4] | c[5]
	l.free = ^(c[0] | c[1] | high)
	l.blockedOnce = c[0] &^ (c[1] | high)
	s.sum += s.score.leafValues[l.firstLeaf+firstSetBit(l.free)] - s.score.leafValues[l.firstLeaf+before]
}

// increment adds 1 to the count of each leaf in the mask carry.
func (b *blockCount) increment(carry uint64) {
	for p := 0; carry != 0; p++ {
		b[p], carry = b[p]^carry, b[p]&carry
	}
}

// decrement subtracts 1 from the count of each leaf in the mask borrow. These counts must be
// positive.
func (b *blockCount) decrement(borrow uint64) {
	for p := 0; borrow != 0; p++ {
		b[p], borrow = b[p]^borrow, ^b[p]&borrow
	}
}
