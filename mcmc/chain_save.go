package mcmc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// chainFormat begins a saved chain. chainName is the part of it that all versions share.
const (
	chainName   = "kir chain "
	chainFormat = chainName + "8\n"
)

// MarshalBinary returns everything that the chain needs to continue later. A restored chain
// repeats, draw for draw, the draws of this one after its next [Chain.Refresh]. A chain whose
// [State.Learnt] is set, by a [Learner] of the user's own, cannot be saved.
func (c *Chain) MarshalBinary() ([]byte, error) {
	e := encoder{data: []byte(chainFormat)}
	e.ints(int64(c.State.Composition.N()), int64(c.Tries))
	e.tally(&c.tally)
	e.random(c.rand)
	c.mover.save(&e)
	return e.data, e.err
}

// MostSaved returns an upper bound of the bytes that [Chain.MarshalBinary] returns for a chain of
// the named kernel, see [KernelNames], whose compositions use at most the given number of
// ingredients.
func MostSaved(kernel string, used int) int64 {
	const (
		number = 5 // bytes of an ingredient or an amount, at most
		fixed  = 1 << 12
	)
	// A state's memory has two lists of met states: sizes, ingredients and amounts.
	memory := 3 * number * (2*(maxMet+int64(used)) + int64(used))
	state := fixed + 2*number*int64(used) + memory
	if kernel != "tempered" {
		return fixed + state
	}
	// Each leg has a ladder and its sums. The states of the learnt leg have no memory.
	const steps = maxSteps + 1
	sums := int64(fixed + 8*steps*(3+2*maxBatches))
	return fixed + int64(steps+len(peakBetas()))*state + steps*(state-memory) + memory + 2*sums
}

// RestoreChain returns the chain that [Chain.MarshalBinary] saved, for the
// same target and kernel, with its states refreshed.
func RestoreChain(t *Target, k Kernel, data []byte) (*Chain, error) {
	return restoreChain(t, data, func(d *decoder) mover {
		if rungs := d.int(); d.err == nil && rungs != 0 {
			d.err = errOtherKernel
		}
		if d.err != nil {
			return nil
		}
		return &kernelMover{k, d.state(1)}
	})
}

// errOtherKernel is returned for saved replicas restored by a kernel without replicas, and vice
// versa.
var errOtherKernel = errors.New("the saved chain is of another kernel")

// restoreChain restores a chain. The function restore reads its mover, which is saved last.
func restoreChain(t *Target, data []byte, restore func(d *decoder) mover) (*Chain, error) {
	rest, ok := bytes.CutPrefix(data, []byte(chainFormat))
	switch {
	case !ok && bytes.HasPrefix(data, []byte(chainName)):
		return nil, errors.New("the saved chain is of another version of kir, which alone can go on with it")
	case !ok:
		return nil, damaged("it does not begin as one")
	}
	d := decoder{data: rest, target: t}
	if n := d.int(); d.err == nil && n != int64(t.space.ingredients) {
		return nil, fmt.Errorf("the saved chain has %d ingredients and the target %d", n, t.space.ingredients)
	}
	c := &Chain{Tries: int(d.int())}
	d.tally(&c.tally)
	c.rand = d.random()
	if d.err == nil {
		c.mover = restore(&d)
	}
	if d.err == nil && len(d.data) > 0 {
		d.fail("it goes on after its end")
	}
	if d.err != nil {
		return nil, d.err
	}
	c.State = c.mover.state()
	return c, nil
}

func damaged(what string) error { return fmt.Errorf("the saved chain is damaged: %s", what) }

// encoder appends values to a saved chain.
type encoder struct {
	data []byte
	err  error
}

func (e *encoder) ints(values ...int64) {
	for _, v := range values {
		e.data = binary.LittleEndian.AppendUint64(e.data, uint64(v))
	}
}

func (e *encoder) floats(values ...float64) {
	for _, v := range values {
		e.data = binary.LittleEndian.AppendUint64(e.data, math.Float64bits(v))
	}
}

// list writes the number of values and each value. None may be negative.
func (e *encoder) list(values []int32) {
	e.ints(int64(len(values)))
	for _, v := range values {
		e.data = binary.AppendUvarint(e.data, uint64(v))
	}
}

