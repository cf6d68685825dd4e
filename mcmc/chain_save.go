package mcmc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	// savedChainPrefix is the beginning of a saved chain in any version of the format.
	savedChainPrefix = "kir chain "

	// savedChainHeader is the beginning of a saved chain in the current version of the format.
	savedChainHeader = savedChainPrefix + "8\n"
)

// MarshalBinary returns everything that the chain needs to continue later. A restored chain makes
// the same draws as the original, if the original calls [Chain.Refresh] after it was saved. A chain
// cannot be saved if its [State.Learnt] is set, which only a [Learner] outside this package does.
func (c *Chain) MarshalBinary() ([]byte, error) {
	e := encoder{data: []byte(savedChainHeader)}
	e.writeInts(int64(c.State.Composition.N()), int64(c.StartDraws))
	e.writeTally(&c.tally)
	e.writeRand(c.rand)
	c.mover.save(&e)
	return e.data, e.err
}

// MaxSavedBytes returns an upper bound of the number of bytes that [Chain.MarshalBinary] returns.
// The argument kernel is one of [KernelNames]. The argument used is the greatest number of
// ingredients in a composition of the chain.
func MaxSavedBytes(kernel string, used int) int64 {
	const (
		number = 5 // bytes of an ingredient or an amount, at most
		fixed  = 1 << 12
	)
	// A state's memory has two lists of met states: sizes, ingredients and amounts.
	memory := 3 * number * (2*(maxMetIngredients+int64(used)) + int64(used))
	state := fixed + 2*number*int64(used) + memory
	if kernel != "tempered" {
		return fixed + state
	}
	// Each leg has a ladder and its sums. The states of the learnt leg have no memory.
	const steps = maxLadderSteps + 1
	sums := int64(fixed + 8*steps*(3+2*maxBennettBatches))
	return fixed + int64(steps+len(peakBetas()))*state + steps*(state-memory) + memory + 2*sums
}

// RestoreChain restores a chain that [Chain.MarshalBinary] saved, for the same target and kernel.
// It recomputes the scores of the chain's states.
func RestoreChain(t *Target, k Kernel, data []byte) (*Chain, error) {
	return restoreChain(t, data, func(d *decoder) chainMover {
		if rungs := d.readInt(); d.err == nil && rungs != 0 {
			d.err = errKernelMismatch
		}
		if d.err != nil {
			return nil
		}
		return &kernelMover{k, d.readState(1)}
	})
}

// errKernelMismatch is the error of restoring a chain with the wrong kernel: the chain has replicas
// and the kernel has none, or the other way round.
var errKernelMismatch = errors.New("the saved chain is of another kernel")

// restoreChain reads a saved chain from data. The last part of the data was written by
// [chainMover].save; the function readMover reads it.
func restoreChain(t *Target, data []byte, readMover func(d *decoder) chainMover) (*Chain, error) {
	rest, ok := bytes.CutPrefix(data, []byte(savedChainHeader))
	switch {
	case !ok && bytes.HasPrefix(data, []byte(savedChainPrefix)):
		return nil, errors.New("the saved chain is of another version of kir, which alone can go on with it")
	case !ok:
		return nil, damagedChainError("it does not begin as one")
	}
	d := decoder{data: rest, target: t}
	if n := d.readInt(); d.err == nil && n != int64(t.space.ingredients) {
		return nil, fmt.Errorf("the saved chain has %d ingredients and the target %d", n, t.space.ingredients)
	}
	c := &Chain{StartDraws: int(d.readInt())}
	d.readTally(&c.tally)
	c.rand = d.readRand()
	if d.err == nil {
		c.mover = readMover(&d)
	}
	if d.err == nil && len(d.data) > 0 {
		d.failDamaged("it goes on after its end")
	}
	if d.err != nil {
		return nil, d.err
	}
	c.State = c.mover.state()
	return c, nil
}

// damagedChainError returns an error that says what is wrong with a saved chain.
func damagedChainError(problem string) error {
	return fmt.Errorf("the saved chain is damaged: %s", problem)
}

// An encoder appends values to the bytes of a saved chain.
type encoder struct {
	data []byte
	err  error
}

func (e *encoder) writeInts(values ...int64) {
	for _, v := range values {
		e.data = binary.LittleEndian.AppendUint64(e.data, uint64(v))
	}
}

func (e *encoder) writeFloats(values ...float64) {
	for _, v := range values {
		e.data = binary.LittleEndian.AppendUint64(e.data, math.Float64bits(v))
	}
}

// writeList writes the number of values and then each value. No value may be negative.
func (e *encoder) writeList(values []int32) {
	e.writeInts(int64(len(values)))
	for _, v := range values {
		e.data = binary.AppendUvarint(e.data, uint64(v))
	}
}

// writeStateList writes a list of compositions: sizes, ingredients and amounts.
func (e *encoder) writeStateList(s *stateList) {
	e.writeList(s.sizes)
	e.writeList(s.ingredients)
	e.writeList(s.amounts)
}

