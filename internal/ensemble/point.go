package ensemble

import "math"

// Sums returns the sum of each target for a composition. The parameter x holds the amount of each
// ingredient. Sums evaluates one tree after another. Tests compare a [Scorer] with it.
func (s *Score) Sums(x []int32) []float64 {
	return s.appendSums(nil, s.appendLeaves(nil, s.appendSlotNumbers(nil, x)))
}

// appendSlotNumbers appends the number that tests compare with thresholds, for each slot and the
// dense composition x.
func (s *Score) appendSlotNumbers(dst []int32, x []int32) []int32 {
	for k := range s.slots {
		at := &s.slots[k]
		n := int64(0)
		for q, i := range at.source.Ingredients {
			switch {
			case at.source.CountsUsed:
				n += int64(min(x[i], 1))
			case at.isWeighted():
				n += at.source.Weights[q] * int64(x[i])
			default:
				n += int64(x[i])
			}
		}
		dst = append(dst, at.comparedNumber(n))
	}
	return dst
}

// appendLeaves appends the leaf that each tree reaches. The parameter slotNumbers holds the number
// that tests compare with thresholds, for each slot.
func (s *Score) appendLeaves(dst []int32, slots []int32) []int32 {
	nodes := s.treeNodes
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

// appendSums appends the sum of each target, given the leaf that each tree reaches.
func (s *Score) appendSums(dst []float64, leaves []int32) []float64 {
	for g := range s.Terms {
		dst = append(dst, s.sharedSumComputer().sumOfLeaves(g, leaves))
	}
	return dst
}

// SumBounds returns a lower and an upper bound of the sum of each target over all compositions.
// They are the sums of the least and of the greatest leaf value of each tree. Actual sums may have
// a narrower range.
func (s *Score) SumBounds() (least, greatest []float64) {
	leaves := make([][]int32, len(s.roots))
	end := int32(len(s.treeNodes))
	for t := len(s.roots) - 1; t >= 0; t-- {
		root := s.roots[t]
		if root < 0 {
			leaves[t] = []int32{^root}
			continue
		}
		for _, n := range s.treeNodes[root:end] {
			for _, c := range [...]int32{n.left, n.right} {
				if c < 0 {
					leaves[t] = append(leaves[t], ^c)
				}
			}
		}
		end = root
	}
	for g := range s.Terms {
		low, high := s.sharedSumComputer().sumBounds(g, leaves)
		least, greatest = append(least, low), append(greatest, high)
	}
	return least, greatest
}

// Sums returns the sum of each target, given all inputs of the model. An input of NaN is a missing
// value.
func (m *Model) Sums(inputs []float64) []float64 {
	leaves := make([]int32, len(m.roots))
	for t, at := range m.roots {
		for at >= 0 {
			n := &m.nodes[at]
			f := m.Features[n.Feature]
			if v := m.featureValue(f, inputs[f.Input]); v <= n.Threshold || math.IsNaN(v) && n.NaNLeft {
				at = n.Left
			} else {
				at = n.Right
			}
		}
		leaves[t] = ^at
	}
	var sums []float64
	for g := range m.Terms {
		sums = append(sums, m.sharedSumComputer().sumOfLeaves(g, leaves))
	}
	return sums
}

// featureValue returns the value of feature f if its input is v, rounded as the model does before
// it compares.
func (m *Model) featureValue(f Feature, v float64) float64 {
	switch {
	case f.Function != nil:
		return f.Function(v)
	case m.IsFloat32:
		return float64(float32(v))
	}
	return v
}

// sharedSumComputer returns a [sumComputer] in the precision of the model. The scorers of the model
// copy it, and the copies share the leaf values.
func (m *Model) sharedSumComputer() sumComputer {
	m.sumComputerOnce.Do(func() {
		if m.IsFloat32 {
			m.sumComputer = newTypedSumComputer(m, newFloat32Adder())
		} else {
			m.sumComputer = newTypedSumComputer(m, newFloat64Adder())
		}
	})
	return m.sumComputer
}
