package model

import "math"

// Above returns a sum that none of a composition exceeds in which each ingredient i has from
// lo[i] to hi[i] units: each tree adds the greatest leaf that it can reach (Mistry et al.,
// arXiv 1803.00952).
func (s *Score) Above(lo, hi []int32) int64 {
	if s.bound != nil {
		_, greatest := s.bound.Within(lo, hi, s.forest.total)
		return int64(greatest[0])
	}
	least, most := s.slotsWithin(lo, hi)
	sum := int64(0)
	todo := make([]int32, 0, s.deepest+2)
	for _, root := range s.roots {
		best := int64(math.MinInt64)
		for todo = append(todo[:0], root); len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n := &s.nodes[at]
			if n.slot < 0 {
				best = max(best, s.values[n.right])
				continue
			}
			if most[n.slot] > n.threshold {
				todo = append(todo, n.right)
			}
			if least[n.slot] <= n.threshold {
				todo = append(todo, at+1)
			}
		}
		sum += best
	}
	return sum
}

// AboveCost is about how many nanoseconds [Score.Above] takes.
func (s *Score) AboveCost() int64 {
	if s.bound != nil {
		return s.bound.WithinCost()
	}
	return int64(2 * len(s.nodes))
}

// slotsWithin returns between which numbers each slot is. What a group has others have not.
func (s *structure) slotsWithin(lo, hi []int32) (least, most []int32) {
	least, most = make([]int32, s.slots()), make([]int32, s.slots())
	copy(least, lo)
	copy(most, hi)
	for g, of := range s.groups {
		for _, i := range of {
			least[s.ingredients+g] += lo[i]
			most[s.ingredients+g] = int32(min(int64(most[s.ingredients+g])+int64(hi[i]), math.MaxInt32))
		}
	}
	return least, most
}

// Above returns a score that none of a composition exceeds in which each ingredient i has
// from lo[i] to hi[i] units and at most so many are used.
func (s *LearnedScore) Above(lo, hi []int32, used int) float64 {
	var of [3]float64
	if s.forest != nil {
		of[0] = s.forest.Probability(s.forest.Above(lo, hi))
	}
	if s.process != nil {
		of[1] = s.process.Above(lo, hi, used)
	}
	if s.success != nil {
		of[2] = s.success.Probability(s.success.Above(lo, hi))
	}
	return s.join(of) // which falls with none of them
}

// AboveCost is about how many nanoseconds [LearnedScore.Above] takes.
func (s *LearnedScore) AboveCost() (cost int64) {
	if s.forest != nil {
		cost += s.forest.AboveCost()
	}
	if s.process != nil {
		cost += s.process.AboveCost()
	}
	if s.success != nil {
		cost += s.success.AboveCost()
	}
	return cost
}
