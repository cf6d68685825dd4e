package mcmc

import "kir/internal/portable"

// Number of candidates for the new ingredient that [State.substituteIngredient] checks against the
// rules. If rules leave sums little room, few candidates are allowed, so more are needed.
const (
	tightCandidateCount = 16 // number of candidates if there are [tightSums]
	roomyCandidateCount = 8  // number of candidates if there are no [tightSums]
)

// substituteIngredient replaces a used ingredient i by an ingredient j that is then unused,
// possibly i again. It divides the joint amount of i and another used ingredient k between j and k.
//
// The ingredients i and k are drawn uniformly among the used ones. There are m candidates c_1..c_m
// for j, each drawn with probability q by [State.drawNewcomer]. Let A(c) be the number of divisions
// of x_i + x_k between c and k that the rules allow and that use both; it is 0 if x uses c besides
// i. One of the divisions of all candidates is drawn uniformly, and its candidate is j. If D of the
// divisions belong to the other candidates, the division is accepted with probability
//
//	min(1, q_i·(A(j) + D)/(q_j·(A(i) + D)) · Y(x′)/Y(x)).
//
// To see why, consider the flow from x to x′ with j at a given place among the candidates, and with
// the other candidates given. Up to factors that x and x′ share, it is Y(x)·q_j/(A(j) + D) times
// the acceptance probability. In the reverse move i is at the same place, and one of A(i) + D
// divisions is drawn. So the flow is symmetric.
//
// Only the drawn division is scored. If rules leave a sum or a total little room, hardly any
// ingredient can replace another, and a single candidate would rarely be allowed.
func (x *State) substituteIngredient(r *Rand) (moveOutcome, error) {
	c := x.Composition
	if c.UsedCount() < 2 {
		return outcomeUnchanged, nil
	}
	i, k := drawTwoUsed(r, c)
	had, s := c.Amount(i), c.Amount(i)+c.Amount(k)
	was := x.logScore
	x.undoMoves = x.undoMoves[:0]
	x.moveUndoably(i, k, 0)
	var candidates, splits [tightCandidateCount]int
	m, there := tightCandidateCount, 0
	switch {
	case r.oracle != nil:
		m = 2 // all outcomes are looked at, and must not be too many
	case x.target.tightSums == nil:
		m = roomyCandidateCount
	}
	for a := range m {
		candidates[a] = int(x.drawNewcomer(r))
		if c.amounts[candidates[a]] == 0 {
			splits[a], _ = x.allowedInnerSplits(candidates[a], k, s, 0)
			there += splits[a]
		}
	}
	if there == 0 {
		x.undoAll(was)
		return outcomeRejected, nil
	}
	a, before := 0, 0
	if there > 1 {
		before = r.Intn(there)
	}
	for before >= splits[a] {
		before -= splits[a]
		a++
	}
	j := candidates[a]
	_, split := x.allowedInnerSplits(j, k, s, before)
	if j == i && split == had {
		x.undoAll(was)
		return outcomeUnchanged, nil
	}
	back, _ := x.allowedInnerSplits(i, k, s, 0)
	back += there - splits[a]
	x.moveUndoably(j, k, split)
	if err := x.rescoreAfterMoves(); err != nil {
		return outcomeRejected, err
	}
	x.visitedStates.addComposition(c, x.logScore)
	ratio := x.newcomerWeight(i) / x.newcomerWeight(j) * float64(there) / float64(back)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(ratio)+float64(x.beta*(x.logScore-was))))) {
		return outcomeUpdated, nil
	}
	x.undoAll(was)
	return outcomeRejected, nil
}

// allowedInnerSplits counts the divisions of s units among the ingredients i and j that the rules
// allow and that use both. It also returns one of them: the first after skippedCount others, as the
// number of units for i.
func (x *State) allowedInnerSplits(i, j, s, skippedCount int) (count, split int) {
	p := &x.propertyPieces
	p.Reset()
	x.scoredTerms[0].scorer.Line(i, j, p)
	for q, v := range p.values {
		if v == negInf {
			continue
		}
		from, to := innerSplitsOfPiece(p, q, s)
		if to <= from {
			continue
		}
		if skippedCount >= count && skippedCount < count+to-from {
			split = from + skippedCount - count
		}
		count += to - from
	}
	return count, split
}

// drawNewcomer draws an ingredient that may become used. Half of the draws are as frequent as
// warm-up met each ingredient; a slow chain meets some too rarely. So the other half are uniform.
func (x *State) drawNewcomer(r *Rand) int32 {
	if r.Bernoulli(0.5) {
		return int32(x.memory.drawIngredient(r, x.Composition.N()))
	}
	return int32(r.Intn(x.Composition.N()))
}

// newcomerWeight returns twice the probability that [State.drawNewcomer] draws ingredient i.
func (x *State) newcomerWeight(i int) float64 {
	n := x.Composition.N()
	return 1/float64(n) + x.memory.ingredientProbability(i, n)
}
