package mcmc

import (
	"math"

	"kir/internal/portable"
)

// Warm makes iterations of warm-up. They alternate between the target (cold) and flatter laws
// (hot). From a flat law the chain returns slowly to the target and, where there are several
// regions, maybe to another one. So the memory, which learns from cold states only, does not know
// one region alone.
func (b *Balanced) Warm(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.terms) == 0 {
		return b.learn(r, x, iterations, tally)
	}
	m := x.ensureMemory()
	for iterations > 0 {
		var steps int
		var err error
		if m.cycleIterations < coldIterations {
			steps = min(iterations, coldIterations-m.cycleIterations)
			err = b.learn(r, x, steps, tally)
		} else {
			if m.cycleIterations == coldIterations {
				m.coldState.copyFrom(&states{})
				m.coldState.add(x.Composition)
				m.coldConditions = append(m.coldConditions[:0], x.Composition.conditions...)
			}
			steps = min(iterations, heatStep-m.cycleIterations%heatStep)
			cold := x.beta
			x.beta = float64(x.beta * portable.Pow(hottest, float64(float64(coldIterations+hotIterations-m.cycleIterations/heatStep*heatStep)/hotIterations)))
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

// Warm-up alternates cold iterations with iterations in which the properties are raised to a power
// that rises in steps from hottest.
const (
	coldIterations = 512
	hotIterations  = 256
	heatStep       = 32
	hottest        = 1. / 16
)

// learn makes iterations of warm-up in rounds. The states that a round met are used once it ends.
func (b *Balanced) learn(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.terms) == 0 {
		return b.Advance(r, x, iterations, tally) // there is nothing to learn
	}
	m := x.ensureMemory()
	for iterations > 0 {
		length := firstRound << m.round
		stride := max(1, length/maxMetStates)
		steps := min(iterations, stride-m.done%stride)
		x.wholeMoveCounts = wholeMoves{}
		if err := b.Advance(r, x, steps, tally); err != nil {
			return err
		}
		m.currentMoves.add(x.wholeMoveCounts)
		iterations -= steps
		m.done += steps
		if m.done%stride == 0 && len(m.met.list) < maxMet {
			m.met.add(x.Composition)
		}
		if m.done == length {
			m.learn(b.target, &m.met)
			x.recalled = false
			m.round, m.done = m.round+1, 0
			m.met.copyFrom(&states{})
			m.lastMoves, m.currentMoves = m.currentMoves, wholeMoves{}
		}
	}
	return nil
}

// EndWarmup learns from the states of the current round, and from as many of the last round's as
// fit, and sets the mix for them. A hot chain goes back to its last cold composition.
func (b *Balanced) EndWarmup(x *State) {
	m := x.memory
	if m == nil {
		return
	}
	if m.cycleIterations >= coldIterations && len(m.coldState.sizes) > 0 {
		x.returnToCold()
	}
	if len(m.sizes) > 0 {
		m.met.addLast(&m.states, maxMet-len(m.met.list))
		m.learn(b.target, &m.met)
		x.recalled = false
		m.tune(float64(len(m.list))/float64(len(m.sizes)), len(b.target.law.p) > 1)
	}
	m.round, m.done, m.met, m.lastMoves, m.currentMoves = 0, 0, states{}, wholeMoves{}, wholeMoves{}
	m.cycleIterations, m.coldState, m.coldConditions = 0, states{}, nil
}

// returnToCold takes a chain back to its last cold composition. If a property has no score there
// any more, the state has no density and the next iteration returns the error.
func (x *State) returnToCold() {
	c, home := x.Composition, &x.memory.coldState
	c.clear()
	copy(c.conditions, x.memory.coldConditions)
	for k, i := range home.list {
		c.addIngredient(int(i), int(home.amounts[k]))
	}
	if err := x.Refresh(); err != nil {
		x.sum = math.NaN()
	}
}
