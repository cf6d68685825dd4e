package mcmc

import (
	"slices"

	"kir/internal/portable"
)

// maxLearntLegCostRatio limits the cost of the learnt leg, the second ladder of a chain of
// [Tempered]. The learnt leg is kept only if its [ladderSums.inefficiency] is below this fraction
// of the inefficiency of the first ladder.
const maxLearntLegCostRatio = 0.75

// learntLegRungs returns the rungs of the learnt leg. This is the second ladder of the chain, from the
// [referenceLaw] to the same β = 1. The last rung is the one at β = 1.
func (l *replicas) learntLegRungs() []rung {
	return append(slices.Clone(l.rungs[len(l.rungs)-l.learntRungCount:]), l.rungs[l.stepCount()])
}

// swapLearntLeg lets neighbours in the second ladder of the chain, the learnt leg, swap their
// states. It tries every second pair in each scan. The result coldSwapped reports whether the
// replica at β = 1 swapped. Both ladders together form one line of replicas from β = 0 to β = 1 and
// back to the learnt β = 0, along which the tried pairs alternate. A swap has the acceptance ratio
//
//	exp((β_{r+1} − β_r)(h(x_r) − h(x_{r+1}))),  h = log(π·Y/q).
func (l *replicas) swapLearntLeg(r *Rand, parity int) (coldSwapped bool) {
	if l.learntRungCount == 0 {
		return false
	}
	s, f, base := &l.learntLegSums, l.reference, len(l.rungs)-l.learntRungCount
	s.beginScan()
	for k := range l.learntRungCount {
		f.currentLogProbability(l.rungs[base+k].state)
	}
	cold := l.state()
	recalled, logRecall := cold.logRecallCached, cold.cachedLogRecall // saved: they belong to the state's own memory
	cold.cachedLogRecall = f.logProbability(l.rungs[base].state, cold.Composition)
	for k := range l.learntRungCount {
		lower, upper := &l.rungs[base+k], &l.rungs[l.stepCount()]
		if k < l.learntRungCount-1 {
			upper = &l.rungs[base+k+1]
		}
		x, y := lower.state, upper.state
		d := y.beta - x.beta
		// A very large score would lose the other terms to rounding if they were added to it.
		here, there := x.target.LogLaw(x.Composition.UsedCount())-x.cachedLogRecall, y.target.LogLaw(y.Composition.UsedCount())-y.cachedLogRecall
		p := portable.Exp(min(0, d*(x.logScore-y.logScore+(here-there))))
		s.addStep(k, x.logScore, p, float64(d*(x.logScore+here))-lower.offset, float64(d*(y.logScore+there))-lower.offset)
		if (l.stepCount()+l.learntRungCount-1-k)&1 == parity && r.Bernoulli(p) {
			x.swapCompositionWith(y)
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

// endLearntRound ends a round of warm-up for the learnt leg, the second ladder of the chain. It
// learns the [referenceLaw] anew from the states met at β = 1. It spaces the β of the learnt leg by
// the rejection rates of the round.
func (l *replicas) endLearntRound() error {
	m := l.state().memory
	if l.kernel.fixedStepCount > 0 || m == nil || !l.kernel.target.isScored() {
		return nil
	}
	f := newReferenceLaw(l.kernel.target, &m.stateList, maxRecallTries)
	if f == nil {
		return nil
	}
	l.reference = f
	betas := make([]float64, min(initialLadderSteps/2, l.stepCount())+1)
	for k := range betas {
		b := float64(k) / float64(len(betas)-1)
		betas[k] = float64(b * b)
	}
	levels := make([]float64, len(betas))
	if l.learntRungCount > 0 {
		leg := l.learntLegRungs()
		barrier, logZ := l.learntLegSums.cumulativeBarrierAndLogZ(leg)
		l.keepLearntLeg = l.learntLegSums.inefficiency() < maxLearntLegCostRatio*l.firstLegSums.inefficiency()
		betas, levels = respaceBetas(leg, barrier, logZ, min(stepsForBarrier(barrier[l.learntRungCount]), l.stepCount()))
	}
	return l.rebuildLearntLeg(betas, levels)
}

// rebuildLearntLeg gives the learnt leg, the second ladder of the chain, the rungs with the given
// β, of which the last is 1. The argument logZ holds an estimate of log Z at each β. Existing rungs
// keep their compositions, of which only the one at β = 0 may be forbidden. New rungs start with
// the composition at β = 1.
func (l *replicas) rebuildLearntLeg(betas, logZ []float64) error {
	first, cold := len(l.rungs)-l.learntRungCount, l.state().Composition
	l.learntRungCount = len(betas) - 1
	l.rungs = l.rungs[:min(len(l.rungs), first+l.learntRungCount)]
	for len(l.rungs) < first+l.learntRungCount {
		x := newState(l.kernel.target, cold.Clone())
		if err := x.Refresh(); err != nil {
			return err
		}
		l.rungs = append(l.rungs, rung{state: x, rand: l.newReplicaRand()})
	}
	for k := range l.learntRungCount {
		g := &l.rungs[first+k]
		g.state.beta, g.state.memory, g.state.logRecallCached = betas[k], l.reference.copyMemory(), false
		g.offset = logZ[k+1] - logZ[k]
	}
	l.learntLegSums.reset(l.learntRungCount)
	return nil
}

// dropCostlyLearntLeg removes the learnt leg, the second ladder of the chain, if it takes too many
// scans compared with the first. Otherwise it ends warm-up for the learnt leg.
func (l *replicas) dropCostlyLearntLeg() {
	if !l.keepLearntLeg {
		l.rungs = l.rungs[:len(l.rungs)-l.learntRungCount]
		l.learntRungCount, l.reference = 0, nil
		return
	}
	l.learntLegSums.updateOffsetsAndReset(l.rungs[len(l.rungs)-l.learntRungCount:])
}
