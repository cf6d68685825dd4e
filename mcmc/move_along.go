package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// drawStepIngredients draws s.size ingredients whose amounts a move changes together, and writes
// them to s.ingredients. The number of used ingredients among them is uniform from 1 to s.size, or
// to the number of ingredients that x uses. The used ones are drawn uniformly without repetition,
// and the remaining ones as often as warm-up met them. The result reports whether all drawn
// ingredients differ.
func (x *State) drawStepIngredients(r *Rand, s *ingredientStep) bool {
	c := x.Composition
	used := min(s.size, c.UsedCount())
	if used > 1 {
		used = 1 + r.Intn(used)
	}
	var places [maxStepIngredients]int // positions drawn so far, ascending
	for k := range used {
		p := 0
		if left := c.UsedCount() - k; left > 1 {
			p = r.Intn(left)
		}
		at := 0
		for ; at < k && places[at] <= p; at++ {
			p++
		}
		copy(places[at+1:k+1], places[at:k])
		places[at] = p
		s.ingredients[k] = c.used[p]
	}
	for k := used; k < s.size; k++ {
		s.ingredients[k] = int32(x.memory.drawIngredient(r, c.N()))
		for _, i := range s.ingredients[:k] {
			if i == s.ingredients[k] {
				return false
			}
		}
	}
	return true
}

// stepIngredientsProbability returns the probability that [State.drawStepIngredients] draws a given
// set T of m ingredients. The argument n is the number of used ingredients in all. U is the set of
// the used ingredients in T; bit k of used says whether ingredient k of T is in U. The argument q
// holds, for each ingredient i of T, the probability q_i that [warmupMemory.drawIngredient] draws
// i. The result is
//
//	Σ_{a=1}^{min(m,n)} 1/min(m,n) · (m−a)!/C(n,a) · Σ_{S⊆U, |S|=a} Π_{i∈T∖S} q_i.
//
// The inner sums are the coefficients of Π_{i∈U} (z + q_i) · Π_{i∈T∖U} q_i.
func stepIngredientsProbability(q []float64, used uint, n int) float64 {
	var e [maxStepIngredients + 1]float64
	e[0] = 1
	for k, q := range q {
		in := float64(used >> k & 1)
		for a := k + 1; a > 0; a-- {
			e[a] = float64(e[a]*q) + float64(e[a-1]*in)
		}
		e[0] = float64(e[0] * q)
	}
	m := len(q)
	sum, ways := 0.0, 1/float64(n) // the factor (m−a)!/C(n, a) for the current a
	for k := 2; k < m; k++ {
		ways = float64(ways * float64(k))
	}
	for a := 1; a <= min(m, n); a++ {
		sum += float64(ways * e[a])
		if a < min(m, n) {
			ways = float64(ways * (float64(a+1) / (float64(m-a) * float64(n-a))))
		}
	}
	return sum / float64(min(m, n))
}

// substituteShare is the share of [State.substituteIngredient] among the along moves if there are
// tight sums; see [tightSums]. The other along moves are [State.compensatedExchange].
const substituteShare = 0.5

// constrainedMove is the along move of [Balanced]. It changes several ingredients together so that
// sums fixed by rules keep their values, and [tightSums] nearly keep them.
func (x *State) constrainedMove(r *Rand) (moveOutcome, error) {
	rules := x.target.space.rules
	switch t := x.target.tightSums; {
	case rules.lattice != nil:
		return x.latticeMove(r, rules.lattice)
	case t == nil || r.Bernoulli(substituteShare):
		return x.substituteIngredient(r)
	default:
		return x.compensatedExchange(r, t)
	}
}

// latticeMove changes the amounts of a few ingredients together, so that all sums that rules fix
// keep their values. It draws a set T of ingredients and a vector d of the [lattice] of T,
// uniformly from a basis. It changes the amounts by t·d for an integer t. The result must keep the
// rules.
//
// Let α be the probability that T is drawn at a composition, and w(t) = π(n)·α at the composition x
// + t·d. Then t ≠ 0 is proposed with probability ∝ w(t) and accepted with probability
//
//	min(1, (W − w(0))/(W − w(t)) · Y(x′)/Y(x)),  W = Σ w.
//
// An ingredient that d changes is unused at one t at most, and that t is the first or the last. So
// w has one value at each end of the range of t, and one value between.
func (x *State) latticeMove(r *Rand, lattice *lattice) (moveOutcome, error) {
	c, s := x.Composition, &x.stepScratch
	if !x.drawLatticeStep(r, lattice) {
		return outcomeUnchanged, nil
	}
	from, to := c.stepNumberRange(s)
	if from == to {
		return outcomeUnchanged, nil
	}
	law := x.latticeStepLaw(from, to)
	p := &x.sumPieces
	p.Reset()
	x.scoredTerms[0].scorer.(*ruleScorer).scoreSteps(s, from, to, p)
	line := x.weighSplitsScaled(p, to-from, &law, -from, 0, 0)
	if line.otherSplitsWeight == 0 {
		return outcomeUnchanged, nil
	}
	k, _, _ := x.drawWeighedSplit(r, p, to-from, &line, -from)
	back := x.weighSplitsScaled(p, to-from, &law, k, 0, 0)
	was := x.logScore
	x.undoMoves = x.undoMoves[:0]
	x.applySteps(s, k+from)
	if err := x.rescoreAfterMoves(); err != nil {
		return outcomeRejected, err
	}
	x.visitedStates.addComposition(c, x.logScore)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(line.otherSplitsWeight/back.otherSplitsWeight)+float64(x.beta*(x.logScore-was))))) {
		return outcomeUpdated, nil
	}
	x.undoAll(was)
	return outcomeRejected, nil
}

