package mcmc

import (
	"math"

	"kir/internal/portable"
)

// Warm makes iterations of warm-up. They alternate between the target (cold phases) and flatter
// laws (hot phases). From the flattest law the chain returns slowly to the target. If the target
// has several regions, the chain may return to another region than before. So the memory, which
// learns in cold phases only, learns of more than one region.
func (b *Balanced) Warm(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.terms) == 0 {
		return b.warmRounds(r, x, iterations, tally)
	}
	m := x.ensureMemory()
	for iterations > 0 {
		var steps int
		var err error
		if m.cycleIterations < coldIterations {
			steps = min(iterations, coldIterations-m.cycleIterations)
			err = b.warmRounds(r, x, steps, tally)
		} else {
			if m.cycleIterations == coldIterations {
				m.coldState.copyFrom(&stateList{})
				m.coldState.add(x.Composition)
				m.coldConditions = append(m.coldConditions[:0], x.Composition.conditions...)
			}
			steps = min(iterations, powerStepIterations-m.cycleIterations%powerStepIterations)
			cold := x.beta
			x.beta = float64(x.beta * portable.Pow(hottestPower, float64(float64(coldIterations+hotIterations-m.cycleIterations/powerStepIterations*powerStepIterations)/hotIterations)))
			err = b.Advance(r, x, steps, tally)
			x.beta = cold
		}
		if err != nil {
			return err
		}
		iterations -= steps
		m.cycleIterations = (m.cycleIterations + steps) % (coldIterations + hotIterations)
	}
	return nil
}

// Constants of the cycle of warm-up. Each cycle has cold iterations and then hot iterations. In a
// hot phase the properties are raised to a power below 1, which rises in steps.
const (
	coldIterations      = 512     // number of cold iterations in a cycle
	hotIterations       = 256     // number of hot iterations in a cycle
	powerStepIterations = 32      // number of hot iterations with the same power
	hottestPower        = 1. / 16 // power of the properties when a hot phase begins
)

// warmRounds makes iterations of warm-up in rounds. The states that a round met are used once the
// round ends.
func (b *Balanced) warmRounds(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.terms) == 0 {
		return b.Advance(r, x, iterations, tally) // there is nothing to learn
	}
	m := x.ensureMemory()
	for iterations > 0 {
		length := firstRoundIterations << m.warmupRound
		stride := max(1, length/maxMetStates)
		steps := min(iterations, stride-m.roundIterationCount%stride)
		x.wholeMoveCounts = wholeMoveTallies{}
		if err := b.Advance(r, x, steps, tally); err != nil {
			return err
		}
		m.currentMoves.add(x.wholeMoveCounts)
		iterations -= steps
		m.roundIterationCount += steps
		if m.roundIterationCount%stride == 0 && len(m.metStates.ingredients) < maxMetIngredients {
			m.metStates.add(x.Composition)
		}
		if m.roundIterationCount == length {
			m.learnFrom(b.target, &m.metStates)
			x.logRecallCached = false
			m.warmupRound, m.roundIterationCount = m.warmupRound+1, 0
			m.metStates.copyFrom(&stateList{})
			m.lastMoves, m.currentMoves = m.currentMoves, wholeMoveTallies{}
		}
	}
	return nil
}

// EndWarmup fixes the law of recall and the mix of moves. It learns from the states of the current
// round, and from as many states of the round before as fit. A chain in a hot phase returns to its
// last cold composition.
func (b *Balanced) EndWarmup(x *State) {
	m := x.memory
	if m == nil {
		return
	}
	if m.cycleIterations >= coldIterations && len(m.coldState.sizes) > 0 {
		x.returnToColdState()
	}
	if len(m.sizes) > 0 {
		m.metStates.addLastThatFit(&m.stateList, maxMetIngredients-len(m.metStates.ingredients))
		m.learnFrom(b.target, &m.metStates)
		x.logRecallCached = false
		m.tuneMix(float64(len(m.ingredients))/float64(len(m.sizes)), len(b.target.law.probabilities) > 1)
	}
	m.warmupRound, m.roundIterationCount, m.metStates, m.lastMoves, m.currentMoves = 0, 0, stateList{}, wholeMoveTallies{}, wholeMoveTallies{}
	m.cycleIterations, m.coldState, m.coldConditions = 0, stateList{}, nil
}

// returnToColdState sets the composition to the last one before the current hot phase. If a property has
// no valid score there any more, the state gets no density, and the next iteration returns the
// error.
func (x *State) returnToColdState() {
	c, home := x.Composition, &x.memory.coldState
	c.clear()
	copy(c.conditions, x.memory.coldConditions)
	for k, i := range home.ingredients {
		c.addIngredient(int(i), int(home.amounts[k]))
	}
	if err := x.Refresh(); err != nil {
		x.logScore = math.NaN()
	}
}
