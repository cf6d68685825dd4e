package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// drawTogether draws the m ingredients of a step. The number of used ones is uniform from 1 to m.
// These are drawn uniformly, each once, and the others as often as warm-up met them. It reports
// whether all differ.
func (x *State) drawTogether(r *Rand, s *step) bool {
	c := x.Composition
	used := min(s.count, c.Used())
	if used > 1 {
		used = 1 + r.Intn(used)
	}
	var places [mostTogether]int // positions drawn so far, ascending
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
		s.ingredients[k] = c.list[p]
	}
	for k := used; k < s.count; k++ {
		s.ingredients[k] = int32(x.memory.draw(r, c.N()))
		for _, i := range s.ingredients[:k] {
			if i == s.ingredients[k] {
				return false
			}
		}
	}
	return true
}

// togetherShare is the probability that [State.drawTogether] draws a set T of m
// ingredients of which some, U, are used, of n in all:
//
//	Σ_{a=1}^{min(m,n)} 1/min(m,n) · (m−a)!/C(n,a) · Σ_{S⊆U, |S|=a} Π_{i∈T∖S} q_i.
//
// The inner sums are the coefficients of Π_{i∈U} (z + q_i) · Π_{i∈T∖U} q_i.
func togetherShare(q []float64, used uint, n int) float64 {
	var e [mostTogether + 1]float64
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

// substituteShare is the share of substitutions among the moves along tight sums.
const substituteShare = 0.5

// constrainedMove moves several ingredients together, so that fixed sums keep their value and tight
// sums keep it nearly.
func (x *State) constrainedMove(r *Rand) (outcome, error) {
	rules := x.target.space.rules
	switch t := x.target.tightSums; {
	case rules.lattice != nil:
		return x.onLattice(r, rules.lattice)
	case t == nil || r.Bernoulli(substituteShare):
		return x.substitute(r)
	default:
		return x.compensate(r, t)
	}
}

// onLattice moves some ingredients, T, to another of the compositions x + t·d that
// keep the rules, where d is one of the vectors of T's lattice, drawn uniformly.
// With α(x) the probability that T is drawn at x, and w(t) = π(n)·α of the
// composition at t, it is proposed with probability ∝ w(t), t ≠ 0, and accepted with
//
//	min(1, (W − w(0))/(W − w(t)) · Y(x′)/Y(x)),  W = Σ w.
//
// An ingredient that d changes is absent at one t at most, and that is the first or
// the last: so w takes one value at either end and one between, as on a line.
func (x *State) onLattice(r *Rand, lattice *lattice) (outcome, error) {
	c, s := x.Composition, &x.step
	if !x.drawLatticeStep(r, lattice) {
		return stayed, nil
	}
	from, to := c.stepRange(s)
	if from == to {
		return stayed, nil
	}
	law := x.latticeLaw(from, to)
	p := &x.sumPieces
	p.Reset()
	x.terms[0].scorer.(*ruleScorer).scoreSteps(s, from, to, p)
	line := x.weighScaled(p, to-from, &law, -from, 0, 0)
	if line.otherWeight == 0 {
		return stayed, nil
	}
	k, _, _ := x.drawWeighed(r, p, to-from, &line, -from)
	back := x.weighScaled(p, to-from, &law, k, 0, 0)
	was := x.sum
	x.undo = x.undo[:0]
	x.applySteps(s, k+from)
	if err := x.rescoreMoved(); err != nil {
		return rejected, err
	}
	x.visited.addComposition(c, x.sum)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(line.otherWeight/back.otherWeight)+float64(x.beta*(x.sum-was))))) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}

// drawLatticeStep draws the ingredients of a step and how the step changes them. It returns false if
// there is no step.
func (x *State) drawLatticeStep(r *Rand, lattice *lattice) bool {
	s := &x.step
	most := min(len(lattice.factors)+1+moreTogether, mostTogether, x.Composition.N())
	if most < 3 {
		return false
	}
	// Half of the moves use just as many ingredients as have a step when the equalities concern all
	// of them.
	s.count = min(len(lattice.factors)+2, most)
	if most > 3 && r.Bernoulli(0.5) {
		s.count = 3 + r.Intn(most-2)
	}
	if !x.drawTogether(r, s) {
		return false
	}
	slices.Sort(s.ingredients[:s.count])
	vectors, count := lattice.basis(s.ingredients[:s.count])
	switch {
	case count == 0:
		return false
	case count == 1:
		s.d = vectors[0]
	default:
		s.d = vectors[r.Intn(count)]
	}
	return true
}

// latticeLaw returns w at from, at to and between, up to a factor.
func (x *State) latticeLaw(from, to int) splitLaw {
	c, s := x.Composition, &x.step
	var q [mostTogether]float64
	others := c.Used()
	for k, i := range s.ingredients[:s.count] {
		q[k] = x.memory.share(int(i), c.N())
		if c.amounts[i] > 0 {
			others--
		}
	}
	logWeight := func(at int) (log float64) {
		used := uint(0)
		for k, i := range s.ingredients[:s.count] {
			if int(c.amounts[i])+at*int(s.d[k]) > 0 || from < at && at < to && s.d[k] != 0 {
				used |= 1 << k
			}
		}
		n := others + bits.OnesCount(used)
		if log = x.target.LogLaw(n); log > negInf {
			log += portable.Log(togetherShare(q[:s.count], used, n))
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
		return max(portable.Exp(log-top), minMass)
	}
	return splitLaw{zero: weight(zero), full: weight(full), inner: weight(inner)}
}

// stepRange returns the first and the last t at which no amount of x + t·d is negative.
func (x *Composition) stepRange(s *step) (from, to int) {
	from, to = math.MinInt64, math.MaxInt64
	for k := range s.count {
		amount := x.Amount(int(s.ingredients[k]))
		switch d := int(s.d[k]); {
		case d > 0:
			from = max(from, -(amount / d))
		case d < 0:
			to = min(to, amount/-d)
		}
	}
	return from, to
}

// applySteps changes the amounts by t steps, as a series of moves of two ingredients each.
func (x *State) applySteps(s *step, t int) {
	more := s.d
	for k := range s.count {
		more[k] *= int64(t)
	}
	for i, j := 0, 0; ; {
		for i < s.count && more[i] >= 0 {
			i++
		}
		for j < s.count && more[j] <= 0 {
			j++
		}
		if i == s.count {
			return
		}
		units := min(-more[i], more[j])
		x.resizeBy(int(s.ingredients[i]), int(s.ingredients[j]), x.Composition.Amount(int(s.ingredients[i]))-int(units))
		more[i], more[j] = more[i]+units, more[j]-units
	}
}
