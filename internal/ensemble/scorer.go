package ensemble

import "math/bits"

// A Scorer computes the sums of the targets for a composition that moves step by step. It also
// computes the sums of all compositions on a line, that is, of all divisions of the current sum of
// two amounts: see [Scorer.Line]. A Scorer is the working memory of one Markov chain, and only one
// goroutine may use it. Its methods no longer allocate memory after its buffers have grown.
type Scorer struct {
	score           *Score
	sumComputer     sumComputer
	x               []int32 // amount of each ingredient
	usedIngredients []int32 // ingredients with a positive amount, in no particular order
	usedIndex       []int32 // usedIndex[i] is the index of ingredient i in used
	slotNumbers     []int64 // number of each [inputSlot] for the current composition
	// how the number that tests of each [inputSlot] compare varies along the current line
	variations []slotVariation

	treeLeaves   []int32        // the leaf that each tree reaches, encoded as a child of a [Node]
	pathStarts   []int32        // pathStarts[t] is the index in pathSteps at which the path of tree t begins
	pathSteps    []pathStep     // the tests on the current path of each tree, from the root to a leaf
	pathLengths  []int32        // number of tests on the current path of each tree
	listedTests  [][]listedTest // for each [inputSlot]: the tests of the slot on the current paths of all trees
	staleTrees   []uint64       // bit set of the stale trees, whose path must be recomputed
	resumePoints []resumePoint  // for each stale tree: the test from which the path must be recomputed

	// numbersAlongLine describes the number of each slot that is not in linearMode. It and the
	// fields below belong to the line that [Scorer.Line] computes.
	numbersAlongLine []numberAlongLine
	varyingSlots     []int32      // slots that vary along the line
	crossingBuffer   []crossing   // scratch memory of findCrossings
	pendingSpans     []span       // scratch memory of descendAlongLine: spans that remain to be followed
	pieceStarts      pieceStarts  // positions on the line at which pieces begin
	leafChanges      []leafChange // positions on the line at which trees change their leaf
	lineSums         [][]float64  // lineSums[g][p] is the sum of target g in piece p of the line
}

// NewScorer returns a scorer that has no composition yet. Call [Scorer.Reset] before any other
// method.
func (s *Score) NewScorer() *Scorer {
	trees := s.Trees()
	c := &Scorer{
		score: s, sumComputer: s.sharedSumComputer().newCopy(),
		x: make([]int32, len(s.effects)), usedIndex: make([]int32, len(s.effects)),
		slotNumbers: make([]int64, len(s.slots)),
		treeLeaves:  make([]int32, trees), pathStarts: make([]int32, trees), pathLengths: make([]int32, trees),
		staleTrees: make([]uint64, (trees+63)/64), resumePoints: make([]resumePoint, trees), variations: make([]slotVariation, len(s.slots)),
		numbersAlongLine: make([]numberAlongLine, len(s.slots)), lineSums: make([][]float64, len(s.Terms)),
	}
	c.listedTests = make([][]listedTest, len(s.slots))
	length := int32(0)
	for t, depth := range s.treeDepths {
		c.pathStarts[t] = length
		length += depth
	}
	c.pathSteps = make([]pathStep, length)
	for k := range s.slots {
		c.variations[k].setConstant(s.slots[k].comparedNumber(0))
	}
	for t, root := range s.roots {
		c.treeLeaves[t] = 0 // −1 means that no leaf has been reached yet
		c.replacePathEnd(int32(t), 0, root)
	}
	return c
}

