package ensemble

import (
	"math"
	"math/bits"
)

// A variation states how a slot's number, as tests compare it, changes along a line of splits k = 0..s. It is offset
// + slope·k with a slope of 1, −1, or 0 if it does not vary. Slots that vary in other ways have a mode and a
// [form].
type variation struct {
	offset, slope int64
	// A test with threshold t changes its result at split border + slope·t. If the slope is 0, that split is at most
	// 0 and not on the line.
	border int64
	mode   mode
}

// A form is the number of a slot that has a mode. exact is the value at split 0, for a count without the line's two
// ingredients; step is the increment of each split.
type form struct{ exact, step int64 }

type mode uint8

const (
	plain     mode = iota
	steep          // exact + step·k, compared by rank
	countI         // exact + 1 for k > 0
	countJ         // exact + 1 for k < s
	countBoth      // exact + 1 for k > 0, + 1 for k < s
)

// setLinear sets the variation to exact + by·k, where by is 1 or −1.
func (v *variation) setLinear(exact, by int64) {
	*v = variation{offset: exact, slope: by, border: -by*exact + (by+1)/2}
}

// setConstant sets the variation to a constant.
func (v *variation) setConstant(n int32) { *v = variation{offset: int64(n)} }

// A span is a node or leaf with the range from..to of splits whose path leads through it.
type span struct{ child, from, to int32 }

// Line computes the sums of the compositions in which ingredients i ≠ j share their current sum s =
// x_i + x_j as (k, s−k), k = 0, …, s. sums[g][p] is that of target g for k in [starts[p],
// starts[p+1]), where starts[0] is 0 and after the last piece comes s+1. The slices are valid until
// the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums [][]float64) {
	total := s.x[i] + s.x[j]
	s.changes = s.changes[:0]
	s.splits.begin(total)
	if total > 0 {
		s.listVarying(int32(i), int32(j))
		for _, slot := range s.varying {
			switch s.vary[slot].mode {
			case plain:
				for _, m := range s.findCrossings(slot, total) {
					s.markStale(s.listedTests[slot][m.at], m.border)
				}
			case steep:
				s.markSteepTrees(slot, total)
			default:
				s.markCountTrees(slot)
			}
		}
		for w, trees := range s.stale {
			for s.stale[w] = 0; trees != 0; trees &= trees - 1 {
				s.descend(int32(w<<6|bits.TrailingZeros64(trees)), s.x[i], total)
			}
		}
		for _, slot := range s.varying {
			s.vary[slot].setConstant(s.score.slots[slot].rankOf(s.exact[slot]))
		}
	}
	starts = s.splits.finish(total)
	s.splits.place(s.changes)
	for g := range s.line {
		s.line[g] = s.sums.appendLine(g, s.changes, len(starts), s.line[g][:0])
	}
	return starts, s.line
}

// A crossing is a split at which a test changes its result, with the index of the test among those listed for its
// slot.
type crossing struct{ at, border int32 }

// findCrossings returns the splits 1..total at which the listed tests of a slot change their results. The crossings
// are unpredictable, so the loop has no branch that depends on them.
func (s *Scorer) findCrossings(slot, total int32) []crossing {
	v, all := s.vary[slot], s.listedTests[slot]
	if len(s.crossings) < len(all) {
		s.crossings = make([]crossing, 2*len(all))
	}
	n := 0
	for k, q := range all {
		border := v.border + v.slope*int64(q.threshold)
		s.crossings[n] = crossing{int32(k), int32(border)}
		n += int(uint64(border-1-int64(total)) >> 63 &^ (uint64(border-1) >> 63)) // adds 1 if 1 ≤ border ≤ total
	}
	return s.crossings[:n]
}

// markSteepTrees marks trees as stale whose path has a test of the steep slot that changes its result on the line.
func (s *Scorer) markSteepTrees(slot, total int32) {
	f, ranks := &s.forms[slot], s.score.slots[slot].ranks
	low, high := f.exact, f.exact+f.step*int64(total)
	if f.step < 0 {
		low, high = high, low
	}
	for _, q := range s.listedTests[slot] {
		room := ranks[q.threshold]
		if room < low || room >= high {
			continue
		}
		border := floorDiv(room-f.exact, f.step) + 1
		if f.step < 0 {
			border = -floorDiv(room-f.exact, -f.step)
		}
		s.markStale(q, int32(border)) // the split lies in 1..total
	}
}

