package kir

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
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
	return &Exact{t}, nil
}

// Advance draws anew once an iteration.
func (e *Exact) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	for range iterations {
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

// exactScratch is what drawing a composition needs to remember.
type exactScratch struct {
	cuts []int32
	bits []uint64
}

// manyCuts is from where on cuts are kept in a bit set rather than in a sorted
// list, whose look-ups cost a walk.
const manyCuts = 64

// draw makes y uniform on X_n: a uniform n-subset of the ingredients by a
// partial shuffle, and a uniform (n−1)-subset of the total−1 gaps between
// units by Floyd's algorithm (Bentley and Floyd 1987).
func (e *exactScratch) draw(r *Rand, y *Composition, n, total int) {
	y.clear()
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
	x = newState(t, newComposition(t.space.ingredients))
	for tries < startTries {
		tries++
		x.drawExact(r, x.Composition)
		if err := x.Refresh(); err != nil {
			return nil, tries, err
		}
		if x.sum > negInf {
			return x, tries, nil
		}
	}
	return nil, tries, fmt.Errorf("%w among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, startTries)
}
