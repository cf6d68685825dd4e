package mcmc

import "math/bits"

// moveByRecall is the recall move of [Balanced]. It is a Metropolis–Hastings move whose candidate
// is drawn from what warm-up has learnt, independently of the state. There is no candidate if the
// draw takes an ingredient twice. The values of the conditions stay the same.
func (x *State) moveByRecall(r *Rand) (moveOutcome, error) {
	x.ensureMemory()
	result, log, err := x.wholeMove(r, func() float64 {
		if !x.logRecallCached {
			x.logRecallCached, x.cachedLogRecall = true, x.logRecallWeight(x.Composition, x.memory.divideAmounts(nil, nil, x.Composition))
		}
		return x.cachedLogRecall
	}, func(y *Composition) (float64, bool) {
		y.copyConditions(x.Composition)
		if !x.drawIngredients(r, y) {
			return 0, false
		}
		return x.logRecallWeight(y, x.memory.divideAmounts(r, &x.drawer.uniformDrawer, y)), true
	})
	if result.isAccepted() {
		x.logRecallCached, x.cachedLogRecall = true, log
	}
	return result, err
}

// logRecallWeight returns the log of a ratio: the probability of y under the target without
// properties, up to a constant, divided by the probability that a recall move draws y. The argument
// divided is the probability of y's amounts, given y's ingredients.
func (x *State) logRecallWeight(y *Composition, divided smallProduct) float64 {
	return x.target.LogLaw(y.UsedCount()) - divided.timesProduct(x.ingredientsProbability(y)).log()
}

// ensureMemory returns what warm-up has learnt in the state. If there is nothing yet, it makes an
// empty memory.
func (x *State) ensureMemory() *warmupMemory {
	if x.memory == nil {
		x.memory = &warmupMemory{}
	}
	return x.memory
}

// drawIngredients draws the ingredients of a recall candidate y as warm-up met them. It gives each
// of them one unit; the caller draws the amounts. It returns false if it drew an ingredient twice.
func (x *State) drawIngredients(r *Rand, y *Composition) bool {
	m := x.memory
	y.clear()
	y.total = x.target.space.total
	n, core := 0, uint64(0)
	var g *coreGroup
	together := len(m.stateCores) > 0 && !r.Bernoulli(independentRecallShare)
	if together {
		k := r.Intn(len(m.stateCores))
		n, core = int(m.sizes[k]), m.stateCores[k]
		g = m.groupsByCore[core]
	} else {
		n = x.drawRecallSize(r)
	}
	for c := core; c != 0; c &= c - 1 {
		i := m.rankedIngredients[bits.TrailingZeros64(c)]
		y.amounts[i] = 1
		y.appendUsed(i)
	}
	for y.UsedCount() < n {
		i := int32(0)
		if together {
			i = m.drawOther(r, g, y.N())
		} else {
			i = int32(m.drawIngredient(r, y.N()))
		}
		if y.amounts[i] > 0 {
			return false
		}
		y.amounts[i] = 1
		y.appendUsed(i)
	}
	return true
}

// drawRecallSize draws a number of ingredients. Mostly it draws a number as often as warm-up met
// it, and sometimes from the sparsity law.
func (x *State) drawRecallSize(r *Rand) int {
	m := x.memory
	if len(m.sizes) == 0 || r.Bernoulli(uniformDrawShare) {
		return x.target.law.draw(r)
	}
	return int(m.sizes[r.Intn(len(m.sizes))])
}

// ingredientsProbability returns the probability that a recall move draws the ingredients of y. If
// y has n ingredients, of which the set C belongs to the core of [adaptiveProposal] and m do not,
// it is
//
//	(1−loose)·share(n, C)·m! Π_{others} q′_i + loose·size(n)·n! Π q_i.
//
// Here loose is independentRecallShare. The share of the met states with n ingredients and the core
// ingredients C is share(n, C), and size(n) is the probability of n by [State.drawRecallSize]. q′
// and q are the probabilities of single draws of ingredients.
func (x *State) ingredientsProbability(y *Composition) smallProduct {
	n, t, m := y.UsedCount(), x.target, x.memory
	size := t.law.P(n)
	states := float64(len(m.stateCores))
	if states > 0 {
		size = float64(uniformDrawShare*size) + (1-uniformDrawShare)*float64(m.sizeCounts[n-t.law.minSize])/states
	}
	single, core := unitProduct(), uint64(0)
	for k, i := range y.used {
		single.multiply(float64(float64(k+1) * m.ingredientProbability(int(i), y.N())))
		if k := m.rankOf(i); int(k) < m.coreSize {
			core |= 1 << k
		}
	}
	single.multiply(size)
	if states == 0 {
		return single
	}
	single.multiply(independentRecallShare)
	count := m.coreCounts[m.coreCountIndex(t, n, core)]
	if count == 0 {
		return single
	}
	g, other, others := m.groupsByCore[core], unitProduct(), 0
	for _, i := range y.used {
		if k := m.rankOf(i); int(k) >= m.coreSize {
			others++
			other.multiply(float64(float64(others) * m.otherProbability(i, g, y.N())))
		}
	}
	other.multiply((1 - independentRecallShare) * float64(count) / states)
	return single.plus(other)
}
