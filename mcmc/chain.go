package mcmc

import "fmt"

// A Chain is one Markov chain. It has a current state, a kernel or a ladder of replicas that moves
// the state, and a stream of random numbers of its own. A chain of [Tempered] has several states,
// its replicas; the field State is then the replica at β = 1.
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
	StartDraws int // number of compositions drawn from the sparsity law until the start, at β = 1, had positive density

	mover chainMover
	rand  *Rand
	tally Tally
}

// A chainMover moves the state of a chain. It is either one state under a kernel, or the replicas
// of a ladder.
type chainMover interface {
	// state returns the state that the chain hands out. Warm-up may replace this state by another
	// one.
	state() *State
	// advance makes the given number of iterations and adds their counts to the tally.
	advance(r *Rand, iterations int, tally *Tally) error
	// warm makes the given number of iterations of warm-up.
	warm(r *Rand, iterations int, tally *Tally) error
	// endWarmup ends warm-up and fixes what warm-up has tuned.
	endWarmup()
	// refresh recomputes the scores of all states.
	refresh() error
	// save writes everything that the mover needs to continue later.
	save(e *encoder)

	// recordingStates returns the states that record the compositions they visit; see
	// [Chain.RecordVisited].
	recordingStates() []*State
	// setWorkers sets how many states may move at the same time.
	setWorkers(workers int)
	// statistics returns the statistics of the ladder, or nil if the chain has no ladder.
	statistics() *LadderStatistics
}

// NewChain starts a chain that moves by a kernel on a target. The seed and the index together
// decide all draws of the chain. Chains that differ in seed or index are independent. See
// [StartState] for the first state.
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

// newChainRand returns the stream of random numbers of the chain with the given seed and index.
func newChainRand(seed uint64, index int) *Rand { return NewRand(seed, "chain", uint64(index)) }

// Warm makes iterations of warm-up, in which the kernel tunes itself. Do not use the states of
// warm-up as draws: while a kernel tunes itself, it does not leave the target invariant.
func (c *Chain) Warm(iterations int) error {
	err := c.mover.warm(c.rand, iterations, &c.tally)
	c.State = c.mover.state()
	return err
}

// EndWarmup fixes what warm-up has tuned and sets the counts of the chain to 0.
func (c *Chain) EndWarmup() {
	c.mover.endWarmup()
	c.tally = Tally{}
}

// Advance makes the given number of iterations after warm-up.
func (c *Chain) Advance(iterations int) error {
	return c.mover.advance(c.rand, iterations, &c.tally)
}

// Refresh recomputes the scores of the chain's compositions; see [State.Refresh].
func (c *Chain) Refresh() error { return c.mover.refresh() }

// SetWorkers sets how many replicas of a tempered chain may move at the same time. They move one
// after another if that takes less time. The draws do not depend on the number of workers.
func (c *Chain) SetWorkers(workers int) { c.mover.setWorkers(workers) }

// Ladder returns the statistics of a tempered chain since warm-up. It returns nil for a chain that
// has only one state.
func (c *Chain) Ladder() *LadderStatistics { return c.mover.statistics() }

// Tally returns the counts of the iterations since [Chain.EndWarmup].
func (c *Chain) Tally() Tally {
	var t Tally
	t.Add(c.tally)
	return t
}

// ChangedCount returns the field ChangedCount of [Chain.Tally], the number of iterations that changed the
// composition, without copying the other counts.
func (c *Chain) ChangedCount() int64 { return c.tally.Updated }

// RecordVisited makes the replicas of a tempered chain record, from now on, compositions whose log score
// exceeds logScoreAbove. [VisitedState] says which compositions can be recorded. RecordVisited draws no
// random number and changes no draw. It returns false for a chain that has only one state; such a
// chain records nothing.
func (c *Chain) RecordVisited(logScoreAbove float64) (searches bool) {
	states := c.mover.recordingStates()
	for _, x := range states {
		if x.visited == nil {
			x.visited = new(visitedStates)
		}
		x.visited.scoreThreshold = logScoreAbove
	}
	return len(states) > 0
}

// DrainVisited calls visit for each composition that the replicas recorded since the last call of
// DrainVisited, and then deletes the records. A replica records at most 256 compositions between
// two calls. The parts of a [VisitedState] have no particular order and are valid only until visit
// returns.
func (c *Chain) DrainVisited(visit func(VisitedState) error) error {
	for _, x := range c.mover.recordingStates() {
		f := x.visited
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
	kernel  Kernel
	current *State
}

func (m *kernelMover) state() *State { return m.current }

func (m *kernelMover) advance(r *Rand, iterations int, tally *Tally) error {
	return m.kernel.Advance(r, m.current, iterations, tally)
}

func (m *kernelMover) warm(r *Rand, iterations int, tally *Tally) error {
	if k, ok := m.kernel.(Learner); ok {
		return k.Warm(r, m.current, iterations, tally)
	}
	return m.advance(r, iterations, tally)
}

func (m *kernelMover) endWarmup() {
	if k, ok := m.kernel.(Learner); ok {
		k.EndWarmup(m.current)
	}
}

func (m *kernelMover) refresh() error { return m.current.Refresh() }

func (m *kernelMover) save(e *encoder) {
	e.writeInts(0) // no rungs
	e.writeState(m.current)
}

func (m *kernelMover) recordingStates() []*State     { return nil }
func (m *kernelMover) setWorkers(int)                {}
func (m *kernelMover) statistics() *LadderStatistics { return nil }
