package mcmc

import "fmt"

// A Chain is one Markov chain. It has a current state, a [Kernel] that moves the state, and a
// random number generator of its own. A chain of [Tempered] has several states, the replicas; the
// field State is then the replica that follows the target itself.
//
// A chain first warms up, while the kernel may tune itself, and then makes draws:
//
//	c.Warm(10_000)
//	c.EndWarmup()
//	for … { c.Advance(thin); … c.State … }
//
// The result depends only on the total number of iterations, not on how the iterations are divided
// among calls.
type Chain struct {
	State      *State
	StartDraws int // number of random compositions that were drawn until one had positive density and became the first state

	mover chainMover
	rand  *Rand
	tally Tally
}

// A chainMover moves the state of a chain. It is either a single state with its kernel, or the
// replicas of a chain of [Tempered].
type chainMover interface {
	// state returns the state that the chain hands out. The pointer may change during warm-up.
	state() *State
	// advance makes the given number of iterations and counts their outcomes in the tally.
	advance(r *Rand, iterations int, tally *Tally) error
	// warm makes the given number of iterations of warm-up, in which the kernel tunes itself.
	warm(r *Rand, iterations int, tally *Tally) error
	// endWarmup ends warm-up and fixes the parameters that warm-up has tuned.
	endWarmup()
	// refresh recomputes the scores of all states, which removes rounding errors.
	refresh() error
	// save writes everything that the mover needs to continue later.
	save(e *encoder)

	// recordingStates returns the states that record visited compositions after a call of
	// [Chain.RecordVisited].
	recordingStates() []*State
	// setWorkers sets the number of replicas that may move at the same time.
	setWorkers(workers int)
	// statistics returns the statistics of the replicas, or nil if the chain has a single state.
	statistics() *LadderStatistics
}

// NewChain starts a chain that moves by a kernel on a target. The seed and the index together
// decide all draws of the chain. Chains that differ in seed or index are independent. [StartState]
// draws the first state.
func NewChain(t *Target, k Kernel, seed uint64, index int) (*Chain, error) {
	if t == nil || k == nil {
		return nil, fmt.Errorf("chain %d: there must be a target and a kernel", index)
	}
	r := newChainRand(seed, index)
	x, tries, err := StartState(t, r)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: x, StartDraws: tries, mover: &kernelMover{k, x}, rand: r}, nil
}

// newChainRand returns the random number generator of the chain with the given seed and index.
func newChainRand(seed uint64, index int) *Rand { return NewRand(seed, "chain", uint64(index)) }

// Warm makes iterations of warm-up, in which the kernel tunes itself. Do not use the states of
// warm-up as draws: while a kernel tunes itself, it does not leave the target invariant.
func (c *Chain) Warm(iterations int) error {
	err := c.mover.warm(c.rand, iterations, &c.tally)
	c.State = c.mover.state()
	return err
}

// EndWarmup fixes the parameters that warm-up has tuned, and sets the counts of the chain to 0.
func (c *Chain) EndWarmup() {
	c.mover.endWarmup()
	c.tally = Tally{}
}

// Advance makes the given number of iterations after warm-up.
func (c *Chain) Advance(iterations int) error {
	return c.mover.advance(c.rand, iterations, &c.tally)
}

// Refresh recomputes the scores of the chain's compositions, which removes accumulated rounding
// errors; see [State.Refresh].
func (c *Chain) Refresh() error { return c.mover.refresh() }

// SetWorkers sets the number of replicas of a tempered chain that may move at the same time. If the
// replicas move fast, they still move one after another. The draws do not depend on the number of
// workers.
func (c *Chain) SetWorkers(workers int) { c.mover.setWorkers(workers) }

// Ladder returns the statistics of the replicas of a tempered chain since warm-up. It returns nil
// for a chain that has only one state.
func (c *Chain) Ladder() *LadderStatistics { return c.mover.statistics() }

// Tally returns counts of the iterations since [Chain.EndWarmup]: how many were made, how many were
// accepted, and how many changed the composition.
func (c *Chain) Tally() Tally {
	var t Tally
	t.Add(c.tally)
	return t
}

// ChangedCount returns the number of iterations since [Chain.EndWarmup] that changed the
// composition.
func (c *Chain) ChangedCount() int64 { return c.tally.Updated }

// RecordVisited makes a tempered chain record, from now on, compositions whose log score exceeds
// logScoreAbove. [VisitedState] says which compositions can be recorded. RecordVisited does not
// change the draws. It returns false, and nothing is recorded, if the chain has only one state.
func (c *Chain) RecordVisited(logScoreAbove float64) (searches bool) {
	states := c.mover.recordingStates()
	for _, x := range states {
		if x.visitedStates == nil {
			x.visitedStates = new(visitedStates)
		}
		x.visitedStates.scoreThreshold = logScoreAbove
	}
	return len(states) > 0
}

// DrainVisited calls visit for each composition that the replicas recorded since the last call of
// DrainVisited, and then deletes the records. A replica records at most 256 compositions between
// two calls. The parts of a [VisitedState] have no particular order and are valid only until visit
// returns.
func (c *Chain) DrainVisited(visit func(VisitedState) error) error {
	for _, x := range c.mover.recordingStates() {
		f := x.visitedStates
		if f == nil {
			continue
		}
		list := f.records
		f.records = f.records[:0]
		for _, find := range list {
			if err := visit(find); err != nil {
				return err
			}
		}
	}
	return nil
}

// kernelMover moves a single state by a kernel.
type kernelMover struct {
	kernel       Kernel
	currentState *State
}

func (m *kernelMover) state() *State { return m.currentState }

func (m *kernelMover) advance(r *Rand, iterations int, tally *Tally) error {
	return m.kernel.Advance(r, m.currentState, iterations, tally)
}

func (m *kernelMover) warm(r *Rand, iterations int, tally *Tally) error {
	if k, ok := m.kernel.(Learner); ok {
		return k.Warm(r, m.currentState, iterations, tally)
	}
	return m.advance(r, iterations, tally)
}

func (m *kernelMover) endWarmup() {
	if k, ok := m.kernel.(Learner); ok {
		k.EndWarmup(m.currentState)
	}
}

func (m *kernelMover) refresh() error { return m.currentState.Refresh() }

func (m *kernelMover) save(e *encoder) {
	e.writeInts(0) // no rungs
	e.writeState(m.currentState)
}

func (m *kernelMover) recordingStates() []*State     { return nil }
func (m *kernelMover) setWorkers(int)                {}
func (m *kernelMover) statistics() *LadderStatistics { return nil }
