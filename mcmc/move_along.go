package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// drawStepIngredients draws the ingredients of a step, as many as s.size. The number of used
// ingredients among them is uniform from 1 to s.size, or to the number of ingredients that x uses.
// These are drawn uniformly without repetition, and the remaining ingredients as often as warm-up
// met them. It reports whether all drawn ingredients differ.
func (x *State) drawStepIngredients(r *Rand, s *ingredientStep) bool {
	c := x.Composition
	used := min(s.size, c.Used())
	if used > 1 {
		used = 1 + r.Intn(used)
	}
	var places [maxStepIngredients]int // positions drawn so far, ascending
	for k := range used {
		p := 0
		if left := c.Used() - k; left > 1 {
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
// set T of m ingredients. Here n is the number of used ingredients in all, U the set of the used
// ingredients in T, and q_i the probability that [warmupMemory.drawIngredient] draws ingredient i. The
// bits of used say which ingredients of T are in U. The result is
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

// substituteShare is the share of moves by [State.substituteIngredient], as opposed to [State.compensatedExchange], if
// there are tight sums.
const substituteShare = 0.5

// constrainedMove changes several ingredients together, so that fixed sums keep their values, and
// tight sums nearly do.
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

// latticeMove changes the amounts of a few ingredients T by t·d, where d is a vector of the lattice
// of T, drawn uniformly from its basis, and t is an integer. The result must keep the rules. Let α
// be the probability that T is drawn at a composition, and w(t) = π(n)·α at the composition x +
// t·d. Then t ≠ 0 is proposed with probability ∝ w(t) and accepted with probability
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
	from, to := c.stepRange(s)
	if from == to {
		return outcomeUnchanged, nil
	}
	law := x.latticeLaw(from, to)
	p := &x.sumPieces
	p.Reset()
	x.terms[0].scorer.(*ruleScorer).scoreSteps(s, from, to, p)
	line := x.weighSplitsScaled(p, to-from, &law, -from, 0, 0)
	if line.otherWeight == 0 {
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
	x.visited.addComposition(c, x.logScore)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(line.otherWeight/back.otherWeight)+float64(x.beta*(x.logScore-was))))) {
		return outcomeUpdated, nil
	}
	x.undoAll(was)
	return outcomeRejected, nil
}

// drawLatticeStep draws the ingredients of a step and a vector of changes that keeps all
// equalities. It returns false if there is no such vector.
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
	vectors, count := lattice.basis(s.ingredients[:s.size])
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

// latticeLaw returns the weights w of [State.latticeMove] up to a common factor: for the step
// numbers from and to, and for all step numbers between.
func (x *State) latticeLaw(from, to int) splitLaw {
	c, s := x.Composition, &x.stepScratch
	var q [maxStepIngredients]float64
	others := c.Used()
	for k, i := range s.ingredients[:s.size] {
		q[k] = x.memory.probability(int(i), c.N())
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
		return max(portable.Exp(log-top), minProbability)
	}
	return splitLaw{zeroWeight: weight(zero), fullWeight: weight(full), innerWeight: weight(inner)}
}

// stepRange returns the first and the last number t of steps after which no amount is negative. A
// step adds s.changes to the amounts of s.ingredients.
func (x *Composition) stepRange(s *ingredientStep) (from, to int) {
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

// applySteps changes the amounts by t steps. It makes a series of changes of two ingredients each.
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
