package kir

import "math"

// firstLadderRound is how many scans the first round of warm-up has; each
// further one has twice as many as the last.
const firstLadderRound = 32

// tune ends a round of warm-up: it spaces the ladder anew so that, as the
// round has it, all steps are rejected equally often.
func (l *replicas) tune() error {
	steps := l.steps()
	if steps > 0 {
		// The barrier up to each rung, without what no spacing can change: at
		// β = 0 a composition that is forbidden is always rejected.
		barrier, logZ := make([]float64, steps+1), make([]float64, steps+1)
		for k := range steps {
			barrier[k+1] = barrier[k] + l.sums.avoidable(k)
			rise := l.sums.logRatio(k)
			if math.IsNaN(rise) || math.IsInf(rise, 0) {
				rise = 0
			}
			logZ[k+1] = logZ[k] + l.rungs[k].offset + rise
		}
		total := barrier[steps]
		next := l.kernel.steps
		if next == 0 {
			next = min(max(int(math.Ceil(2*total)), 1), maxSteps)
		}
		betas, levels := make([]float64, next+1), make([]float64, next+1)
		for s := range betas {
			betas[s], levels[s] = l.at(barrier, logZ, float64(s)/float64(next))
		}
		if err := l.rebuild(betas, levels); err != nil {
			return err
		}
	}
	l.round, l.done = l.round+1, 0
	l.sums.reset(l.steps())
	return nil
}

// at returns the β up to which lies a share of the barrier, and log Z there,
// both interpolated between the rungs.
func (l *replicas) at(barrier, logZ []float64, share float64) (beta, level float64) {
	last := len(barrier) - 1
	if share >= 1 {
		return 1, logZ[last]
	}
	// A trace of a barrier everywhere keeps β rising where nothing is rejected.
	height := func(k int) float64 { return barrier[k] + 1e-3*l.rungs[k].state.beta }
	wanted := share * height(last)
	k := 0
	for k < last-1 && height(k+1) <= wanted {
		k++
	}
	f := (wanted - height(k)) / (height(k+1) - height(k))
	from, to := l.rungs[k].state.beta, l.rungs[k+1].state.beta
	return from + f*(to-from), logZ[k] + f*(logZ[k+1]-logZ[k])
}

// rebuild makes a ladder of the given β from this one. Each new rung takes the
// state of the old one that is as far up, or a copy of it.
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
			l.rungs[k] = rung{state: x, rand: l.stream(), seen: seenNone}
		}
	}
	for k := range betas {
		l.rungs[k].state.beta, l.rungs[k].state.recalled = betas[k], false
		l.rungs[k].offset = 0
		if k < steps {
			l.rungs[k].offset = logZ[k+1] - logZ[k]
		}
	}
	// A forbidden composition may stay at β = 0 only.
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

// clone returns a state with the same composition, and what was learnt.
func (x *State) clone() (*State, error) {
	y := newState(x.target, x.Composition.Clone())
	y.beta = x.beta
	if x.memory != nil {
		y.memory = x.memory.clone(x.target)
	}
	return y, y.Refresh()
}
