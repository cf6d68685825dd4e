package model

import (
	"math"
	"math/bits"
)

// A span is a range of a line (see [Scorer.Line]) within a tree. All of its compositions reach the
// same node. In the composition at position k, the line's first ingredient has amount k.
type span struct {
	node int32 // index of the node
	from int32 // first position of the range
	to   int32 // last position of the range
	// startLevel is the index of the level (see [compiledForest]) at which a test changes its
	// result at the start of the range. It is −1 at the start of the line.
	startLevel int32
	// endLevel is the index of the level at which a test changes its result behind the end of the
	// range. It is −1 at the end of the line.
	endLevel int32
}

// varyingAmount replaces, during a descent of the trees, the amounts of the slots that vary along a
// line. It exceeds every threshold, so that a test of a varying slot always goes right. A descent
// therefore checks whether a slot varies only after a test has gone right.
const varyingAmount = math.MaxInt32

// markVaryingSlots prepares the amounts x of all slots for [Scorer.descend]. It sets the slopes of
// the slots that vary along the line, saves their amounts, and replaces their amounts in x by
// [varyingAmount].
func (s *Scorer) markVaryingSlots(x []int32) {
	for _, v := range s.varyingSlots {
		s.slotSlopes[v.slot] = int8(v.slope)
		s.savedAmounts[v.slot], x[v.slot] = x[v.slot], varyingAmount
	}
}

// unmarkVaryingSlots undoes [Scorer.markVaryingSlots]: it resets the slopes and restores the saved
// amounts.
func (s *Scorer) unmarkVaryingSlots(x []int32) {
	for _, v := range s.varyingSlots {
		s.slotSlopes[v.slot] = 0
		x[v.slot] = s.savedAmounts[v.slot]
	}
}

// descendSmallTrees adds up the changes of the score along a line (see [Scorer.Line]). It handles
// the small trees that test an ingredient or group varying along the line. The sum of the line's
// two ingredients is total, and the first of them now has amount k.
func (s *Scorer) descendSmallTrees(k, total int32) {
	sc := s.score
	s.markVaryingSlots(s.x)
	for _, v := range s.varyingSlots {
		for w, trees := range sc.testingTrees[int(sc.slotTestsIndex[v.slot])*sc.smallTreeWords:][:sc.smallTreeWords] {
			s.treesToDescend[w] |= trees
		}
	}
	for w := range s.treesToDescend {
		for ; s.treesToDescend[w] != 0; s.treesToDescend[w] &= s.treesToDescend[w] - 1 {
			tree := sc.smallTrees[w<<6|bits.TrailingZeros64(s.treesToDescend[w])]
			s.descend(s.x, span{tree.root, 0, total, -1, -1}, k)
		}
	}
	s.unmarkVaryingSlots(s.x)
}

// descendLargeTrees adds up the changes of the score along a line (see [Scorer.Line]). It handles
// the large trees whose current path tests an ingredient or group varying along the line. The sum
// of the line's two ingredients is total, and the first of them now has amount k.
func (s *Scorer) descendLargeTrees(k, total int32) {
	sc := s.score
	s.markVaryingSlots(s.x)
	for w := range sc.largeTreeWords {
		trees := uint64(0)
		for _, v := range s.varyingSlots {
			trees |= s.pathTrees[int(sc.slotTestsIndex[v.slot])*sc.largeTreeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.descendFromPath(w<<6|bits.TrailingZeros64(trees), k, total)
		}
	}
	s.unmarkVaryingSlots(s.x)
}

// descendFromPath adds up the changes of the score along a line (see [Scorer.Line]) for large tree
// t. The sum of the line's two ingredients is total, and the first of them now has amount k. Where
// a test on the current path changes its result along the line, descendFromPath descends the tree's
// other branch. The rest of the line reaches the current leaf.
func (s *Scorer) descendFromPath(t int, k, total int32) {
	sc := s.score
	first, length := sc.largeTrees[t].pathStart, s.pathLengths[t]
	paths := s.pathNodes[first : first+length]
	at := span{-1, 0, total, -1, -1}
	for p, slot := range s.pathSlots[first : first+length] {
		slope := s.slotSlopes[slot]
		if slope == 0 {
			continue
		}
		n := &sc.treeNodes[paths[p]]
		border, rising := sc.firstChange(n, s.savedAmounts[slot], slope, k)
		if border <= at.from || border > at.to {
			continue
		}
		other := paths[p] + 1
		if rising == (k < border) { // the span up to the border goes left, the rest goes right
			other = n.right
		}
		level := sc.nodeLevels[paths[p]]
		if k < border {
			s.descend(s.x, span{other, border, at.to, level, at.endLevel}, k)
			at.to, at.endLevel = border-1, level
		} else {
			s.descend(s.x, span{other, at.from, border - 1, at.startLevel, level}, k)
			at.from, at.startLevel = border, level
		}
	}
	s.addLeafSteps(at, s.leafValues[t])
}

// firstChange returns border, the first position on a line from which the test of a node has
// another result than before. At position k, the tested slot has the given amount. The parameter
// slope, 1 or −1, is the change of the amount from one position to the next. The result rising is
// true if the test goes right from border on, and false if it goes left.
func (s *compiledForest) firstChange(n *slotNode, amount int32, slope int8, k int32) (border int32, rising bool) {
	if slope > 0 { // the amount at k′ is amount − k + k′
		return n.threshold + 1 - amount + k, true
	}
	return amount + k - n.threshold, false // the amount at k′ is amount + k − k′
}

// addLeafSteps adds the effect of a leaf that is reached in a span. Where the span starts, the
// score rises by the leaf's value, and behind its end it falls by this value.
func (s *Scorer) addLeafSteps(at span, value int64) {
	if at.startLevel >= 0 {
		s.levelSteps[at.startLevel] += value
	}
	if at.endLevel >= 0 {
		s.levelSteps[at.endLevel] -= value
	}
}

// descend adds up the changes of the score from all leaves that a span of a line reaches. A test of
// a slot that varies along the line divides the span. Any other test sends the whole span one way.
// The slice x holds the amounts of all slots, prepared by [Scorer.markVaryingSlots]. At position k
// of the line, the varying slots have their saved amounts.
func (s *Scorer) descend(x []int32, start span, k int32) {
	sc := s.score
	nodes := sc.treeNodes
	todo := append(s.pendingSpans[:0], start)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &nodes[at.node]
		for n.slot >= 0 {
			switch amount := x[n.slot]; {
			case amount <= n.threshold:
				at.node++
			case amount != varyingAmount:
				at.node = n.right
			default:
				border, rising := sc.firstChange(n, s.savedAmounts[n.slot], s.slotSlopes[n.slot], k)
				before, after := n.right, at.node+1
				if rising {
					before, after = after, before
				}
				switch {
				case at.to < border:
					at.node = before
				case at.from >= border:
					at.node = after
				default:
					level := sc.nodeLevels[at.node]
					todo = append(todo, span{after, border, at.to, level, at.endLevel})
					at.node, at.to, at.endLevel = before, border-1, level
				}
			}
			n = &nodes[at.node]
		}
		s.addLeafSteps(at, sc.leafValues[n.right])
	}
}

