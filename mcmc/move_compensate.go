package mcmc

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// compensate exchanges a used ingredient i for an absent one j, and lets h others that
// are used make up for what h tight sums would gain or lose, all but for rounding.
//
// Which and in which order are drawn whatever the amounts: i and the others uniformly
// among the used ones, j by q, see [State.drawNewcomer]. With a the lesser and b the
// greater of i and j, [tightSums.solve] says what b takes of each unit of a: ρ, and
// the others κ. A pair of amounts (x, y) of a and b is possible if
// |y − ρx| ≤ max(1, ρ), 1 ≤ x, y ≤ M. Of those with i's amount, there are A, j's is
// drawn uniformly, and B go with j's. The others but the last change by
// κ·(x + y/ρ)/2, rounded, and the last takes the rest: the way back takes the same
// away. So the candidate is accepted with
//
//	min(1, q_i·A/(q_j·B) · Y(x′)/Y(x)).
func (x *State) compensate(r *Rand, tight *tightSums) (outcome, error) {
	c, s := x.Composition, &x.step
	var held [maxCompensated]int
	h := min(maxCompensated, len(tight.factors))
	if !drawDifferent(r, held[:h], len(tight.factors)) {
		return stayed, nil
	}
	var places [maxCompensated + 1]int
	if c.Used() <= h || !drawDifferent(r, places[:h+1], c.Used()) {
		return stayed, nil
	}
	j := x.drawNewcomer(r)
	if c.amounts[j] > 0 {
		return stayed, nil
	}
	i := c.list[places[0]]
	s.count = h + 2
	s.ingredients[0], s.ingredients[1] = i, j
	for k, place := range places[1 : h+1] {
		s.ingredients[k+2] = c.list[place]
	}
	others := s.ingredients[2:s.count]
	rho, kappa, ok := tight.solve(held[:h], min(i, j), max(i, j), others)
	if !ok {
		return stayed, nil
	}
	total := float64(x.target.space.total)
	there, back := rho, 1/rho // units of j for one of i, and units of i for one of j
	if i > j {
		there, back = back, there
	}
	had := float64(c.amounts[i])
	lo, hi := amountsFor(had, there, total)
	if lo > hi {
		return stayed, nil
	}
	has := lo
	if hi > lo {
		has += float64(r.Intn(int(hi-lo) + 1))
	}
	loBack, hiBack := amountsFor(has, back, total)
	if had < loBack || had > hiBack {
		return rejected, nil
	}
	s.d[0], s.d[1] = -int64(had), int64(has)
	left, moved := int64(had-has), float64((had+has/rho)/2)
	if i > j {
		moved = float64(-(has + had/rho) / 2)
	}
	for k, other := range others {
		d := left
		if k < h-1 {
			exact := math.Round(kappa[k] * moved)
			if !(math.Abs(exact) < total) { // more units than the total
				return rejected, nil
			}
			d = int64(exact)
			left -= d
		}
		if amount := int64(c.amounts[other]) + d; amount < 1 || amount > int64(total) {
			return rejected, nil
		}
		s.d[k+2] = d
	}
	was := x.sum
	x.undo = x.undo[:0]
	x.applySteps(s, 1)
	if err := x.rescoreMoved(); err != nil {
		return rejected, err
	}
	x.visited.addComposition(c, x.sum)
	ratio := x.newcomerShare(int(i)) / x.newcomerShare(int(j)) * (hi - lo + 1) / (hiBack - loBack + 1)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(ratio)+float64(x.beta*(x.sum-was))))) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}

// amountsFor returns the least and the greatest amount of one ingredient that may replace an amount
// of another, where each unit of the latter is worth the given number of units.
func amountsFor(amount, worth, total float64) (lo, hi float64) {
	room := max(1, worth)
	return max(1, math.Ceil(float64(worth*amount)-room)), min(math.Floor(float64(worth*amount)+room), total)
}

// drawDifferent fills a list with numbers below n, and reports whether all differ.
func drawDifferent(r *Rand, list []int, n int) bool {
	if n == 1 {
		return len(list) == 1
	}
	for k := range list {
		list[k] = r.Intn(n)
		if slices.Contains(list[:k], list[k]) {
			return false
		}
	}
	return true
}
