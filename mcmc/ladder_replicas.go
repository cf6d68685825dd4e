package mcmc

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"kir/internal/portable"
)

// replicas are the states of one tempered chain, one at each rung of its ladder.
type replicas struct {
	kernel *Tempered
	rungs  []rung // from β = 0 to β = 1, the peaks, and those of the learnt leg
	peaks  int    // number of rungs above β = 1
	scans  int64  // scans so far; even and odd scans try different swaps

	// The learnt leg leads from the reference at β = 0 to the same β = 1. It exists only after
	// something was learnt.
	reference   *reference
	learntRungs int // number of rungs of the learnt leg below β = 1
	learntSums  ladderSums
	learntPays  bool // whether the last round of warm-up found that the learnt leg pays

	// Each replica's stream of random choices is made when needed, with its own number.
	seed           uint64
	index, streams int

	round, done int // warm-up: number of the round, and scans made in it
	sums        ladderSums

	workers       int
	errs          []error
	scansTimed    int           // number of scans timed with one worker
	timedDuration time.Duration // time that the timed scans took
}

// rung is a place in the ladder. Its β is that of its state.
type rung struct {
	state       *State
	rand        *Rand
	offset      float64     // estimate of log Z_{r+1}/Z_r; the closer, the smaller the error of log Z
	endsReached visitedEnds // ends of the ladder that the replica on this rung has reached
	unreported  Tally       // counts of moves at other β than 1, which are not reported
}

// visitedEnds records which ends of the ladder a replica has reached.
type visitedEnds uint8

const (
	seenHot  visitedEnds = 1 << iota // the end reached last is at β = 0
	seenCold                         // the replica has been at β = 1
	byLearnt                         // the end reached last is β = 0 of the learnt leg
)

// NewChain starts a chain with a ladder that warm-up will respace.
func (k *Tempered) NewChain(seed uint64, index int) (*Chain, error) {
	l, tries, err := newReplicas(k, seed, index)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: l.state(), Tries: tries, mover: l, rand: chainRand(seed, index)}, nil
}

// newReplicas returns the initial ladder of a chain. Its β rise as the cube, a guess.
func newReplicas(k *Tempered, seed uint64, index int) (l *replicas, tries int, err error) {
	l = &replicas{kernel: k, seed: seed, index: index, workers: 1}
	steps := k.steps
	if steps == 0 {
		steps = firstSteps
	}
	if !k.target.scored() {
		steps = 0 // all β are alike
	}
	if steps > 0 {
		l.peaks = len(k.peaks)
	}
	for s := 0; s <= steps+l.peaks; s++ {
		r := l.stream()
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
			x.beta = k.peaks[s-steps-1]
		}
	}
	l.sums.reset(steps)
	return l, tries, nil
}

// firstSteps is the number of steps of a ladder until warm-up has found how many it needs.
const firstSteps = 8

// stream returns the next stream of random choices.
func (l *replicas) stream() *Rand {
	l.streams++
	return NewRand(l.seed, fmt.Sprintf("replicas of chain %d", l.index), uint64(l.streams))
}

// steps returns the number of steps from β = 0 to β = 1, which is also the index of the rung at β =
// 1.
func (l *replicas) steps() int { return len(l.rungs) - 1 - l.peaks - l.learntRungs }

// state returns the state at β = 1.
func (l *replicas) state() *State { return l.rungs[l.steps()].state }

// recordingStates returns all states.
func (l *replicas) recordingStates() []*State {
	all := make([]*State, len(l.rungs))
	for k := range l.rungs {
		all[k] = l.rungs[k].state
	}
	return all
}

func (l *replicas) setWorkers(workers int) { l.workers = workers }

// refresh refreshes all states.
func (l *replicas) refresh() error {
	for k := range l.rungs {
		if err := l.rungs[k].state.Refresh(); err != nil {
			return err
		}
	}
	return nil
}

// advance makes scans.
func (l *replicas) advance(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, false, tally)
}

// warm makes scans of warm-up.
func (l *replicas) warm(r *Rand, scans int, tally *Tally) error {
	return l.scan(r, scans, true, tally)
}

