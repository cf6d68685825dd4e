package model

import "math"

// Above returns an upper bound of the sums of all compositions in which each ingredient i has from
// lo[i] to hi[i] units. Each tree adds the greatest leaf that such a composition can reach (Mistry
// et al., arXiv 1803.00952).
func (s *Score) Above(lo, hi []int32) int64 {
	sum, _ := s.aboveWithCost(lo, hi)
	return sum
}

// aboveWithCost is [Score.Above] with its approximate time, in nanoseconds.
func (s *Score) aboveWithCost(lo, hi []int32) (sum, steps int64) {
	if s.ensembleScore != nil {
		_, greatest := s.ensembleScore.BoundsInBox(lo, hi, s.forest.total)
		return int64(greatest[0]), s.ensembleScore.BoundsInBoxCost()
	}
	least, most := s.slotsWithin(lo, hi)
	todo := make([]int32, 0, s.deepest+2)
	for _, root := range s.roots {
		best := int64(math.MinInt64)
		for todo = append(todo[:0], root); len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n := &s.nodes[at]
			steps += 9
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
	return sum, steps
}

// AboveCost returns the approximate time of [Score.Above], in nanoseconds.
func (s *Score) AboveCost() int64 {
	if s.ensembleScore != nil {
		return s.ensembleScore.BoundsInBoxCost()
	}
	return int64(2 * len(s.nodes))
}

// slotsWithin returns the least and the greatest amount of each slot. Those of a group are the sums
// over its ingredients.
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

// LineCost returns the approximate time to score a line, in nanoseconds.
func (s *LearnedScore) LineCost() (cost int64) {
	if s.process != nil {
		cost += int64(30 * len(s.process.known))
	}
	for _, f := range []*Forest{s.model.forest, s.model.success} {
		if f != nil {
			cost += int64(40 * f.Trees())
		}
	}
	return cost
}

// Pieces returns the terms of the score, and how to join them. A box holds the compositions in which
// each ingredient i has from lo[i] to hi[i] units and at most used are used. Each piece returns an
// upper bound of its term in the box. join turns these bounds into an upper bound of the score; it
// does not fall when a bound rises. A piece also returns its approximate time in nanoseconds, the
// ingredient along which to divide the box, −1 if unknown, and that ingredient's contribution to the
// bound. The functions keep memory: several goroutines must not use them at once.
func (s *LearnedScore) Pieces() (of []func(lo, hi []int32, used int) (above float64, nanoseconds int64, along int, by float64), join func([]float64) float64) {
	var which []int
	if s.process != nil {
		b := s.process.newMeanBound()
		of, which = append(of, func(lo, hi []int32, used int) (float64, int64, int, float64) {
			b.steps = 0
			above := s.process.boundInBox(b, lo, hi, used)
			along, by := b.widest, b.weight
			return above, b.steps, along, by
		}), append(which, 1)
	}
	for k, f := range []*Score{0: s.forest, 2: s.success} {
		if f == nil {
			continue
		}
		of, which = append(of, func(lo, hi []int32, _ int) (float64, int64, int, float64) {
			sum, steps := f.aboveWithCost(lo, hi)
			return f.Probability(sum), steps, -1, 0
		}), append(which, k)
	}
	return of, func(numbers []float64) float64 {
		var all [3]float64
		for k, v := range numbers {
			all[which[k]] = v
		}
		return s.combine(all)
	}
}
