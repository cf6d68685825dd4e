package mcmc

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/portable"
)

// replicas holds the states of one chain of [Tempered]. It is the [chainMover] of such a chain.
// Each state is on a rung, that is, a value of β, to whose power the properties are raised. The
// rungs from β = 0 to β = 1 form the first ladder. A second ladder, the learnt leg, leads from the
// [referenceLaw] at β = 0 to the same β = 1.
type replicas struct {
	kernel    *Tempered
	rungs     []rung // first the rungs from β = 0 to β = 1, then the rungs above β = 1, then the learnt leg without β = 1
	peakCount int    // number of rungs above β = 1, whose replicas find the best compositions
	scanCount int64  // number of scans made; even and odd scans try to swap different pairs of neighbours

	// the distribution at β = 0 of the learnt leg; nil until warm-up has learnt something
	reference       *referenceLaw
	learntRungCount int        // number of rungs of the learnt leg, without the rung at β = 1 that it shares with the first ladder
	learntLegSums   ladderSums // sums over scans for the learnt leg
	keepLearntLeg   bool       // whether the learnt leg needed few enough scans in the last round of warm-up

	// The seed, chainIndex and the number of a generator decide the random number generator of a
	// replica. Each replica has its own.
	seed             uint64
	chainIndex       int // index of the chain
	replicaRandCount int // number of random number generators made for replicas

	warmupRound    int        // number of the current round of warm-up, from 0
	roundScanCount int        // number of scans made in the current round of warm-up
	firstLegSums   ladderSums // sums over scans for the first ladder, from β = 0 to β = 1

	workers        int           // number of replicas that may move at the same time
	moveErrors     []error       // scratch memory: moveErrors[k] is the error of the last move on rung k
	timedScanCount int           // number of scans whose time was measured, at most timedScans; they ran with one worker
	timedDuration  time.Duration // total time of the measured scans
}

// A rung is one value of β in the ladder of a chain of [Tempered], with the replica there. The
// value is the field beta of its state.
type rung struct {
	state           *State     // state of the replica on this rung
	rand            *Rand      // random number generator of the replica on this rung
	offset          float64    // estimate of log(Z_{r+1}/Z_r) for this rung r; the better it is, the smaller the standard error of log Z
	endsReached     ladderEnds // which ends of the ladder the replica on this rung has reached
	unreportedTally Tally      // counts of the moves on this rung, which are not reported; unused at β = 1
}

// ladderEnds is a set of bits that says which ends of the ladder a replica has reached, β = 0 or β
// = 1.
type ladderEnds uint8

const (
	cameFromHotEnd  ladderEnds = 1 << iota // set if the replica has been at β = 0 since it was last at β = 1
	visitedColdEnd                         // set if the replica has been at β = 1
	cameByLearntLeg                        // set if the replica was last at β = 0 of the learnt leg, and not of the first ladder
)

// NewChain starts a chain. Warm-up will choose the β of its replicas.
func (k *Tempered) NewChain(seed uint64, index int) (*Chain, error) {
	l, tries, err := newReplicas(k, seed, index)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: l.state(), StartDraws: tries, mover: l, rand: newChainRand(seed, index)}, nil
}

// newReplicas returns the first ladder of replicas of a chain, and the number of compositions that
// were drawn to find a first state at β = 1. As a guess, the β are the cubes of evenly spaced
// numbers; warm-up improves them.
func newReplicas(k *Tempered, seed uint64, index int) (l *replicas, tries int, err error) {
	l = &replicas{kernel: k, seed: seed, chainIndex: index, workers: 1}
	steps := k.fixedStepCount
	if steps == 0 {
		steps = initialLadderSteps
	}
	if !k.target.isScored() {
		steps = 0 // all β are alike
	}
	if steps > 0 {
		l.peakCount = len(k.peakBetas)
	}
	for s := 0; s <= steps+l.peakCount; s++ {
		r := l.newReplicaRand()
		x, n, err := StartState(k.target, r)
		if s == steps || err != nil {
			tries = n
		}
		if err != nil {
			return nil, tries, err
		}
		l.rungs = append(l.rungs, rung{state: x, rand: r})
		if s < steps {
			f := float64(s) / float64(steps)
			x.beta = float64(f * f * f)
		} else if s > steps {
			x.beta = k.peakBetas[s-steps-1]
		}
	}
	l.firstLegSums.reset(steps)
	return l, tries, nil
}