func (l *replicas) scan(r *Rand, scans int, warm bool, tally *Tally) error {
	for range scans {
		was := *tally
		if err := l.explore(warm, tally); err != nil {
			return kernelError("tempered", err)
		}
		swapped := l.swap(r)
		tally.Iterations = was.Iterations + 1
		tally.Accepted = was.Accepted + oneIf(swapped || tally.Accepted > was.Accepted)
		tally.Updated = was.Updated + oneIf(swapped || tally.Updated > was.Updated)
		if warm {
			if l.done++; l.done == firstLadderRound<<l.round {
				if err := l.tune(); err != nil {
					return kernelError("tempered", err)
				}
			}
		}
	}
	return nil
}

const (
	timedScans = 16
	shortScan  = 20 * time.Microsecond // shorter scans run on one worker, since starting more would take longer
)

// explore moves every replica. Each has its own stream of random choices, so the number of workers
// does not affect the result.
func (l *replicas) explore(warm bool, tally *Tally) error {
	workers := min(l.workers, len(l.rungs))
	if workers > 1 && l.scansTimed < timedScans {
		l.scansTimed++
		defer func(start time.Time) { l.timedDuration += time.Since(start) }(time.Now())
		workers = 1
	}
	if workers > 1 && l.timedDuration >= timedScans*shortScan {
		return l.exploreAtOnce(workers, warm, tally)
	}
	for k := range l.rungs {
		if err := l.move(k, warm, tally); err != nil {
			return err
		}
	}
	return nil
}

// exploreAtOnce is explore with several workers.
func (l *replicas) exploreAtOnce(workers int, warm bool, tally *Tally) error {
	l.errs = slices.Grow(l.errs[:0], len(l.rungs))[:len(l.rungs)]
	part := func(from int) {
		for k := from; k < len(l.rungs); k += workers {
			l.errs[k] = l.move(k, warm, tally)
		}
	}
	var group sync.WaitGroup
	for w := 1; w < workers; w++ {
		group.Go(func() { part(w) })
	}
	part(0)
	group.Wait()
	for _, err := range l.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// move moves the replica on one rung. It counts only moves at β = 1.
func (l *replicas) move(k int, warm bool, tally *Tally) error {
	g, b := &l.rungs[k], l.kernel.inner
	if k != l.steps() {
		tally = &g.unreported
	}
	switch {
	case k >= len(l.rungs)-l.learntRungs:
		return l.reference.move(g.rand, g.state)
	case k == 0 && len(l.rungs) > 1:
		g.state.drawExact(g.rand, g.state.Composition)
		err := g.state.Refresh()
		g.state.visited.addComposition(g.state.Composition, g.state.sum)
		return err
	case warm:
		return b.learn(g.rand, g.state, l.kernel.moves, tally)
	default:
		return b.Advance(g.rand, g.state, l.kernel.moves, tally)
	}
}

// rise returns log p_{k+1}(x) − log p_k(x), up to a constant, of the law on
// rung k and of that on the next.
func (l *replicas) rise(k int, x *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * x.sum)
	if k == 0 {
		d += x.target.logShare(x.Composition.Used())
	}
	return d
}

// logSwap returns the log of the Metropolis ratio of a swap between rung k and the next: the rise
// at the lower state less the rise at the upper one. Each rise alone may exceed a float64.
func (l *replicas) logSwap(k int, lower, upper *State) float64 {
	d := float64((l.rungs[k+1].state.beta - l.rungs[k].state.beta) * (lower.sum - upper.sum))
	if k == 0 {
		d += lower.target.logShare(lower.Composition.Used()) - upper.target.logShare(upper.Composition.Used())
	}
	return d
}

// peakSwaps is the share of swaps with a peak that are tried. If every one were tried, the same few
// replicas would reach β = 1 in turn. Draws that recur with a period make the effective sample size
// look too large.
const peakSwaps = 0.1