// states writes a list of compositions.
func (e *encoder) states(s *states) {
	e.list(s.sizes)
	e.list(s.list)
	e.list(s.amounts)
}

func (e *encoder) tally(t *Tally) {
	e.ints(t.Iterations, t.Accepted, t.Updated, int64(len(t.Moves)))
	for _, m := range t.Moves {
		e.ints(int64(len(m.Name)))
		e.data = append(e.data, m.Name...)
		e.ints(m.Tried, m.Accepted, m.Updated)
	}
}

func (e *encoder) random(r *Rand) {
	state, err := r.MarshalBinary()
	if err != nil && e.err == nil {
		e.err = err
	}
	e.ints(int64(len(state)))
	e.data = append(e.data, state...)
}

// state writes the composition and the learnt memory. The ingredients keep their order, since
// random integers index it.
func (e *encoder) state(x *State) {
	if x.Learnt != nil && e.err == nil {
		e.err = errors.New("a chain cannot be saved whose kernel has learnt something that is not kir's own")
	}
	c := x.Composition
	e.list(c.list)
	for _, i := range c.list {
		e.data = binary.LittleEndian.AppendUint32(e.data, uint32(c.amounts[i]))
	}
	m := x.memory
	if m == nil {
		m = &memory{}
	}
	e.states(&m.states)
	e.ints(oneIf(m.tuned))
	e.floats(m.mix[:]...)
	e.ints(int64(m.round), int64(m.done))
	e.states(&m.met)
	e.ints(int64(m.cycleIterations))
	e.states(&m.coldState)
	for _, w := range []wholeTally{m.lastMoves.refresh, m.lastMoves.recall, m.currentMoves.refresh, m.currentMoves.recall} {
		e.ints(w.tried, w.candidates, w.accepted)
	}
	if len(c.conditions) > 0 {
		e.list(c.conditions)
		e.list(m.coldConditions)
	}
}

// decoder reads a saved chain. After its first error it returns zeros.
type decoder struct {
	data   []byte
	target *Target
	err    error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = damaged(what)
	}
	d.data = nil
}

// take returns the next n bytes, or zeros if fewer remain.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.fail("it ends early")
		return make([]byte, max(0, min(n, 8)))
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) int() int64 { return int64(binary.LittleEndian.Uint64(d.take(8))) }

// intBetween returns an integer that must be from lo to hi.
func (d *decoder) intBetween(lo, hi int64) int {
	v := d.int()
	if d.err == nil && (v < lo || v > hi) {
		d.fail("a number is out of range")
	}
	if d.err != nil {
		return int(lo)
	}
	return int(v)
}

// maxCount exceeds any count that can be reached in a lifetime, and is small enough for sums and
// for exact float64 numbers.
const maxCount = 1 << 53

// count returns a count that must be at most hi.
func (d *decoder) count(hi int64) int64 { return int64(d.intBetween(0, hi)) }

// sum returns a sum of the given number of terms, each from 0 to 1. It allows for rounding a little
// beyond the number of terms.
func (d *decoder) sum(terms int64) float64 {
	v := d.float()
	if !(v >= 0 && v <= float64(terms)*(1+1e-9)) {
		d.fail("a sum is out of range")
	}
	return v
}

// float returns a number that must be finite.
func (d *decoder) float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.take(8)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		d.fail("a number is not finite")
		return 0
	}
	return v
}

// list returns integers that must be from lo to hi.
func (d *decoder) list(lo, hi int32) []int32 {
	n := d.intBetween(0, int64(max(0, len(d.data)-8))) // each takes a byte at least
	if d.err != nil || n == 0 {
		return nil
	}
	values := make([]int32, n)
	for k := range values {
		v, size := binary.Uvarint(d.data)
		if size <= 0 || v < uint64(lo) || v > uint64(hi) {
			d.fail("a number is out of range")
			return nil
		}
		values[k], d.data = int32(v), d.data[size:]
	}
	return values
}

