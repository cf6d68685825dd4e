package ensemble

import "math/bits"

// A Scorer computes the sums of the targets for a composition that moves step by step. It also
// computes the sums along lines: for all compositions that differ from the current one only in how
// two ingredients share their sum. It is the working memory of one Markov chain, and only one
// goroutine may use it. Its methods no longer allocate memory after its buffers have grown.
type Scorer struct {
	score       *Score
	sumComputer sumComputer
	x           []int32         // by ingredient: its amount
	used        []int32         // ingredients with a positive amount, in no particular order
	usedIndex   []int32         // by ingredient: its index in used
	slotNumbers []int64         // by [inputSlot]: its number
	variations  []slotVariation // by [inputSlot]: what tests compare, and how it varies along the current line

	treeLeaves   []int32        // by tree: the leaf that the tree reaches, encoded as a child of a [Node]
	pathStarts   []int32        // by tree: the index in pathSteps at which its path begins
	pathSteps    []pathStep     // the tests on the current path of each tree
	pathLengths  []int32        // by tree: the number of tests on its current path
	listedTests  [][]listedTest // by [inputSlot]: the tests of the slot on the current paths of all trees
	staleTrees   []uint64       // bit set of the trees whose path must be recomputed
	resumePoints []resumePoint  // by tree, if it is stale: the test from which the path must be recomputed

	// modeNumbers holds the number of each slot that is not in linearMode. This field and the
	// fields below describe the line that [Scorer.Line] computes.
	modeNumbers  []modeNumber
	varyingSlots []int32 // slots that vary along the line
	crossings    []crossing
	pendingSpans []span
	pieceStarts  pieceStarts  // where the pieces of the line begin
	leafChanges  []leafChange // where trees change their leaf
	lineSums     [][]float64  // by target, then piece: the sum
}

// NewScorer returns a scorer without a composition. Call [Scorer.Reset] before any other method.
func (s *Score) NewScorer() *Scorer {
	trees := s.Trees()
	c := &Scorer{
		score: s, sumComputer: s.sharedSumComputer().newCopy(),
		x: make([]int32, len(s.effects)), usedIndex: make([]int32, len(s.effects)),
		slotNumbers: make([]int64, len(s.slots)),
		treeLeaves:  make([]int32, trees), pathStarts: make([]int32, trees), pathLengths: make([]int32, trees),
		staleTrees: make([]uint64, (trees+63)/64), resumePoints: make([]resumePoint, trees), variations: make([]slotVariation, len(s.slots)),
		modeNumbers: make([]modeNumber, len(s.slots)), lineSums: make([][]float64, len(s.Terms)),
	}
	c.listedTests = make([][]listedTest, len(s.slots))
	length := int32(0)
	for t, depth := range s.treeDepths {
		c.pathStarts[t] = length
		length += depth
	}
	c.pathSteps = make([]pathStep, length)
	for k := range s.slots {
		c.variations[k].setConstant(s.slots[k].rankOf(0))
	}
	for t, root := range s.roots {
		c.treeLeaves[t] = 0 // −1 means that no leaf has been reached yet
		c.replacePathEnd(int32(t), 0, root)
	}
	return c
}

// Reset moves the scorer to the dense composition x. The parameter used lists the ingredients with
// a positive amount, in any order. Reset only reads both slices and does not keep them.
func (s *Scorer) Reset(x, used []int32) {
	for len(s.used) > 0 {
		s.setAmount(s.used[len(s.used)-1], 0)
	}
	for _, i := range used {
		s.setAmount(i, x[i])
	}
	s.refreshPaths()
}

// Set changes the amount of ingredient i to xi and the amount of ingredient j to xj.
func (s *Scorer) Set(i int, xi int32, j int, xj int32) {
	s.setAmount(int32(i), xi)
	s.setAmount(int32(j), xj)
	s.refreshPaths()
}

// Amount returns the amount of ingredient i.
func (s *Scorer) Amount(i int) int32 { return s.x[i] }

// AppendSums appends the sum of each target for the current composition to dst.
func (s *Scorer) AppendSums(dst []float64) []float64 {
	for g := range s.score.Terms {
		dst = append(dst, s.sumComputer.currentSum(g))
	}
	return dst
}