// initialLadderSteps is the number of steps from one β to the next between β = 0 and β = 1, until warm-up
// has found how many steps a chain needs.
const initialLadderSteps = 8

// newReplicaRand returns a new random number generator for a replica. It is independent of all earlier
// ones.
func (l *replicas) newReplicaRand() *Rand {
	l.replicaRandCount++
	return NewRand(l.seed, fmt.Sprintf("replicas of chain %d", l.chainIndex), uint64(l.replicaRandCount))
}

// stepCount returns the number of steps from one β to the next between β = 0 and β = 1. This is
// also the index of the rung at β = 1.
func (l *replicas) stepCount() int { return len(l.rungs) - 1 - l.peakCount - l.learntRungCount }

// state returns the state of the replica at β = 1.
func (l *replicas) state() *State { return l.rungs[l.stepCount()].state }

// recordingStates returns the states of all replicas.
func (l *replicas) recordingStates() []*State {
	all := make([]*State, len(l.rungs))
	for k := range l.rungs {
		all[k] = l.rungs[k].state
	}
	return all
}

// setWorkers sets how many replicas may move at the same time.
func (l *replicas) setWorkers(workers int) { l.workers = workers }

// refresh recomputes the scores of all states.
func (l *replicas) refresh() error {
	for k := range l.rungs {
		if err := l.rungs[k].state.Refresh(); err != nil {
			return err
		}
	}
	return nil
}

// advance makes the given number of scans. In a scan all replicas move, and then neighbours may
// swap.
func (l *replicas) advance(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, false, tally)
}

// warm makes the given number of scans and tunes the ladder. In a scan all replicas move, and then
// neighbours may swap.
func (l *replicas) warm(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, true, tally)
}

// scan makes the given number of scans: all replicas move, and then neighbours may swap. If warm is
// true, it tunes the ladder at the end of each round of scans.
func (l *replicas) scan(r *Rand, scans int, warm bool, tally *Tally) error {
	for range scans {
		was := *tally
		if err := l.moveAll(warm, tally); err != nil {
			return wrapKernelError("tempered", err)
		}
		swapped := l.swapNeighbours(r)
		tally.Iterations = was.Iterations + 1
		tally.Accepted = was.Accepted + oneIf(swapped || tally.Accepted > was.Accepted)
		tally.Updated = was.Updated + oneIf(swapped || tally.Updated > was.Updated)
		if warm {
			if l.roundScanCount++; l.roundScanCount == firstRoundScans<<l.warmupRound {
				if err := l.endRound(); err != nil {
					return wrapKernelError("tempered", err)
				}
			}
		}
	}
	return nil
}

const (
	timedScans          = 16                    // number of scans whose time is measured, before several workers may be used
	minParallelScanTime = 20 * time.Microsecond // least mean time of a scan for which several workers are used; starting workers takes time
)

// moveAll moves every replica once. Each replica has its own random number generator, so the number
// of workers does not affect the result.
func (l *replicas) moveAll(warm bool, tally *Tally) error {
	workers := min(l.workers, len(l.rungs))
	if workers > 1 && l.timedScanCount < timedScans {
		l.timedScanCount++
		defer func(start time.Time) { l.timedDuration += time.Since(start) }(time.Now())
		workers = 1
	}
	if workers > 1 && l.timedDuration >= timedScans*minParallelScanTime {
		return l.moveAllInParallel(workers, warm, tally)
	}
	for k := range l.rungs {
		if err := l.moveReplica(k, warm, tally); err != nil {
			return err
		}
	}
	return nil
}

