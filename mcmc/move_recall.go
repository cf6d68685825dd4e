package mcmc

import "math/bits"

// recall is a Metropolis–Hastings move whose candidate is drawn from the memory, independently of
// the state. There is no candidate if an ingredient comes twice. The conditions stay.
func (x *State) recall(r *Rand) (outcome, error) {
	x.ensureMemory()
	result, log, err := x.wholeMove(r, func() float64 {
		if !x.recalled {
			x.recalled, x.logRecall = true, x.logRecalled(x.Composition, x.memory.divide(nil, nil, x.Composition))
		}
		return x.logRecall
	}, func(y *Composition) (float64, bool) {
		y.copyConditions(x.Composition)
		if !x.drawListed(r, y) {
			return 0, false
		}
		return x.logRecalled(y, x.memory.divide(r, &x.exact.exactScratch, y)), true
	})
	if result.accepted() {
		x.recalled, x.logRecall = true, log
	}
	return result, err
}

// logRecalled returns the log of the law's mass of y over the probability that recall draws y. The
// argument divided is the probability of y's amounts.
func (x *State) logRecalled(y *Composition, divided product) float64 {
	return x.target.LogLaw(y.Used()) - divided.timesProduct(x.listedProbability(y)).log()
}

// ensureMemory returns the state's memory. It makes an empty one if there is none.
func (x *State) ensureMemory() *memory {
	if x.memory == nil {
		x.memory = &memory{}
	}
	return x.memory
}

// drawListed makes y use the ingredients of a candidate, with one unit each for now. It reports
// whether they are a candidate.
func (x *State) drawListed(r *Rand, y *Composition) bool {
	m := x.memory
	y.clear()
	y.total = x.target.space.total
	n, core := 0, uint64(0)
	var g *group
	together := len(m.cores) > 0 && !r.Bernoulli(looseShare)
	if together {
		k := r.Intn(len(m.cores))
		n, core = int(m.sizes[k]), m.cores[k]
		g = m.groups[core]
	} else {
		n = x.recallSize(r)
	}
	for c := core; c != 0; c &= c - 1 {
		i := m.order[bits.TrailingZeros64(c)]
		y.amounts[i] = 1
		y.appendUsed(i)
	}
	for y.Used() < n {
		i := int32(0)
		if together {
			i = m.drawOther(r, g, y.N())
		} else {
			i = int32(m.draw(r, y.N()))
		}
		if y.amounts[i] > 0 {
			return false
		}
		y.amounts[i] = 1
		y.appendUsed(i)
	}
	return true
}

// recallSize draws a size as often as warm-up met it, or from y_sparse.
func (x *State) recallSize(r *Rand) int {
	m := x.memory
	if len(m.sizes) == 0 || r.Bernoulli(uniformShare) {
		return x.target.law.draw(r)
	}
	return int(m.sizes[r.Intn(len(m.sizes))])
}

// listedProbability returns the probability that recall draws the ingredients that y lists. With n
// ingredients, of which C belong to the core and m are others, it is
//
//	(1−loose)·share(n, C)·m! Π_{others} q′_i + loose·size(n)·n! Π q_i.
func (x *State) listedProbability(y *Composition) product {
	n, t, m := y.Used(), x.target, x.memory
	size := t.law.P(n)
	states := float64(len(m.cores))
	if states > 0 {
		size = float64(uniformShare*size) + (1-uniformShare)*float64(m.sizeCount[n-t.law.lo])/states
	}
	single, core := one(), uint64(0)
	for k, i := range y.list {
		single.times(float64(float64(k+1) * m.share(int(i), y.N())))
		if k := m.rankOf(i); int(k) < m.core {
			core |= 1 << k
		}
	}
	single.times(size)
	if states == 0 {
		return single
	}
	single.times(looseShare)
	count := m.coreCount[m.coreAt(t, n, core)]
	if count == 0 {
		return single
	}
	g, other, others := m.groups[core], one(), 0
	for _, i := range y.list {
		if k := m.rankOf(i); int(k) >= m.core {
			others++
			other.times(float64(float64(others) * m.otherShare(i, g, y.N())))
		}
	}
	other.times((1 - looseShare) * float64(count) / states)
	return single.plus(other)
}
