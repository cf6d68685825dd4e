package ensemble

import (
	"math"
	"math/bits"
)

// A slotVariation describes how the number that tests of an [inputSlot] compare with thresholds
// depends on the position k on a line (see [Scorer.Line]). In linearMode, the number is offset +
// slope·k. The slope is 1 or −1, or 0 if the slot does not vary. In other modes, a
// [numberAlongLine] describes the number.
type slotVariation struct {
	offset, slope int64
	// changeBase determines where a test with threshold t changes its result: at the position k =
	// changeBase + slope·t. If slope is 0, this k is at most 0, which means that the result does
	// not change.
	changeBase int64
	mode       variationMode
}

// A numberAlongLine describes how the number of an [inputSlot] varies along a line if its
// [variationMode] is not linearMode. For a weighted sum, base is the number at position k = 0, and
// step is its increase from k to k + 1. For a count of used ingredients, base is the count without
// the two ingredients of the line.
type numberAlongLine struct{ base, step int64 }

// A variationMode says how the number of an [inputSlot] depends on the position k on a line, k = 0,
// …, s. At position k, the first ingredient of the line has k units, and the second has s − k
// units.
type variationMode uint8

const (
	linearMode      variationMode = iota // the number that tests compare is offset + slope·k
	steepMode                            // the number is base + step·k; tests compare its rank among the thresholds
	countFirstMode                       // a count that includes only the line's first ingredient: base + 1 for k > 0, else base
	countSecondMode                      // a count that includes only the line's second ingredient: base + 1 for k < s, else base
	countBothMode                        // a count that includes both ingredients: base, + 1 for k > 0, + 1 for k < s
)

// setLinear makes the variation the linear function start + slope·k, where slope is 1 or −1.
func (v *slotVariation) setLinear(start, slope int64) {
	*v = slotVariation{offset: start, slope: slope, changeBase: -slope*start + (slope+1)/2}
}

// setConstant makes the variation the constant n.
func (v *slotVariation) setConstant(n int32) { *v = slotVariation{offset: int64(n)} }

// A span is a range of positions k on a line, from ≤ k ≤ to, at which the compositions reach the
// same node or leaf of a tree. The field child is that node or leaf, encoded as in [Node].
type span struct{ child, from, to int32 }

// Line computes the sums of all compositions on a line. The line consists of the compositions in
// which ingredients i ≠ j share their current sum s = x_i + x_j as (k, s−k). The position k runs
// from 0 to s. A piece of the line is a range of positions with equal sums. Piece p has the
// positions from starts[p] to starts[p+1] − 1, and the last piece ends at s. The sum of target g in
// piece p is sums[g][p]. The slices are valid until the next call.
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
					s.markStale(s.listedTests[slot][m.testIndex], m.linePosition)
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
			s.variations[slot].setConstant(s.score.slots[slot].comparedNumber(s.slotNumbers[slot]))
		}
	}
	starts = s.pieceStarts.sortedStarts(total)
	s.pieceStarts.setPieceIndices(s.leafChanges)
	for g := range s.lineSums {
		s.lineSums[g] = s.sumComputer.appendLine(g, s.leafChanges, len(starts), s.lineSums[g][:0])
	}
	return starts, s.lineSums
}

// A crossing is a position on a line at which a test changes its result. The field testIndex is the
// index of the test in the list that [Scorer] listedTests holds for the tested slot.
type crossing struct{ testIndex, linePosition int32 }

// findCrossings returns the crossings of the listed tests of a slot: the positions 1, …, total on
// the line at which a test changes its result. The slot must be in linearMode. The loop has no
// branch that depends on a crossing, because crossings are unpredictable.
func (s *Scorer) findCrossings(slot, total int32) []crossing {
	v, all := s.variations[slot], s.listedTests[slot]
	if len(s.crossingBuffer) < len(all) {
		s.crossingBuffer = make([]crossing, 2*len(all))
	}
	n := 0
	for k, q := range all {
		border := v.changeBase + v.slope*int64(q.threshold)
		s.crossingBuffer[n] = crossing{int32(k), int32(border)}
		n += int(uint64(border-1-int64(total)) >> 63 &^ (uint64(border-1) >> 63)) // adds 1 if 1 ≤ border ≤ total
	}
	return s.crossingBuffer[:n]
}

// markSteepTrees marks trees as stale, that is, to be followed anew along the line. A tree is stale
// if a test of the slot on its current path changes its result along the line. The slot must be in
// steepMode.
func (s *Scorer) markSteepTrees(slot, total int32) {
	f, ranks := &s.numbersAlongLine[slot], s.score.slots[slot].rankedThresholds
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

// markCountTrees marks trees as stale, that is, to be followed anew along the line. A tree is stale
// if a test of the slot on its current path changes its result along the line. The slot must be a
// count of used ingredients, which changes only at the ends of the line.
func (s *Scorer) markCountTrees(slot int32) {
	changes := s.numbersAlongLine[slot].base
	if s.variations[slot].mode == countBothMode {
		changes++
	}
	for _, q := range s.listedTests[slot] {
		if int64(q.threshold) == changes {
			s.markStale(q, 0)
		}
	}
}

// listVarying sets varyingSlots to the slots whose number varies along the line of ingredients i
// and j (see [Scorer.Line]). It also sets how each of these slots varies.
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
		v, f := &s.variations[slot], &s.numbersAlongLine[slot]
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

// outcomesAlongLine returns the results of a test at all positions k = 0, …, total of a line. The
// result outerLeft tells whether the test leads left for k < first and for k ≥ second. For the
// positions in between, the test leads the other way. The tested slot must not be in linearMode.
func (s *Scorer) outcomesAlongLine(n *slotTest, total int32) (outerLeft bool, first, second int64) {
	end := int64(total) + 1
	mode, f := s.variations[n.slot].mode, &s.numbersAlongLine[n.slot]
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

// descendAlongLine finds the leaves that tree t reaches at the positions 0, …, total of a line (see
// [Scorer.Line]), and records where the leaf changes. The tree must be stale. The parameter here is
// the position of the current composition, to which the tree's path belongs. The descent starts at
// the first test of the path whose result changes along the line. If no other test of the path
// changes its result, the current leaf holds on one side of the change.
func (s *Scorer) descendAlongLine(t, here, total int32) {
	last := s.treeLeaves[t]
	nodes, vary := s.score.treeNodes, s.variations
	start := s.resumePoints[t]
	child := start.offPathChild
	from, to := int64(0), int64(total)
	todo := s.pendingSpans[:0]
	switch {
	case start.linePosition == 0:
		child = s.pathSteps[s.pathStarts[t]+start.pathIndex].node
	case start.linePosition > here:
		from = int64(start.linePosition)
	default:
		to = int64(start.linePosition) - 1
		todo = append(todo, span{last, start.linePosition, total})
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

// followSpan follows a span through the test of a slot that is not in linearMode. The test may
// divide the span into several. The results child and to describe the first of them: the child that
// it reaches, and its last position. The result rest is todo with the other spans appended.
func (s *Scorer) followSpan(at span, todo []span, total int32) (child int32, to int64, rest []span) {
	n := &s.score.treeNodes[at.child]
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