// moveAllInParallel moves every replica once, with several workers.
func (l *replicas) moveAllInParallel(workers int, warm bool, tally *Tally) error {
	l.moveErrors = slices.Grow(l.moveErrors[:0], len(l.rungs))[:len(l.rungs)]
	part := func(from int) {
		for k := from; k < len(l.rungs); k += workers {
			l.moveErrors[k] = l.moveReplica(k, warm, tally)
		}
	}
	var group sync.WaitGroup
	for w := 1; w < workers; w++ {
		group.Go(func() { part(w) })
	}
	part(0)
	group.Wait()
	for _, err := range l.moveErrors {
		if err != nil {
			return err
		}
	}
	return nil
}

// moveReplica moves the replica on rung k. It counts moves at β = 1 in the tally, and other moves
// in the unreported tally of the rung.
func (l *replicas) moveReplica(k int, warm bool, tally *Tally) error {
	g, b := &l.rungs[k], l.kernel.replicaKernel
	if k != l.stepCount() {
		tally = &g.unreportedTally
	}
	switch {
	case k >= len(l.rungs)-l.learntRungCount:
		return l.reference.move(g.rand, g.state)
	case k == 0 && len(l.rungs) > 1:
		g.state.drawExact(g.rand, g.state.Composition)
		err := g.state.Refresh()
		g.state.visitedStates.addComposition(g.state.Composition, g.state.logScore)
		return err
	case warm:
		return b.warmRounds(g.rand, g.state, l.kernel.movesPerScan, tally)
	default:
		return b.Advance(g.rand, g.state, l.kernel.movesPerScan, tally)
	}
}

// logDensityRise returns log p_{k+1}(x) − log p_k(x), up to a constant, where p_k is the
// distribution that the replica on rung k samples.
func (l *replicas) logDensityRise(k int, x *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * x.logScore)
	if k == 0 {
		d += x.target.logDrawRatio(x.Composition.UsedCount())
	}
	return d
}

// logSwapRatio returns the log of the Metropolis ratio for swapping the states of the rungs k and
// k+1. This is [replicas.logDensityRise] at the state lower minus the same at the state upper. The
// two are not computed one by one, because each alone may overflow a float64.
func (l *replicas) logSwapRatio(k int, lower, upper *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * (lower.logScore - upper.logScore))
	if k == 0 {
		d += lower.target.logDrawRatio(lower.Composition.UsedCount()) - upper.target.logDrawRatio(upper.Composition.UsedCount())
	}
	return d
}

// peakSwapShare is the share of possible swaps with a replica above β = 1 that are tried. If all
// were tried, the same few replicas would reach β = 1 in turn. Draws that recur with a period make
// the effective sample size look too large.
const peakSwapShare = 0.1

// swapNeighbours lets neighbouring replicas swap their states, every second pair in each scan. The
// result coldSwapped reports whether the state at β = 1 changed.
func (l *replicas) swapNeighbours(r *Rand) (coldSwapped bool) {
	parity := int(l.scanCount & 1)
	l.scanCount++
	l.firstLegSums.beginScan()
	steps := l.stepCount()
	for k := range steps + l.peakCount {
		lower, upper := &l.rungs[k], &l.rungs[k+1]
		p := portable.Exp(min(0, l.logSwapRatio(k, lower.state, upper.state)))
		if k < steps {
			l.firstLegSums.addStep(k, lower.state.logScore, p, l.logDensityRise(k, lower.state)-lower.offset, l.logDensityRise(k, upper.state)-lower.offset)
		}
		if k >= steps {
			p = float64(p * peakSwapShare)
		}
		if k&1 == parity && r.Bernoulli(p) {
			lower.state.swapCompositionWith(upper.state)
			lower.endsReached, upper.endsReached = upper.endsReached, lower.endsReached
			coldSwapped = coldSwapped || k == steps-1 || k == steps
		}
	}
	l.firstLegSums.endScan(l.state().logScore)
	coldSwapped = l.swapLearntLeg(r, parity) || coldSwapped
	l.countRoundTrips()
	return coldSwapped
}

