package mcmc

import (
	"fmt"
	"math"
)

// save writes everything that the chain of replicas needs to continue: the rungs and the sums of
// both legs.
func (l *replicas) save(e *encoder) {
	first := len(l.rungs) - l.learntRungs
	e.ints(int64(first), l.scans, int64(l.seed), int64(l.index), int64(l.streams), int64(l.round), int64(l.done), int64(l.learntRungs), oneIf(l.learntPays))
	if l.learntRungs > 0 {
		e.states(&l.reference.recallMemory.states)
		e.rungs(l.rungs[first:], false)
		l.learntSums.save(e)
	}
	e.rungs(l.rungs[:first], true)
	l.sums.save(e)
}

// rungs writes rungs, with or without the memories of their states.
func (e *encoder) rungs(rungs []rung, learnt bool) {
	for k := range rungs {
		g := &rungs[k]
		e.floats(g.state.beta, g.offset)
		e.ints(int64(g.endsReached))
		e.random(g.rand)
		x := *g.state
		if !learnt {
			x.memory = nil
		}
		e.state(&x)
	}
}

func (s *ladderSums) save(e *encoder) {
	e.ints(s.scans, s.restarts, s.roundTrips, s.length)
	e.floats(s.rejected...)
	e.floats(s.logScore...)
	e.ints(s.forbidden...)
	for _, b := range s.batches {
		e.floats(b.lower, b.upper)
	}
}

// RestoreChain restores a chain from the result of [Chain.MarshalBinary], with its states
// refreshed.
func (k *Tempered) RestoreChain(data []byte) (*Chain, error) {
	return restoreChain(k.target, data, func(d *decoder) mover {
		rungs := d.int()
		if d.err == nil && rungs <= 0 {
			d.err = errOtherKernel
		}
		if d.err != nil {
			return nil
		}
		return d.replicas(k, rungs)
	})
}

// replicas reads a ladder of the given number of rungs, without the learnt leg.
func (d *decoder) replicas(k *Tempered, rungs int64) *replicas {
	var peaks []float64
	lo, hi := int64(1), int64(1) // rungs from β = 0 to β = 1
	if k.target.scored() {
		peaks, lo, hi = k.peaks, 2, maxSteps+1
	}
	climb := rungs - int64(len(peaks))
	if climb < lo || climb > hi {
		d.fail("a number is out of range")
		return nil
	}
	if k.steps > 0 && k.target.scored() && int64(k.steps) != climb-1 {
		d.err = fmt.Errorf("the saved chain has %d replicas and the kernel %d", climb, k.steps+1)
		return nil
	}
	l := &replicas{kernel: k, peaks: len(peaks), workers: 1, scans: d.int(), seed: uint64(d.int()), index: int(d.int())}
	l.streams = d.intBetween(0, math.MaxInt32)
	l.round = d.intBetween(0, 40)
	l.done = d.intBetween(0, firstLadderRound<<l.round-1)
	if l.learntRungs = d.intBetween(0, climb-1); k.steps > 0 && l.learntRungs > 0 {
		d.fail("a number is out of range")
	}
	l.learntPays = d.intBetween(0, 1) == 1
	var leg []rung
	if l.learntRungs > 0 {
		met := d.states()
		if d.err == nil {
			l.reference = newReference(k.target, &met, recallTries)
		}
		if l.reference == nil {
			d.fail("its learnt leg has no reference")
			return nil
		}
		leg = d.rungs(int64(l.learntRungs), int64(l.learntRungs), nil)
		l.learntSums = d.sums(l.learntRungs)
		for r := range leg {
			leg[r].state.memory = l.reference.memory()
		}
	}
	l.rungs = append(d.rungs(rungs, climb-1, peaks), leg...)
	l.sums = d.sums(int(climb - 1))
	if d.err != nil {
		return nil
	}
	return l
}

// rungs reads the given number of rungs. The rung with index target has β = 1, and those after it
// have the β of the peaks.
func (d *decoder) rungs(count, target int64, peaks []float64) (rungs []rung) {
	last := -1.0
	for at := range count {
		beta := d.float()
		switch {
		case at == target && beta != 1, at == 0 && target > 0 && beta != 0, at < target && beta >= 1:
			d.fail("its ladder does not rise from 0 to 1")
		case at > target && beta != peaks[at-target-1]:
			d.fail("its ladder ends elsewhere")
		case beta <= last:
			d.fail("its ladder does not rise")
		}
		last = beta
		g := rung{offset: d.float(), endsReached: visitedEnds(d.intBetween(0, int64(seenHot|seenCold|byLearnt)))}
		g.rand = d.random()
		if d.err != nil {
			return nil
		}
		if g.state = d.state(beta); d.err != nil {
			return nil
		}
		rungs = append(rungs, g)
	}
	return rungs
}

// sums reads the sums of a leg.
func (d *decoder) sums(steps int) (s ladderSums) {
	s.reset(steps)
	s.scans = d.count(maxCount)
	s.restarts = d.count(s.scans)
	s.roundTrips = d.count(s.restarts)
	s.length = d.count(max(1, s.scans))
	if d.err == nil && (s.length < 1 || s.scans > s.length*maxBatches) {
		d.fail("a number is out of range")
	}
	for k := range s.rejected {
		s.rejected[k] = d.sum(s.scans)
	}
	for k := range s.logScore {
		s.logScore[k] = d.float()
	}
	for k := range s.forbidden {
		s.forbidden[k] = d.count(s.scans)
	}
	if d.err != nil {
		return s
	}
	for range int((s.scans+s.length-1)/s.length) * steps {
		s.batches = append(s.batches, bennettSums{d.sum(s.length), d.sum(s.length)})
	}
	return s
}