func (e *encoder) writeTally(t *Tally) {
	e.writeInts(t.Iterations, t.Accepted, t.Updated, int64(len(t.Moves)))
	for _, m := range t.Moves {
		e.writeInts(int64(len(m.Name)))
		e.data = append(e.data, m.Name...)
		e.writeInts(m.Tried, m.Accepted, m.Updated)
	}
}

func (e *encoder) writeRand(r *Rand) {
	state, err := r.MarshalBinary()
	if err != nil && e.err == nil {
		e.err = err
	}
	e.writeInts(int64(len(state)))
	e.data = append(e.data, state...)
}

// writeState writes the composition of a state and what warm-up has learnt in the state. It writes
// the used ingredients in their current order, because moves choose ingredients by position in that
// order.
func (e *encoder) writeState(x *State) {
	if x.Learnt != nil && e.err == nil {
		e.err = errors.New("a chain cannot be saved whose kernel has learnt something that is not kir's own")
	}
	c := x.Composition
	e.writeList(c.used)
	for _, i := range c.used {
		e.data = binary.LittleEndian.AppendUint32(e.data, uint32(c.amounts[i]))
	}
	m := x.memory
	if m == nil {
		m = &warmupMemory{}
	}
	e.writeStateList(&m.stateList)
	e.writeInts(oneIf(m.moveSharesTuned))
	e.writeFloats(m.tunedMoveShares[:]...)
	e.writeInts(int64(m.warmupRound), int64(m.roundIterationCount))
	e.writeStateList(&m.metStates)
	e.writeInts(int64(m.cycleIterationCount))
	e.writeStateList(&m.coldState)
	for _, w := range []wholeMoveTally{m.lastRoundMoveCounts.refreshTally, m.lastRoundMoveCounts.recallTally, m.currentRoundMoveCounts.refreshTally, m.currentRoundMoveCounts.recallTally} {
		e.writeInts(w.triedCount, w.candidateCount, w.acceptedCount)
	}
	if len(c.conditions) > 0 {
		e.writeList(c.conditions)
		e.writeList(m.coldConditions)
	}
}

// A decoder reads the bytes of a saved chain. After the first error all its methods return zeros.
type decoder struct {
	data   []byte
	target *Target
	err    error
}

func (d *decoder) failDamaged(problem string) {
	if d.err == nil {
		d.err = damagedChainError(problem)
	}
	d.data = nil
}

// readBytes returns the next n bytes. If fewer than n remain, it records an error and returns
// zeros.
func (d *decoder) readBytes(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.failDamaged("it ends early")
		return make([]byte, max(0, min(n, 8)))
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) readInt() int64 { return int64(binary.LittleEndian.Uint64(d.readBytes(8))) }

// readIntBetween reads an integer. It records an error if the integer is not between lo and hi.
func (d *decoder) readIntBetween(lo, hi int64) int {
	v := d.readInt()
	if d.err == nil && (v < lo || v > hi) {
		d.failDamaged("a number is out of range")
	}
	if d.err != nil {
		return int(lo)
	}
	return int(v)
}

// maxSavedCount is the largest count that a saved chain may contain. No chain can reach this count in a
// lifetime, and float64 numbers up to maxSavedCount represent integers exactly.
const maxSavedCount = 1 << 53

// readCount reads a non-negative count. It records an error if the count exceeds hi.
func (d *decoder) readCount(hi int64) int64 { return int64(d.readIntBetween(0, hi)) }

// readSum reads a sum of the given number of terms, each between 0 and 1. It records an error if
// the sum is negative, or exceeds the number of terms by more than rounding explains.
func (d *decoder) readSum(terms int64) float64 {
	v := d.readFloat()
	if !(v >= 0 && v <= float64(terms)*(1+1e-9)) {
		d.failDamaged("a sum is out of range")
	}
	return v
}

// readFloat reads a number. It records an error if the number is not finite.
func (d *decoder) readFloat() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(d.readBytes(8)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		d.failDamaged("a number is not finite")
		return 0
	}
	return v
}

// readList reads a list of integers. It records an error if an integer is not between lo and hi.
func (d *decoder) readList(lo, hi int32) []int32 {
	n := d.readIntBetween(0, int64(max(0, len(d.data)-8))) // each takes a byte at least
	if d.err != nil || n == 0 {
		return nil
	}
	values := make([]int32, n)
	for k := range values {
		v, size := binary.Uvarint(d.data)
		if size <= 0 || v < uint64(lo) || v > uint64(hi) {
			d.failDamaged("a number is out of range")
			return nil
		}
		values[k], d.data = int32(v), d.data[size:]
	}
	return values
}

