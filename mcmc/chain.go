package mcmc

import "fmt"

// A Chain is one Markov chain: a state, what moves it, and its own streams of
// random choices. A chain of [Tempered] has more states, its replicas; State is
// then the one at β = 1.
//
// A chain's life is warm-up, where the kernel may tune itself, and then draws:
//
//	c.Warm(10_000)
//	c.EndWarmup()
//	for … { c.Advance(thin); … c.State … }
//
// In how many calls the iterations are made makes no difference.
type Chain struct {
	State *State
	Tries int // draws from the sparsity law until the start, at β = 1, had positive density

	mover mover
	rand  *Rand
	tally Tally
}

// A mover is the part of a chain that its iterations move: one state under a kernel, or the
// replicas of a ladder.
type mover interface {
	// state returns the state that the chain hands out. Warm-up may replace it by another one.
	state() *State
	// advance makes iterations.
	advance(r *Rand, iterations int, tally *Tally) error
	// warm makes iterations of warm-up. settle ends warm-up.
	warm(r *Rand, iterations int, tally *Tally) error
	endWarmup()
	// refresh scores all states anew.
	refresh() error
	// save writes all that is needed to go on.
	save(e *encoder)

	// recordingStates returns the states that record the compositions they visit; see [Chain.Search].
	recordingStates() []*State
	// setWorkers sets how many states may move at once.
	setWorkers(workers int)
	// report returns the ladder's statistics, nil if the chain has no ladder.
	report() *Ladder
}

// NewChain starts a chain of a kernel on a target. The seed and the index decide all its draws.
// Chains with different keys are independent. See [StartState].
func NewChain(t *Target, k Kernel, seed uint64, index int) (*Chain, error) {
	if t == nil || k == nil {
		return nil, fmt.Errorf("chain %d: there must be a target and a kernel", index)
	}
	r := chainRand(seed, index)
	x, tries, err := StartState(t, r)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: x, Tries: tries, mover: &kernelMover{k, x}, rand: r}, nil
}

// chainRand returns the stream of random choices of a chain.
func chainRand(seed uint64, index int) *Rand { return NewRand(seed, "chain", uint64(index)) }

// Warm makes iterations of warm-up, in which the kernel tunes itself. Do not keep their states:
// while a kernel is tuned, it does not leave the target invariant.
func (c *Chain) Warm(iterations int) error {
	err := c.mover.warm(c.rand, iterations, &c.tally)
	c.State = c.mover.state()
	return err
}

// EndWarmup fixes what warm-up has tuned and starts counting anew.
func (c *Chain) EndWarmup() {
	c.mover.endWarmup()
	c.tally = Tally{}
}

// Advance makes iterations.
func (c *Chain) Advance(iterations int) error {
	return c.mover.advance(c.rand, iterations, &c.tally)
}

// Refresh scores the chain's compositions anew; see [State.Refresh].
func (c *Chain) Refresh() error { return c.mover.refresh() }

// SetWorkers sets how many replicas of a tempered chain may move at once. They do so only where a
// scan takes long enough to gain from it. The draws do not depend on it.
func (c *Chain) SetWorkers(workers int) { c.mover.setWorkers(workers) }

// Ladder returns the statistics of a tempered chain since warm-up, and nil for a chain of a single
// state.
func (c *Chain) Ladder() *Ladder { return c.mover.report() }

// Tally returns the counts of the iterations since [Chain.EndWarmup].
func (c *Chain) Tally() Tally {
	var t Tally
	t.Add(c.tally)
	return t
}

// Updated returns the field Updated of [Chain.Tally] without copying the other counts.
func (c *Chain) Updated() int64 { return c.tally.Updated }

// Search makes the replicas of a tempered chain record the compositions that score above a bar,
// among those their moves look at from then on. It takes no random choice and changes no draw.
// Search returns false for a chain of a single state, which does not search.
func (c *Chain) Search(logScoreAbove float64) (searches bool) {
	states := c.mover.recordingStates()
	for _, x := range states {
		if x.visited == nil {
			x.visited = new(visitedStates)
		}
		x.visited.bar = logScoreAbove
	}
	return len(states) > 0
}

// DrainVisited passes the states recorded since the last call to visit, at most 256 of each
// replica, and forgets them. The parts of a [VisitedState] have no particular order and are valid
// only until visit returns.
func (c *Chain) DrainVisited(visit func(VisitedState) error) error {
	for _, x := range c.mover.recordingStates() {
		f := x.visited
		if f == nil {
			continue
		}
		list := f.list
		f.list = f.list[:0]
		for _, find := range list {
			if err := visit(find); err != nil {
				return err
			}
		}
	}
	return nil
}

// kernelMover is one state, moved by a kernel.
type kernelMover struct {
	kernel Kernel
	x      *State
}

func (m *kernelMover) state() *State { return m.x }

func (m *kernelMover) advance(r *Rand, iterations int, tally *Tally) error {
	return m.kernel.Advance(r, m.x, iterations, tally)
}

func (m *kernelMover) warm(r *Rand, iterations int, tally *Tally) error {
	if k, ok := m.kernel.(Learner); ok {
		return k.Warm(r, m.x, iterations, tally)
	}
	return m.advance(r, iterations, tally)
}

func (m *kernelMover) endWarmup() {
	if k, ok := m.kernel.(Learner); ok {
		k.EndWarmup(m.x)
	}
}

func (m *kernelMover) refresh() error { return m.x.Refresh() }

func (m *kernelMover) save(e *encoder) {
	e.ints(0) // no rungs
	e.state(m.x)
}

func (m *kernelMover) recordingStates() []*State { return nil }
func (m *kernelMover) setWorkers(int)            {}
func (m *kernelMover) report() *Ladder           { return nil }
