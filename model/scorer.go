package model

import (
	"slices"

	"kir/internal/ensemble"
)

// A Scorer keeps the score of a composition that moves step by step. It also scores lines, that is,
// all divisions of the current sum of two amounts: see [Scorer.Line]. It is the working memory of
// one Markov chain: several goroutines must not use it at once. Its methods no longer allocate
// memory after its lists have grown.
//
// All scores are sums of fixed-point leaf values, as [Score.Point] returns. [Score.Probability]
// converts a sum to a probability.
//
// In the comments of the fields, a slot is an ingredient or a group of ingredients, whose amount is
// the total of the group. For levels, entries and cells see [compiledForest].
type Scorer struct {
	score           *Score
	sum             int64   // score of the composition whose amounts are in x
	x               []int32 // amount of each slot, an ingredient or a group, in the current composition
	usedIngredients []int32 // the ingredients with a positive amount in x
	usedIndex       []int32 // usedIndex[i] is the index of ingredient i in used

	// hasPending tells whether there is a pending composition, which [Scorer.Reset] has set as a
	// whole. The scorer scores it as a single point, and also scores the first lines through it,
	// without changing x. If more is asked, the scorer makes it the current composition in x. A
	// Markov chain often rejects or replaces a composition before that, so that the work on x is
	// saved.
	hasPending   bool
	pendingParts []Part        // the used ingredients of the pending composition, with their amounts
	pendingSum   int64         // score of the pending composition
	pointScratch *pointScratch // working memory for scoring a single point
	// freeWithoutPair holds, for each tree, the leaves that are free if the two ingredients of the
	// line block none. All leaves are free between uses.
	freeWithoutPair []freeLeaves
	// slotScratch holds the amount of each slot in the pending composition while a line is scored.
	// It is zero between uses.
	slotScratch  []int32
	pendingLines int   // number of lines scored through the pending composition
	lineI        int32 // first ingredient of the last line that was scored through the pending composition
	lineJ        int32 // second ingredient of the last line that was scored through the pending composition
	lineTotal    int32 // sum of the amounts of the ingredients lineI and lineJ

	// freeLeaves holds, for each small tree, the leaves that no slot of the current composition
	// blocks: see [freeLeaves].
	freeLeaves []freeLeaves
	// blockCounts holds, for each leaf of each small tree, the number of slots that block the leaf.
	blockCounts []blockCount
	entryBlocks []uint64 // for each [entry]: the leaves that a composition cannot reach because its tests fail

	// leafValues holds the value of the current leaf of each large tree. This field and those up to
	// changedSlots describe the current paths of the large trees, from the root to a leaf.
	leafValues  []int64
	pathNodes   []int32 // the nodes on the current path of each large tree, leaf included: see [largeTree]
	pathSlots   []int32 // slot, an ingredient or a group, that each node in pathNodes tests
	pathLengths []int32 // number of tests on the current path of each large tree
	// pathTrees holds, for each [slotTests], a bit set of the large trees whose current path tests
	// its ingredient or group.
	pathTrees []uint64
	// staleTrees is a bit set of the large trees whose path tests a changed slot and may be wrong.
	staleTrees   []uint64
	changedSlots []int32 // slots, ingredients or groups, that have changed since the paths were last updated

	// varyingSlots lists the slots, ingredients or groups, whose amounts vary along the current
	// line.
	varyingSlots []varyingSlot
	// slotSlopes[s] is the change of the amount of slot s from one position of the line to the
	// next: +1, −1, or 0. While paths are updated, it is 1 for each changed slot.
	slotSlopes   []int8
	savedAmounts []int32 // amount of each varying slot while [varyingAmount] replaces it
	// levelSteps holds the rise of the score at each level (a slot and a threshold): where the
	// amount of the slot passes the threshold along the line.
	levelSteps     []int64
	lineBreaks     []lineBreak // the changes of the score along the line
	mergeBuffer    []lineBreak // scratch memory of mergeBreaks
	lineStarts     []int32     // the result starts of the last call of Line or Column
	lineSums       []int64     // the result sums of the last call of Line or Column
	treesToDescend []uint64    // bit set of the small trees that test a slot varying along the line
	pendingSpans   []span      // scratch memory of descend: a stack of spans that remain to be followed

	// descriptorScorer scores a forest with descriptors (see [Feature]). It is nil for other
	// forests. If it is set, only the fields score, sums and descriptorSums are used besides.
	descriptorScorer *ensemble.Scorer
	descriptorSums   []float64 // scratch memory of descriptorValue
}

// A freeLeaves describes which leaves of a small tree are blocked: leaves that a composition cannot
// reach because a test of a slot fails. The field free is the bit set of the leaves that no slot
// blocks. The field blockedOnce is the bit set of the leaves that exactly one slot blocks. The last
// leaf is always free.
type freeLeaves struct {
	free, blockedOnce uint64
	firstLeaf         int64 // index of the tree's first leaf among the leaves of all trees
}

