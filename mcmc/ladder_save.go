package mcmc

import (
	"fmt"
	"math"
)

// save writes everything that the replicas need to continue: the rungs of both ladders and their
// sums.
func (l *replicas) save(e *encoder) {
	first := len(l.rungs) - l.learntRungCount
	e.writeInts(int64(first), l.scanCount, int64(l.seed), int64(l.chainIndex), int64(l.replicaRandCount), int64(l.warmupRound), int64(l.roundScanCount), int64(l.learntRungCount), oneIf(l.keepLearntLeg))
	if l.learntRungCount > 0 {
		e.writeStateList(&l.reference.recallMemory.stateList)
		e.writeRungs(l.rungs[first:], false)
		l.learntLegSums.save(e)
	}
	e.writeRungs(l.rungs[:first], true)
	l.firstLegSums.save(e)
}

// writeRungs writes rungs with the states on them. If withMemory is true, it also writes what
// warm-up has learnt in each state.
func (e *encoder) writeRungs(rungs []rung, withMemory bool) {
	for k := range rungs {
		g := &rungs[k]
		e.writeFloats(g.state.beta, g.offset)
		e.writeInts(int64(g.endsReached))
		e.writeRand(g.rand)
		x := *g.state
		if !withMemory {
			x.memory = nil
		}
		e.writeState(&x)
	}
}

// save writes the sums as part of a saved chain.
func (s *ladderSums) save(e *encoder) {
	e.writeInts(s.scanCount, s.restartCount, s.roundTripCount, s.scansPerBatch)
	e.writeFloats(s.rejectionSums...)
	e.writeFloats(s.logScoreSums...)
	e.writeInts(s.forbiddenCounts...)
	for _, b := range s.batches {
		e.writeFloats(b.lowerSum, b.upperSum)
	}
}

// RestoreChain restores a chain from data that [Chain.MarshalBinary] returned. It recomputes the
// scores of the chain's states.
func (k *Tempered) RestoreChain(data []byte) (*Chain, error) {
	return restoreChain(k.target, data, func(d *decoder) chainMover {
		rungs := d.readInt()
		if d.err == nil && rungs <= 0 {
			d.err = errKernelMismatch
		}
		if d.err != nil {
			return nil
		}
		return d.readReplicas(k, rungs)
	})
}

// readReplicas reads the replicas of a chain. The argument rungs is the number of rungs without the
// learnt leg, the second ladder.
func (d *decoder) readReplicas(k *Tempered, rungs int64) *replicas {
	var peaks []float64
	lo, hi := int64(1), int64(1) // rungs from β = 0 to β = 1
	if k.target.isScored() {
		peaks, lo, hi = k.peakBetas, 2, maxLadderSteps+1
	}
	climb := rungs - int64(len(peaks))
	if climb < lo || climb > hi {
		d.failDamaged("a number is out of range")
		return nil
	}
	if k.fixedStepCount > 0 && k.target.isScored() && int64(k.fixedStepCount) != climb-1 {
		d.err = fmt.Errorf("the saved chain has %d replicas and the kernel %d", climb, k.fixedStepCount+1)
		return nil
	}
	l := &replicas{kernel: k, peakCount: len(peaks), workers: 1, scanCount: d.readInt(), seed: uint64(d.readInt()), chainIndex: int(d.readInt())}
	l.replicaRandCount = d.readIntBetween(0, math.MaxInt32)
	l.warmupRound = d.readIntBetween(0, 40)
	l.roundScanCount = d.readIntBetween(0, firstRoundScans<<l.warmupRound-1)
	if l.learntRungCount = d.readIntBetween(0, climb-1); k.fixedStepCount > 0 && l.learntRungCount > 0 {
		d.failDamaged("a number is out of range")
	}
	l.keepLearntLeg = d.readIntBetween(0, 1) == 1
	var leg []rung
	if l.learntRungCount > 0 {
		met := d.readStateList()
		if d.err == nil {
			l.reference = newReferenceLaw(k.target, &met, maxRecallTries)
		}
		if l.reference == nil {
			d.failDamaged("its learnt leg has no reference")
			return nil
		}
		leg = d.readRungs(int64(l.learntRungCount), int64(l.learntRungCount), nil)
		l.learntLegSums = d.readSums(l.learntRungCount)
		for r := range leg {
			leg[r].state.memory = l.reference.copyMemory()
		}
	}
	l.rungs = append(d.readRungs(rungs, climb-1, peaks), leg...)
	l.firstLegSums = d.readSums(int(climb - 1))
	if d.err != nil {
		return nil
	}
	return l
}

// readRungs reads count rungs. The rung with index coldIndex must have β = 1. The rungs after it
// must have the β in peaks.
func (d *decoder) readRungs(count, coldIndex int64, peaks []float64) (rungs []rung) {
	last := -1.0
	for at := range count {
		beta := d.readFloat()
		switch {
		case at == coldIndex && beta != 1, at == 0 && coldIndex > 0 && beta != 0, at < coldIndex && beta >= 1:
			d.failDamaged("its ladder does not rise from 0 to 1")
		case at > coldIndex && beta != peaks[at-coldIndex-1]:
			d.failDamaged("its ladder ends elsewhere")
		case beta <= last:
			d.failDamaged("its ladder does not rise")
		}
		last = beta
		g := rung{offset: d.readFloat(), endsReached: ladderEnds(d.readIntBetween(0, int64(cameFromHotEnd|visitedColdEnd|cameByLearntLeg)))}
		g.rand = d.readRand()
		if d.err != nil {
			return nil
		}
		if g.state = d.readState(beta); d.err != nil {
			return nil
		}
		rungs = append(rungs, g)
	}
	return rungs
}

// readSums reads the sums of a ladder of replicas with the given number of steps from β = 0 to β =
// 1.
func (d *decoder) readSums(steps int) (s ladderSums) {
	s.reset(steps)
	s.scanCount = d.readCount(maxSavedCount)
	s.restartCount = d.readCount(s.scanCount)
	s.roundTripCount = d.readCount(s.restartCount)
	s.scansPerBatch = d.readCount(max(1, s.scanCount))
	if d.err == nil && (s.scansPerBatch < 1 || s.scanCount > s.scansPerBatch*maxBennettBatches) {
		d.failDamaged("a number is out of range")
	}
	for k := range s.rejectionSums {
		s.rejectionSums[k] = d.readSum(s.scanCount)
	}
	for k := range s.logScoreSums {
		s.logScoreSums[k] = d.readFloat()
	}
	for k := range s.forbiddenCounts {
		s.forbiddenCounts[k] = d.readCount(s.scanCount)
	}
	if d.err != nil {
		return s
	}
	for range int((s.scanCount+s.scansPerBatch-1)/s.scansPerBatch) * steps {
		s.batches = append(s.batches, bennettSums{d.readSum(s.scansPerBatch), d.readSum(s.scansPerBatch)})
	}
	return s
}
