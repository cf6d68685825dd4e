package kir

import (
	"encoding/binary"
	"fmt"
)

// A Chain is one Markov chain: a state, the kernel that moves it, and its own
// stream of random choices.
type Chain struct {
	State *State
	Tries int // draws from the sparsity law until the start had positive density

	kernel Kernel
	rand   *Rand
	tally  Tally
}

// NewChain starts a chain of a target. All that it does follows from the seed
// and the index, and is independent of other chains. See [StartState].
func NewChain(t *Target, k Kernel, seed uint64, index int) (*Chain, error) {
	r := NewRand(seed, "chain", uint64(index))
	x, tries, err := StartState(t, r)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", index, err)
	}
	return &Chain{State: x, Tries: tries, kernel: k, rand: r}, nil
}

// Advance makes iterations.
func (c *Chain) Advance(iterations int) error {
	return c.kernel.Advance(c.rand, c.State, iterations, &c.tally)
}

// Tally returns what the iterations since the last [Chain.ResetTally] did.
func (c *Chain) Tally() Tally { return c.tally }

// ResetTally starts counting anew, as after warm-up.
func (c *Chain) ResetTally() { c.tally = Tally{} }

// chainFormat begins what a chain is saved as.
const chainFormat = "kir chain 2\n"

// MarshalBinary returns all that the chain needs to go on later from where it
// is. A chain that is restored from it goes on, draw for draw, as this one
// does from its next [State.Refresh] on.
func (c *Chain) MarshalBinary() ([]byte, error) {
	random, err := c.rand.MarshalBinary()
	if err != nil {
		return nil, err
	}
	x := c.State.Composition
	b := []byte(chainFormat)
	head := []int64{int64(c.Tries), int64(len(random)), int64(x.N()), int64(x.used), c.tally.Iterations, c.tally.Accepted, c.tally.Updated}
	for _, m := range c.tally.Moves {
		head = append(head, m.Tried, m.Accepted, m.Updated)
	}
	for _, v := range head {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = append(b, random...)
	// The order of the ingredients decides what a random integer picks.
	for _, i := range x.order {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	for _, i := range x.Ingredients() {
		b = binary.LittleEndian.AppendUint32(b, uint32(x.amounts[i]))
	}
	return b, nil
}

// RestoreChain returns the chain that [Chain.MarshalBinary] saved, for the
// same target and kernel, with its state refreshed.
func RestoreChain(t *Target, k Kernel, data []byte) (*Chain, error) {
	damaged := func(what string) error { return fmt.Errorf("the saved chain is damaged: %s", what) }
	if len(data) < len(chainFormat) || string(data[:len(chainFormat)]) != chainFormat {
		return nil, damaged("it does not begin as one")
	}
	data = data[len(chainFormat):]
	var head [7 + 3*moveCount]int64
	if len(data) < 8*len(head) {
		return nil, damaged("it ends early")
	}
	for k := range head {
		head[k] = int64(binary.LittleEndian.Uint64(data[8*k:]))
	}
	data = data[8*len(head):]
	random, n, used := head[1], head[2], head[3]
	if n != int64(t.space.ingredients) {
		return nil, fmt.Errorf("the saved chain has %d ingredients and the target %d", n, t.space.ingredients)
	}
	if random < 0 || random > 1<<10 || used < 1 || used > n || int64(len(data)) != random+4*(n+used) {
		return nil, damaged("its length does not fit its contents")
	}
	c := &Chain{
		Tries:  int(head[0]),
		tally:  Tally{Iterations: head[4], Accepted: head[5], Updated: head[6]},
		kernel: k,
		rand:   new(Rand),
	}
	for k := range c.tally.Moves {
		m := head[7+3*k:]
		c.tally.Moves[k] = MoveTally{Tried: m[0], Accepted: m[1], Updated: m[2]}
	}
	if err := c.rand.UnmarshalBinary(data[:random]); err != nil {
		return nil, err
	}
	data = data[random:]
	x := newComposition(int(n))
	seen := make([]bool, n)
	for p := range x.order {
		i := binary.LittleEndian.Uint32(data[4*p:])
		if int64(i) >= n || seen[i] {
			return nil, damaged("its order of ingredients is none")
		}
		seen[i] = true
		x.order[p], x.slot[i] = int32(i), int32(p)
	}
	data = data[4*n:]
	for p := range int(used) {
		amount := binary.LittleEndian.Uint32(data[4*p:])
		if amount < 1 || int64(amount) > int64(t.space.total-x.total) {
			return nil, damaged("its amounts do not sum to the total")
		}
		x.amounts[x.order[p]] = int32(amount)
		x.total += int(amount)
	}
	x.used = int(used)
	state, err := NewState(t, x)
	if err != nil {
		return nil, err
	}
	if state.LogDensity() == negInf {
		return nil, damaged("the target forbids its composition")
	}
	c.State = state
	return c, nil
}