// freeExcept returns the leaves that no slot blocks if one or two slots are ignored. The parameter
// mask holds the leaves that the ignored slots block.
//
// If two slots are ignored, the result lacks the leaves that both slots block. This is correct
// along the line of the two slots. At each position of the line, one of the two has at least its
// current amount, and so still blocks those leaves.
func (l *freeLeaves) freeExcept(mask uint64) uint64 { return l.free | l.blockedOnce&mask }

// A blockCount counts, for each leaf of a small tree, the slots that block the leaf. The counts are
// binary numbers: bit l of word p is bit p of the count of leaf l. A tree of 64 leaves has 63
// tests, so that a count is at most 63.
type blockCount [6]uint64

// NewScorer returns a scorer of the score. In its composition, all amounts are 0. Call
// [Scorer.Reset] before other methods.
func (s *Score) NewScorer() *Scorer {
	if s.ensembleScore != nil {
		return &Scorer{score: s, descriptorScorer: s.ensembleScore.NewScorer()}
	}
	levels := len(s.thresholds)
	sc := &Scorer{
		score:          s,
		x:              make([]int32, s.slotCount()),
		usedIndex:      make([]int32, s.ingredientCount),
		freeLeaves:     make([]freeLeaves, len(s.smallTrees)),
		blockCounts:    make([]blockCount, len(s.smallTrees)),
		entryBlocks:    make([]uint64, len(s.entries)),
		leafValues:     make([]int64, len(s.largeTrees)),
		pathNodes:      make([]int32, s.pathCapacity),
		pathSlots:      make([]int32, s.pathCapacity),
		pathLengths:    make([]int32, len(s.largeTrees)),
		pathTrees:      make([]uint64, len(s.slotTests)*s.largeTreeWords),
		staleTrees:     make([]uint64, s.largeTreeWords),
		varyingSlots:   make([]varyingSlot, 0, 2+len(s.groups)),
		slotSlopes:     make([]int8, s.slotCount()),
		savedAmounts:   make([]int32, s.slotCount()),
		levelSteps:     make([]int64, levels),
		lineBreaks:     make([]lineBreak, 0, levels+1),
		mergeBuffer:    make([]lineBreak, 0, levels+1),
		lineStarts:     make([]int32, 0, levels+1),
		lineSums:       make([]int64, 0, levels+1),
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

// setAmount sets the amount of ingredient i in x, and updates the totals of the groups to which the
// ingredient belongs.
func (s *Scorer) setAmount(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	switch {
	case old == 0:
		s.usedIndex[i] = int32(len(s.usedIngredients))
		s.usedIngredients = append(s.usedIngredients, i)
	case amount == 0:
		last := s.usedIngredients[len(s.usedIngredients)-1]
		s.usedIngredients[s.usedIndex[i]] = last
		s.usedIndex[last] = s.usedIndex[i]
		s.usedIngredients = s.usedIngredients[:len(s.usedIngredients)-1]
	}
	s.setSlotAmount(i, amount)
	for _, g := range s.score.groupsOf(i) {
		slot := int32(s.score.ingredientCount) + g
		s.setSlotAmount(slot, s.x[slot]+amount-old)
	}
}

// setSlotAmount sets the amount of a slot, an ingredient or a group, in x. It updates the small
// trees. It marks each large tree whose current path tests the slot as stale.
func (s *Scorer) setSlotAmount(slot, amount int32) {
	sc := s.score
	old := s.x[slot]
	s.x[slot] = amount
	known := int(sc.slotTestsIndex[slot])
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

// updateLeaf updates the free leaves of a small tree from its counts of blocking slots. It then
// updates the score.
func (s *Scorer) updateLeaf(tree int32) {
	c, l := &s.blockCounts[tree], &s.freeLeaves[tree]
	before := firstSetBit(l.free)
	high := c[2] | c[3] | c[4] | c[5]
	l.free = ^(c[0] | c[1] | high)
	l.blockedOnce = c[0] &^ (c[1] | high)
	s.sum += s.score.leafValues[l.firstLeaf+firstSetBit(l.free)] - s.score.leafValues[l.firstLeaf+before]
}

// increment adds 1 to the count of each leaf in the bit set carry.
func (b *blockCount) increment(carry uint64) {
	for p := 0; carry != 0; p++ {
		b[p], carry = b[p]^carry, b[p]&carry
	}
}

// decrement subtracts 1 from the count of each leaf in the bit set borrow. The counts of these
// leaves must be positive.
func (b *blockCount) decrement(borrow uint64) {
	for p := 0; borrow != 0; p++ {
		b[p], borrow = b[p]^borrow, ^b[p]&borrow
	}
}
