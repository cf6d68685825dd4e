package ensemble

import "math/bits"

// A Scorer computes the targets' sums of one moving composition, and of the lines through it. It is the working
// memory of one chain, and only one goroutine may use it. Its methods do not allocate once its buffers have grown.
type Scorer struct {
	score *Score
	sums  summer
	x     []int32     // amount of each ingredient
	used  []int32     // ingredients with x > 0, in no order
	place []int32     // index in used of each used ingredient
	exact []int64     // number of each slot
	vary  []variation // number of each slot in the form that tests compare

	leaves      []int32        // leaf that each tree reaches
	starts      []int32        // index in paths where each tree's path begins
	paths       []step         // tests on the path of each tree
	lengths     []int32        // number of tests on each tree's path
	listedTests [][]listedTest // for each slot: the tests of it on the paths of all trees
	stale       []uint64       // bit set of the trees whose path must be recomputed
	from        []resumePoint  // for each stale tree: the test from which to recompute

	// The next fields describe the line that Line computes.
	forms        []form  // form of each slot that has a mode
	varying      []int32 // slots that vary along the line
	crossings    []crossing
	pendingSpans []span
	splits       splits
	changes      []change
	line         [][]float64 // sums by target and piece
}

// NewScorer returns a scorer without a composition. Call [Scorer.Reset] before any other method.
func (s *Score) NewScorer() *Scorer {
	trees := s.Trees()
	c := &Scorer{
		score: s, sums: s.tables().newCopy(),
		x: make([]int32, len(s.effects)), place: make([]int32, len(s.effects)),
		exact:  make([]int64, len(s.slots)),
		leaves: make([]int32, trees), starts: make([]int32, trees), lengths: make([]int32, trees),
		stale: make([]uint64, (trees+63)/64), from: make([]resumePoint, trees), vary: make([]variation, len(s.slots)),
		forms: make([]form, len(s.slots)), line: make([][]float64, len(s.Terms)),
	}
	c.listedTests = make([][]listedTest, len(s.slots))
	length := int32(0)
	for t, depth := range s.depths {
		c.starts[t] = length
		length += depth
	}
	c.paths = make([]step, length)
	for k := range s.slots {
		c.vary[k].setConstant(s.slots[k].rankOf(0))
	}
	for t, root := range s.roots {
		c.leaves[t] = 0 // −1 means that no leaf has been reached yet
		c.replacePath(int32(t), 0, root)
	}
	return c
}

// Reset moves to the dense composition x. Used are the ingredients with a positive
// amount, in any order; both slices are only read.
func (s *Scorer) Reset(x, used []int32) {
	for len(s.used) > 0 {
		s.assign(s.used[len(s.used)-1], 0)
	}
	for _, i := range used {
		s.assign(i, x[i])
	}
	s.refresh()
}

// Set changes the amounts of ingredients i and j to xi and xj.
func (s *Scorer) Set(i int, xi int32, j int, xj int32) {
	s.assign(int32(i), xi)
	s.assign(int32(j), xj)
	s.refresh()
}

// Amount returns the amount of ingredient i.
func (s *Scorer) Amount(i int) int32 { return s.x[i] }

// AppendSums appends the sum of each target at the current composition to dst.
func (s *Scorer) AppendSums(dst []float64) []float64 {
	for g := range s.score.Terms {
		dst = append(dst, s.sums.currentSum(g))
	}
	return dst
}

