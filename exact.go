package kir

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kir/count"
)

// Exact draws compositions independently from y_sparse(n)/|X_n|: the target
// when there are no wishes. It draws n, then which n ingredients, then where
// the n−1 cuts fall. No chain is needed; as a kernel it is the best there is.
// It also gives every chain its first state.
type Exact struct {
	target *Target
}

// NewExact returns the kernel for a target without wishes.
func NewExact(t *Target) (*Exact, error) {
	for _, w := range t.wishes {
		if w.Weight > 0 {
			return nil, fmt.Errorf("exact: draws follow the sparsity law alone and the target has the wish %q; use balanced", w.Name)
		}
	}
	if t.space.Shares() != nil {
		return nil, fmt.Errorf("exact: some of the rules cannot be counted, and so not drawn from; use balanced")
	}
	return &Exact{t}, nil
}

// Advance draws anew once an iteration.
func (e *Exact) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.ready("exact", e.target); err != nil {
		return err
	}
	for range iterations {
		result, err := x.independent(r)
		if err != nil {
			return kernelError("exact", err)
		}
		if result == updated {
			tally.Updated++
		}
	}
	tally.Iterations += int64(iterations)
	tally.Accepted += int64(iterations)
	return nil
}

// drawExact makes y an independent draw from y_sparse(n)/|X_n|.
func (x *State) drawExact(r *Rand, y *Composition) {
	x.exact.draw(r, y, x.target.law.draw(r), x.target.space.total)
}

// drawAnew makes the composition of a state without terms an independent draw,
// and says whether it is another one than before. Among a million ingredients
// the time goes into cache misses, which a candidate to copy from would double.
func (x *State) drawAnew(r *Rand) (changed bool) {
	c := x.Composition
	x.was = x.was[:0]
	for _, i := range c.Ingredients() {
		x.was = append(x.was, Part{Ingredient: int(i), Amount: int(c.amounts[i])})
	}
	x.drawExact(r, c)
	if c.Used() != len(x.was) {
		return true
	}
	for _, p := range x.was {
		if c.Amount(p.Ingredient) != p.Amount {
			return true
		}
	}
	return false
}

// A Prior draws compositions independently from a target's sparsity law, with
// every rule kept and as if there were no wishes: what random compositions look
// like. It belongs to one goroutine.
type Prior struct {
	target *Target
	draws  exactScratch
	x      *Composition
	parts  []Part // of x, where rules are looked at
}

// NewPrior returns what draws from the sparsity law of a target.
func NewPrior(t *Target) *Prior {
	p := &Prior{target: t, x: newComposition(t.space.ingredients)}
	if t.space.rules != nil {
		p.draws.sampler = t.space.rules.sampler.Clone()
	}
	return p
}