// Reset makes the dense composition x the current composition. The parameter used lists the
// ingredients with a positive amount, in any order. Reset only reads both slices and does not keep
// them.
func (s *Scorer) Reset(x, used []int32) {
	for len(s.usedIngredients) > 0 {
		s.setAmount(s.usedIngredients[len(s.usedIngredients)-1], 0)
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

// setAmount changes the amount of ingredient i. A tree becomes stale if a test on its current path
// changes its result.
func (s *Scorer) setAmount(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	s.x[i] = amount
	comes := int64(0)
	switch {
	case old == 0:
		s.usedIndex[i] = int32(len(s.usedIngredients))
		s.usedIngredients = append(s.usedIngredients, i)
		comes = 1
	case amount == 0:
		last := s.usedIngredients[len(s.usedIngredients)-1]
		s.usedIngredients[s.usedIndex[i]] = last
		s.usedIndex[last] = s.usedIndex[i]
		s.usedIngredients = s.usedIngredients[:len(s.usedIngredients)-1]
		comes = -1
	}
	for _, e := range s.score.effects[i] {
		slot := &s.score.slots[e.slot]
		if slot.source.CountsUsed {
			s.slotNumbers[e.slot] += comes
		} else {
			s.slotNumbers[e.slot] += e.weight * int64(amount-old)
		}
		was, now := int32(s.variations[e.slot].offset), slot.comparedNumber(s.slotNumbers[e.slot])
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
// is the position on the path of the first test to repeat.
//
// The fields position and offPathChild are for a line on which only that test may change its
// result, and only once. Then position is the position on the line of the change, and offPathChild
// is the child of the test that the path does not take. Otherwise position is 0.
type resumePoint struct{ pathIndex, offPathChild, linePosition int32 }

// markStale marks the tree of a listed test as stale from that test on. If the result of the test
// changes once along a line, border is the position of the change. Otherwise border is 0.
func (s *Scorer) markStale(q listedTest, border int32) {
	at := &s.resumePoints[q.tree]
	if w, bit := q.tree>>6, uint64(1)<<(q.tree&63); s.staleTrees[w]&bit == 0 {
		s.staleTrees[w] |= bit
		*at = resumePoint{q.pathIndex, q.offPathChild, border}
	} else {
		at.pathIndex, at.linePosition = min(at.pathIndex, q.pathIndex), 0
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

// refreshPath recomputes the path of tree t. It keeps the path up to the first test whose result
// has changed.
func (s *Scorer) refreshPath(t int32) {
	path := s.pathSteps[s.pathStarts[t]:][:s.pathLengths[t]]
	for p := int(s.resumePoints[t].pathIndex); p < len(path); p++ {
		n := &s.score.treeNodes[path[p].node]
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
			s.listedTests[path[p].slot][path[p].listedTestIndex].offPathChild = was
			s.replacePathEnd(t, int32(p+1), next)
			return
		}
	}
}

// unlistStep removes a step of a path from listedTests of the slot that it tests.
func (s *Scorer) unlistStep(q pathStep) {
	all := s.listedTests[q.slot]
	last := all[len(all)-1]
	all[q.listedTestIndex] = last
	s.pathSteps[s.pathStarts[last.tree]+last.pathIndex].listedTestIndex = q.listedTestIndex
	s.listedTests[q.slot] = all[:len(all)-1]
}

// replacePathEnd replaces the tests of tree t's path from index p on. The new tests begin at the
// given child and lead to a leaf.
func (s *Scorer) replacePathEnd(t, p, child int32) {
	for child >= 0 {
		n := &s.score.treeNodes[child]
		s.pathSteps[s.pathStarts[t]+p] = pathStep{child, n.slot, n.threshold, int32(len(s.listedTests[n.slot]))}
		next, other := n.right, n.left
		if s.variations[n.slot].offset <= int64(n.threshold) {
			next, other = other, next
		}
		s.listedTests[n.slot] = append(s.listedTests[n.slot], listedTest{n.threshold, t, p, other})
		child = next
		p++
	}
	s.pathLengths[t] = p
	if s.treeLeaves[t] != child {
		s.treeLeaves[t] = child
		s.sumComputer.setLeaf(t, ^child)
	}
}

// A pathStep is a test on the current path of a tree. The field listedTestIndex is the index of the
// test in the list that [Scorer] listedTests holds for the tested slot.
type pathStep struct{ node, slot, threshold, listedTestIndex int32 }

// A listedTest is a test on the current path of a tree, kept in a list for the slot that it tests.
// The field pathIndex is the index of the test on the path. The field offPathChild is the child
// that the path does not take.
type listedTest struct{ threshold, tree, pathIndex, offPathChild int32 }
