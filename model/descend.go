package model

import (
	"math"
	"math/bits"
)

// A span is a node of a tree with the splits from ≤ k ≤ to of a line whose compositions reach the node. levelFrom
// and levelEnd are the levels that the line crosses at the span's two ends, or −1 at the ends of the line.
type span struct {
	node                int32
	from, to            int32
	levelFrom, levelEnd int32
}

// varyingAmount replaces the amount of a varying slot. It exceeds any threshold, so that a descent
// needs to check only tests that go right for a varying slot.
const varyingAmount = math.MaxInt32

// mark sets the slope of the varying slots through x and saves their amounts; unmark restores them.
func (s *Scorer) mark(x []int32) {
	for _, v := range s.varying {
		s.slope[v.slot] = int8(v.slope)
		s.savedAmounts[v.slot], x[v.slot] = x[v.slot], varyingAmount
	}
}

func (s *Scorer) unmark(x []int32) {
	for _, v := range s.varying {
		s.slope[v.slot] = 0
		x[v.slot] = s.savedAmounts[v.slot]
	}
}

// descendSmall adds the steps of the small trees that test a varying slot.
func (s *Scorer) descendSmall(k, total int32) {
	sc := s.score
	s.mark(s.x)
	for _, v := range s.varying {
		for w, trees := range sc.testing[int(sc.known[v.slot])*sc.treeWords:][:sc.treeWords] {
			s.trees[w] |= trees
		}
	}
	for w := range s.trees {
		for ; s.trees[w] != 0; s.trees[w] &= s.trees[w] - 1 {
			tree := sc.small[w<<6|bits.TrailingZeros64(s.trees[w])]
			s.descend(s.x, span{tree.root, 0, total, -1, -1}, k)
		}
	}
	s.unmark(s.x)
}

// descendLarge adds the steps of the large trees whose path tests a varying slot.
func (s *Scorer) descendLarge(k, total int32) {
	sc := s.score
	s.mark(s.x)
	for w := range sc.largeWords {
		trees := uint64(0)
		for _, v := range s.varying {
			trees |= s.touching[int(sc.known[v.slot])*sc.largeWords+w]
		}
		for ; trees != 0; trees &= trees - 1 {
			s.leavePath(w<<6|bits.TrailingZeros64(trees), k, total)
		}
	}
	s.unmark(s.x)
}

// leavePath adds the steps of large tree t along a line whose current split is k. It descends to
// other nodes only where a test on the current path changes its result. The remaining part of the
// line reaches the current leaf.
func (s *Scorer) leavePath(t int, k, total int32) {
	sc := s.score
	first, length := sc.large[t].path, s.length[t]
	paths := s.paths[first : first+length]
	at := span{-1, 0, total, -1, -1}
	for p, slot := range s.slots[first : first+length] {
		slope := s.slope[slot]
		if slope == 0 {
			continue
		}
		n := &sc.nodes[paths[p]]
		border, rising := sc.border(n, s.savedAmounts[slot], slope, k)
		if border <= at.from || border > at.to {
			continue
		}
		other := paths[p] + 1
		if rising == (k < border) { // the span up to the border goes left, the rest goes right
			other = n.right
		}
		level := sc.nodeLevel[paths[p]]
		if k < border {
			s.descend(s.x, span{other, border, at.to, level, at.levelEnd}, k)
			at.to, at.levelEnd = border-1, level
		} else {
			s.descend(s.x, span{other, at.from, border - 1, at.levelFrom, level}, k)
			at.from, at.levelFrom = border, level
		}
	}
	s.addLeaf(at, s.value[t])
}

// border returns the first k at which a test of a slot with this slope changes its result, given
// the slot's amount at the current k. rising reports whether rows go right from there on, otherwise
// left.
func (s *structure) border(n *slotNode, amount int32, slope int8, k int32) (border int32, rising bool) {
	if slope > 0 { // the amount at k′ is amount − k + k′
		return n.threshold + 1 - amount + k, true
	}
	return amount + k - n.threshold, false // the amount at k′ is amount + k − k′
}

// addLeaf adds the steps at the ends of a leaf's span.
func (s *Scorer) addLeaf(at span, value int64) {
	if at.levelFrom >= 0 {
		s.step[at.levelFrom] += value
	}
	if at.levelEnd >= 0 {
		s.step[at.levelEnd] -= value
	}
}

// descend adds the steps of the nodes below a span of a line through x. A test of a varying slot
// splits the span, any other sends all of it one way. The slots of x must be marked.
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
				border, rising := sc.border(n, s.savedAmounts[n.slot], s.slope[n.slot], k)
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
					level := sc.nodeLevel[at.node]
					todo = append(todo, span{after, border, at.to, level, at.levelEnd})
					at.node, at.to, at.levelEnd = before, border-1, level
				}
			}
			n = &sc.nodes[at.node]
		}
		s.addLeaf(at, sc.values[n.right])
	}
}

// refresh updates the paths of the stale large trees.
func (s *Scorer) refresh() {
	if len(s.changed) == 0 {
		return
	}
	for _, slot := range s.changed {
		s.slope[slot] = 1
	}
	for w := range s.stale {
		for ; s.stale[w] != 0; s.stale[w] &= s.stale[w] - 1 {
			s.refreshTree(w<<6 | bits.TrailingZeros64(s.stale[w]))
		}
	}
	for _, slot := range s.changed {
		s.slope[slot] = 0
	}
	s.changed = s.changed[:0]
}

// refreshTree finds the first test on the path of large tree t whose result a changed slot has
// changed, and follows the new branch.
func (s *Scorer) refreshTree(t int) {
	sc := s.score
	first := sc.large[t].path
	length := s.length[t]
	for p, slot := range s.slots[first : first+length] {
		if s.slope[slot] == 0 {
			continue
		}
		path := s.paths[first : first+length+1]
		n := &sc.nodes[path[p]]
		next := path[p] + 1
		if s.x[slot] > n.threshold {
			next = n.right
		}
		if next == path[p+1] {
			continue
		}
		w, bit := t>>6, uint64(1)<<(t&63)
		slots := s.slots[first : first+length]
		for _, slot := range slots[p+1:] {
			s.touching[int(sc.known[slot])*sc.largeWords+w] &^= bit
		}
		for _, slot := range slots[:p+1] {
			s.touching[int(sc.known[slot])*sc.largeWords+w] |= bit
		}
		s.follow(t, p+1, next)
		return
	}
}

// follow replaces the path of large tree t from its p-th test on by the path that begins at a node.
func (s *Scorer) follow(t, p int, at int32) {
	sc := s.score
	first := int(sc.large[t].path)
	w, bit := t>>6, uint64(1)<<(t&63)
	n := &sc.nodes[at]
	for n.slot >= 0 {
		s.paths[first+p], s.slots[first+p] = at, n.slot
		p++
		s.touching[int(sc.known[n.slot])*sc.largeWords+w] |= bit
		if s.x[n.slot] <= n.threshold {
			at++
		} else {
			at = n.right
		}
		n = &sc.nodes[at]
	}
	s.paths[first+p] = at
	s.length[t] = int32(p)
	s.sum += sc.values[n.right] - s.value[t]
	s.value[t] = sc.values[n.right]
}
