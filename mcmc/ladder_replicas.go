package mcmc

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/portable"
)

// replicas holds the states of one tempered chain, one state for each rung of its ladders. It is
// the [chainMover] of such a chain.
type replicas struct {
	kernel    *Tempered
	rungs     []rung // first the rungs from β = 0 to β = 1, then those above β = 1, then those of the learnt leg
	peakCount int    // number of rungs above β = 1
	scanCount int64  // number of scans so far; even and odd scans try to swap different pairs

	// The learnt leg leads from the reference law at β = 0 to the same β = 1. It exists only after
	// warm-up has learnt something.
	reference       *referenceLaw
	learntRungCount int        // number of rungs of the learnt leg below β = 1
	learntSums      ladderSums // sums over scans for the learnt leg
	keepLearntLeg   bool       // whether the learnt leg cost few enough scans in the last round of warm-up

	// Each replica has its own stream of random numbers. The seed, the index of the chain and the
	// number of the stream decide the stream.
	seed                    uint64
	chainIndex, streamCount int // index of the chain; number of streams made so far

	warmupRound, roundScanCount int        // number of the current round of warm-up, and number of scans made in that round
	firstLegSums                ladderSums // sums over scans for the first leg, from β = 0 to β = 1

	workers        int           // number of replicas that may move at the same time
	moveErrors     []error       // scratch memory, by rung: the error of its last move
	timedScanCount int           // number of scans timed with one worker, at most timedScans
	timedDuration  time.Duration // time that the timed scans took together
}

// A rung is one place in the ladder of a chain. Its β is the field beta of its state.
type rung struct {
	state           *State
	rand            *Rand
	offset          float64    // estimate of log(Z_{r+1}/Z_r); the better it is, the smaller the error of log Z
	endsReached     ladderEnds // which ends of the ladder the replica on this rung has reached
	unreportedTally Tally      // counts of the moves if β is not 1; they are not reported
}

// ladderEnds says which ends of the ladder a replica has reached, as a set of bits.
type ladderEnds uint8

const (
	cameFromHot     ladderEnds = 1 << iota // set if the replica has been at β = 0 since it was last at β = 1
	wasCold                                // set if the replica has been at β = 1
	cameByLearntLeg                        // set if the replica came from β = 0 of the learnt leg, and not of the first leg
)

// NewChain starts a chain. Warm-up will space the β of its ladder.
func (k *Tempered) NewChain(seed uint64, index int) (*Chain, error) {
	l, tries, err := newReplicas(k, seed, index)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: l.state(), StartDraws: tries, mover: l, rand: newChainRand(seed, index)}, nil
}

// newReplicas returns the initial ladder of a chain, and the number of compositions drawn for the
// state at β = 1. As a guess, the β are the cubes of evenly spaced numbers.
func newReplicas(k *Tempered, seed uint64, index int) (l *replicas, tries int, err error) {
	l = &replicas{kernel: k, seed: seed, chainIndex: index, workers: 1}
	steps := k.fixedSteps
	if steps == 0 {
		steps = initialSteps
	}
	if !k.target.isScored() {
		steps = 0 // all β are alike
	}
	if steps > 0 {
		l.peakCount = len(k.peakBetas)
	}
	for s := 0; s <= steps+l.peakCount; s++ {
		r := l.newStream()
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

// initialSteps is the number of steps of a ladder until warm-up has found how many steps it needs.
const initialSteps = 8

// newStream returns the next new stream of random numbers.
func (l *replicas) newStream() *Rand {
	l.streamCount++
	return NewRand(l.seed, fmt.Sprintf("replicas of chain %d", l.chainIndex), uint64(l.streamCount))
}

// steps returns the number of steps from β = 0 to β = 1. This is also the index of the rung at β =
// 1.
func (l *replicas) steps() int { return len(l.rungs) - 1 - l.peakCount - l.learntRungCount }

// state returns the state at β = 1.
func (l *replicas) state() *State { return l.rungs[l.steps()].state }

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

// advance makes the given number of scans.
func (l *replicas) advance(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, false, tally)
}

// warm makes the given number of scans of warm-up.
func (l *replicas) warm(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, true, tally)
}

// scan makes the given number of scans. In warm-up it tunes the ladder at the end of each round of
// scans.
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
	timedScans      = 16                    // number of scans that are timed before several workers may be used
	minParallelScan = 20 * time.Microsecond // least mean time of a scan for which several workers are used, since starting them takes time
)

