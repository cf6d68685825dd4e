package ensemble

import (
	"math"
	"math/bits"
)

// A slotVariation tells how what tests compare of a slot varies along a line of compositions k = 0,
// …, s. In linearMode it is offset + slope·k, where slope is 1, −1, or 0 for a slot that does not
// vary. Slots that vary in other ways have another mode and a [modeNumber].
type slotVariation struct {
	offset, slope int64
	// changeBase determines where a test with threshold t changes its result: at k = changeBase +
	// slope·t. If slope is 0, this k is at most 0 and means that the result does not change.
	changeBase int64
	mode       variationMode
}

// A modeNumber describes the number of a slot whose mode is not linearMode. The field base is the
// number at k = 0, for a count without the two ingredients of the line. The field step is the
// increment from k to k + 1.
type modeNumber struct{ base, step int64 }

// A variationMode is the form in which the number of a slot varies along a line of compositions k =
// 0, …, s. The line gives k units to its first ingredient and s − k units to its second.
type variationMode uint8

const (
	linearMode      variationMode = iota // offset + slope·k
	steepMode                            // base + step·k; tests compare ranks
	countFirstMode                       // a count with the first ingredient: base, + 1 for k > 0
	countSecondMode                      // a count with the second ingredient: base, + 1 for k < s
	countBothMode                        // a count with both ingredients: base, + 1 for k > 0, + 1 for k < s
)

// setLinear sets the variation to exact + by·k in linearMode, where by is 1 or −1.
func (v *slotVariation) setLinear(exact, by int64) {
	*v = slotVariation{offset: exact, slope: by, changeBase: -by*exact + (by+1)/2}
}

// setConstant sets the variation to the constant n.
func (v *slotVariation) setConstant(n int32) { *v = slotVariation{offset: int64(n)} }

// A span is a range of a line within a tree: the compositions from ≤ k ≤ to, all of which reach the
// same child, a node or a leaf.
type span struct{ child, from, to int32 }

// Line computes the sums of the compositions in which ingredients i ≠ j share their current sum s =
// x_i + x_j as (k, s−k), k = 0, …, s. The sum of target g is sums[g][p] for all k from starts[p] to
// starts[p+1] − 1. The first start is 0, and the last piece ends at k = s. The slices are valid
// until the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums [][]float64) {
	total := s.x[i] + s.x[j]
	s.leafChanges = s.leafChanges[:0]
	s.pieceStarts.startLine(total)
	if total > 0 {
		s.listVarying(int32(i), int32(j))
		for _, slot := range s.varyingSlots {
			switch s.variations[slot].mode {
			case linearMode:
				for _, m := range s.findCrossings(slot, total) {
					s.markStale(s.listedTests[slot][m.listIndex], m.position)
				}
			case steepMode:
				s.markSteepTrees(slot, total)
			default:
				s.markCountTrees(slot)
			}
		}
		for w, trees := range s.staleTrees {
			for s.staleTrees[w] = 0; trees != 0; trees &= trees - 1 {
				s.descendAlongLine(int32(w<<6|bits.TrailingZeros64(trees)), s.x[i], total)
			}
		}
		for _, slot := range s.varyingSlots {
			s.variations[slot].setConstant(s.score.slots[slot].rankOf(s.slotNumbers[slot]))
		}
	}
	starts = s.pieceStarts.sortedStarts(total)
	s.pieceStarts.setPieceIndices(s.leafChanges)
	for g := range s.lineSums {
		s.lineSums[g] = s.sumComputer.appendLine(g, s.leafChanges, len(starts), s.lineSums[g][:0])
	}
	return starts, s.lineSums
}

// A crossing is a position k on a line at which a test changes its result. The field listIndex is
// the index of the test in the list of its slot.
type crossing struct{ listIndex, position int32 }

// findCrossings returns the crossings in 1..total of the listed tests of a slot. The slot must be
// in linearMode. The crossings are unpredictable, so that the loop has no branch that depends on
// them.
func (s *Scorer) findCrossings(slot, total int32) []crossing {
	v, all := s.variations[slot], s.listedTests[slot]
	if len(s.crossings) < len(all) {
		s.crossings = make([]crossing, 2*len(all))
	}
	n := 0
	for k, q := range all {
		border := v.changeBase + v.slope*int64(q.threshold)
		s.crossings[n] = crossing{int32(k), int32(border)}
		n += int(uint64(border-1-int64(total)) >> 63 &^ (uint64(border-1) >> 63)) // adds 1 if 1 ≤ border ≤ total
	}
	return s.crossings[:n]
}

// markSteepTrees marks trees as stale if a test of the given slot on their current path changes its
// result on the line. The slot must be in steepMode.
func (s *Scorer) markSteepTrees(slot, total int32) {
	f, ranks := &s.modeNumbers[slot], s.score.slots[slot].rankedThresholds
	low, high := f.base, f.base+f.step*int64(total)
	if f.step < 0 {
		low, high = high, low
	}
	for _, q := range s.listedTests[slot] {
		room := ranks[q.threshold]
		if room < low || room >= high {
			continue
		}
		border := floorDiv(room-f.base, f.step) + 1
		if f.step < 0 {
			border = -floorDiv(room-f.base, -f.step)
		}
		s.markStale(q, int32(border)) // the split lies in 1..total
	}
}

// markCountTrees marks trees as stale if a test of the given slot on their current path changes its
// result on the line. The slot must be a count, which changes only at the ends of the line.
func (s *Scorer) markCountTrees(slot int32) {
	changes := s.modeNumbers[slot].base
	if s.variations[slot].mode == countBothMode {
		changes++
	}
	for _, q := range s.listedTests[slot] {
		if int64(q.threshold) == changes {
			s.markStale(q, 0)
		}
	}
}

