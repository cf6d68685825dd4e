package mcmc

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// compensatedExchange exchanges a used ingredient i for an unused ingredient j. It also changes h
// other used ingredients, so that h of the [tightSums] stay the same up to rounding.
//
// All ingredients, and their order, are drawn without regard to amounts: i and the others uniformly
// among the used ingredients, and j with probability q_j by [State.drawNewcomer]. Let a be the
// lesser and b the greater of i and j. By [tightSums.solveExchange], ρ units of b and κ units of
// the others replace one unit of a. The amounts x of a and y of b may replace each other if |y −
// ρx| ≤ max(1, ρ) and 1 ≤ x, y ≤ M.
//
// The amount of j is drawn uniformly among the A amounts that may replace the amount of i. In the
// reverse move, B amounts may replace the amount of j. Each other ingredient but the last changes
// by κ·(x + y/ρ)/2, rounded, and the last one takes the rest. The reverse move changes them by the
// same numbers. So the candidate is accepted with probability
//
//	min(1, q_i·A/(q_j·B) · Y(x′)/Y(x)).
func (x *State) compensatedExchange(r *Rand, tight *tightSums) (moveOutcome, error) {
	c, s := x.Composition, &x.stepScratch
	var held [maxCompensatedSums]int
	h := min(maxCompensatedSums, len(tight.sumFactors))
	if !drawDistinct(r, held[:h], len(tight.sumFactors)) {
		return outcomeUnchanged, nil
	}
	var places [maxCompensatedSums + 1]int
	if c.UsedCount() <= h || !drawDistinct(r, places[:h+1], c.UsedCount()) {
		return outcomeUnchanged, nil
	}
	j := x.drawNewcomer(r)
	if c.amounts[j] > 0 {
		return outcomeUnchanged, nil
	}
	i := c.used[places[0]]
	s.size = h + 2
	s.ingredients[0], s.ingredients[1] = i, j
	for k, place := range places[1 : h+1] {
		s.ingredients[k+2] = c.used[place]
	}
	others := s.ingredients[2:s.size]
	rho, kappa, ok := tight.solveExchange(held[:h], min(i, j), max(i, j), others)
	if !ok {
		return outcomeUnchanged, nil
	}
	total := float64(x.target.space.total)
	there, back := rho, 1/rho // units of j for one of i, and units of i for one of j
	if i > j {
		there, back = back, there
	}
	had := float64(c.amounts[i])
	lo, hi := exchangeAmountRange(had, there, total)
	if lo > hi {
		return outcomeUnchanged, nil
	}
	has := lo
	if hi > lo {
		has += float64(r.Intn(int(hi-lo) + 1))
	}
	loBack, hiBack := exchangeAmountRange(has, back, total)
	if had < loBack || had > hiBack {
		return outcomeRejected, nil
	}
	s.changes[0], s.changes[1] = -int64(had), int64(has)
	left, moved := int64(had-has), float64((had+has/rho)/2)
	if i > j {
		moved = float64(-(has + had/rho) / 2)
	}
	for k, other := range others {
		d := left
		if k < h-1 {
			exact := math.Round(kappa[k] * moved)
			if !(math.Abs(exact) < total) { // more units than the total
				return outcomeRejected, nil
			}
			d = int64(exact)
			left -= d
		}
		if amount := int64(c.amounts[other]) + d; amount < 1 || amount > int64(total) {
			return outcomeRejected, nil
		}
		s.changes[k+2] = d
	}
	was := x.logScore
	x.undoMoves = x.undoMoves[:0]
	x.applySteps(s, 1)
	if err := x.rescoreAfterMoves(); err != nil {
		return outcomeRejected, err
	}
	x.visitedStates.addComposition(c, x.logScore)
	ratio := x.newcomerWeight(int(i)) / x.newcomerWeight(int(j)) * (hi - lo + 1) / (hiBack - loBack + 1)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(ratio)+float64(x.beta*(x.logScore-was))))) {
		return outcomeUpdated, nil
	}
	x.undoAll(was)
	return outcomeRejected, nil
}

// exchangeAmountRange returns the least and the greatest amount of an ingredient that may replace
// the given amount of another ingredient. One unit of the replaced ingredient equals unitWorth
// units of the new one. No result exceeds total.
func exchangeAmountRange(amount, unitWorth, total float64) (lo, hi float64) {
	room := max(1, unitWorth)
	return max(1, math.Ceil(float64(unitWorth*amount)-room)), min(math.Floor(float64(unitWorth*amount)+room), total)
}

// drawDistinct fills list with uniform random numbers from 0 to limit−1, and reports whether all of
// them differ. It stops at the first number that is equal to an earlier one.
func drawDistinct(r *Rand, list []int, limit int) bool {
	if limit == 1 {
		return len(list) == 1
	}
	for k := range list {
		list[k] = r.Intn(limit)
		if slices.Contains(list[:k], list[k]) {
			return false
		}
	}
	return true
}
