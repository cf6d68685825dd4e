package kir

import (
	"fmt"
	"math"
)

// save writes the rungs, what the chain of replicas goes on from, and its sums.
func (l *replicas) save(e *encoder) {
	e.ints(int64(len(l.rungs)), l.scans, int64(l.seed), int64(l.index), int64(l.streams), int64(l.round), int64(l.done))
	for k := range l.rungs {
		g := &l.rungs[k]
		e.floats(g.state.beta, g.offset)
		e.ints(int64(g.seen))
		e.random(g.rand)
		e.state(g.state)
	}
	s := &l.sums
	e.ints(s.scans, s.restarts, s.roundTrips, s.length)
	e.floats(s.rejected...)
	e.floats(s.logScore...)
	e.ints(s.forbidden...)
	for _, b := range s.batches {
		e.floats(b.lower, b.upper)
	}
}

// RestoreChain returns the chain that [Chain.MarshalBinary] saved, with its states
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
	l.streams = d.between(0, math.MaxInt32)
	l.round = d.between(0, 40)
	l.done = d.between(0, firstLadderRound<<l.round-1)
	last := -1.0
	for at := range rungs {
		beta := d.float()
		switch {
		case at == climb-1 && beta != 1, at == 0 && climb > 1 && beta != 0:
			d.fail("its ladder does not rise from 0 to 1")
		case at >= climb && beta != peaks[at-climb]:
			d.fail("its ladder ends elsewhere")
		case beta <= last:
			d.fail("its ladder does not rise")
		}
		last = beta
		g := rung{offset: d.float(), seen: ends(d.between(int64(seenNone), int64(seenBoth)))}
		g.rand = d.random()
		if d.err != nil {
			return nil
		}
		g.state = d.state(beta)
		l.rungs = append(l.rungs, g)
	}
	s := &l.sums
	steps := l.steps()
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
		return nil
	}
	for range int((s.scans+s.length-1)/s.length) * steps {
		s.batches = append(s.batches, bennett{d.sum(s.length), d.sum(s.length)})
	}
	return l
}
