package mcmc

import (
	"slices"

	"kir/internal/portable"
)

// maxLearntLegCostRatio limits the cost of the learnt leg, which is the second ladder of a tempered
// chain. It is kept only if its [ladderSums.inefficiency] is below this fraction of the
// inefficiency of the first ladder.
const maxLearntLegCostRatio = 0.75

// learntLeg returns the rungs of the learnt leg, the ladder from the learnt law to β = 1, including
// the rung at β = 1.
func (l *replicas) learntLeg() []rung {
	return append(slices.Clone(l.rungs[len(l.rungs)-l.learntRungCount:]), l.rungs[l.steps()])
}

// swapLearntLeg swaps neighbours of the learnt leg, every second pair in each scan. It reports
// whether the replica at β = 1 swapped. The first leg and the learnt leg together form one line
// from β = 0 to β = 0, along which the swapped pairs alternate. A swap has the acceptance ratio
//
//	exp((β_{r+1} − β_r)(h(x_r) − h(x_{r+1}))),  h = log(π·Y/q).
func (l *replicas) swapLearntLeg(r *Rand, parity int) (coldSwapped bool) {
	if l.learntRungCount == 0 {
		return false
	}
	s, f, base := &l.learntSums, l.reference, len(l.rungs)-l.learntRungCount
	s.beginScan()
	for k := range l.learntRungCount {
		f.currentLogProbability(l.rungs[base+k].state)
	}
	cold := l.state()
	recalled, logRecall := cold.logRecallCached, cold.cachedLogRecall // saved: they belong to the state's own memory
	cold.cachedLogRecall = f.logProbability(l.rungs[base].state, cold.Composition)
	for k := range l.learntRungCount {
		lower, upper := &l.rungs[base+k], &l.rungs[l.steps()]
		if k < l.learntRungCount-1 {
			upper = &l.rungs[base+k+1]
		}
		x, y := lower.state, upper.state
		d := y.beta - x.beta
		// A very large score would lose the other terms to rounding if they were added to it.
		here, there := x.target.LogLaw(x.Composition.Used())-x.cachedLogRecall, y.target.LogLaw(y.Composition.Used())-y.cachedLogRecall
		p := portable.Exp(min(0, d*(x.logScore-y.logScore+(here-there))))
		s.addStep(k, x.logScore, p, float64(d*(x.logScore+here))-lower.offset, float64(d*(y.logScore+there))-lower.offset)
		if (l.steps()+l.learntRungCount-1-k)&1 == parity && r.Bernoulli(p) {
			x.swapWith(y)
			x.cachedLogRecall, y.cachedLogRecall = y.cachedLogRecall, x.cachedLogRecall
			x.logRecallCached, y.logRecallCached = true, y != cold
			lower.endsReached, upper.endsReached = upper.endsReached, lower.endsReached
			coldSwapped = coldSwapped || y == cold
		}
	}
	if !coldSwapped {
		cold.logRecallCached, cold.cachedLogRecall = recalled, logRecall
	}
	s.endScan(cold.logScore)
	return coldSwapped
}

// endLearntRound ends a round of warm-up for the learnt leg, the ladder from the learnt law to β =
// 1. It learns that law anew, from the states at β = 1, and spaces the β by the rejection rates of
// the round.
func (l *replicas) endLearntRound() error {
	m := l.state().memory
	if l.kernel.fixedSteps > 0 || m == nil || !l.kernel.target.isScored() {
		return nil
	}
	f := newReferenceLaw(l.kernel.target, &m.stateList, maxRecallTries)
	if f == nil {
		return nil
	}
	l.reference = f
	betas := make([]float64, min(initialSteps/2, l.steps())+1)
	for k := range betas {
		b := float64(k) / float64(len(betas)-1)
		betas[k] = float64(b * b)
	}
	levels := make([]float64, len(betas))
	if l.learntRungCount > 0 {
		leg := l.learntLeg()
		barrier, logZ := l.learntSums.cumulativeBarrierAndLogZ(leg)
		l.keepLearntLeg = l.learntSums.inefficiency() < maxLearntLegCostRatio*l.firstLegSums.inefficiency()
		betas, levels = respaceBetas(leg, barrier, logZ, min(stepsForBarrier(barrier[l.learntRungCount]), l.steps()))
	}
	return l.rebuildLearntLeg(betas, levels)
}

// rebuildLearntLeg gives the rungs of the learnt leg new β, of which the last is 1, and new
// estimates of log Z. Existing rungs keep their compositions, of which only the one at β = 0 may be
// forbidden. New rungs start with the composition at β = 1.
func (l *replicas) rebuildLearntLeg(betas, logZ []float64) error {
	first, cold := len(l.rungs)-l.learntRungCount, l.state().Composition
	l.learntRungCount = len(betas) - 1
	l.rungs = l.rungs[:min(len(l.rungs), first+l.learntRungCount)]
	for len(l.rungs) < first+l.learntRungCount {
		x := newState(l.kernel.target, cold.Clone())
		if err := x.Refresh(); err != nil {
			return err
		}
		l.rungs = append(l.rungs, rung{state: x, rand: l.newStream()})
	}
	for k := range l.learntRungCount {
		g := &l.rungs[first+k]
		g.state.beta, g.state.memory, g.state.logRecallCached = betas[k], l.reference.newMemory(), false
		g.offset = logZ[k+1] - logZ[k]
	}
	l.learntSums.reset(l.learntRungCount)
	return nil
}

// settleLearntLeg ends warm-up for the learnt leg, the ladder from the learnt law to β = 1. It
// removes this ladder if it costs too many scans.
func (l *replicas) settleLearntLeg() {
	if !l.keepLearntLeg {
		l.rungs = l.rungs[:len(l.rungs)-l.learntRungCount]
		l.learntRungCount, l.reference = 0, nil
		return
	}
	l.learntSums.restartWithOffsets(l.rungs[len(l.rungs)-l.learntRungCount:])
}
