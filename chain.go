package kir

import "fmt"

// A Chain is one Markov chain: a state, the kernel that moves it, and its own
// streams of random choices. A chain of [Tempered] has more states, its
// replicas; State is then the one at β = 1.
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

	kernel Kernel
	rand   *Rand
	tally  Tally
	ladder *ladder // of Tempered, else nil
}

// NewChain starts a chain of a target. All that it does follows from the seed
// and the index, and is independent of other chains. See [StartState].
func NewChain(t *Target, k Kernel, seed uint64, index int) (*Chain, error) {
	if t == nil || k == nil {
		return nil, fmt.Errorf("chain %d: there must be a target and a kernel", index)
	}
	c := &Chain{kernel: k, rand: NewRand(seed, "chain", uint64(index))}
	var err error
	if tempered, ok := k.(*Tempered); ok {
		if c.ladder, c.Tries, err = newLadder(tempered, seed, index); err == nil {
			c.State = c.ladder.cold()
		}
	} else {
		c.State, c.Tries, err = StartState(t, c.rand)
	}
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return c, nil
}

// A learner is a kernel that tunes itself in warm-up. What it learns is in the
// state.
type learner interface {
	// warm makes iterations that may change how later ones are made.
	warm(r *Rand, x *State, iterations int, tally *Tally) error
	// settle ends that.
	settle(x *State)
}

// Warm makes iterations of warm-up, in which the kernel tunes itself. They are
// not to be kept: while it is tuned, a chain does not leave the target as it
// is.
func (c *Chain) Warm(iterations int) error {
	if c.ladder != nil {
		err := c.ladder.advance(c.rand, iterations, true, &c.tally)
		c.State = c.ladder.cold()
		return err
	}
	if k, ok := c.kernel.(learner); ok {
		return k.warm(c.rand, c.State, iterations, &c.tally)
	}
	return c.kernel.Advance(c.rand, c.State, iterations, &c.tally)
}

// EndWarmup fixes what warm-up has tuned and starts counting anew.
func (c *Chain) EndWarmup() {
	if c.ladder != nil {
		c.ladder.settle()
	} else if k, ok := c.kernel.(learner); ok {
		k.settle(c.State)
	}
	c.tally = Tally{}
}

// Advance makes iterations.
func (c *Chain) Advance(iterations int) error {
	if c.ladder != nil {
		return c.ladder.advance(c.rand, iterations, false, &c.tally)
	}
	return c.kernel.Advance(c.rand, c.State, iterations, &c.tally)
}

// Refresh scores the chain's compositions anew; see [State.Refresh].
func (c *Chain) Refresh() error {
	if c.ladder != nil {
		return c.ladder.refresh()
	}
	return c.State.Refresh()
}

// SetWorkers lets up to so many replicas of a tempered chain move at once,
// where a scan takes long enough for that to pay. It changes nothing but the
// time.
func (c *Chain) SetWorkers(workers int) {
	if c.ladder != nil {
		c.ladder.workers = workers
	}
}

// Ladder returns what a tempered chain did since warm-up, and nil for a chain
// of another kernel.
func (c *Chain) Ladder() *Ladder {
	if c.ladder == nil {
		return nil
	}
	return c.ladder.report()
}

// Tally returns what the iterations since [Chain.EndWarmup] did.
func (c *Chain) Tally() Tally { return c.tally }
