package model

import "math"

// UpperBoundInBox returns an upper bound of the sums of leaf values ([Score.Sum]) of all
// compositions in a box. The box holds the compositions in which each ingredient i has from lo[i]
// to hi[i] units. Each tree contributes the greatest leaf value that a composition in the box can
// reach (Mistry et al., arXiv 1803.00952).
func (s *Score) UpperBoundInBox(lo, hi []int32) int64 {
	sum, _ := s.boundWithCost(lo, hi)
	return sum
}

// boundWithCost returns the upper bound of [Score.UpperBoundInBox] and an estimate of the time that
// computing the bound took, in nanoseconds.
func (s *Score) boundWithCost(lo, hi []int32) (sum, steps int64) {
	if s.ensembleScore != nil {
		_, greatest := s.ensembleScore.BoundsInBox(lo, hi, s.forest.totalAmount)
		return int64(greatest[0]), s.ensembleScore.BoundsInBoxCost()
	}
	least, most := s.slotRanges(lo, hi)
	todo := make([]int32, 0, s.maxDepth+2)
	for _, root := range s.roots {
		best := int64(math.MinInt64)
		for todo = append(todo[:0], root); len(todo) > 0; {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			n := &s.treeNodes[at]
			steps += 9
			if n.slot < 0 {
				best = max(best, s.leafValues[n.right])
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

// UpperBoundCost returns an estimate of the time that [Score.UpperBoundInBox] takes, in
// nanoseconds.
func (s *Score) UpperBoundCost() int64 {
	if s.ensembleScore != nil {
		return s.ensembleScore.BoundsInBoxCost()
	}
	return int64(2 * len(s.treeNodes))
}

// slotRanges returns the least and the greatest amount of each slot in a box of compositions. A
// slot is an ingredient or a group of ingredients; the amount of a group is the sum of the amounts
// of its ingredients. In the box, each ingredient i has from lo[i] to hi[i] units.
func (s *compiledForest) slotRanges(lo, hi []int32) (least, most []int32) {
	least, most = make([]int32, s.slotCount()), make([]int32, s.slotCount())
	copy(least, lo)
	copy(most, hi)
	for g, of := range s.groups {
		for _, i := range of {
			least[s.ingredientCount+g] += lo[i]
			most[s.ingredientCount+g] = int32(min(int64(most[s.ingredientCount+g])+int64(hi[i]), math.MaxInt32))
		}
	}
	return least, most
}

// LineCost returns an estimate of the time that [LearnedScorer.Line] takes, in nanoseconds.
func (s *LearnedScore) LineCost() (cost int64) {
	if s.process != nil {
		cost += int64(30 * len(s.process.compositions))
	}
	for _, f := range []*Forest{s.model.forest, s.model.successForest} {
		if f != nil {
			cost += int64(40 * f.TreeCount())
		}
	}
	return cost
}

// Pieces returns functions with which an upper bound of the score in a box of compositions is
// computed. The box holds the compositions in which each ingredient i has from lo[i] to hi[i]
// units, and at most used ingredients have a positive amount.
//
// The score is computed from up to three terms: one for the Gaussian process, one for the forest,
// and one for the forest that predicts success. The slice bounds has one function for each term.
// The function returns
//   - upper, an upper bound of the term in the box,
//   - nanoseconds, an estimate of the time that computing the bound took,
//   - splitIngredient, the ingredient along which the box is best divided, or −1 if unknown,
//   - contribution, the contribution of this ingredient to the bound.
//
// The function join is given the upper bounds of all terms, and returns an upper bound of the
// score. The result does not fall when a bound rises. The functions keep working memory, so that
// several goroutines must not use them at once.
func (s *LearnedScore) Pieces() (bounds []func(lo, hi []int32, used int) (upper float64, nanoseconds int64, splitIngredient int, contribution float64), join func([]float64) float64) {
	var which []int
	if s.process != nil {
		b := s.process.newMeanBound()
		bounds, which = append(bounds, func(lo, hi []int32, used int) (float64, int64, int, float64) {
			b.nanoseconds = 0
			above := s.process.boundInBox(b, lo, hi, used)
			along, by := b.topIngredient, b.topContribution
			return above, b.nanoseconds, along, by
		}), append(which, 1)
	}
	for k, f := range []*Score{0: s.forest, 2: s.successScore} {
		if f == nil {
			continue
		}
		bounds, which = append(bounds, func(lo, hi []int32, _ int) (float64, int64, int, float64) {
			sum, steps := f.boundWithCost(lo, hi)
			return f.Probability(sum), steps, -1, 0
		}), append(which, k)
	}
	return bounds, func(numbers []float64) float64 {
		var all [3]float64
		for k, v := range numbers {
			all[which[k]] = v
		}
		return s.combineModels(all)
	}
}