// listVarying lists the slots that vary along the line of i and j, and sets how they vary.
func (s *Scorer) listVarying(i, j int32) {
	s.varyingSlots = s.varyingSlots[:0]
	ofI, ofJ := s.score.effects[i], s.score.effects[j]
	for len(ofI) > 0 || len(ofJ) > 0 { // both lists are sorted by slot
		var a, b int64
		var hasI, hasJ bool
		slot := int32(math.MaxInt32)
		if len(ofI) > 0 {
			slot = ofI[0].slot
		}
		if len(ofJ) > 0 {
			slot = min(slot, ofJ[0].slot)
		}
		if len(ofI) > 0 && ofI[0].slot == slot {
			a, hasI = ofI[0].weight, true
			ofI = ofI[1:]
		}
		if len(ofJ) > 0 && ofJ[0].slot == slot {
			b, hasJ = ofJ[0].weight, true
			ofJ = ofJ[1:]
		}
		v, f := &s.variations[slot], &s.modeNumbers[slot]
		exact := s.slotNumbers[slot]
		switch at := &s.score.slots[slot]; {
		case at.source.CountsUsed:
			v.mode, f.base = countBothMode, exact
			if hasI {
				f.base -= int64(min(s.x[i], 1))
			}
			if hasJ {
				f.base -= int64(min(s.x[j], 1))
			}
			if !hasJ {
				v.mode = countFirstMode
			} else if !hasI {
				v.mode = countSecondMode
			}
		case a == b:
			continue
		case at.isWeighted():
			v.mode, f.base, f.step = steepMode, exact-(a-b)*int64(s.x[i]), a-b
		default:
			v.setLinear(exact-(a-b)*int64(s.x[i]), a-b)
		}
		s.varyingSlots = append(s.varyingSlots, slot)
	}
}

// outcomesAlongLine returns the results of a test along a line of total units. The slot must not be
// in linearMode. The result is left for k < first and for k ≥ second, and the opposite in between.
func (s *Scorer) outcomesAlongLine(n *node, total int32) (left bool, first, second int64) {
	end := int64(total) + 1
	mode, f := s.variations[n.slot].mode, &s.modeNumbers[n.slot]
	threshold := int64(n.threshold)
	switch {
	case mode == steepMode:
		room := s.score.slots[n.slot].rankedThresholds[n.threshold] - f.base
		if f.step > 0 {
			return true, floorDiv(room, f.step) + 1, end
		}
		return false, -floorDiv(room, -f.step), end // least k for which the slot's number exceeds the threshold
	case mode == countFirstMode && f.base == threshold:
		return true, 1, end
	case mode == countSecondMode && f.base == threshold:
		return false, int64(total), end
	case mode == countBothMode && f.base+1 == threshold:
		return true, 1, int64(total) // at the ends one of the two ingredients is used, between them both are
	}
	return f.base < threshold, end, end
}

// floorDiv returns ⌊a/b⌋ for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// descendAlongLine records the leaves that the stale tree t reaches along a line of total units.
// The current composition is at position here on the line, and the tree's path belongs to that
// composition. The descent starts at the first test of the path whose result changes on the line.
// If no other test of the path changes its result, the current leaf is reached on one side of that
// change.
func (s *Scorer) descendAlongLine(t, here, total int32) {
	last := s.treeLeaves[t]
	nodes, vary := s.score.nodes, s.variations
	start := s.resumePoints[t]
	child := start.offPathChild
	from, to := int64(0), int64(total)
	todo := s.pendingSpans[:0]
	switch {
	case start.position == 0:
		child = s.pathSteps[s.pathStarts[t]+start.pathIndex].node
	case start.position > here:
		from = int64(start.position)
	default:
		to = int64(start.position) - 1
		todo = append(todo, span{last, start.position, total})
	}
	for {
		for child >= 0 {
			n := &nodes[child]
			v := &vary[n.slot]
			if v.mode != linearMode {
				child, to, todo = s.followSpan(span{child, int32(from), int32(to)}, todo, total)
				continue
			}
			threshold := int64(n.threshold)
			near, far := n.right, n.left
			if v.offset+v.slope*from <= threshold {
				near, far = n.left, n.right
			}
			if border := v.changeBase + v.slope*threshold; border > from && border <= to {
				todo = append(todo, span{far, int32(border), int32(to)})
				to = border - 1
			}
			child = near
		}
		if child != last {
			s.pieceStarts.addStart(int32(from))
			s.leafChanges = append(s.leafChanges, leafChange{t, ^child, int32(from)})
			last = child
		}
		if len(todo) == 0 {
			break
		}
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		child, from, to = next.child, int64(next.from), int64(next.to)
	}
	s.pendingSpans = todo
}

// followSpan follows a span through a test of a slot that is not in linearMode. It returns the
// child that the first compositions of the span reach, and the last position to which this holds.
// It appends the rest of the span to todo.
func (s *Scorer) followSpan(at span, todo []span, total int32) (child int32, to int64, left []span) {
	n := &s.score.nodes[at.child]
	goesLeft, first, second := s.outcomesAlongLine(n, total)
	outer, inner := n.right, n.left
	if goesLeft {
		outer, inner = inner, outer
	}
	from, to := int64(at.from), int64(at.to)
	if from < second && second <= to {
		todo = append(todo, span{outer, int32(second), at.to})
		to = second - 1
	}
	switch {
	case from >= second, to < first:
		return outer, to, todo
	case from >= first:
		return inner, to, todo
	}
	return outer, first - 1, append(todo, span{inner, int32(first), int32(to)})
}