// moveAll moves every replica once. Each replica has its own stream of random numbers, so the
// number of workers does not affect the result.
func (l *replicas) moveAll(warm bool, tally *Tally) error {
	workers := min(l.workers, len(l.rungs))
	if workers > 1 && l.timedScanCount < timedScans {
		l.timedScanCount++
		defer func(start time.Time) { l.timedDuration += time.Since(start) }(time.Now())
		workers = 1
	}
	if workers > 1 && l.timedDuration >= timedScans*minParallelScan {
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

// moveReplica moves the replica on rung k. Only moves at β = 1 are counted in the tally.
func (l *replicas) moveReplica(k int, warm bool, tally *Tally) error {
	g, b := &l.rungs[k], l.kernel.replicaKernel
	if k != l.steps() {
		tally = &g.unreportedTally
	}
	switch {
	case k >= len(l.rungs)-l.learntRungCount:
		return l.reference.move(g.rand, g.state)
	case k == 0 && len(l.rungs) > 1:
		g.state.drawExact(g.rand, g.state.Composition)
		err := g.state.Refresh()
		g.state.visited.addComposition(g.state.Composition, g.state.logScore)
		return err
	case warm:
		return b.warmRounds(g.rand, g.state, l.kernel.movesPerScan, tally)
	default:
		return b.Advance(g.rand, g.state, l.kernel.movesPerScan, tally)
	}
}

// logDensityRise returns log p_{k+1}(x) − log p_k(x), up to a constant, where p_k is the law on
// rung k.
func (l *replicas) logDensityRise(k int, x *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * x.logScore)
	if k == 0 {
		d += x.target.logDrawRatio(x.Composition.Used())
	}
	return d
}

// logSwapRatio returns the log of the Metropolis ratio of a swap between rung k and rung k+1. It is
// [replicas.logDensityRise] at the lower state less the rise at the upper state. Each rise alone
// may overflow a float64.
func (l *replicas) logSwapRatio(k int, lower, upper *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * (lower.logScore - upper.logScore))
	if k == 0 {
		d += lower.target.logDrawRatio(lower.Composition.Used()) - upper.target.logDrawRatio(upper.Composition.Used())
	}
	return d
}

// peakSwapShare is the share of swaps with a rung above β = 1 that are tried. If all were tried,
// the same few replicas would reach β = 1 in turn. Draws that recur with a period make the
// effective sample size look too large.
const peakSwapShare = 0.1

// swapNeighbours swaps the states of neighbouring rungs, every second pair in each scan. It reports whether
// the state at β = 1 changed.
func (l *replicas) swapNeighbours(r *Rand) (coldSwapped bool) {
	parity := int(l.scanCount & 1)
	l.scanCount++
	l.firstLegSums.beginScan()
	steps := l.steps()
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
			lower.state.swapWith(upper.state)
			lower.endsReached, upper.endsReached = upper.endsReached, lower.endsReached
			coldSwapped = coldSwapped || k == steps-1 || k == steps
		}
	}
	l.firstLegSums.endScan(l.state().logScore)
	coldSwapped = l.swapLearntLeg(r, parity) || coldSwapped
	l.countRoundTrips()
	return coldSwapped
}

// countRoundTrips records which replicas are at an end of a ladder. It counts each arrival at β = 1
// of a replica that comes from β = 0.
func (l *replicas) countRoundTrips() {
	steps := l.steps()
	cold := &l.rungs[steps].endsReached
	if steps == 0 {
		return
	}
	hot := &l.rungs[0].endsReached
	*hot = *hot&wasCold | cameFromHot
	if l.learntRungCount > 0 {
		hot = &l.rungs[len(l.rungs)-l.learntRungCount].endsReached
		*hot = *hot&wasCold | cameFromHot | cameByLearntLeg
	}
	if *cold&cameFromHot != 0 {
		sums := &l.firstLegSums
		if *cold&cameByLearntLeg != 0 {
			sums = &l.learntSums
		}
		sums.restartCount++
		sums.roundTripCount += oneIf(*cold&wasCold != 0)
	}
	*cold = wasCold
}

// swapWith exchanges the compositions of x and y, with their scorers and log scores.
func (x *State) swapWith(y *State) {
	x.Composition, y.Composition = y.Composition, x.Composition
	x.terms, y.terms = y.terms, x.terms
	x.logScore, y.logScore = y.logScore, x.logScore
	x.logRecallCached, y.logRecallCached = false, false
}

// endWarmup ends warm-up: it fixes what warm-up has tuned and clears the sums.
func (l *replicas) endWarmup() {
	for k := range l.rungs[:len(l.rungs)-l.learntRungCount] {
		l.kernel.replicaKernel.EndWarmup(l.rungs[k].state)
	}
	l.firstLegSums.restartWithOffsets(l.rungs)
	l.settleLearntLeg()
	l.warmupRound, l.roundScanCount = 0, 0
}

// restartWithOffsets adds the current estimates of log(Z_{k+1}/Z_k) to the offsets of the rungs,
// and then clears the sums. The argument rungs begins with the rungs to which the sums belong.
func (s *ladderSums) restartWithOffsets(rungs []rung) {
	for k := range s.steps() {
		if rise := s.logZRatio(k); !math.IsNaN(rise) && !math.IsInf(rise, 0) {
			rungs[k].offset += rise
		}
	}
	s.reset(s.steps())
}

// statistics returns the statistics of the chain since warm-up.
func (l *replicas) statistics() *LadderStatistics {
	out := l.firstLegSums.statistics(l.rungs[:l.steps()+1])
	if l.learntRungCount > 0 {
		out.Learnt = l.learntSums.statistics(l.learntLeg())
	}
	return out
}

// statistics returns the statistics of one ladder of replicas, which has the given rungs.
func (s *ladderSums) statistics(rungs []rung) *LadderStatistics {
	out := &LadderStatistics{Scans: s.scanCount, Restarts: s.restartCount, RoundTrips: s.roundTripCount}
	n, steps := float64(s.scanCount), s.steps()
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