// drawLatticeStep draws a few ingredients and a change of their amounts that keeps all sums fixed
// by rules. It writes them to x.stepScratch. It returns false if the drawn ingredients have no such
// change.
func (x *State) drawLatticeStep(r *Rand, lattice *lattice) bool {
	s := &x.stepScratch
	most := min(len(lattice.equalityFactors)+1+maxExtraIngredients, maxStepIngredients, x.Composition.N())
	if most < 3 {
		return false
	}
	// Half of the moves use just as many ingredients as have a step when the equalities concern all
	// of them.
	s.size = min(len(lattice.equalityFactors)+2, most)
	if most > 3 && r.Bernoulli(0.5) {
		s.size = 3 + r.Intn(most-2)
	}
	if !x.drawStepIngredients(r, s) {
		return false
	}
	slices.Sort(s.ingredients[:s.size])
	vectors, count := lattice.changeBasis(s.ingredients[:s.size])
	switch {
	case count == 0:
		return false
	case count == 1:
		s.changes = vectors[0]
	default:
		s.changes = vectors[r.Intn(count)]
	}
	return true
}

// latticeStepLaw returns the weights w(t) of [State.latticeMove], up to a common factor. They have
// three values: for t = from, for t = to, and for all t between.
func (x *State) latticeStepLaw(from, to int) splitLaw {
	c, s := x.Composition, &x.stepScratch
	var q [maxStepIngredients]float64
	others := c.UsedCount()
	for k, i := range s.ingredients[:s.size] {
		q[k] = x.memory.ingredientProbability(int(i), c.N())
		if c.amounts[i] > 0 {
			others--
		}
	}
	logWeight := func(at int) (log float64) {
		used := uint(0)
		for k, i := range s.ingredients[:s.size] {
			if int(c.amounts[i])+at*int(s.changes[k]) > 0 || from < at && at < to && s.changes[k] != 0 {
				used |= 1 << k
			}
		}
		n := others + bits.OnesCount(used)
		if log = x.target.LogLaw(n); log > negInf {
			log += portable.Log(stepIngredientsProbability(q[:s.size], used, n))
		}
		return log
	}
	zero, full, inner := logWeight(from), logWeight(to), negInf
	if to-from > 1 {
		inner = logWeight(from + 1)
	}
	top := max(zero, full, inner)
	weight := func(log float64) float64 {
		if log == negInf {
			return 0
		}
		return max(portable.Exp(log-top), minSizeProbability)
	}
	return splitLaw{zeroSplitWeight: weight(zero), fullSplitWeight: weight(full), innerSplitWeight: weight(inner)}
}

// stepNumberRange returns the range of integers t for which no amount becomes negative if
// t·s.changes is added to the amounts of s.ingredients.
func (x *Composition) stepNumberRange(s *ingredientStep) (from, to int) {
	from, to = math.MinInt64, math.MaxInt64
	for k := range s.size {
		amount := x.Amount(int(s.ingredients[k]))
		switch d := int(s.changes[k]); {
		case d > 0:
			from = max(from, -(amount / d))
		case d < 0:
			to = min(to, amount/-d)
		}
	}
	return from, to
}

// applySteps adds t·s.changes to the amounts of s.ingredients. It makes a series of changes of two
// ingredients each.
func (x *State) applySteps(s *ingredientStep, t int) {
	more := s.changes
	for k := range s.size {
		more[k] *= int64(t)
	}
	for i, j := 0, 0; ; {
		for i < s.size && more[i] >= 0 {
			i++
		}
		for j < s.size && more[j] <= 0 {
			j++
		}
		if i == s.size {
			return
		}
		units := min(-more[i], more[j])
		x.moveUndoably(int(s.ingredients[i]), int(s.ingredients[j]), x.Composition.Amount(int(s.ingredients[i]))-int(units))
		more[i], more[j] = more[i]+units, more[j]-units
	}
}