// assign changes one amount and marks trees as stale if a test on their path changes its result.
func (s *Scorer) assign(i, amount int32) {
	old := s.x[i]
	if old == amount {
		return
	}
	s.x[i] = amount
	comes := int64(0)
	switch {
	case old == 0:
		s.place[i] = int32(len(s.used))
		s.used = append(s.used, i)
		comes = 1
	case amount == 0:
		last := s.used[len(s.used)-1]
		s.used[s.place[i]] = last
		s.place[last] = s.place[i]
		s.used = s.used[:len(s.used)-1]
		comes = -1
	}
	for _, e := range s.score.effects[i] {
		slot := &s.score.slots[e.slot]
		if slot.source.Count {
			s.exact[e.slot] += comes
		} else {
			s.exact[e.slot] += e.weight * int64(amount-old)
		}
		was, now := int32(s.vary[e.slot].offset), slot.rankOf(s.exact[e.slot])
		s.vary[e.slot].setConstant(now)
		low, high := min(was, now), max(was, now)
		for _, q := range s.listedTests[e.slot] {
			if low <= q.threshold && q.threshold < high {
				s.markStale(q, 0)
			}
		}
	}
}

// A resumePoint is the index of the first test to repeat on the path of a stale tree. If only that test changes, once
// on the line, border is the split where it does and other the child off the path. Otherwise border is 0.
type resumePoint struct{ step, other, border int32 }

// markStale marks a tree as stale from the test q on. A border above 0 is the split at which the test's result
// changes.
func (s *Scorer) markStale(q listedTest, border int32) {
	at := &s.from[q.tree]
	if w, bit := q.tree>>6, uint64(1)<<(q.tree&63); s.stale[w]&bit == 0 {
		s.stale[w] |= bit
		*at = resumePoint{q.step, q.other, border}
	} else {
		at.step, at.border = min(at.step, q.step), 0
	}
}

// refresh recomputes the paths of all stale trees.
func (s *Scorer) refresh() {
	for w, trees := range s.stale {
		for s.stale[w] = 0; trees != 0; trees &= trees - 1 {
			s.refreshTree(int32(w<<6 | bits.TrailingZeros64(trees)))
		}
	}
}

// refreshTree recomputes the path of tree t from the first test whose result has changed.
func (s *Scorer) refreshTree(t int32) {
	path := s.paths[s.starts[t]:][:s.lengths[t]]
	for p := int(s.from[t].step); p < len(path); p++ {
		n := &s.score.nodes[path[p].node]
		next, was := n.right, s.leaves[t]
		if s.vary[n.slot].offset <= int64(n.threshold) {
			next = n.left
		}
		if p+1 < len(path) {
			was = path[p+1].node
		}
		if next != was {
			for _, q := range path[p+1:] {
				s.unlistStep(q)
			}
			s.listedTests[path[p].slot][path[p].listIndex].other = was
			s.replacePath(t, int32(p+1), next)
			return
		}
	}
}

// unlistStep removes a step from the list of its slot's tests.
func (s *Scorer) unlistStep(q step) {
	all := s.listedTests[q.slot]
	last := all[len(all)-1]
	all[q.listIndex] = last
	s.paths[s.starts[last.tree]+last.step].listIndex = q.listIndex
	s.listedTests[q.slot] = all[:len(all)-1]
}

// replacePath replaces the path of tree t from its p-th test on by the path from child at.
func (s *Scorer) replacePath(t, p, at int32) {
	for at >= 0 {
		n := &s.score.nodes[at]
		s.paths[s.starts[t]+p] = step{at, n.slot, n.threshold, int32(len(s.listedTests[n.slot]))}
		next, other := n.right, n.left
		if s.vary[n.slot].offset <= int64(n.threshold) {
			next, other = other, next
		}
		s.listedTests[n.slot] = append(s.listedTests[n.slot], listedTest{n.threshold, t, p, other})
		at = next
		p++
	}
	s.lengths[t] = p
	if s.leaves[t] != at {
		s.leaves[t] = at
		s.sums.set(t, ^at)
	}
}

// A step is a node on a tree's path, with the index of its entry among the listed tests of its slot.
type step struct{ node, slot, threshold, listIndex int32 }

// A listedTest is a test on a tree's path, as listed for its slot. other is the child that is not on the path.
type listedTest struct{ threshold, tree, step, other int32 }
