package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// A referenceLaw is the distribution of compositions at β = 0 of the learnt leg, the second ladder
// of a chain of [Tempered]. (The first ladder has the sparsity law there.) Draws from it are
// independent, and its density is known:
//
//	q(x) = a·g(x) + (1 − a·G)·d(x),  G = Σ g.
//
// Here g is the distribution by which the recall move of [Balanced] draws, learnt from the states
// that warm-up met at β = 1. And d is the distribution by which [Exact] draws. So q is positive
// wherever the target is.
//
// A draw from g may take an ingredient twice. Then it is no composition, and is repeated, up to
// maxTries times in all. If all tries fail, the draw comes from d. With probability s =
// sparsityDrawShare it comes from d without a try. So a = (1 − s)·(1 − (1−G)^maxTries)/G.
type referenceLaw struct {
	recallMemory warmupMemory // the compositions that define g in the formula for q; each state that draws has a copy
	maxTries     int          // greatest number of recall draws that are tried for one draw from the reference law

	logRecallFactor   float64 // log a, the factor of g in the formula for q
	logSparsityFactor float64 // log(1 − a·G), the factor of d in the formula for q
}

const (
	sparsityDrawShare = 0.05 // share of draws from a [referenceLaw] that come from the sparsity law at once, without use of what warm-up met
	maxRecallTries    = 8    // greatest number of recall draws that are tried for one draw from a [referenceLaw]

	minDistinctDrawProbability = 0.01    // least probability that a recall draw takes no ingredient twice; if it is smaller, no [referenceLaw] is used
	maxDistinctDrawSteps       = 1 << 24 // greatest number of steps that the computation of this probability may take
)

// newReferenceLaw returns the reference law learnt from the states in met. A draw makes at most
// maxTries tries. The result is nil if there are no states, or if a recall draw almost always takes
// an ingredient twice.
func newReferenceLaw(t *Target, met *stateList, maxTries int) *referenceLaw {
	f := &referenceLaw{maxTries: maxTries}
	f.recallMemory.learnFrom(t, met)
	g := f.recallMemory.distinctDrawProbability(t)
	if g < minDistinctDrawProbability {
		return nil
	}
	some := 1.0 // probability that at least one of the tries from g gives a composition
	if g < 1 {
		some = -portable.Expm1(float64(float64(maxTries) * portable.Log1p(-g)))
	}
	f.logRecallFactor = portable.Log((1 - sparsityDrawShare) * some / g)
	f.logSparsityFactor = portable.Log1p(float64(-(1 - sparsityDrawShare) * some))
	return f
}

// distinctDrawProbability returns the probability that a recall draw takes no ingredient twice. It
// returns 0 if this probability would take too long to compute, or if warm-up met no state.
func (m *warmupMemory) distinctDrawProbability(t *Target) float64 {
	n := t.space.ingredients
	met := slices.Compact(slices.Sorted(slices.Values(m.ingredients)))
	if len(met) == 0 || len(met) > maxDistinctDrawSteps/t.law.maxSize/(1+len(m.groupsByCore)) {
		return 0
	}
	var shares []float64
	for _, i := range met {
		shares = append(shares, m.ingredientProbability(int(i), n))
	}
	loosely := distinctDrawProbabilities(shares, n-len(met), uniformDrawShare/float64(n), t.law.maxSize)
	together := make(map[*coreGroup][]float64) // by group: distinctOtherProbabilities; the key nil stands for cores without a group
	g := 0.0
	for k, size := range m.sizes {
		own := m.groupsByCore[m.stateCores[k]]
		if together[own] == nil {
			together[own] = m.distinctOtherDrawProbabilities(t, met, own)
		}
		g += (1 - independentRecallShare) * together[own][int(size)-bits.OnesCount64(m.stateCores[k])] / float64(len(m.sizes))
	}
	for k, p := range t.law.probabilities {
		size := float64(uniformDrawShare*p) + (1-uniformDrawShare)*float64(m.sizeCounts[k])/float64(len(m.sizes))
		g += float64(independentRecallShare * size * loosely[t.law.minSize+k])
	}
	return min(g, 1)
}