// setAmount changes the amount of ingredient i. It marks trees as stale if a test on their current
// path changes its result.
func (s *Scorer) setAmount(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	s.x[i] = amount
	comes := int64(0)
	switch {
	case old == 0:
		s.usedIndex[i] = int32(len(s.used))
		s.used = append(s.used, i)
		comes = 1
	case amount == 0:
		last := s.used[len(s.used)-1]
		s.used[s.usedIndex[i]] = last
		s.usedIndex[last] = s.usedIndex[i]
		s.used = s.used[:len(s.used)-1]
		comes = -1
	}
	for _, e := range s.score.effects[i] {
		slot := &s.score.slots[e.slot]
		if slot.source.CountsUsed {
			s.slotNumbers[e.slot] += comes
		} else {
			s.slotNumbers[e.slot] += e.weight * int64(amount-old)
		}
		was, now := int32(s.variations[e.slot].offset), slot.rankOf(s.slotNumbers[e.slot])
		s.variations[e.slot].setConstant(now)
		low, high := min(was, now), max(was, now)
		for _, q := range s.listedTests[e.slot] {
			if low <= q.threshold && q.threshold < high {
				s.markStale(q, 0)
			}
		}
	}
}

// A resumePoint tells from where the path of a stale tree must be recomputed. The field pathIndex
// is the index on the path of the first test to repeat.
//
// During a line, only that test may change its result, and only once. Then position is where on the
// line it does, and offPathChild is the child of the test that is not on the path. Otherwise
// position is 0.
type resumePoint struct{ pathIndex, offPathChild, position int32 }

// markStale marks the tree of a listed test as stale, from that test on. A position above 0 is
// where on the line the result of the test changes.
func (s *Scorer) markStale(q listedTest, border int32) {
	at := &s.resumePoints[q.tree]
	if w, bit := q.tree>>6, uint64(1)<<(q.tree&63); s.staleTrees[w]&bit == 0 {
		s.staleTrees[w] |= bit
		*at = resumePoint{q.pathIndex, q.offPathChild, border}
	} else {
		at.pathIndex, at.position = min(at.pathIndex, q.pathIndex), 0
	}
}

// refreshPaths recomputes the paths of all stale trees.
func (s *Scorer) refreshPaths() {
	for w, trees := range s.staleTrees {
		for s.staleTrees[w] = 0; trees != 0; trees &= trees - 1 {
			s.refreshPath(int32(w<<6 | bits.TrailingZeros64(trees)))
		}
	}
}

// refreshPath recomputes the path of tree t from the first test whose result has changed.
func (s *Scorer) refreshPath(t int32) {
	path := s.pathSteps[s.pathStarts[t]:][:s.pathLengths[t]]
	for p := int(s.resumePoints[t].pathIndex); p < len(path); p++ {
		n := &s.score.nodes[path[p].node]
		next, was := n.right, s.treeLeaves[t]
		if s.variations[n.slot].offset <= int64(n.threshold) {
			next = n.left
		}
		if p+1 < len(path) {
			was = path[p+1].node
		}
		if next != was {
			for _, q := range path[p+1:] {
				s.unlistStep(q)
			}
			s.listedTests[path[p].slot][path[p].listIndex].offPathChild = was
			s.replacePathEnd(t, int32(p+1), next)
			return
		}
	}
}

// unlistStep removes a step of a path from the list of tests of its slot.
func (s *Scorer) unlistStep(q pathStep) {
	all := s.listedTests[q.slot]
	last := all[len(all)-1]
	all[q.listIndex] = last
	s.pathSteps[s.pathStarts[last.tree]+last.pathIndex].listIndex = q.listIndex
	s.listedTests[q.slot] = all[:len(all)-1]
}

// replacePathEnd replaces the end of the path of tree t. The new end has index p on the path and
// begins with the child at.
func (s *Scorer) replacePathEnd(t, p, at int32) {
	for at >= 0 {
		n := &s.score.nodes[at]
		s.pathSteps[s.pathStarts[t]+p] = pathStep{at, n.slot, n.threshold, int32(len(s.listedTests[n.slot]))}
		next, other := n.right, n.left
		if s.variations[n.slot].offset <= int64(n.threshold) {
			next, other = other, next
		}
		s.listedTests[n.slot] = append(s.listedTests[n.slot], listedTest{n.threshold, t, p, other})
		at = next
		p++
	}
	s.pathLengths[t] = p
	if s.treeLeaves[t] != at {
		s.treeLeaves[t] = at
		s.sumComputer.setLeaf(t, ^at)
	}
}

// A pathStep is a node on the current path of a tree. The field listIndex is its index in the list
// of tests of its slot.
type pathStep struct{ node, slot, threshold, listIndex int32 }

// A listedTest is a test on the current path of a tree, in the list of its slot. The field
// pathIndex is its index on the path, and offPathChild is its child that is not on the path.
type listedTest struct{ threshold, tree, pathIndex, offPathChild int32 }