// countRoundTrips records which replicas are at β = 0 or β = 1. It counts each arrival at β = 1 of
// a replica that comes from β = 0.
func (l *replicas) countRoundTrips() {
	steps := l.stepCount()
	cold := &l.rungs[steps].endsReached
	if steps == 0 {
		return
	}
	hot := &l.rungs[0].endsReached
	*hot = *hot&visitedColdEnd | cameFromHotEnd
	if l.learntRungCount > 0 {
		hot = &l.rungs[len(l.rungs)-l.learntRungCount].endsReached
		*hot = *hot&visitedColdEnd | cameFromHotEnd | cameByLearntLeg
	}
	if *cold&cameFromHotEnd != 0 {
		sums := &l.firstLegSums
		if *cold&cameByLearntLeg != 0 {
			sums = &l.learntLegSums
		}
		sums.restartCount++
		sums.roundTripCount += oneIf(*cold&visitedColdEnd != 0)
	}
	*cold = visitedColdEnd
}

// swapCompositionWith exchanges the compositions of x and y, with their scorers and log scores.
func (x *State) swapCompositionWith(y *State) {
	x.Composition, y.Composition = y.Composition, x.Composition
	x.scoredTerms, y.scoredTerms = y.scoredTerms, x.scoredTerms
	x.logScore, y.logScore = y.logScore, x.logScore
	x.logRecallCached, y.logRecallCached = false, false
}

// endWarmup ends warm-up: it fixes the parameters that warm-up has tuned, and sets the sums to 0.
func (l *replicas) endWarmup() {
	for k := range l.rungs[:len(l.rungs)-l.learntRungCount] {
		l.kernel.replicaKernel.EndWarmup(l.rungs[k].state)
	}
	l.firstLegSums.updateOffsetsAndReset(l.rungs)
	l.dropCostlyLearntLeg()
	l.warmupRound, l.roundScanCount = 0, 0
}

// updateOffsetsAndReset adds the logZRatio of each step to the offset of its rung, and then sets
// the sums to 0. So the offsets become new estimates of log(Z_{k+1}/Z_k). The first rungs of the
// argument are those to which the sums belong.
func (s *ladderSums) updateOffsetsAndReset(rungs []rung) {
	for k := range s.stepCount() {
		if rise := s.logZRatio(k); !math.IsNaN(rise) && !math.IsInf(rise, 0) {
			rungs[k].offset += rise
		}
	}
	s.reset(s.stepCount())
}

// statistics returns the statistics of both ladders since warm-up.
func (l *replicas) statistics() *LadderStatistics {
	out := l.firstLegSums.statistics(l.rungs[:l.stepCount()+1])
	if l.learntRungCount > 0 {
		out.Learnt = l.learntLegSums.statistics(l.learntLegRungs())
	}
	return out
}

// statistics returns the statistics of the ladder of replicas that has the given rungs.
func (s *ladderSums) statistics(rungs []rung) *LadderStatistics {
	out := &LadderStatistics{Scans: s.scanCount, Restarts: s.restartCount, RoundTrips: s.roundTripCount}
	n, steps := float64(s.scanCount), s.stepCount()
	for k := range steps + 1 {
		g := Rung{Beta: rungs[k].state.beta, Barrier: out.Barrier}
		g.MeanLogScore = s.logScoreSums[k] / float64(s.scanCount-s.forbiddenCounts[k])
		g.Forbidden = float64(s.forbiddenCounts[k]) / n
		if k < steps {
			g.Rejected = s.rejectionSums[k] / n
			out.Barrier += g.Rejected
			out.LogZ += rungs[k].offset + s.logZRatio(k)
		}
		out.Rungs = append(out.Rungs, g)
	}
	out.LogZError = s.logZError()
	return out
}
