package mcmc

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// A reference is the law of whole compositions at which the learnt leg of a ladder begins. Draws
// from it are independent, and its density is known:
//
//	q(x) = a·g(x) + (1 − a·G)·d(x),  G = Σ g.
//
// g is the law by which recall draws from what warm-up met at β = 1, and d the law by which [Exact]
// draws. So q is positive wherever the target is. A draw from g that takes an ingredient twice is no
// composition and is repeated, up to recallTries times in all. If all tries fail, and with
// probability plain without a try, the draw comes from d. So a = (1 − plain)·(1 − (1−G)^tries)/G.
type reference struct {
	recallMemory memory // the memory that draws from g; each state that draws has a copy
	tries        int

	logRecall, logPlain float64 // log a and log(1 − a·G)
}

const (
	plain       = 0.05
	recallTries = 8

	leastMass    = 0.01    // the least G for which a reference is made
	mostDistinct = 1 << 24 // bound of the steps for computing G
)

// newReference returns the reference learnt from the states met. It returns nil if there are none,
// or if almost no draw from g is a composition.
func newReference(t *Target, met *states, tries int) *reference {
	f := &reference{tries: tries}
	f.recallMemory.learn(t, met)
	g := f.recallMemory.mass(t)
	if g < leastMass {
		return nil
	}
	some := 1.0 // probability that at least one of the tries from g gives a composition
	if g < 1 {
		some = -portable.Expm1(float64(float64(tries) * portable.Log1p(-g)))
	}
	f.logRecall = portable.Log((1 - plain) * some / g)
	f.logPlain = portable.Log1p(float64(-(1 - plain) * some))
	return f
}

// mass returns G, the probability that recall draws no ingredient twice. It returns 0 where G takes
// too long to compute or no state was met.
func (m *memory) mass(t *Target) float64 {
	n := t.space.ingredients
	met := slices.Compact(slices.Sorted(slices.Values(m.list)))
	if len(met) == 0 || len(met) > mostDistinct/t.law.hi/(1+len(m.groups)) {
		return 0
	}
	var shares []float64
	for _, i := range met {
		shares = append(shares, m.share(int(i), n))
	}
	loosely := distinctProbabilities(shares, n-len(met), uniformShare/float64(n), t.law.hi)
	together := make(map[*group][]float64) // by group: distinctOthers; the key nil stands for cores without a group
	g := 0.0
	for k, size := range m.sizes {
		own := m.groups[m.cores[k]]
		if together[own] == nil {
			together[own] = m.distinctOthers(t, met, own)
		}
		g += (1 - looseShare) * together[own][int(size)-bits.OnesCount64(m.cores[k])] / float64(len(m.sizes))
	}
	for k, p := range t.law.p {
		size := float64(uniformShare*p) + (1-uniformShare)*float64(m.sizeCount[k])/float64(len(m.sizes))
		g += float64(looseShare * size * loosely[t.law.lo+k])
	}
	return min(g, 1)
}

// distinctOthers returns, by count from 0 to the law's most, the probability that the ingredients
// that recall draws for a group, besides the core, all differ.
func (m *memory) distinctOthers(t *Target, met []int32, own *group) []float64 {
	n := t.space.ingredients
	var shares []float64
	for _, i := range met {
		if int(m.rankOf(i)) >= m.core {
			shares = append(shares, m.otherShare(i, own, n))
		}
	}
	each := 1 / float64(n-m.core)
	if len(m.others) > 0 {
		each = float64(each * uniformShare)
	}
	if own != nil && len(own.others) > 0 {
		each = float64(each * (1 - ownShare))
	}
	return distinctProbabilities(shares, n-m.core-len(shares), each, t.law.hi)
}

// distinctProbabilities returns, by count from 0 to most, the probability that independent draws of things all
// differ. Some things have the given probabilities, and the others share one probability. One more
// thing of probability q raises P(k draws differ) by k·q·P(k−1 draws without it differ).
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

// memory returns the memory with which a state draws from the reference.
func (f *reference) memory() *memory {
	m := &memory{adaptiveProposal: f.recallMemory.adaptiveProposal}
	m.parts = nil
	return m
}

// draw makes y an independent draw, using a state that has the reference's memory. It returns the
// probability that recall's division gives y's amounts.
func (f *reference) draw(r *Rand, x *State, y *Composition) (divided product) {
	if !r.Bernoulli(plain) {
		for range f.tries {
			if x.drawListed(r, y) {
				x.target.space.conditions.draw(r, y)
				return x.memory.divide(r, &x.exact.exactScratch, y)
			}
		}
	}
	x.drawExact(r, y)
	return x.memory.divide(nil, nil, y)
}

// logProbability returns log q(y), using a state that has the reference's memory.
func (f *reference) logProbability(x *State, y *Composition) float64 {
	return f.logDivided(x, y, x.memory.divide(nil, nil, y))
}

// logDivided is logProbability of a y whose amounts have a known probability.
func (f *reference) logDivided(x *State, y *Composition, divided product) float64 {
	t := x.target
	recalled := f.logRecall + divided.timesProduct(x.listedProbability(y)).log()
	plain := f.logPlain + t.logDrawn[y.Used()-t.law.lo]
	return max(recalled, plain) + portable.Log1p(portable.Exp(-math.Abs(recalled-plain)))
}

// logCurrent returns log q of the state's own composition. It caches the value until the state
// moves.
func (f *reference) logCurrent(x *State) float64 {
	if !x.recalled {
		x.recalled, x.logRecall = true, f.logProbability(x, x.Composition)
	}
	return x.logRecall
}

// move moves a state of the learnt leg, which follows the law
//
//	q(x)^(1−β) · (π(n)·Y(x))^β.
//
// At β = 0 it is an independent draw. Otherwise it is an independent candidate, whose weight in
// [State.wholeMove] is (π/q)^β.
func (f *reference) move(r *Rand, x *State) error {
	if x.beta == 0 {
		divided := f.draw(r, x, x.Composition)
		err := x.Refresh()
		x.recalled, x.logRecall = true, f.logDivided(x, x.Composition, divided)
		x.visited.addComposition(x.Composition, x.sum)
		return err
	}
	if err := x.checkReady("learnt leg", x.target); err != nil {
		return err
	}
	weight := func(y *Composition, log float64) float64 { return float64(x.beta * (x.target.LogLaw(y.Used()) - log)) }
	there := 0.0
	result, _, err := x.wholeMove(r, func() float64 {
		return weight(x.Composition, f.logCurrent(x))
	}, func(y *Composition) (float64, bool) {
		there = f.logDivided(x, y, f.draw(r, x, y))
		return weight(y, there), true
	})
	if result == updated && x.target.batch == 1 { // in a batch, there belongs to the last candidate, not to the accepted one
		x.recalled, x.logRecall = true, there
	}
	return err
}
