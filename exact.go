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
		if len(x.terms) == 0 {
			if x.drawAnew(r) {
				tally.Updated++
			}
			continue
		}
		y := x.candidateCopy()
		x.drawExact(r, y)
		if !y.Equal(x.Composition) {
			x.Composition.CopyFrom(y)
			tally.Updated++
		}
	}
	tally.Iterations += int64(iterations)
	tally.Accepted += int64(iterations)
	return nil
}

// candidateCopy returns the state's spare composition, which holds anything.
func (x *State) candidateCopy() *Composition {
	if x.candidate == nil {
		x.candidate = newComposition(x.Composition.N())
	}
	return x.candidate
}

// drawExact makes y an independent draw from y_sparse(n)/|X_n|.
func (x *State) drawExact(r *Rand, y *Composition) {
	n := x.target.law.lo
	if len(x.target.law.p) > 1 {
		n += r.Categorical(x.target.law.p)
	}
	x.exact.draw(r, y, n, x.target.space.total)
}

// drawAnew makes the composition of a state without terms an independent draw,
// and says whether it is another one than before. Among a million ingredients
// the time goes into cache misses, which a candidate to copy from would double.
func (x *State) drawAnew(r *Rand) (changed bool) {
	c := x.Composition
	x.was = x.was[:0]
	for _, i := range c.Ingredients() {
		x.was = append(x.was, Part{int(i), int(c.amounts[i])})
	}
	x.drawExact(r, c)
	if c.used != len(x.was) {
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
	n := t.law.lo
	if len(t.law.p) > 1 {
		n += r.Categorical(t.law.p)
	}
	const most = 10_000_000
	for range most {
		p.draws.draw(r, p.x, n, t.space.total)
		if t.space.Shares() == nil || t.space.rules.keeps(p.x) {
			return p.x, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, most)
}

// independent is a Metropolis–Hastings move whose candidate is drawn by
// [State.drawExact], whatever the state. It reaches all that the target allows
// from everywhere.
func (x *State) independent(r *Rand) (outcome, error) {
	if len(x.terms) == 0 {
		return changed(x.drawAnew(r)), nil // the ratio is 1
	}
	y := x.candidateCopy()
	x.drawExact(r, y)
	value, err := x.target.LogScore(y)
	if err != nil {
		return rejected, err
	}
	// P over the probability of being drawn, at y and at x.
	atY := x.beta*value + x.target.logShare(y.used)
	atX := x.beta*x.sum + x.target.logShare(x.Composition.used)
	if !r.Bernoulli(math.Exp(atY - atX)) {
		return rejected, nil
	}
	if y.Equal(x.Composition) {
		return stayed, nil
	}
	x.replace(y, value)
	return updated, nil
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

	cuts []int32
	bits []uint64
}

// manyCuts is from where on cuts are kept in a bit set rather than in a sorted
// list, whose look-ups cost a walk.
const manyCuts = 64

// draw makes y uniform on X_n: a uniform n-subset of the ingredients by a
// partial shuffle, and a uniform (n−1)-subset of the total−1 gaps between
// units by Floyd's algorithm (Bentley and Floyd 1987).
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
	for t := range n {
		if rest := y.N() - t; rest > 1 {
			y.swap(int32(t), int32(t+r.Intn(rest)))
		}
	}
	if n < manyCuts {
		e.fewCuts(r, n-1, total-1)
	} else {
		e.manyCuts(r, n-1, total-1)
	}
	from := int32(0)
	for t, i := range y.order[:n] {
		to := int32(total)
		if t < n-1 {
			to = e.cuts[t]
		}
		y.amounts[i] = to - from
		from = to
	}
	y.used, y.total = n, total
}

// fewCuts leaves in e.cuts a uniform subset of 1..gaps of the given size, in
// increasing order.
func (e *exactScratch) fewCuts(r *Rand, size, gaps int) {
	e.cuts = e.cuts[:0]
	for top := gaps - size + 1; top <= gaps; top++ {
		cut := int32(top)
		if top > 1 {
			cut = int32(1 + r.Intn(top))
		}
		at, found := slices.BinarySearch(e.cuts, cut)
		if found {
			at, cut = len(e.cuts), int32(top)
		}
		e.cuts = slices.Insert(e.cuts, at, cut)
	}
}

// manyCuts is fewCuts by a bit set.
func (e *exactScratch) manyCuts(r *Rand, size, gaps int) {
	words := gaps/64 + 1
	e.bits = slices.Grow(e.bits[:0], words)[:words]
	clear(e.bits)
	for top := gaps - size + 1; top <= gaps; top++ {
		cut := top
		if top > 1 {
			cut = 1 + r.Intn(top)
		}
		if e.bits[cut/64]&(1<<(cut%64)) != 0 {
			cut = top
		}
		e.bits[cut/64] |= 1 << (cut % 64)
	}
	e.cuts = e.cuts[:0]
	for w, word := range e.bits {
		for ; word != 0; word &= word - 1 {
			e.cuts = append(e.cuts, int32(w*64+bits.TrailingZeros64(word)))
		}
	}
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
