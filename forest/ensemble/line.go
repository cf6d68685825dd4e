package ensemble

import "math/bits"

// A variation is how a slot varies along a line of s+1 splits. Tests of it are
// answered alike for k < first, otherwise for first ≤ k < second, and as at first
// from second on.
type variation struct {
	mode   mode
	offset int64 // the slot's number at k = 0, of a count that of the others
	slope  int64
}

type mode uint8

const (
	fixed   mode = iota
	rising       // offset + k
	falling      // offset − k
	steep        // offset + slope·k, by rank
	countI       // the count of the others, and 1 for k > 0
	countJ       // and 1 for k < s
	countBoth
)

// A span is the splits from..to of a line that reach a child.
type span struct{ child, from, to int32 }

// Line tells the sums of the compositions in which ingredients i ≠ j share their
// current sum s = x_i + x_j as (k, s−k), k = 0, …, s. sums[g][p] is that of target g
// for k in [starts[p], starts[p+1]), where starts[0] is 0 and after the last piece
// comes s+1. The slices are valid until the next call.
func (s *Scorer) Line(i, j int) (starts []int32, sums [][]float64) {
	total := s.x[i] + s.x[j]
	s.changes.first = s.changes.first[:0]
	s.events.begin(total)
	if total > 0 {
		s.varies(int32(i), int32(j))
		for _, slot := range s.varying {
			for w, trees := range s.touching[int(slot)*s.words:][:s.words] {
				s.stale[w] |= trees
			}
		}
		for w, trees := range s.stale {
			for s.stale[w] = 0; trees != 0; trees &= trees - 1 {
				s.descend(int32(w<<6|bits.TrailingZeros64(trees)), total)
			}
		}
		for _, slot := range s.varying {
			s.vary[slot].mode = fixed
		}
	}
	s.pieces, s.changes.later = s.events.pieces(append(s.pieces[:0], 0), s.changes.later[:0])
	s.changes.pieces = len(s.pieces)
	for g := range s.line {
		s.line[g] = s.sums.line(g, &s.changes, s.line[g][:0])
	}
	return s.pieces, s.line
}

// varies lists the slots that vary along the line of i and j, and how.
func (s *Scorer) varies(i, j int32) {
	s.varying = s.varying[:0]
	k := int64(s.x[i])
	has := func(x int32) int64 { return int64(min(x, 1)) }
	for _, e := range s.score.effects[i] {
		v := variation{mode: countI, offset: s.exact[e.slot] - has(s.x[i])}
		if !s.score.slots[e.slot].source.Count {
			v = variation{mode: rising, offset: s.exact[e.slot] - e.weight*k, slope: e.weight}
		}
		s.vary[e.slot] = v
		s.varying = append(s.varying, e.slot)
	}
	for _, e := range s.score.effects[j] {
		v := &s.vary[e.slot]
		if v.mode == fixed {
			v.offset = s.exact[e.slot]
			v.slope = 0
			s.varying = append(s.varying, e.slot)
		}
		switch {
		case !s.score.slots[e.slot].source.Count:
			v.offset += e.weight * k
			v.slope -= e.weight
			v.mode = rising
		case v.mode == fixed:
			v.mode = countJ
			v.offset -= has(s.x[j])
		default:
			v.mode = countBoth
			v.offset -= has(s.x[j])
		}
	}
	kept := s.varying[:0]
	for _, slot := range s.varying {
		v := &s.vary[slot]
		switch {
		case v.mode != rising:
		case v.slope == 0:
			v.mode = fixed
			continue
		case s.score.slots[slot].weighted():
			v.mode = steep
		case v.slope < 0:
			v.mode = falling
		}
		kept = append(kept, slot)
	}
	s.varying = kept
}

// borders returns how a test of a slot that varies is answered: left says which way
// for k < first.
func (s *Scorer) borders(v *variation, n *node, total int32) (left bool, first, second int64) {
	end := int64(total) + 1
	threshold := int64(n.threshold)
	switch v.mode {
	case rising:
		return true, threshold - v.offset + 1, end
	case falling:
		return false, v.offset - threshold, end
	case steep:
		room := s.score.slots[n.slot].ranks[n.threshold] - v.offset
		if v.slope > 0 {
			return true, floorDiv(room, v.slope) + 1, end
		}
		return false, -floorDiv(room, -v.slope), end // the least k with room ≥ slope·k
	case countI:
		if v.offset == threshold {
			return true, 1, end
		}
	case countJ:
		if v.offset == threshold {
			return false, int64(total), end
		}
	case countBoth:
		// One of the two is used at the ends, and both between.
		if v.offset+1 == threshold {
			return true, 1, int64(total)
		}
		return v.offset < threshold, end, end
	}
	return v.offset < threshold, end, end
}

// floorDiv returns ⌊a/b⌋ for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// descend notes the leaves of a tree along the line.
func (s *Scorer) descend(t, total int32) {
	last := s.leaves[t]
	nodes := s.score.nodes
	todo := append(s.todo[:0], span{s.score.roots[t], 0, total})
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for at.child >= 0 {
			n := &nodes[at.child]
			v := &s.vary[n.slot]
			if v.mode == fixed {
				if s.at[n.slot] <= n.threshold {
					at.child = n.left
				} else {
					at.child = n.right
				}
				continue
			}
			left, first, second := s.borders(v, n, total)
			outer, inner := n.right, n.left
			if left {
				outer, inner = inner, outer
			}
			from, to := int64(at.from), int64(at.to)
			if from < second && second <= to {
				todo = append(todo, span{outer, int32(second), at.to})
				to = second - 1
			}
			switch {
			case from >= second:
				at.child = outer
			case to < first:
				at.child = outer
			case from >= first:
				at.child = inner
			default:
				todo = append(todo, span{inner, int32(first), int32(to)})
				at.child, to = outer, first-1
			}
			at.to = int32(to)
		}
		switch {
		case at.from == 0:
			if at.child != last {
				s.changes.first = append(s.changes.first, change{tree: t, leaf: ^at.child})
			}
		case at.child != last:
			s.events.add(at.from, t, ^at.child)
		}
		last = at.child
	}
	s.todo = todo
}