// distinctOtherDrawProbabilities returns, at index k, the probability that k draws by
// [adaptiveProposal.drawOther] for the group own give k different ingredients. The index k goes
// from 0 to the greatest number of ingredients in a composition. The argument met lists the
// ingredients that warm-up met.
func (m *warmupMemory) distinctOtherDrawProbabilities(t *Target, met []int32, own *coreGroup) []float64 {
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
	return distinctDrawProbabilities(shares, n-m.coreSize-len(shares), each, t.law.maxSize)
}

// distinctDrawProbabilities returns, at index k from 0 to maxDraws, the probability that k
// independent draws of things all differ. Thing t has the probability thingProbabilities[t]. There
// are also otherThings things of which each has the probability otherProbability. The recursion is:
// one more thing of probability q raises P(k draws differ) by k·q·P(k−1 draws without this thing
// differ).
func distinctDrawProbabilities(thingProbabilities []float64, otherThings int, otherProbability float64, maxDraws int) []float64 {
	p := make([]float64, maxDraws+1)
	p[0] = 1
	for k := range min(maxDraws, otherThings) {
		p[k+1] = float64(p[k] * float64(otherThings-k) * otherProbability)
	}
	for _, q := range thingProbabilities {
		for k := maxDraws; k > 0; k-- {
			p[k] += float64(float64(k) * q * p[k-1])
		}
	}
	return p
}

// copyMemory returns a copy of the learnt compositions. A state needs a copy of its own to draw from
// the reference law.
func (f *referenceLaw) copyMemory() *warmupMemory {
	m := &warmupMemory{adaptiveProposal: f.recallMemory.adaptiveProposal}
	m.divisionOrder = nil
	return m
}

// draw makes y an independent draw from the reference law. It needs the copy of the law's memory
// that the state x holds. The result divided is the probability of the amounts of y, given the
// ingredients of y, in a recall draw.
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

// logProbability returns log q(y), the log probability of y under the reference law. It needs the
// copy of the law's memory that the state x holds.
func (f *referenceLaw) logProbability(x *State, y *Composition) float64 {
	return f.logProbabilityOfDivided(x, y, x.memory.divideAmounts(nil, nil, y))
}

// logProbabilityOfDivided returns log q(y), the log probability of y under the reference law. The
// argument divided is the probability of the amounts of y, given the ingredients of y, in a recall
// draw. The state x holds a copy of the law's memory.
func (f *referenceLaw) logProbabilityOfDivided(x *State, y *Composition, divided smallProduct) float64 {
	t := x.target
	recalled := f.logRecallFactor + divided.timesProduct(x.ingredientsProbability(y)).log()
	plain := f.logSparsityFactor + t.logDrawProbability[y.UsedCount()-t.law.minSize]
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

// move moves a state of the learnt leg, the second ladder of a chain of [Tempered]. At β the leg
// has the distribution
//
//	q(x)^(1−β) · (π(n)·Y(x))^β.
//
// At β = 0 the new state is an independent draw from the reference law q. At other β a draw from q
// is the candidate of [State.wholeMove], with weight (π/q)^β.
func (f *referenceLaw) move(r *Rand, x *State) error {
	if x.beta == 0 {
		divided := f.draw(r, x, x.Composition)
		err := x.Refresh()
		x.logRecallCached, x.cachedLogRecall = true, f.logProbabilityOfDivided(x, x.Composition, divided)
		x.visitedStates.addComposition(x.Composition, x.logScore)
		return err
	}
	if err := x.checkMovable("learnt leg", x.target); err != nil {
		return err
	}
	weight := func(y *Composition, log float64) float64 {
		return float64(x.beta * (x.target.LogLaw(y.UsedCount()) - log))
	}
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