// readStateList reads a list of compositions that encoder.writeStateList wrote.
func (d *decoder) readStateList() (s stateList) {
	t := d.target
	s.sizes = d.readList(int32(t.law.minSize), int32(t.law.maxSize))
	s.ingredients = d.readList(0, int32(t.space.ingredients-1))
	s.amounts = d.readList(1, int32(t.space.total))
	at := 0
	for _, n := range s.sizes {
		sum := 0
		for range n {
			if at < min(len(s.ingredients), len(s.amounts)) {
				sum += int(s.amounts[at])
			}
			at++
		}
		if sum != t.space.total {
			d.failDamaged("the amounts of what it has met do not sum to the total")
			return stateList{}
		}
	}
	if at != len(s.ingredients) || at != len(s.amounts) {
		d.failDamaged("what it has met is cut off")
		return stateList{}
	}
	return s
}

// readColdState reads the composition before the last hot phase of warm-up; see [Balanced.Warm].
// The result is an empty list if there was no hot phase yet.
func (d *decoder) readColdState() stateList {
	s := d.readStateList()
	list := slices.Sorted(slices.Values(s.ingredients))
	if len(s.sizes) > 1 || len(slices.Compact(list)) < len(s.ingredients) {
		d.failDamaged("where it was is no composition")
		return stateList{}
	}
	return s
}

// minMoveTallyBytes is the size of a [MoveTally] in a saved chain, without the bytes of the move's name.
const minMoveTallyBytes = 4 * 8

func (d *decoder) readTally(t *Tally) {
	all := d.readMoveTally()
	t.Iterations, t.Accepted, t.Updated = all.Tried, all.Accepted, all.Updated
	for range d.readIntBetween(0, int64(len(d.data)/minMoveTallyBytes)) {
		name := string(d.readBytes(d.readIntBetween(0, int64(len(d.data)))))
		m := d.readMoveTally()
		if m.Name = name; d.err != nil {
			return
		}
		t.Moves = append(t.Moves, m)
	}
}

func (d *decoder) readMoveTally() (t MoveTally) {
	t.Tried = d.readCount(maxSavedCount)
	t.Accepted = d.readCount(t.Tried)
	t.Updated = d.readCount(t.Accepted)
	return t
}

func (d *decoder) readRand() *Rand {
	r := new(Rand)
	if state := d.readBytes(d.readIntBetween(0, 1<<10)); d.err == nil {
		d.err = r.UnmarshalBinary(state)
	}
	return r
}

// readState reads a state of a chain. In the law of the state, the properties are raised to the
// power beta.
func (d *decoder) readState(beta float64) *State {
	t := d.target
	c := newComposition(t.space.ingredients)
	list := d.readList(0, int32(t.space.ingredients-1))
	amounts := d.readBytes(4 * len(list))
	for k, i := range list {
		amount := binary.LittleEndian.Uint32(amounts[4*k:])
		if c.amounts[i] > 0 || amount < 1 || int64(amount) > int64(t.space.total-c.total) {
			d.failDamaged("its amounts do not sum to the total")
			return nil
		}
		c.addIngredient(int(i), int(amount))
	}
	m := &warmupMemory{}
	known := d.readStateList()
	m.moveSharesTuned = d.readIntBetween(0, 1) == 1
	for k := range m.tunedMoveShares {
		if m.tunedMoveShares[k] = d.readFloat(); m.tunedMoveShares[k] < 0 {
			d.failDamaged("a share is negative")
		}
	}
	m.warmupRound = d.readIntBetween(0, 40)
	m.roundIterationCount = d.readIntBetween(0, firstRoundIterations<<m.warmupRound-1)
	m.metStates = d.readStateList()
	m.cycleIterationCount = d.readIntBetween(0, coldIterations+hotIterations-1)
	m.coldState = d.readColdState()
	for _, w := range []*wholeMoveTally{&m.lastRoundMoveCounts.refreshTally, &m.lastRoundMoveCounts.recallTally, &m.currentRoundMoveCounts.refreshTally, &m.currentRoundMoveCounts.recallTally} {
		w.triedCount = d.readCount(maxSavedCount)
		w.candidateCount = d.readCount(w.triedCount)
		w.acceptedCount = d.readCount(w.candidateCount)
	}
	if s := t.space.conditions; s != nil {
		c.conditions = d.readList(0, maxConditionValues-1)
		m.coldConditions = d.readList(0, maxConditionValues-1)
		if d.err == nil && !(s.areValidValueIndices(c.conditions) && (len(m.coldState.sizes) == 0 || s.areValidValueIndices(m.coldConditions))) {
			d.failDamaged("its conditions are not those of the target")
		}
	}
	if d.err != nil {
		return nil
	}
	if m.moveSharesTuned && m.tunedMoveShares == (moveShares{}) {
		d.failDamaged("no move has a share")
		return nil
	}
	m.learnFrom(t, &known)

	if err := t.space.Contains(c); err != nil {
		d.failDamaged(err.Error())
		return nil
	}
	x := newState(t, c)
	x.beta, x.memory = beta, m
	if d.err = x.Refresh(); d.err != nil {
		return nil
	}
	if t.LogLaw(c.UsedCount()) == negInf || beta > 0 && x.logScore == negInf {
		d.failDamaged("the target forbids its composition")
	}
	return x
}
