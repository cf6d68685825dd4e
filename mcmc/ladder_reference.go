package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// A referenceLaw is the law of whole compositions at which the learnt leg of a ladder begins, in
// place of the sparsity law. Draws from it are independent, and its density is known:
//
//	q(x) = a·g(x) + (1 − a·G)·d(x),  G = Σ g.
//
// Here g is the law by which recall draws from the states that warm-up met at β = 1, and d is the
// law by which [Exact] draws. So q is positive wherever the target is.
//
// A draw from g that takes an ingredient twice is no composition, and is repeated, up to maxTries
// times in all. A draw comes from d if all tries fail. With probability s = sparsityDrawShare it
// comes from d without a try. So a = (1 − s)·(1 − (1−G)^maxTries)/G.
type referenceLaw struct {
	recallMemory warmupMemory // the memory that defines g; each state that draws has a copy
	maxTries     int          // greatest number of draws from g for one composition

	logRecallFactor, logSparsityFactor float64 // the logarithms of a and of 1 − a·G
}

const (
	sparsityDrawShare = 0.05 // share of draws from a [referenceLaw] that come from the sparsity law without a try from memory
	maxRecallTries    = 8    // greatest number of draws from memory for one draw from a [referenceLaw]

	minRecallMass    = 0.01    // least probability that a draw from memory is a composition; below it no [referenceLaw] is made
	maxDistinctSteps = 1 << 24 // greatest number of steps spent on computing that probability
)

// newReferenceLaw returns the reference law learnt from the states that warm-up met. It returns nil if
// there are no such states, or if a draw from memory is almost never a composition; see
// [referenceLaw].
func newReferenceLaw(t *Target, met *stateList, tries int) *referenceLaw {
	f := &referenceLaw{maxTries: tries}
	f.recallMemory.learnFrom(t, met)
	g := f.recallMemory.distinctProbability(t)
	if g < minRecallMass {
		return nil
	}
	some := 1.0 // probability that at least one of the tries from g gives a composition
	if g < 1 {
		some = -portable.Expm1(float64(float64(tries) * portable.Log1p(-g)))
	}
	f.logRecallFactor = portable.Log((1 - sparsityDrawShare) * some / g)
	f.logSparsityFactor = portable.Log1p(float64(-(1 - sparsityDrawShare) * some))
	return f
}

// distinctProbability returns the probability that a draw of recall takes no ingredient twice. It
// returns 0 if this probability would take too long to compute, or if warm-up met no state.
func (m *warmupMemory) distinctProbability(t *Target) float64 {
	n := t.space.ingredients
	met := slices.Compact(slices.Sorted(slices.Values(m.ingredients)))
	if len(met) == 0 || len(met) > maxDistinctSteps/t.law.maxSize/(1+len(m.groupsByCore)) {
		return 0
	}
	var shares []float64
	for _, i := range met {
		shares = append(shares, m.probability(int(i), n))
	}
	loosely := distinctProbabilities(shares, n-len(met), uniformDrawShare/float64(n), t.law.maxSize)
	together := make(map[*coreGroup][]float64) // by group: distinctOtherProbabilities; the key nil stands for cores without a group
	g := 0.0
	for k, size := range m.sizes {
		own := m.groupsByCore[m.stateCores[k]]
		if together[own] == nil {
			together[own] = m.distinctOtherProbabilities(t, met, own)
		}
		g += (1 - independentRecallShare) * together[own][int(size)-bits.OnesCount64(m.stateCores[k])] / float64(len(m.sizes))
	}
	for k, p := range t.law.probabilities {
		size := float64(uniformDrawShare*p) + (1-uniformDrawShare)*float64(m.sizeCounts[k])/float64(len(m.sizes))
		g += float64(independentRecallShare * size * loosely[t.law.minSize+k])
	}
	return min(g, 1)
}

// distinctOtherProbabilities returns, at index k, the probability that k draws by
// [adaptiveProposal.drawOther] for a group give k different ingredients. The index k goes from 0 to
// the greatest number of ingredients of the law. The argument met lists the ingredients that
// warm-up met.
func (m *warmupMemory) distinctOtherProbabilities(t *Target, met []int32, own *coreGroup) []float64 {
	n := t.space.ingredients
	var shares []float64
	for _, i := range met {
		if int(m.rankOf(i)) >= m.coreSize {
			shares = append(shares, m.otherProbability(i, own, n))
		}
	}
	each := 1 / float64(n-m.coreSize)
	if len(m.otherUses) > 0 {
		each = float64(each * uniformDrawShare)
	}
	if own != nil && len(own.otherUses) > 0 {
		each = float64(each * (1 - groupDrawShare))
	}
	return distinctProbabilities(shares, n-m.coreSize-len(shares), each, t.law.maxSize)
}

