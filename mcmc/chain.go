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

// A mover is what the iterations of a chain move: one state, by a kernel, or the
// replicas of a ladder.
type mover interface {
	// state returns the state that the chain hands out. Warm-up may make it
	// another one.
	state() *State
	// advance makes iterations.
	advance(r *Rand, iterations int, tally *Tally) error
	// warm makes iterations of warm-up, and settle ends that.
	warm(r *Rand, iterations int, tally *Tally) error
	endWarmup()
	// refresh scores all states anew.
	refresh() error
	// save writes all that is needed to go on.
	save(e *encoder)

	// searching returns the states that note what they look at; see
	// [Chain.Search].
	searching() []*State
	// setWorkers lets so many states move at once.
	setWorkers(workers int)
	// report returns what the ladder did, nil if there is none.
	report() *Ladder
}

// NewChain starts a chain of a target that a kernel moves. All that it does
// follows from the seed and the index, and is independent of other chains. See
// [StartState].
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

// Warm makes iterations of warm-up, in which the kernel tunes itself. They are
// not to be kept: while it is tuned, a chain does not leave the target as it
// is.
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

// SetWorkers lets up to so many replicas of a tempered chain move at once,
// where a scan takes long enough for that to pay. It changes nothing but the
// time.
func (c *Chain) SetWorkers(workers int) { c.mover.setWorkers(workers) }

// Ladder returns what a tempered chain did since warm-up, and nil for a chain
// of a kernel.
func (c *Chain) Ladder() *Ladder { return c.mover.report() }

// Tally returns what the iterations since [Chain.EndWarmup] did.
func (c *Chain) Tally() Tally {
	var t Tally
	t.Add(c.tally)
	return t
}

// Updated returns what [Tally.Updated] of [Chain.Tally] is, at no cost.
func (c *Chain) Updated() int64 { return c.tally.Updated }

// Search makes the replicas of a tempered chain note what they look at, by
// moves from now on, that scores above a bar. It takes no random choice and
// changes no draw. A chain of a kernel does not search, and says so.
func (c *Chain) Search(logScoreAbove float64) (searches bool) {
	states := c.mover.searching()
	for _, x := range states {
		if x.visited == nil {
			x.visited = new(visitedStates)
		}
		x.visited.bar = logScoreAbove
	}
	return len(states) > 0
}

// DrainVisited hands over what has been noted since the last call, at most 256 by each
// replica, and forgets it. A find's parts, in no particular order, hold only
// until visit returns.
func (c *Chain) DrainVisited(visit func(VisitedState) error) error {
	for _, x := range c.mover.searching() {
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

func (m *kernelMover) searching() []*State { return nil }
func (m *kernelMover) setWorkers(int)      {}
func (m *kernelMover) report() *Ladder     { return nil }
