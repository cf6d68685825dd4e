package kir

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// chainFormat begins what a chain is saved as.
const chainFormat = "kir chain 5\n"

// MarshalBinary returns all that the chain needs to go on later from where it
// is. A chain that is restored from it goes on, draw for draw, as this one
// does from its next [Chain.Refresh] on.
func (c *Chain) MarshalBinary() ([]byte, error) {
	e := encoder{data: []byte(chainFormat)}
	e.ints(int64(c.State.Composition.N()), int64(c.Tries))
	e.tally(&c.tally)
	e.random(c.rand)
	if c.ladder == nil {
		e.ints(0)
		e.state(c.State)
	} else {
		e.ladder(c.ladder)
	}
	return e.data, e.err
}

// RestoreChain returns the chain that [Chain.MarshalBinary] saved, for the
// same target and kernel, with its states refreshed.
func RestoreChain(t *Target, k Kernel, data []byte) (*Chain, error) {
	if len(data) < len(chainFormat) || string(data[:len(chainFormat)]) != chainFormat {
		return nil, damaged("it does not begin as one")
	}
	d := decoder{data: data[len(chainFormat):], target: t}
	if n := d.int(); d.err == nil && n != int64(t.space.ingredients) {
		return nil, fmt.Errorf("the saved chain has %d ingredients and the target %d", n, t.space.ingredients)
	}
	c := &Chain{kernel: k, Tries: int(d.int())}
	d.tally(&c.tally)
	c.rand = d.random()
	rungs := d.int()
	tempered, isTempered := k.(*Tempered)
	switch {
	case d.err != nil:
	case isTempered != (rungs > 0):
		return nil, fmt.Errorf("the saved chain is of another kernel")
	case isTempered:
		c.ladder = d.ladder(tempered, rungs)
		if d.err == nil {
			c.State = c.ladder.cold()
		}
	default:
		c.State = d.state(1)
	}
	if d.err == nil && len(d.data) > 0 {
		d.fail("it goes on after its end")
	}
	if d.err != nil {
		return nil, d.err
	}
	return c, nil
}

func damaged(what string) error { return fmt.Errorf("the saved chain is damaged: %s", what) }

// encoder appends what is saved.
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

// list writes how many there are, and each, none of which is negative.
func (e *encoder) list(values []int32) {
	e.ints(int64(len(values)))
	for _, v := range values {
		e.data = binary.AppendUvarint(e.data, uint64(v))
	}
}

// bag writes how often each value is among values, of which the order does not
// count and none is negative.
func (e *encoder) bag(values []int32) {
	sorted := slices.Sorted(slices.Values(values))
	e.ints(int64(len(sorted)))
	last := int32(0)
	for k := 0; k < len(sorted); {
		v, from := sorted[k], k
		for k < len(sorted) && sorted[k] == v {
			k++
		}
		e.data = binary.AppendUvarint(e.data, uint64(v-last))
		e.data = binary.AppendUvarint(e.data, uint64(k-from))
		last = v
	}
}

