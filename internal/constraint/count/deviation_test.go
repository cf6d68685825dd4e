package count

import "slices"

// unitRoundoff is the relative error of a rounded operation.
const unitRoundoff = 0x1p-53

// Deviation bounds by how much the probability of any composition in X_n can
// differ from 1/|X_n|, relative to that, if Intn and Categorical follow their
// laws exactly: the weights given to Categorical are counts in floating point.
// It is 0 where only Intn is used.
func (s *Sampler) Deviation(n int) float64 {
	switch {
	case s.table.IsEmpty(n):
		return 0
	case s.stages != nil:
		return s.frontierDeviation(n) * unitRoundoff
	case s.root == nil:
		return 0
	}
	worst := s.root.deviation(min(n, s.table.plan.root.maxUsed), s.table.plan.total, s.slack())
	return worst[n] * unitRoundoff
}

// deviation bounds, for each number k of used ingredients up to most, the
// relative error of the probability of what is drawn in a node, in units of
// roundoff. If weights are right to a relative error of e then so is their
// choice to 2e.
func (n *node) deviation(most, units int, slack float64) []float64 {
	if n.class != nil {
		worst := make([]float64, min(len(n.class.members), most)+1)
		for k := 2; k < len(worst) && n.shares != nil; k++ {
			worst[k] = 2*(3+2*slack) + worst[k/2] + worst[k-k/2]
		}
		return worst
	}
	left, right := n.left.deviation(most, units, slack), n.right.deviation(most, units, slack)
	worst := make([]float64, min(len(left)+len(right)-2, most)+1)
	tables := n.left.relativeError + n.right.relativeError + 2 + 2*slack
	for i, x := range left {
		for j, y := range right {
			if i+j >= len(worst) || i+j == 0 {
				continue
			}
			own := 2 * (tables + 1)
			if i+j > 1 {
				own = 2*(tables+dotError(units+1)) + 2*(tables+1)
			}
			worst[i+j] = max(worst[i+j], own+x+y)
		}
	}
	return worst
}

// slack bounds the relative error of a count in the tables that rounding leaves,
// in units of roundoff.
func (s *Sampler) slack() float64 {
	p := s.table.plan
	_, choices := p.leastAmountAndChoices()
	additions := 8*float64(p.ingredientCount) + float64(p.maxPossibleUsed())*(2*float64(choices)+8)
	return additions * additions * unitRoundoff
}

// frontierDeviation is as node.deviation, of all stages together: at each the
// number of its ingredients and their units are drawn, then who has how many.
func (s *Sampler) frontierDeviation(n int) float64 {
	p := s.table.plan
	worst, blur := 0.0, 2.0
	if s.root != nil {
		worst = slices.Max(s.root.deviation(min(n, p.root.maxUsed), p.total, s.slack()))
		blur += s.root.relativeError
	}
	for c := range s.stages {
		st := &s.stages[c]
		worst += 4*(blur+4+2*s.slack()+dotError(p.total+1)) + slices.Max(st.leaf.deviation(min(n, st.maxMembers), p.total, s.slack()))
	}
	return worst
}
