package mcmc

import "math"

// firstLadderRound is the number of scans in the first round of warm-up. Each further round has
// twice as many.
const firstLadderRound = 32

// tune ends a round of warm-up. It respaces the ladder so that, by the rates of the round, all
// steps are rejected equally often.
func (l *replicas) tune() error {
	steps := l.steps()
	if steps > 0 {
		barrier, logZ := l.sums.cumulate(l.rungs)
		next := l.kernel.steps
		if next == 0 {
			next = stepsFor(barrier[steps])
		}
		betas, levels := spaceBetas(l.rungs[:steps+1], barrier, logZ, next)
		if err := l.rebuild(betas, levels); err != nil {
			return err
		}
		if err := l.relearn(); err != nil {
			return err
		}
	}
	l.round, l.done = l.round+1, 0
	l.sums.reset(l.steps())
	return nil
}

// stepsFor returns the number of steps of a leg with the given barrier.
func stepsFor(barrier float64) int {
	return min(max(int(math.Ceil(2*barrier)), 1), maxSteps)
}

// cumulate returns the barrier and log Z up to each rung of a leg, which begins with the given
// rungs. It leaves out rejections that no spacing can change: at β = 0 a forbidden composition is
// always rejected.
func (s *ladderSums) cumulate(rungs []rung) (barrier, logZ []float64) {
	steps := s.steps()
	barrier, logZ = make([]float64, steps+1), make([]float64, steps+1)
	for k := range steps {
		barrier[k+1] = barrier[k] + s.avoidableRate(k)
		rise := s.logRatio(k)
		if math.IsNaN(rise) || math.IsInf(rise, 0) {
			rise = 0
		}
		logZ[k+1] = logZ[k] + rungs[k].offset + rise
	}
	return barrier, logZ
}

// spaceBetas returns β for the given number of steps, between which the barrier rises evenly, and
// log Z there. It interpolates both between the rungs of a leg.
func spaceBetas(rungs []rung, barrier, logZ []float64, steps int) (betas, levels []float64) {
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
		levels = append(levels, logZ[k]+float64(f*(logZ[k+1]-logZ[k])))
	}
	return append(betas, 1), append(levels, logZ[last])
}

// rebuild makes a ladder of the given β from this one. Each new rung takes the state of the old
// rung at the same relative height, or a copy of it.
func (l *replicas) rebuild(betas, logZ []float64) error {
	old, steps := l.rungs[:l.steps()+1], len(betas)-1
	peaks := l.rungs[l.steps()+1:]
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
			l.rungs[k] = rung{state: x, rand: l.stream()}
		}
	}
	for k := range betas {
		l.rungs[k].state.beta, l.rungs[k].state.recalled = betas[k], false
		l.rungs[k].offset = 0
		if k < steps {
			l.rungs[k].offset = logZ[k+1] - logZ[k]
		}
	}
	// A forbidden composition is valid at β = 0 only.
	for k := 1; k <= steps; k++ {
		if l.rungs[k].state.sum == negInf {
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

// clone returns a state with the same composition and a copy of the memory.
func (x *State) clone() (*State, error) {
	y := newState(x.target, x.Composition.Clone())
	y.beta = x.beta
	if x.memory != nil {
		y.memory = x.memory.clone(x.target)
	}
	return y, y.Refresh()
}