func (e *encoder) tally(t *Tally) {
	e.ints(t.Iterations, t.Accepted, t.Updated)
	for _, m := range t.Moves {
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

// state writes the composition, its ingredients in the order in which random
// integers pick them, and what was learnt.
func (e *encoder) state(x *State) {
	c := x.Composition
	e.list(c.list)
	for _, i := range c.list {
		e.data = binary.LittleEndian.AppendUint32(e.data, uint32(c.amounts[i]))
	}
	m := x.memory
	if m == nil {
		m = &memory{}
	}
	e.bag(m.list)
	e.bag(m.sizes)
	e.ints(oneIf(m.tuned))
	e.floats(m.mix[:]...)
	e.ints(int64(m.round), int64(m.done))
	e.bag(m.met)
	e.bag(m.metSizes)
	for _, w := range []MoveTally{m.last.refresh, m.last.recall, m.now.refresh, m.now.recall} {
		e.ints(w.Tried, w.Accepted, w.Updated)
	}
}

func (e *encoder) ladder(l *ladder) {
	e.ints(int64(len(l.rungs)), l.scans, int64(l.seed), int64(l.index), int64(l.streams), int64(l.round), int64(l.done))
	for k := range l.rungs {
		g := &l.rungs[k]
		e.floats(g.state.beta, g.offset)
		e.ints(int64(g.seen))
		e.random(g.rand)
		e.state(g.state)
	}
	s := &l.sums
	e.ints(s.scans, s.restarts, s.roundTrips, s.length)
	e.floats(s.rejected...)
	e.floats(s.logScore...)
	e.ints(s.forbidden...)
	for _, b := range s.batches {
		e.floats(b.lower, b.upper)
	}
}

// decoder reads what is saved. After its first error it returns zeros.
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

// take returns the next bytes; zeros if there are not as many.
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

// between returns an integer that must be from least to most.
func (d *decoder) between(least, most int64) int {
	v := d.int()
	if d.err == nil && (v < least || v > most) {
		d.fail("a number is out of range")
	}
	if d.err != nil {
		return int(least)
	}
	return int(v)
}

// mostCount is more than can be counted in a lifetime, and small enough for
// sums and for numbers with a point.
const mostCount = 1 << 53

// count returns a count that must be at most most.
func (d *decoder) count(most int64) int64 { return int64(d.between(0, most)) }

// sum returns a sum of terms from 0 to 1, of which there are so many. Rounding
// may have carried it a little beyond.
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

// list returns integers that must be from least to most.
func (d *decoder) list(least, most int32) []int32 {
	n := d.between(0, int64(max(0, len(d.data)-8))) // each takes a byte at least
	if d.err != nil || n == 0 {
		return nil
	}
	values := make([]int32, n)
	for k := range values {
		v, size := binary.Uvarint(d.data)
		if size <= 0 || v < uint64(least) || v > uint64(most) {
			d.fail("a number is out of range")
			return nil
		}
		values[k], d.data = int32(v), d.data[size:]
	}
	return values
}

// bag returns values from least to most, in ascending order: at most as many as a
// memory holds.
func (d *decoder) bag(least, most int32) []int32 {
	n := d.between(0, metMost+int64(d.target.space.ingredients))
	var values []int32
	last := uint64(0)
	for len(values) < n && d.err == nil {
		gap, size := binary.Uvarint(d.data)
		count, more := binary.Uvarint(d.data[max(0, size):])
		if size <= 0 || more <= 0 || gap > uint64(most) || last+gap < uint64(least) || last+gap > uint64(most) || count < 1 || count > uint64(n-len(values)) {
			d.fail("a number is out of range")
			return nil
		}
		d.data = d.data[size+more:]
		last += gap
		values = append(values, slices.Repeat([]int32{int32(last)}, int(count))...)
	}
	return values
}

func (d *decoder) tally(t *Tally) {
	all := d.moveTally()
	t.Iterations, t.Accepted, t.Updated = all.Tried, all.Accepted, all.Updated
	for k := range t.Moves {
		t.Moves[k] = d.moveTally()
	}
}

func (d *decoder) moveTally() (t MoveTally) {
	t.Tried = d.count(mostCount)
	t.Accepted = d.count(t.Tried)
	t.Updated = d.count(t.Accepted)
	return t
}

func (d *decoder) random() *Rand {
	r := new(Rand)
	if state := d.take(d.between(0, 1<<10)); d.err == nil {
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
		c.put(int(i), int(amount))
	}
	m := &memory{}
	met, sizes := d.bag(0, int32(t.space.ingredients-1)), d.bag(int32(t.law.lo), int32(t.law.hi))
	m.tuned = d.between(0, 1) == 1
	for k := range m.mix {
		if m.mix[k] = d.float(); m.mix[k] < 0 {
			d.fail("a share is negative")
		}
	}
	m.round = d.between(0, 40)
	m.done = d.between(0, firstRound<<m.round-1)
	m.met, m.metSizes = d.bag(0, int32(t.space.ingredients-1)), d.bag(int32(t.law.lo), int32(t.law.hi))
	for _, w := range []*MoveTally{&m.last.refresh, &m.last.recall, &m.now.refresh, &m.now.recall} {
		*w = d.moveTally()
	}
	if d.err != nil {
		return nil
	}
	if m.tuned && m.mix == (shares{}) {
		d.fail("no move has a share")
		return nil
	}
	m.learn(t, met, sizes)

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

func (d *decoder) ladder(k *Tempered, rungs int64) *ladder {
	var peaks []float64
	least, most := int64(1), int64(1) // rungs from β = 0 to β = 1
	if k.target.scored() {
		peaks, least, most = k.peaks, 2, mostSteps+1
	}
	climb := rungs - int64(len(peaks))
	if climb < least || climb > most {
		d.fail("a number is out of range")
		return nil
	}
	if k.steps > 0 && k.target.scored() && int64(k.steps) != climb-1 {
		d.err = fmt.Errorf("the saved chain has %d replicas and the kernel %d", climb, k.steps+1)
		return nil
	}
	l := &ladder{kernel: k, peaks: len(peaks), workers: 1, scans: d.int(), seed: uint64(d.int()), index: int(d.int())}
	l.streams = d.between(0, math.MaxInt32)
	l.round = d.between(0, 40)
	l.done = d.between(0, firstLadderRound<<l.round-1)
	last := -1.0
	for at := range rungs {
		beta := d.float()
		switch {
		case at == climb-1 && beta != 1, at == 0 && climb > 1 && beta != 0:
			d.fail("its ladder does not rise from 0 to 1")
		case at >= climb && beta != peaks[at-climb]:
			d.fail("its ladder ends elsewhere")
		case beta <= last:
			d.fail("its ladder does not rise")
		}
		last = beta
		g := rung{offset: d.float(), seen: ends(d.between(int64(seenNone), int64(seenBoth)))}
		g.rand = d.random()
		if d.err != nil {
			return nil
		}
		g.state = d.state(beta)
		l.rungs = append(l.rungs, g)
	}
	s := &l.sums
	steps := l.steps()
	s.reset(steps)
	s.scans = d.count(mostCount)
	s.restarts = d.count(s.scans)
	s.roundTrips = d.count(s.restarts)
	s.length = d.count(max(1, s.scans))
	if d.err == nil && (s.length < 1 || s.scans > s.length*mostBatches) {
		d.fail("a number is out of range")
	}
	for k := range s.rejected {
		s.rejected[k] = d.sum(s.scans)
	}
	for k := range s.logScore {
		s.logScore[k] = d.float()
	}
	for k := range s.forbidden {
		s.forbidden[k] = d.count(s.scans)
	}
	if d.err != nil {
		return nil
	}
	for range int((s.scans+s.length-1)/s.length) * steps {
		s.batches = append(s.batches, bennett{d.sum(s.length), d.sum(s.length)})
	}
	return l
}