// refreshPaths updates the current paths of all stale trees. A tree is stale if a slot that its
// path tests has changed.
func (s *Scorer) refreshPaths() {
	if len(s.changedSlots) == 0 {
		return
	}
	for _, slot := range s.changedSlots {
		s.slotSlopes[slot] = 1
	}
	for w := range s.staleTrees {
		for ; s.staleTrees[w] != 0; s.staleTrees[w] &= s.staleTrees[w] - 1 {
			s.refreshPath(w<<6 | bits.TrailingZeros64(s.staleTrees[w]))
		}
	}
	for _, slot := range s.changedSlots {
		s.slotSlopes[slot] = 0
	}
	s.changedSlots = s.changedSlots[:0]
}

// refreshPath updates the current path of large tree t. It looks for the first test on the path
// whose result has changed, and follows the tree's other branch from there.
func (s *Scorer) refreshPath(t int) {
	sc := s.score
	first := sc.largeTrees[t].pathStart
	length := s.pathLengths[t]
	for p, slot := range s.pathSlots[first : first+length] {
		if s.slotSlopes[slot] == 0 {
			continue
		}
		path := s.pathNodes[first : first+length+1]
		n := &sc.treeNodes[path[p]]
		next := path[p] + 1
		if s.x[slot] > n.threshold {
			next = n.right
		}
		if next == path[p+1] {
			continue
		}
		w, bit := t>>6, uint64(1)<<(t&63)
		slots := s.pathSlots[first : first+length]
		for _, slot := range slots[p+1:] {
			s.pathTrees[int(sc.slotTestsIndex[slot])*sc.largeTreeWords+w] &^= bit
		}
		for _, slot := range slots[:p+1] {
			s.pathTrees[int(sc.slotTestsIndex[slot])*sc.largeTreeWords+w] |= bit
		}
		s.followPath(t, p+1, next)
		return
	}
}

// followPath replaces the end of the current path of large tree t. The new end begins with the
// given node, which becomes the node with index p on the path, and leads to a leaf.
func (s *Scorer) followPath(t, p int, node int32) {
	sc := s.score
	first := int(sc.largeTrees[t].pathStart)
	w, bit := t>>6, uint64(1)<<(t&63)
	n := &sc.treeNodes[node]
	for n.slot >= 0 {
		s.pathNodes[first+p], s.pathSlots[first+p] = node, n.slot
		p++
		s.pathTrees[int(sc.slotTestsIndex[n.slot])*sc.largeTreeWords+w] |= bit
		if s.x[n.slot] <= n.threshold {
			node++
		} else {
			node = n.right
		}
		n = &sc.treeNodes[node]
	}
	s.pathNodes[first+p] = node
	s.pathLengths[t] = int32(p)
	s.sum += sc.leafValues[n.right] - s.leafValues[t]
	s.leafValues[t] = sc.leafValues[n.right]
}