// states reads the list of compositions that encoder.states wrote.
func (d *decoder) states() (s states) {
	t := d.target
	s.sizes = d.list(int32(t.law.lo), int32(t.law.hi))
	s.list = d.list(0, int32(t.space.ingredients-1))
	s.amounts = d.list(1, int32(t.space.total))
	at := 0
	for _, n := range s.sizes {
		sum := 0
		for range n {
			if at < min(len(s.list), len(s.amounts)) {
				sum += int(s.amounts[at])
			}
			at++
		}
		if sum != t.space.total {
			d.fail("the amounts of what it has met do not sum to the total")
			return states{}
		}
	}
	if at != len(s.list) || at != len(s.amounts) {
		d.fail("what it has met is cut off")
		return states{}
	}
	return s
}

// coldState returns the composition a chain had before warm-up heated it, if it is hot.
func (d *decoder) coldState() states {
	s := d.states()
	list := slices.Sorted(slices.Values(s.list))
	if len(s.sizes) > 1 || len(slices.Compact(list)) < len(s.list) {
		d.fail("where it was is no composition")
		return states{}
	}
	return s
}

// minMoveBytes is the saved length of a move's counts if the move's name is empty.
const minMoveBytes = 4 * 8

func (d *decoder) tally(t *Tally) {
	all := d.moveTally()
	t.Iterations, t.Accepted, t.Updated = all.Tried, all.Accepted, all.Updated
	for range d.intBetween(0, int64(len(d.data)/minMoveBytes)) {
		name := string(d.take(d.intBetween(0, int64(len(d.data)))))
		m := d.moveTally()
		if m.Name = name; d.err != nil {
			return
		}
		t.Moves = append(t.Moves, m)
	}
}

func (d *decoder) moveTally() (t MoveTally) {
	t.Tried = d.count(maxCount)
	t.Accepted = d.count(t.Tried)
	t.Updated = d.count(t.Accepted)
	return t
}

func (d *decoder) random() *Rand {
	r := new(Rand)
	if state := d.take(d.intBetween(0, 1<<10)); d.err == nil {
		d.err = r.UnmarshalBinary(state)
	}
	return r
}

// state returns the state with the properties raised to beta.
func (d *decoder) state(beta float64) *State {
	t := d.target
	c := newComposition(t.space.ingredients)
	list := d.list(0, int32(t.space.ingredients-1))
	amounts := d.take(4 * len(list))
	for k, i := range list {
		amount := binary.LittleEndian.Uint32(amounts[4*k:])
		if c.amounts[i] > 0 || amount < 1 || int64(amount) > int64(t.space.total-c.total) {
			d.fail("its amounts do not sum to the total")
			return nil
		}
		c.addIngredient(int(i), int(amount))
	}
	m := &memory{}
	known := d.states()
	m.tuned = d.intBetween(0, 1) == 1
	for k := range m.mix {
		if m.mix[k] = d.float(); m.mix[k] < 0 {
			d.fail("a share is negative")
		}
	}
	m.round = d.intBetween(0, 40)
	m.done = d.intBetween(0, firstRound<<m.round-1)
	m.met = d.states()
	m.cycleIterations = d.intBetween(0, coldIterations+hotIterations-1)
	m.coldState = d.coldState()
	for _, w := range []*wholeTally{&m.lastMoves.refresh, &m.lastMoves.recall, &m.currentMoves.refresh, &m.currentMoves.recall} {
		w.tried = d.count(maxCount)
		w.candidates = d.count(w.tried)
		w.accepted = d.count(w.candidates)
	}
	if s := t.space.conditions; s != nil {
		c.conditions = d.list(0, maxConditionValues-1)
		m.coldConditions = d.list(0, maxConditionValues-1)
		if d.err == nil && !(s.holdsValues(c.conditions) && (len(m.coldState.sizes) == 0 || s.holdsValues(m.coldConditions))) {
			d.fail("its conditions are not those of the target")
		}
	}
	if d.err != nil {
		return nil
	}
	if m.tuned && m.mix == (shares{}) {
		d.fail("no move has a share")
		return nil
	}
	m.learn(t, &known)

	if err := t.space.Contains(c); err != nil {
		d.fail(err.Error())
		return nil
	}
	x := newState(t, c)
	x.beta, x.memory = beta, m
	if d.err = x.Refresh(); d.err != nil {
		return nil
	}
	if t.LogLaw(c.Used()) == negInf || beta > 0 && x.sum == negInf {
		d.fail("the target forbids its composition")
	}
	return x
}