// markCountTrees marks trees as stale whose path has a test of a count that changes its result on the line, which
// happens only at the ends.
func (s *Scorer) markCountTrees(slot int32) {
	changes := s.forms[slot].exact
	if s.vary[slot].mode == countBoth {
		changes++
	}
	for _, q := range s.listedTests[slot] {
		if int64(q.threshold) == changes {
			s.markStale(q, 0)
		}
	}
}

// listVarying lists the slots that vary along the line of i and j, and sets their variations and forms.
func (s *Scorer) listVarying(i, j int32) {
	s.varying = s.varying[:0]
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
		v, f := &s.vary[slot], &s.forms[slot]
		exact := s.exact[slot]
		switch at := &s.score.slots[slot]; {
		case at.source.Count:
			v.mode, f.exact = countBoth, exact
			if hasI {
				f.exact -= int64(min(s.x[i], 1))
			}
			if hasJ {
				f.exact -= int64(min(s.x[j], 1))
			}
			if !hasJ {
				v.mode = countI
			} else if !hasI {
				v.mode = countJ
			}
		case a == b:
			continue
		case at.weighted():
			v.mode, f.exact, f.step = steep, exact-(a-b)*int64(s.x[i]), a-b
		default:
			v.setLinear(exact-(a-b)*int64(s.x[i]), a-b)
		}
		s.varying = append(s.varying, slot)
	}
}

// testOutcome returns the result along a line of a test of a slot that has a mode: left for k < first and for k ≥
// second, !left between.
func (s *Scorer) testOutcome(n *node, total int32) (left bool, first, second int64) {
	end := int64(total) + 1
	mode, f := s.vary[n.slot].mode, &s.forms[n.slot]
	threshold := int64(n.threshold)
	switch {
	case mode == steep:
		room := s.score.slots[n.slot].ranks[n.threshold] - f.exact
		if f.step > 0 {
			return true, floorDiv(room, f.step) + 1, end
		}
		return false, -floorDiv(room, -f.step), end // least k for which the slot's number exceeds the threshold
	case mode == countI && f.exact == threshold:
		return true, 1, end
	case mode == countJ && f.exact == threshold:
		return false, int64(total), end
	case mode == countBoth && f.exact+1 == threshold:
		return true, 1, int64(total) // at the ends one of the two ingredients is used, between them both are
	}
	return f.exact < threshold, end, end
}

// floorDiv returns ⌊a/b⌋ for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// descend records the leaves that stale tree t reaches along a line. The present composition is split number here of
// the line, and the tree's path is the path there. descend starts at the first test of the path whose result changes
// on the line. If no other result changes, the present leaf is reached on one side of that change.
func (s *Scorer) descend(t, here, total int32) {
	last := s.leaves[t]
	nodes, vary := s.score.nodes, s.vary
	start := s.from[t]
	child := start.other
	from, to := int64(0), int64(total)
	todo := s.pendingSpans[:0]
	switch {
	case start.border == 0:
		child = s.paths[s.starts[t]+start.step].node
	case start.border > here:
		from = int64(start.border)
	default:
		to = int64(start.border) - 1
		todo = append(todo, span{last, start.border, total})
	}
	for {
		for child >= 0 {
			n := &nodes[child]
			v := &vary[n.slot]
			if v.mode != plain {
				child, to, todo = s.splitSpan(span{child, int32(from), int32(to)}, todo, total)
				continue
			}
			threshold := int64(n.threshold)
			near, far := n.right, n.left
			if v.offset+v.slope*from <= threshold {
				near, far = n.left, n.right
			}
			if border := v.border + v.slope*threshold; border > from && border <= to {
				todo = append(todo, span{far, int32(border), int32(to)})
				to = border - 1
			}
			child = near
		}
		if child != last {
			s.splits.add(int32(from))
			s.changes = append(s.changes, change{t, ^child, int32(from)})
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

// splitSpan follows a span through a test of a slot that has a mode. It returns the child that the span's first
// splits reach and the last of these splits, and appends the rest of the span to todo.
func (s *Scorer) splitSpan(at span, todo []span, total int32) (child int32, to int64, left []span) {
	n := &s.score.nodes[at.child]
	goesLeft, first, second := s.testOutcome(n, total)
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