// swap swaps neighbours, every second pair in turn. It reports whether the pair at β = 1 swapped.
func (l *replicas) swap(r *Rand) (coldSwapped bool) {
	parity := int(l.scans & 1)
	l.scans++
	l.sums.beginScan()
	steps := l.steps()
	for k := range steps + l.peaks {
		lower, upper := &l.rungs[k], &l.rungs[k+1]
		p := portable.Exp(min(0, l.logSwap(k, lower.state, upper.state)))
		if k < steps {
			l.sums.addStep(k, lower.state.sum, p, l.rise(k, lower.state)-lower.offset, l.rise(k, upper.state)-lower.offset)
		}
		if k >= steps {
			p = float64(p * peakSwaps)
		}
		if k&1 == parity && r.Bernoulli(p) {
			lower.state.swap(upper.state)
			lower.endsReached, upper.endsReached = upper.endsReached, lower.endsReached
			coldSwapped = coldSwapped || k == steps-1 || k == steps
		}
	}
	l.sums.endScan(l.state().sum)
	coldSwapped = l.swapLearnt(r, parity) || coldSwapped
	l.countRoundTrips()
	return coldSwapped
}

// countRoundTrips records which replicas are at an end of the ladder, and counts those that come
// from β = 0 to β = 1.
func (l *replicas) countRoundTrips() {
	steps := l.steps()
	cold := &l.rungs[steps].endsReached
	if steps == 0 {
		return
	}
	hot := &l.rungs[0].endsReached
	*hot = *hot&seenCold | seenHot
	if l.learntRungs > 0 {
		hot = &l.rungs[len(l.rungs)-l.learntRungs].endsReached
		*hot = *hot&seenCold | seenHot | byLearnt
	}
	if *cold&seenHot != 0 {
		sums := &l.sums
		if *cold&byLearnt != 0 {
			sums = &l.learntSums
		}
		sums.restarts++
		sums.roundTrips += oneIf(*cold&seenCold != 0)
	}
	*cold = seenCold
}

// swap exchanges the compositions of two states and their scorers.
func (x *State) swap(y *State) {
	x.Composition, y.Composition = y.Composition, x.Composition
	x.terms, y.terms = y.terms, x.terms
	x.sum, y.sum = y.sum, x.sum
	x.recalled, y.recalled = false, false
}

// endWarmup ends warm-up.
func (l *replicas) endWarmup() {
	for k := range l.rungs[:len(l.rungs)-l.learntRungs] {
		l.kernel.inner.EndWarmup(l.rungs[k].state)
	}
	l.sums.restart(l.rungs)
	l.settleLearnt()
	l.round, l.done = 0, 0
}

// restart clears the sums of a leg that begins with the given rungs, and takes the offsets from the
// estimates so far.
func (s *ladderSums) restart(rungs []rung) {
	for k := range s.steps() {
		if rise := s.logRatio(k); !math.IsNaN(rise) && !math.IsInf(rise, 0) {
			rungs[k].offset += rise
		}
	}
	s.reset(s.steps())
}

// report returns the chain's statistics since warm-up.
func (l *replicas) report() *Ladder {
	out := l.sums.report(l.rungs[:l.steps()+1])
	if l.learntRungs > 0 {
		out.Learnt = l.learntSums.report(l.leg())
	}
	return out
}

// report returns the statistics of a leg with the given rungs.
func (s *ladderSums) report(rungs []rung) *Ladder {
	out := &Ladder{Scans: s.scans, Restarts: s.restarts, RoundTrips: s.roundTrips}
	n, steps := float64(s.scans), s.steps()
	for k := range steps + 1 {
		g := Rung{Beta: rungs[k].state.beta, Barrier: out.Barrier}
		g.MeanLogScore = s.logScore[k] / float64(s.scans-s.forbidden[k])
		g.Forbidden = float64(s.forbidden[k]) / n
		if k < steps {
			g.Rejected = s.rejected[k] / n
			out.Barrier += g.Rejected
			out.LogZ += rungs[k].offset + s.logRatio(k)
		}
		out.Rungs = append(out.Rungs, g)
	}
	out.LogZError = s.error()
	return out
}
