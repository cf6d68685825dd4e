package model

import (
	"slices"

	"kir/internal/ensemble"
)

// A Scorer keeps the score of one moving composition, and scores the lines through it. It is the
// working memory of one chain: several goroutines must not use it at once. Its methods do not
// allocate once its lists have grown.
//
// All scores are sums of fixed-point leaf values, as [Score.Point] returns; [Score.Probability]
// converts them to probabilities.
type Scorer struct {
	score *Score
	sum   int64   // score of the composition in x
	x     []int32 // by slot: the current amount of an ingredient or total of a group
	used  []int32 // the ingredients with x > 0
	place []int32 // by ingredient: its index in used

	// A pending composition was set as a whole by Reset. It is scored as a point, and its first
	// lines on their own, before the scorer takes it over. Most such candidates are rejected before
	// that, and many accepted ones are soon left.
	hasPending bool
	pending    []Part
	pendingSum int64
	point      *point
	others     []freeLeaves // by tree: without the line's two ingredients; all between uses
	dense      []int32      // by slot: the amounts and totals, while a line is scored; else 0
	lines      int          // number of lines scored while the composition is pending
	i, j       int32        // ingredients of the last line scored
	shared     int32        // sum of the amounts of i and j

	// State of the small trees: leaves and counts are by tree.
	leaves  []freeLeaves
	counts  []blockCount
	current []uint64 // by entry: the leaves that its slot blocks

	// by large tree: the value of its current leaf
	value    []int64  // by large tree: the value of its current leaf
	paths    []int32  // by large tree: the nodes on its current path, leaf included
	slots    []int32  // the slots that the nodes in paths test
	length   []int32  // by large tree: the number of tests on its path
	touching []uint64 // by tested slot: a bit set of the large trees whose path tests it
	stale    []uint64 // bit set of the large trees whose path tests a slot that has changed
	changed  []int32  // changed slots that stale trees have not yet followed

	// The current line.
	varying      []varyingSlot
	slope        []int8  // by slot: its slope if it varies along the line, 1 if it has changed, else 0
	savedAmounts []int32 // by slot: the saved amounts of varying slots, while they are marked
	step         []int64 // by level: the rise of the score where the level is crossed
	breaks       []lineBreak
	merged       []lineBreak
	starts       []int32
	sums         []int64
	trees        []uint64 // bit set of the small trees that test a varying slot
	pendingSpans []span

	// descriptorScorer scores a forest with descriptors. Of the lists above it uses sums alone.
	descriptorScorer *ensemble.Scorer
	values           []float64
}

// freeLeaves are two bit sets of the leaves of a small tree: those that no slot blocks and those
// that exactly one blocks. The last leaf is always free.
type freeLeaves struct {
	free, blockedOnce uint64
	base              int64 // index of the tree's first leaf; here to share a cache line
}

// without returns the leaves that no slot blocks, except perhaps one that blocks the leaves in
// mask. If mask is the union of two slots' leaves, the leaves that both block are missing. That is
// correct along the line of the two: one of them always has at least its current amount and goes on
// blocking those leaves.
func (l *freeLeaves) without(mask uint64) uint64 { return l.free | l.blockedOnce&mask }

// A blockCount counts in binary, for each leaf of a small tree, the slots that block it. Bit l of
// word p is bit p of leaf l's count. A tree of 64 leaves has 63 tests and so at most 63 slots.
type blockCount [6]uint64

