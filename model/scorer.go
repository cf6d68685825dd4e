package model

import (
	"slices"

	"kir/internal/ensemble"
)

// A Scorer keeps the score of one moving composition, and scores the lines
// through it. It is the working memory of one chain: not for use by several
// goroutines at once. Its methods do not allocate once its lists have grown.
//
// All scores are sums of fixed-point leaf values, as [Score.Point] gives;
// [Score.Probability] makes them probabilities.
type Scorer struct {
	score *Score
	sum   int64   // the score of the composition that x has
	x     []int32 // by slot: the current amounts and group totals
	used  []int32 // the ingredients with x > 0
	place []int32 // by ingredient: where it is in used

	// A composition that was set as a whole is scored as a point, and its first lines by
	// themselves, before it is taken over: most candidates are refused before, and many
	// that are not are left soon.
	hasPending bool
	pending    []Part
	pendingSum int64
	point      *point
	others     []freeLeaves // by tree: without the line's two; all between uses
	dense      []int32      // by slot: the amounts and totals, while a line is scored; else 0
	lines      int          // that were asked for since
	i, j       int32        // of the last of them
	shared     int32        // what they have together

	// Small trees.
	leaves  []freeLeaves
	counts  []blockCount
	current []uint64 // by entry: the leaves that its slot blocks

	// Large trees.
	value    []int64  // the value of each one's current leaf
	paths    []int32  // the nodes on each one's current path, leaf included
	slots    []int32  // the slots that the nodes in paths test
	length   []int32  // how many tests are on each one's path
	touching []uint64 // by tested slot: a bit set of the large trees whose path tests it
	stale    []uint64 // bit set of the large trees whose paths test a changed slot
	changed  []int32  // slots that have changed and stale trees do not know

	// A line.
	varying []variation
	slope   []int8  // by slot: not 0 for those that vary or have changed, while it matters
	aside   []int32 // by slot: the amounts of those that vary, while they are marked
	step    []int64 // by level: by how much the score rises where it is crossed
	breaks  []lineBreak
	merged  []lineBreak
	starts  []int32
	sums    []int64
	trees   []uint64 // bit set of the small trees that test a slot that varies
	todo    []span

	// Of a forest with descriptors, which has no other lists than sums.
	bound  *ensemble.Scorer
	values []float64
}

// freeLeaves says which leaves of a small tree no slot blocks and which exactly
// one does. Its last leaf is always free.
type freeLeaves struct {
	free, once uint64
	base       int64 // the tree's first leaf; here to share a cache line
}

// without returns the leaves that no slot blocks but one that blocks the leaves
// in mask. With the union of two slots' leaves as the mask, the leaves that both
// block are missing: along the line of the two, one of them always has at least
// its current amount, so that it goes on blocking those leaves.
func (l *freeLeaves) without(mask uint64) uint64 { return l.free | l.once&mask }

// A blockCount counts, for each leaf of a small tree, the slots that block it,
// in binary: bit l of plane p is bit p of leaf l's count. A tree of 64 leaves
// has 63 tests and so at most 63 slots.
type blockCount [6]uint64

// NewScorer returns a scorer whose composition has no ingredients. Call
// [Scorer.Reset] to begin.
func (s *Score) NewScorer() *Scorer {
	if s.bound != nil {
		return &Scorer{score: s, bound: s.bound.NewScorer()}
	}
	levels := len(s.thresholds)
	sc := &Scorer{
		score:    s,
		x:        make([]int32, s.slots()),
		place:    make([]int32, s.ingredients),
		leaves:   make([]freeLeaves, len(s.small)),
		counts:   make([]blockCount, len(s.small)),
		current:  make([]uint64, len(s.entries)),
		value:    make([]int64, len(s.large)),
		paths:    make([]int32, s.pathLength),
		slots:    make([]int32, s.pathLength),
		length:   make([]int32, len(s.large)),
		touching: make([]uint64, len(s.tests)*s.largeWords),
		stale:    make([]uint64, s.largeWords),
		varying:  make([]variation, 0, 2+len(s.groups)),
		slope:    make([]int8, s.slots()),
		aside:    make([]int32, s.slots()),
		step:     make([]int64, levels),
		breaks:   make([]lineBreak, 0, levels+1),
		merged:   make([]lineBreak, 0, levels+1),
		starts:   make([]int32, 0, levels+1),
		sums:     make([]int64, 0, levels+1),
		trees:    make([]uint64, s.treeWords),
		todo:     make([]span, 0, s.deepest+1),
		point:    s.newPoint(),
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

// assign sets one amount. The large trees concerned become stale.
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
			s.current[c.entry] = c.after
			s.counts[c.tree].add(c.after &^ c.before)
			s.recount(c.tree)
		}
	} else {
		from, to := sc.levelsBelow(tests, amount), sc.levelsBelow(tests, old)
		cells := sc.cells[sc.firstCell[from]:sc.firstCell[to]]
		for k := len(cells) - 1; k >= 0; k-- {
			c := &cells[k]
			s.current[c.entry] = c.before
			s.counts[c.tree].subtract(c.after &^ c.before)
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

// recount brings a small tree's leaf up to date with its counts.
func (s *Scorer) recount(tree int32) {
	c, l := &s.counts[tree], &s.leaves[tree]
	before := firstSetBit(l.free)
	high := c[2] | c[3] | c[4] | c[5]
	l.free = ^(c[0] | c[1] | high)
	l.once = c[0] &^ (c[1] | high)
	s.sum += s.score.values[l.base+firstSetBit(l.free)] - s.score.values[l.base+before]
}

// add counts each leaf in the mask once more.
func (b *blockCount) add(carry uint64) {
	for p := 0; carry != 0; p++ {
		b[p], carry = b[p]^carry, b[p]&carry
	}
}

// subtract counts each leaf in the mask, whose count is positive, once less.
func (b *blockCount) subtract(borrow uint64) {
	for p := 0; borrow != 0; p++ {
		b[p], borrow = b[p]^borrow, ^b[p]&borrow
	}
}