// Draw returns a composition, which holds until the next call: n from the law,
// then one of X_n uniformly. Where rules cannot be counted it draws again until
// one keeps them, and fails with [ErrNoStart] after 10,000,000.
func (p *Prior) Draw(r *Rand) (*Composition, error) {
	t := p.target
	n := t.law.draw(r)
	const most = 10_000_000
	for range most {
		p.draws.draw(r, p.x, n, t.space.total)
		if t.space.Shares() == nil || t.space.rules.Keeps(p.drawn()) {
			return p.x, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, most)
}

// drawn returns the parts of what was drawn, until the next.
func (p *Prior) drawn() []Part {
	p.parts = p.x.AppendParts(p.parts[:0])
	return p.parts
}

// independent is a Metropolis–Hastings move whose candidate is drawn by
// [State.drawExact], whatever the state. It reaches all that the target allows
// from everywhere.
func (x *State) independent(r *Rand) (outcome, error) {
	if len(x.terms) == 0 {
		return changed(x.drawAnew(r)), nil // the ratio is 1
	}
	y := x.other()
	x.drawExact(r, y.composition)
	value, err := x.scoreOther()
	if err != nil {
		return rejected, err
	}
	// P over the probability of being drawn, at y over x.
	logRatio := x.target.logShare(y.composition.Used()) - x.target.logShare(x.Composition.Used())
	if !r.Bernoulli(math.Exp(logRatio + x.beta*(value-x.sum))) {
		return rejected, nil
	}
	return x.takeOther(value), nil
}

// independentShare is how often kernels that move along lines make an
// independent move in a space with rules.
const independentShare = 0.02

// countIndependent makes an independent move as an iteration of its own.
func (x *State) countIndependent(r *Rand, tally *Tally) error {
	result, err := x.independent(r)
	if err != nil {
		return err
	}
	if result != rejected {
		tally.Accepted++
	}
	if result == updated {
		tally.Updated++
	}
	return nil
}

// exactScratch is what drawing a composition needs to remember.
type exactScratch struct {
	sampler *count.Sampler // of a space with rules, else nil

	ingredients, amounts []int32 // drawn by the sampler

	cuts cutSet
}

// draw makes y uniform on X_n: a uniform n-subset of the ingredients and a
// uniform (n−1)-subset of the total−1 gaps between units, the cuts, both by
// Floyd's algorithm (Bentley and Floyd 1987): for each top from the number of
// things less the size of the subset upwards, a thing uniform up to top, or
// top itself if that was drawn before. Which cut ends which ingredient does
// not depend on how the ingredients are listed, so neither does the law on
// how they came to be.
//
// With rules it draws from what can be counted; X_n must not be empty.
func (e *exactScratch) draw(r *Rand, y *Composition, n, total int) {
	y.clear()
	if e.sampler != nil {
		var err error
		e.ingredients, e.amounts, err = e.sampler.Draw(r, n, e.ingredients[:0], e.amounts[:0])
		if err != nil {
			panic("kir: drew from a size without compositions: " + err.Error()) // the law has no mass there
		}
		for k, i := range e.ingredients {
			y.put(int(i), int(e.amounts[k]))
		}
		return
	}
	// All numbers are drawn before the first amount is looked at, so that the
	// processor can wait for many of these at once.
	e.cuts.reset(n-1, total-1)
	first := y.N() - n
	y.list = slices.Grow(y.list, n)[:n]
	for k := range n - 1 {
		i, cut := r.pair(first+k+1, total-n+k+1)
		y.list[k] = int32(i)
		e.cuts.add(cut, total-n+k)
	}
	y.list[n-1] = int32(r.Intn(y.N()))
	for k, i := range y.list {
		if y.amounts[i] > 0 {
			i = int32(first + k)
			y.list[k] = i
		}
		y.amounts[i] = 1
	}
	if n > few {
		y.placeAll()
	}
	y.total = total
	e.cuts.share(y.list, y.amounts, total)
}

// drawAmounts splits total units anew among the used ingredients of y,
// uniformly among the ways that leave each at least 1.
func (e *exactScratch) drawAmounts(r *Rand, y *Composition, total int) {
	n := y.Used()
	e.cuts.reset(n-1, total-1)
	for gap := total - n; gap < total-1; gap++ {
		cut := 0
		if gap > 0 {
			cut = r.Intn(gap + 1)
		}
		e.cuts.add(cut, gap)
	}
	y.total = total
	e.cuts.share(y.list, y.amounts, total)
}

// A cutSet is a set of gaps between units, numbered from 0, which come in any
// order and leave sorted. Where there are few gaps for each cut it is a bit
// set; else the range is divided into about as many buckets as there are cuts,
// each a sorted list, and a cut takes constant time whatever the range.
type cutSet struct {
	bits []uint64 // the bit set; empty if there are buckets

	shift uint
	first []int32 // by bucket: 1 + the index of its first cut; 0 if it is empty
	next  []int32 // by cut: as first
	at    []int32 // by cut: its gap
}

// reset empties the set for so many cuts among so many gaps.
func (c *cutSet) reset(size, gaps int) {
	if gaps/64+1 <= 2*size+4 {
		c.useBits(gaps)
	} else {
		c.useBuckets(size, gaps)
	}
}

func (c *cutSet) useBits(gaps int) {
	words := gaps/64 + 1
	c.bits = slices.Grow(c.bits[:0], words)[:words]
	clear(c.bits)
}

func (c *cutSet) useBuckets(size, gaps int) {
	c.bits = c.bits[:0]
	c.shift = uint(max(bits.Len(uint(gaps))-bits.Len(uint(size)), 0))
	buckets := gaps>>c.shift + 1
	c.first = slices.Grow(c.first[:0], buckets)[:buckets]
	clear(c.first)
	c.next, c.at = c.next[:0], c.at[:0]
}

// add adds a gap, or top if the set has that gap. top is above all in the set.
func (c *cutSet) add(gap, top int) {
	if len(c.bits) > 0 {
		if c.bits[gap/64]&(1<<(gap%64)) != 0 {
			gap = top
		}
		c.bits[gap/64] |= 1 << (gap % 64)
		return
	}
	link := c.before(gap)
	if *link > 0 && c.at[*link-1] == int32(gap) {
		gap = top
		link = c.before(gap)
	}
	after := *link
	*link = int32(len(c.at) + 1)
	c.at = append(c.at, int32(gap))
	c.next = append(c.next, after)
}

// before returns the link to the first cut of the bucket that is not below gap.
func (c *cutSet) before(gap int) *int32 {
	link := &c.first[gap>>c.shift]
	for *link > 0 && c.at[*link-1] < int32(gap) {
		link = &c.next[*link-1]
	}
	return link
}

// share gives each of the ingredients the units up to the next cut, in turn.
func (c *cutSet) share(list, amounts []int32, total int) {
	from := int32(0)
	if len(c.bits) > 0 {
		for w, word := range c.bits {
			for ; word != 0; word &= word - 1 {
				to := int32(w*64 + bits.TrailingZeros64(word) + 1)
				amounts[list[0]], list = to-from, list[1:]
				from = to
			}
		}
	} else {
		for _, link := range c.first {
			for ; link > 0; link = c.next[link-1] {
				to := c.at[link-1] + 1
				amounts[list[0]], list = to-from, list[1:]
				from = to
			}
		}
	}
	amounts[list[0]] = int32(total) - from
}

// ErrNoStart is returned when no composition of positive density was found to
// start a chain from.
var ErrNoStart = errors.New("no start of positive density was found")

// startTries is how many draws from the sparsity law a chain may take to find
// a composition that no property forbids.
const startTries = 100_000

// StartState draws the first state of a chain exactly from the sparsity law,
// again while a property is 0 there. It returns how many draws that took, and
// fails with [ErrNoStart] after 100,000.
func StartState(t *Target, r *Rand) (x *State, tries int, err error) {
	prior := NewPrior(t)
	x = newState(t, prior.x)
	for tries < startTries {
		tries++
		if _, err := prior.Draw(r); err != nil {
			return nil, tries, err
		}
		if err := x.Refresh(); err != nil {
			return nil, tries, err
		}
		if x.sum > negInf {
			return x, tries, nil
		}
	}
	return nil, tries, fmt.Errorf("%w among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, startTries)
}