// NewScorer returns a scorer whose composition has no ingredients. Call
// [Scorer.Reset] to begin.
func (s *Score) NewScorer() *Scorer {
	if s.ensembleScore != nil {
		return &Scorer{score: s, descriptorScorer: s.ensembleScore.NewScorer()}
	}
	levels := len(s.thresholds)
	sc := &Scorer{
		score:        s,
		x:            make([]int32, s.slots()),
		place:        make([]int32, s.ingredients),
		leaves:       make([]freeLeaves, len(s.small)),
		counts:       make([]blockCount, len(s.small)),
		current:      make([]uint64, len(s.entries)),
		value:        make([]int64, len(s.large)),
		paths:        make([]int32, s.pathLength),
		slots:        make([]int32, s.pathLength),
		length:       make([]int32, len(s.large)),
		touching:     make([]uint64, len(s.tests)*s.largeWords),
		stale:        make([]uint64, s.largeWords),
		varying:      make([]varyingSlot, 0, 2+len(s.groups)),
		slope:        make([]int8, s.slots()),
		savedAmounts: make([]int32, s.slots()),
		step:         make([]int64, levels),
		breaks:       make([]lineBreak, 0, levels+1),
		merged:       make([]lineBreak, 0, levels+1),
		starts:       make([]int32, 0, levels+1),
		sums:         make([]int64, 0, levels+1),
		trees:        make([]uint64, s.treeWords),
		pendingSpans: make([]span, 0, s.deepest+1),
		point:        s.newPoint(),
	}
	for t := range s.small {
		base := int64(s.small[t].base)
		sc.leaves[t] = freeLeaves{free: ^uint64(0), base: base}
		sc.sum += s.values[base]
	}
	if s.masked() {
		sc.others = slices.Clone(sc.leaves)
	} else {
		sc.dense = make([]int32, s.slots())
	}
	for t, tree := range s.large {
		sc.follow(t, 0, tree.root)
	}
	return sc
}

// assign sets one amount and marks the large trees concerned as stale.
func (s *Scorer) assign(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	switch {
	case old == 0:
		s.place[i] = int32(len(s.used))
		s.used = append(s.used, i)
	case amount == 0:
		last := s.used[len(s.used)-1]
		s.used[s.place[i]] = last
		s.place[last] = s.place[i]
		s.used = s.used[:len(s.used)-1]
	}
	s.assignSlot(i, amount)
	for _, g := range s.score.groupsOf(i) {
		slot := int32(s.score.ingredients) + g
		s.assignSlot(slot, s.x[slot]+amount-old)
	}
}

func (s *Scorer) assignSlot(slot, amount int32) {
	sc := s.score
	old := s.x[slot]
	s.x[slot] = amount
	known := int(sc.known[slot])
	tests := &sc.tests[known]
	if amount > old {
		from, to := sc.levelsBelow(tests, old), sc.levelsBelow(tests, amount)
		cells := sc.cells[sc.firstCell[from]:sc.firstCell[to]]
		for k := range cells {
			c := &cells[k]
			s.current[c.entry] = c.leavesAfter
			s.counts[c.tree].add(c.leavesAfter &^ c.leavesBefore)
			s.recount(c.tree)
		}
	} else {
		from, to := sc.levelsBelow(tests, amount), sc.levelsBelow(tests, old)
		cells := sc.cells[sc.firstCell[from]:sc.firstCell[to]]
		for k := len(cells) - 1; k >= 0; k-- {
			c := &cells[k]
			s.current[c.entry] = c.leavesBefore
			s.counts[c.tree].subtract(c.leavesAfter &^ c.leavesBefore)
			s.recount(c.tree)
		}
	}
	if sc.largeWords > 0 {
		s.changed = append(s.changed, slot)
		for w, trees := range s.touching[known*sc.largeWords : (known+1)*sc.largeWords] {
			s.stale[w] |= trees
		}
	}
}

// recount updates a small tree's leaf from its counts.
func (s *Scorer) recount(tree int32) {
	c, l := &s.counts[tree], &s.leaves[tree]
	before := firstSetBit(l.free)
	high := c[2] | c[3] | c[4] | c[5]
	l.free = ^(c[0] | c[1] | high)
	l.blockedOnce = c[0] &^ (c[1] | high)
	s.sum += s.score.values[l.base+firstSetBit(l.free)] - s.score.values[l.base+before]
}

// add increments the count of each leaf in the mask.
func (b *blockCount) add(carry uint64) {
	for p := 0; carry != 0; p++ {
		b[p], carry = b[p]^carry, b[p]&carry
	}
}

// subtract decrements the count of each leaf in the mask, which must be positive.
func (b *blockCount) subtract(borrow uint64) {
	for p := 0; borrow != 0; p++ {
		b[p], borrow = b[p]^borrow, ^b[p]&borrow
	}
}
