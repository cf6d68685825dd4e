package mcmc

import (
	"math"

	"kir/internal/portable"
)

// Warm makes the given number of iterations of warm-up. They alternate between the target (cold
// phases) and flatter distributions (hot phases). From the flattest distribution the chain returns
// slowly to the target. If the target has several regions, the chain may return to another region
// than before. So the memory, which learns in cold phases only, learns of more than one region.
func (b *Balanced) Warm(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.scoredTerms) == 0 {
		return b.warmRounds(r, x, iterations, tally)
	}
	m := x.ensureMemory()
	for iterations > 0 {
		var steps int
		var err error
		if m.cycleIterationCount < coldIterations {
			steps = min(iterations, coldIterations-m.cycleIterationCount)
			err = b.warmRounds(r, x, steps, tally)
		} else {
			if m.cycleIterationCount == coldIterations {
				m.coldState.copyFrom(&stateList{})
				m.coldState.addComposition(x.Composition)
				m.coldConditions = append(m.coldConditions[:0], x.Composition.conditions...)
			}
			steps = min(iterations, powerStepIterations-m.cycleIterationCount%powerStepIterations)
			cold := x.beta
			x.beta = float64(x.beta * portable.Pow(hottestPower, float64(float64(coldIterations+hotIterations-m.cycleIterationCount/powerStepIterations*powerStepIterations)/hotIterations)))
			err = b.Advance(r, x, steps, tally)
			x.beta = cold
		}
		if err != nil {
			return err
		}
		iterations -= steps
		m.cycleIterationCount = (m.cycleIterationCount + steps) % (coldIterations + hotIterations)
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

// warmRounds makes the given number of iterations of warm-up, divided into rounds. At the end of
// each round the memory of x learns from the states that the round met.
func (b *Balanced) warmRounds(r *Rand, x *State, iterations int, tally *Tally) error {
	if len(x.scoredTerms) == 0 {
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
		m.currentRoundMoveCounts.add(x.wholeMoveCounts)
		iterations -= steps
		m.roundIterationCount += steps
		if m.roundIterationCount%stride == 0 && len(m.metStates.ingredients) < maxMetIngredients {
			m.metStates.addComposition(x.Composition)
		}
		if m.roundIterationCount == length {
			m.learnFrom(b.target, &m.metStates)
			x.logRecallCached = false
			m.warmupRound, m.roundIterationCount = m.warmupRound+1, 0
			m.metStates.copyFrom(&stateList{})
			m.lastRoundMoveCounts, m.currentRoundMoveCounts = m.currentRoundMoveCounts, wholeMoveTallies{}
		}
	}
	return nil
}

// EndWarmup ends warm-up: it fixes how recall moves draw and how often each kind of move is made.
// It learns from the states of the current round, and from as many states of the round before as
// fit. A chain in a hot phase returns to its last cold composition; see [Balanced.Warm].
func (b *Balanced) EndWarmup(x *State) {
	m := x.memory
	if m == nil {
		return
	}
	if m.cycleIterationCount >= coldIterations && len(m.coldState.sizes) > 0 {
		x.returnToColdState()
	}
	if len(m.sizes) > 0 {
		m.metStates.addLastThatFit(&m.stateList, maxMetIngredients-len(m.metStates.ingredients))
		m.learnFrom(b.target, &m.metStates)
		x.logRecallCached = false
		m.tuneMoveShares(float64(len(m.ingredients))/float64(len(m.sizes)), len(b.target.law.probabilities) > 1)
	}
	m.warmupRound, m.roundIterationCount, m.metStates, m.lastRoundMoveCounts, m.currentRoundMoveCounts = 0, 0, stateList{}, wholeMoveTallies{}, wholeMoveTallies{}
	m.cycleIterationCount, m.coldState, m.coldConditions = 0, stateList{}, nil
}

// returnToColdState sets the composition to the last one before the current hot phase of warm-up.
// If a property now has an invalid score there, the log score of the state becomes NaN, and the
// next iteration returns an error.
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
