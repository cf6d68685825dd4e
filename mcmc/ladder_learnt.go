package mcmc

import (
	"slices"

	"kir/internal/portable"
)

// maxLearntLegCost is the share of the first leg's [ladderSums.inefficiency] below which that of the
// learnt leg must be. Otherwise the learnt leg is given up.
const maxLearntLegCost = 0.75

// leg returns the rungs of the learnt leg, including the one at β = 1.
func (l *replicas) leg() []rung {
	return append(slices.Clone(l.rungs[len(l.rungs)-l.learntRungs:]), l.rungs[l.steps()])
}

// swapLearnt swaps neighbours of the learnt leg, every second pair in turn. It reports whether the
// replica at β = 1 swapped. The two legs form one line from β = 0 to β = 0, and the turns alternate
// along it. A swap has the ratio
//
//	exp((β_{r+1} − β_r)(h(x_r) − h(x_{r+1}))),  h = log(π·Y/q).
func (l *replicas) swapLearnt(r *Rand, parity int) (coldSwapped bool) {
	if l.learntRungs == 0 {
		return false
	}
	s, f, base := &l.learntSums, l.reference, len(l.rungs)-l.learntRungs
	s.beginScan()
	for k := range l.learntRungs {
		f.logCurrent(l.rungs[base+k].state)
	}
	cold := l.state()
	recalled, logRecall := cold.recalled, cold.logRecall // saved: they belong to the state's own memory
	cold.logRecall = f.logProbability(l.rungs[base].state, cold.Composition)
	for k := range l.learntRungs {
		lower, upper := &l.rungs[base+k], &l.rungs[l.steps()]
		if k < l.learntRungs-1 {
			upper = &l.rungs[base+k+1]
		}
		x, y := lower.state, upper.state
		d := y.beta - x.beta
		// A very large score would lose the other terms to rounding if they were added to it.
		here, there := x.target.LogLaw(x.Composition.Used())-x.logRecall, y.target.LogLaw(y.Composition.Used())-y.logRecall
		p := portable.Exp(min(0, d*(x.sum-y.sum+(here-there))))
		s.addStep(k, x.sum, p, float64(d*(x.sum+here))-lower.offset, float64(d*(y.sum+there))-lower.offset)
		if (l.steps()+l.learntRungs-1-k)&1 == parity && r.Bernoulli(p) {
			x.swap(y)
			x.logRecall, y.logRecall = y.logRecall, x.logRecall
			x.recalled, y.recalled = true, y != cold
			lower.endsReached, upper.endsReached = upper.endsReached, lower.endsReached
			coldSwapped = coldSwapped || y == cold
		}
	}
	if !coldSwapped {
		cold.recalled, cold.logRecall = recalled, logRecall
	}
	s.endScan(cold.sum)
	return coldSwapped
}

// relearn ends a round of warm-up for the learnt leg. The leg then starts from the law learnt at β
// = 1, with its β spaced by the rejections of the last round.
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
	if l.learntRungs > 0 {
		leg := l.leg()
		barrier, logZ := l.learntSums.cumulate(leg)
		l.learntPays = l.learntSums.inefficiency() < maxLearntLegCost*l.sums.inefficiency()
		betas, levels = spaceBetas(leg, barrier, logZ, min(stepsFor(barrier[l.learntRungs]), l.steps()))
	}
	return l.rebuildLearnt(betas, levels)
}

// rebuildLearnt gives the learnt leg the given β and log Z, ending at β = 1. Existing rungs keep
// their compositions, of which only the one at β = 0 may be forbidden. Further rungs copy the
// composition at β = 1.
func (l *replicas) rebuildLearnt(betas, logZ []float64) error {
	first, cold := len(l.rungs)-l.learntRungs, l.state().Composition
	l.learntRungs = len(betas) - 1
	l.rungs = l.rungs[:min(len(l.rungs), first+l.learntRungs)]
	for len(l.rungs) < first+l.learntRungs {
		x := newState(l.kernel.target, cold.Clone())
		if err := x.Refresh(); err != nil {
			return err
		}
		l.rungs = append(l.rungs, rung{state: x, rand: l.stream()})
	}
	for k := range l.learntRungs {
		g := &l.rungs[first+k]
		g.state.beta, g.state.memory, g.state.recalled = betas[k], l.reference.memory(), false
		g.offset = logZ[k+1] - logZ[k]
	}
	l.learntSums.reset(l.learntRungs)
	return nil
}

// settleLearnt ends warm-up. It drops the learnt leg where it does not pay.
func (l *replicas) settleLearnt() {
	if !l.learntPays {
		l.rungs = l.rungs[:len(l.rungs)-l.learntRungs]
		l.learntRungs, l.reference = 0, nil
		return
	}
	l.learntSums.restart(l.rungs[len(l.rungs)-l.learntRungs:])
}