// distinctProbabilities returns, at index k from 0 to most, the probability that k independent
// draws of things all differ. The slice some holds the probabilities of some things. The number of
// remaining things is others, and each of them has the probability each. A further thing of
// probability q raises P(k draws differ) by k·q·P(k−1 draws without that thing differ).
func distinctProbabilities(some []float64, others int, each float64, most int) []float64 {
	p := make([]float64, most+1)
	p[0] = 1
	for k := range min(most, others) {
		p[k+1] = float64(p[k] * float64(others-k) * each)
	}
	for _, q := range some {
		for k := most; k > 0; k-- {
			p[k] += float64(float64(k) * q * p[k-1])
		}
	}
	return p
}

// newMemory returns a copy of the memory, with which a state draws from the reference law.
func (f *referenceLaw) newMemory() *warmupMemory {
	m := &warmupMemory{adaptiveProposal: f.recallMemory.adaptiveProposal}
	m.divisionOrder = nil
	return m
}

// draw makes y an independent draw from the reference law. The memory of the state x must be that
// of the law. The result is the probability that recall divides the total among y's ingredients
// into y's amounts.
func (f *referenceLaw) draw(r *Rand, x *State, y *Composition) (divided smallProduct) {
	if !r.Bernoulli(sparsityDrawShare) {
		for range f.maxTries {
			if x.drawIngredients(r, y) {
				x.target.space.conditions.draw(r, y)
				return x.memory.divideAmounts(r, &x.drawer.uniformDrawer, y)
			}
		}
	}
	x.drawExact(r, y)
	return x.memory.divideAmounts(nil, nil, y)
}

// logProbability returns log q(y), the log probability of y under the reference law. The memory of
// the state x must be that of the law.
func (f *referenceLaw) logProbability(x *State, y *Composition) float64 {
	return f.logProbabilityOfDivided(x, y, x.memory.divideAmounts(nil, nil, y))
}

// logProbabilityOfDivided returns log q(y), the log probability of y under the reference law. The
// argument divided is the probability with which recall divides the total among y's ingredients
// into y's amounts. The memory of the state x must be that of the law.
func (f *referenceLaw) logProbabilityOfDivided(x *State, y *Composition, divided smallProduct) float64 {
	t := x.target
	recalled := f.logRecallFactor + divided.timesProduct(x.ingredientsProbability(y)).log()
	plain := f.logSparsityFactor + t.logDrawProbability[y.Used()-t.law.minSize]
	return max(recalled, plain) + portable.Log1p(portable.Exp(-math.Abs(recalled-plain)))
}

// currentLogProbability returns the log probability of the composition of x under the reference
// law. The result is cached until the composition changes.
func (f *referenceLaw) currentLogProbability(x *State) float64 {
	if !x.logRecallCached {
		x.logRecallCached, x.cachedLogRecall = true, f.logProbability(x, x.Composition)
	}
	return x.cachedLogRecall
}

// move moves a state of the learnt leg, which follows the law
//
//	q(x)^(1−β) · (π(n)·Y(x))^β.
//
// At β = 0 the new state is an independent draw from q. At other β a draw from q is the candidate
// of [State.wholeMove], with weight (π/q)^β.
func (f *referenceLaw) move(r *Rand, x *State) error {
	if x.beta == 0 {
		divided := f.draw(r, x, x.Composition)
		err := x.Refresh()
		x.logRecallCached, x.cachedLogRecall = true, f.logProbabilityOfDivided(x, x.Composition, divided)
		x.visited.addComposition(x.Composition, x.logScore)
		return err
	}
	if err := x.checkMovable("learnt leg", x.target); err != nil {
		return err
	}
	weight := func(y *Composition, log float64) float64 { return float64(x.beta * (x.target.LogLaw(y.Used()) - log)) }
	there := 0.0
	result, _, err := x.wholeMove(r, func() float64 {
		return weight(x.Composition, f.currentLogProbability(x))
	}, func(y *Composition) (float64, bool) {
		there = f.logProbabilityOfDivided(x, y, f.draw(r, x, y))
		return weight(y, there), true
	})
	if result == outcomeUpdated && x.target.batchSize == 1 { // in a batch, there belongs to the last candidate, not to the accepted one
		x.logRecallCached, x.cachedLogRecall = true, there
	}
	return err
}
