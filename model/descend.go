package model

import (
	"math"
	"math/bits"
)

// A span is a range of a line within a tree: the compositions of the line with from ≤ k ≤ to, all
// of which reach the same node. The number k is the amount of the line's first ingredient.
type span struct {
	node                 int32 // index of the node
	from, to             int32 // the first and the last k of the range
	startLevel, endLevel int32 // index of the level (a pair of a slot and a threshold) that the line crosses at the start and at the end of the range; −1 at an end of the line
}

// varyingAmount replaces the amounts of slots that vary along a line. It exceeds any threshold, so
// that a test of a varying slot always goes right. A descent therefore checks for varying slots
// only after a test has gone right.
const varyingAmount = math.MaxInt32

// markVarying prepares x for [Scorer.descend]: it sets the slopes of the varying slots, saves their
// amounts in x, and replaces the amounts by [varyingAmount].
func (s *Scorer) markVarying(x []int32) {
	for _, v := range s.varying {
		s.slopes[v.slot] = int8(v.slope)
		s.savedAmounts[v.slot], x[v.slot] = x[v.slot], varyingAmount
	}
}

// unmarkVarying undoes [Scorer.markVarying]: it resets the slopes and restores the saved amounts.
func (s *Scorer) unmarkVarying(x []int32) {
	for _, v := range s.varying {
		s.slopes[v.slot] = 0
		x[v.slot] = s.savedAmounts[v.slot]
	}
}

// descendSmallTrees adds the steps of the small trees that test a varying slot. The line has total
// units, and k is the current amount of its first ingredient.
func (s *Scorer) descendSmallTrees(k, total int32) {
	sc := s.score
	s.markVarying(s.x)
	for _, v := range s.varying {
		for w, trees := range sc.testingTrees[int(sc.testsIndex[v.slot])*sc.smallTreeWords:][:sc.smallTreeWords] {
			s.treesToDescend[w] |= trees
		}
	}
	for w := range s.treesToDescend {
		for ; s.treesToDescend[w] != 0; s.treesToDescend[w] &= s.treesToDescend[w] - 1 {
			tree := sc.smallTrees[w<<6|bits.TrailingZeros64(s.treesToDescend[w])]
			s.descend(s.x, span{tree.root, 0, total, -1, -1}, k)
		}
	}
	s.unmarkVarying(s.x)
}

// descendLargeTrees adds the steps of the large trees that test a varying slot on their current
// path. The line has total units, and k is the current amount of its first ingredient.
func (s *Scorer) descendLargeTrees(k, total int32) {
	sc := s.score
	s.markVarying(s.x)
	for w := range sc.largeTreeWords {
		trees := uint64(0)
		for _, v := range s.varying {
			trees |= s.pathTrees[int(sc.testsIndex[v.slot])*sc.largeTreeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.descendFromPath(w<<6|bits.TrailingZeros64(trees), k, total)
		}
	}
	s.unmarkVarying(s.x)
}

// descendFromPath adds the steps of large tree t along a line of total units, whose first
// ingredient now has amount k. It leaves the current path only where a test on the path changes its
// result. The rest of the line reaches the current leaf.
func (s *Scorer) descendFromPath(t int, k, total int32) {
	sc := s.score
	first, length := sc.largeTrees[t].pathStart, s.pathLengths[t]
	paths := s.pathNodes[first : first+length]
	at := span{-1, 0, total, -1, -1}
	for p, slot := range s.pathSlots[first : first+length] {
		slope := s.slopes[slot]
		if slope == 0 {
			continue
		}
		n := &sc.nodes[paths[p]]
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

// firstChange returns the first k at which the test of a node changes its result along a line. The
// parameter amount is the amount of the tested slot at the given k, and slope is how the amount
// changes with k. The result rising reports whether compositions go right from there on; otherwise
// they go left.
func (s *compiledForest) firstChange(n *slotNode, amount int32, slope int8, k int32) (border int32, rising bool) {
	if slope > 0 { // the amount at k′ is amount − k + k′
		return n.threshold + 1 - amount + k, true
	}
	return amount + k - n.threshold, false // the amount at k′ is amount + k − k′
}

// addLeafSteps adds the value of a leaf to the steps at the two ends of a span.
func (s *Scorer) addLeafSteps(at span, value int64) {
	if at.startLevel >= 0 {
		s.levelSteps[at.startLevel] += value
	}
	if at.endLevel >= 0 {
		s.levelSteps[at.endLevel] -= value
	}
}

// descend adds the steps of all leaves that a span of the line through x reaches. A test of a
// varying slot divides the span. Any other test sends the whole span one way. The varying slots of
// x must be marked by [Scorer.markVarying].
func (s *Scorer) descend(x []int32, start span, k int32) {
	sc := s.score
	todo := append(s.pendingSpans[:0], start)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &sc.nodes[at.node]
		for n.slot >= 0 {
			switch amount := x[n.slot]; {
			case amount <= n.threshold:
				at.node++
			case amount != varyingAmount:
				at.node = n.right
			default:
				border, rising := sc.firstChange(n, s.savedAmounts[n.slot], s.slopes[n.slot], k)
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
			n = &sc.nodes[at.node]
		}
		s.addLeafSteps(at, sc.leafValues[n.right])
	}
}

// refreshPaths updates the current paths of the large trees that are stale.
func (s *Scorer) refreshPaths() {
	if len(s.changedSlots) == 0 {
		return
	}
	for _, slot := range s.changedSlots {
		s.slopes[slot] = 1
	}
	for w := range s.staleTrees {
		for ; s.staleTrees[w] != 0; s.staleTrees[w] &= s.staleTrees[w] - 1 {
			s.refreshPath(w<<6 | bits.TrailingZeros64(s.staleTrees[w]))
		}
	}
	for _, slot := range s.changedSlots {
		s.slopes[slot] = 0
	}
	s.changedSlots = s.changedSlots[:0]
}

// refreshPath updates the current path of large tree t. It finds the first test on the path whose
// result has changed, and follows the other branch from there.
func (s *Scorer) refreshPath(t int) {
	sc := s.score
	first := sc.largeTrees[t].pathStart
	length := s.pathLengths[t]
	for p, slot := range s.pathSlots[first : first+length] {
		if s.slopes[slot] == 0 {
			continue
		}
		path := s.pathNodes[first : first+length+1]
		n := &sc.nodes[path[p]]
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
			s.pathTrees[int(sc.testsIndex[slot])*sc.largeTreeWords+w] &^= bit
		}
		for _, slot := range slots[:p+1] {
			s.pathTrees[int(sc.testsIndex[slot])*sc.largeTreeWords+w] |= bit
		}
		s.followPath(t, p+1, next)
		return
	}
}

// followPath replaces the end of the path of large tree t. The new end begins with node at, as the
// node with index p on the path.
func (s *Scorer) followPath(t, p int, at int32) {
	sc := s.score
	first := int(sc.largeTrees[t].pathStart)
	w, bit := t>>6, uint64(1)<<(t&63)
	n := &sc.nodes[at]
	for n.slot >= 0 {
		s.pathNodes[first+p], s.pathSlots[first+p] = at, n.slot
		p++
		s.pathTrees[int(sc.testsIndex[n.slot])*sc.largeTreeWords+w] |= bit
		if s.x[n.slot] <= n.threshold {
			at++
		} else {
			at = n.right
		}
		n = &sc.nodes[at]
	}
	s.pathNodes[first+p] = at
	s.pathLengths[t] = int32(p)
	s.sum += sc.leafValues[n.right] - s.leafValues[t]
	s.leafValues[t] = sc.leafValues[n.right]
}
