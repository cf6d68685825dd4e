package mcmc

import "math"

// firstRoundScans is the number of scans in the first round of warm-up. Each later round has twice
// as many scans as the round before.
const firstRoundScans = 32

// endRound ends a round of warm-up. It spaces the β of the replicas anew. The spacing makes all
// swap rejection rates equal, as far as the rates of this round predict.
func (l *replicas) endRound() error {
	steps := l.stepCount()
	if steps > 0 {
		barrier, logZ := l.firstLegSums.cumulativeBarrierAndLogZ(l.rungs)
		next := l.kernel.fixedStepCount
		if next == 0 {
			next = stepsForBarrier(barrier[steps])
		}
		betas, levels := respaceBetas(l.rungs[:steps+1], barrier, logZ, next)
		if err := l.rebuildLadder(betas, levels); err != nil {
			return err
		}
		if err := l.endLearntRound(); err != nil {
			return err
		}
	}
	l.warmupRound, l.roundScanCount = l.warmupRound+1, 0
	l.firstLegSums.reset(l.stepCount())
	return nil
}

// stepsForBarrier returns the number of steps from β = 0 to β = 1 that suits the given
// communication barrier. This is twice the barrier, rounded up, between 1 and maxLadderSteps.
func stepsForBarrier(barrier float64) int {
	return min(max(int(math.Ceil(2*barrier)), 1), maxLadderSteps)
}

// cumulativeBarrierAndLogZ returns two lists with one element per rung of a ladder. Element k of
// barrier is the sum of the rejection rates of the swaps below rung k. Element k of logZ is
// log(Z_k/Z_0). The first rungs of the argument are the rungs of the ladder.
//
// The barrier leaves out the rejections that no spacing can change: a forbidden composition at β =
// 0 is always rejected.
func (s *ladderSums) cumulativeBarrierAndLogZ(rungs []rung) (barrier, logZ []float64) {
	steps := s.stepCount()
	barrier, logZ = make([]float64, steps+1), make([]float64, steps+1)
	for k := range steps {
		barrier[k+1] = barrier[k] + s.avoidableRejectionRate(k)
		rise := s.logZRatio(k)
		if math.IsNaN(rise) || math.IsInf(rise, 0) {
			rise = 0
		}
		logZ[k+1] = logZ[k] + rungs[k].offset + rise
	}
	return barrier, logZ
}

// respaceBetas returns new β for a ladder with the given number of steps, and log Z at each new β
// in newLogZ. From each new β to the next the communication barrier rises by the same amount. The
// arguments barrier and logZ hold the values at the β of the current rungs, between which
// respaceBetas interpolates.
func respaceBetas(rungs []rung, barrier, logZ []float64, steps int) (betas, newLogZ []float64) {
	last := len(barrier) - 1
	// A small extra barrier everywhere keeps β rising where no swap is rejected.
	height := func(k int) float64 { return barrier[k] + float64(1e-3*rungs[k].state.beta) }
	k := 0
	for s := range steps {
		wanted := float64(float64(s) / float64(steps) * height(last))
		for k < last-1 && height(k+1) <= wanted {
			k++
		}
		f := (wanted - height(k)) / (height(k+1) - height(k))
		from, to := rungs[k].state.beta, rungs[k+1].state.beta
		betas = append(betas, from+float64(f*(to-from)))
		newLogZ = append(newLogZ, logZ[k]+float64(f*(logZ[k+1]-logZ[k])))
	}
	return append(betas, 1), append(newLogZ, logZ[last])
}

// rebuildLadder replaces the rungs from β = 0 to β = 1 by rungs with the given β. The argument logZ
// holds an estimate of log Z at each β. Each new rung takes the state of the old rung at the same
// relative height, or a copy of that state.
func (l *replicas) rebuildLadder(betas, logZ []float64) error {
	old, steps := l.rungs[:l.stepCount()+1], len(betas)-1
	peaks := l.rungs[l.stepCount()+1:]
	taken := make([]bool, len(old))
	l.rungs = make([]rung, len(betas))
	for k := steps; k >= 0; k-- { // from β = 1, which keeps its state
		from := (2*k*(len(old)-1) + steps) / (2 * steps)
		if !taken[from] {
			taken[from] = true
			l.rungs[k] = old[from]
		} else {
			x, err := old[from].state.clone()
			if err != nil {
				return err
			}
			l.rungs[k] = rung{state: x, rand: l.newReplicaRand()}
		}
	}
	for k := range betas {
		l.rungs[k].state.beta, l.rungs[k].state.logRecallCached = betas[k], false
		l.rungs[k].offset = 0
		if k < steps {
			l.rungs[k].offset = logZ[k+1] - logZ[k]
		}
	}
	// A forbidden composition is valid at β = 0 only.
	for k := 1; k <= steps; k++ {
		if l.rungs[k].state.logScore == negInf {
			x, err := l.state().clone()
			if err != nil {
				return err
			}
			x.beta, x.memory = betas[k], l.rungs[k].state.memory
			l.rungs[k].state = x
		}
	}
	l.rungs = append(l.rungs, peaks...)
	return nil
}

// clone returns a new state with copies of the composition and of what warm-up has learnt.
func (x *State) clone() (*State, error) {
	y := newState(x.target, x.Composition.Clone())
	y.beta = x.beta
	if x.memory != nil {
		y.memory = x.memory.clone(x.target)
	}
	return y, y.Refresh()
}
