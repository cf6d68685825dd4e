package mcmc

import (
	"slices"

	"kir/internal/portable"
)

// maxLearntCost is how much of the first leg's Σ r/(1−r) that of the learnt one may be; see
// [ladderSums.inefficiency].
const maxLearntCost = 0.75

// leg returns the rungs of the learnt leg, with that at β = 1.
func (l *replicas) leg() []rung {
	return append(slices.Clone(l.rungs[len(l.rungs)-l.learnt:]), l.rungs[l.steps()])
}

// swapLearnt lets neighbours of the learnt leg swap, every second pair in turn, and says
// whether β = 1 did. The legs are one line from β = 0 to β = 0, along which the turns go
// on. A swap has the ratio
//
//	exp((β_{r+1} − β_r)(h(x_r) − h(x_{r+1}))),  h = log(π·Y/q).
func (l *replicas) swapLearnt(r *Rand, parity int) (coldSwapped bool) {
	if l.learnt == 0 {
		return false
	}
	s, f, base := &l.learntSums, l.reference, len(l.rungs)-l.learnt
	s.beginScan()
	for k := range l.learnt {
		f.logCurrent(l.rungs[base+k].state)
	}
	cold := l.state()
	recalled, logRecall := cold.recalled, cold.logRecall // of its own memory
	cold.logRecall = f.logProbability(l.rungs[base].state, cold.Composition)
	for k := range l.learnt {
		lower, upper := &l.rungs[base+k], &l.rungs[l.steps()]
		if k < l.learnt-1 {
			upper = &l.rungs[base+k+1]
		}
		x, y := lower.state, upper.state
		d := y.beta - x.beta
		// A score may be so large that all else is lost beside it.
		here, there := x.target.LogLaw(x.Composition.Used())-x.logRecall, y.target.LogLaw(y.Composition.Used())-y.logRecall
		p := portable.Exp(min(0, d*(x.sum-y.sum+(here-there))))
		s.addStep(k, x.sum, p, float64(d*(x.sum+here))-lower.offset, float64(d*(y.sum+there))-lower.offset)
		if (l.steps()+l.learnt-1-k)&1 == parity && r.Bernoulli(p) {
			x.swap(y)
			x.logRecall, y.logRecall = y.logRecall, x.logRecall
			x.recalled, y.recalled = true, y != cold
			lower.seen, upper.seen = upper.seen, lower.seen
			coldSwapped = coldSwapped || y == cold
		}
	}
	if !coldSwapped {
		cold.recalled, cold.logRecall = recalled, logRecall
	}
	s.endScan(cold.sum)
	return coldSwapped
}

// relearn ends a round of warm-up for the learnt leg: from now on it begins at what is
// learnt at β = 1, with β by what the last round rejected.
func (l *replicas) relearn() error {
	m := l.state().memory
	if l.kernel.steps > 0 || m == nil || !l.kernel.target.scored() {
		return nil
	}
	f := newReference(l.kernel.target, &m.states, recallTries)
	if f == nil {
		return nil
	}
	l.reference = f
	betas := make([]float64, min(firstSteps/2, l.steps())+1)
	for k := range betas {
		b := float64(k) / float64(len(betas)-1)
		betas[k] = float64(b * b)
	}
	levels := make([]float64, len(betas))
	if l.learnt > 0 {
		leg := l.leg()
		barrier, logZ := l.learntSums.cumulate(leg)
		l.learntPays = l.learntSums.inefficiency() < maxLearntCost*l.sums.inefficiency()
		betas, levels = spaceBetas(leg, barrier, logZ, min(stepsFor(barrier[l.learnt]), l.steps()))
	}
	return l.rebuildLearnt(betas, levels)
}

// rebuildLearnt makes the learnt leg one of the given β and log Z, the last of β = 1.
// What rungs there are keep their compositions, of which that at β = 0 alone may be
// forbidden, and further ones have that at β = 1.
func (l *replicas) rebuildLearnt(betas, logZ []float64) error {
	first, cold := len(l.rungs)-l.learnt, l.state().Composition
	l.learnt = len(betas) - 1
	l.rungs = l.rungs[:min(len(l.rungs), first+l.learnt)]
	for len(l.rungs) < first+l.learnt {
		x := newState(l.kernel.target, cold.Clone())
		if err := x.Refresh(); err != nil {
			return err
		}
		l.rungs = append(l.rungs, rung{state: x, rand: l.stream()})
	}
	for k := range l.learnt {
		g := &l.rungs[first+k]
		g.state.beta, g.state.memory, g.state.recalled = betas[k], l.reference.memory(), false
		g.offset = logZ[k+1] - logZ[k]
	}
	l.learntSums.reset(l.learnt)
	return nil
}

// settleLearnt ends warm-up: the leg is left out where it does not pay.
func (l *replicas) settleLearnt() {
	if !l.learntPays {
		l.rungs = l.rungs[:len(l.rungs)-l.learnt]
		l.learnt, l.reference = 0, nil
		return
	}
	l.learntSums.restart(l.rungs[len(l.rungs)-l.learnt:])
}
