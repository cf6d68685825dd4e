package ensemble

import "math"

// Sums returns the sum of each target at a composition, tree by tree. x holds the amount of each ingredient. Tests
// compare [Scorer] with it.
func (s *Score) Sums(x []int32) []float64 {
	return s.appendSums(nil, s.appendLeaves(nil, s.appendSlots(nil, x)))
}

// appendSlots appends, for composition x, the number of each slot in the form that tests compare.
func (s *Score) appendSlots(dst []int32, x []int32) []int32 {
	for k := range s.slots {
		at := &s.slots[k]
		n := int64(0)
		for q, i := range at.source.Ingredients {
			switch {
			case at.source.Count:
				n += int64(min(x[i], 1))
			case at.weighted():
				n += at.source.Weights[q] * int64(x[i])
			default:
				n += int64(x[i])
			}
		}
		dst = append(dst, at.rankOf(n))
	}
	return dst
}

// appendLeaves appends the leaf that each tree reaches for the given slots.
func (s *Score) appendLeaves(dst []int32, slots []int32) []int32 {
	nodes := s.nodes
	for _, at := range s.roots {
		for at >= 0 {
			n := &nodes[at]
			if slots[n.slot] <= n.threshold {
				at = n.left
			} else {
				at = n.right
			}
		}
		dst = append(dst, ^at)
	}
	return dst
}

func (s *Score) appendSums(dst []float64, leaves []int32) []float64 {
	for g := range s.Terms {
		dst = append(dst, s.tables().sumOfLeaves(g, leaves))
	}
	return dst
}

// Bounds returns bounds of each target's sum over all compositions: the sums of the least and of the greatest leaf of
// each tree. The range of actual sums may be narrower.
func (s *Score) Bounds() (least, greatest []float64) {
	leaves := make([][]int32, len(s.roots))
	end := int32(len(s.nodes))
	for t := len(s.roots) - 1; t >= 0; t-- {
		root := s.roots[t]
		if root < 0 {
			leaves[t] = []int32{^root}
			continue
		}
		for _, n := range s.nodes[root:end] {
			for _, c := range [...]int32{n.left, n.right} {
				if c < 0 {
					leaves[t] = append(leaves[t], ^c)
				}
			}
		}
		end = root
	}
	for g := range s.Terms {
		low, high := s.tables().bounds(g, leaves)
		least, greatest = append(least, low), append(greatest, high)
	}
	return least, greatest
}

// Sums returns the sum of each target for given inputs of the model. An input of NaN is missing.
func (m *Model) Sums(inputs []float64) []float64 {
	leaves := make([]int32, len(m.roots))
	for t, at := range m.roots {
		for at >= 0 {
			n := &m.nodes[at]
			f := m.Features[n.Feature]
			if v := m.feature(f, inputs[f.Input]); v <= n.Threshold || math.IsNaN(v) && n.NaNLeft {
				at = n.Left
			} else {
				at = n.Right
			}
		}
		leaves[t] = ^at
	}
	var sums []float64
	for g := range m.Terms {
		sums = append(sums, m.tables().sumOfLeaves(g, leaves))
	}
	return sums
}

// feature returns feature f of an input v, rounded as the model's nodes compare it.
func (m *Model) feature(f Feature, v float64) float64 {
	switch {
	case f.Of != nil:
		return f.Of(v)
	case m.Single:
		return float64(float32(v))
	}
	return v
}

// tables returns a summer in the precision of the model.
func (m *Model) tables() summer {
	m.once.Do(func() {
		if m.Single {
			m.summer = newTables(m, adder32())
		} else {
			m.summer = newTables(m, adder64())
		}
	})
	return m.summer
}
