package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/constraint/count"
)

// A uniformDrawer draws compositions with a given number of ingredients, all with equal
// probability. It holds scratch memory for its draws.
type uniformDrawer struct {
	sampler *count.Sampler // draws compositions that keep the countable rules; nil in a space without rules

	ingredients []int32 // scratch memory: the ingredients that sampler drew
	amounts     []int32 // scratch memory: the amounts that sampler drew, in the order of ingredients

	cuts cutSet // scratch memory: the places at which the total is divided among the ingredients
}

// A spaceDrawer draws compositions of a space, together with the values of the conditions.
type spaceDrawer struct {
	uniformDrawer
	space       *Space
	caseDrawers []uniformDrawer // caseDrawers[k] draws the compositions of case k; nil if there are no cases; see [conditionCases]
}

// newDrawer returns a drawer of random compositions of the space, for use by one goroutine.
func (s *Space) newDrawer() (d spaceDrawer) {
	d.space = s
	if s.rules != nil {
		d.sampler = s.rules.sampler.Clone()
	}
	if s.conditions.hasCases() {
		d.caseDrawers = make([]uniformDrawer, len(s.conditions.caseSpaces))
		for k, c := range s.conditions.caseSpaces {
			if c != nil {
				d.caseDrawers[k].sampler = c.rules.sampler.Clone()
			}
		}
	}
	return d
}

// draw makes y a random composition with n ingredients, as [uniformDrawer.draw] does, and draws the
// values of the conditions of y. If rules join conditions and compositions, it first draws a case
// from drawableCaseLaws; see [conditionCases].
func (d *spaceDrawer) draw(r *Rand, y *Composition, n int) {
	c := d.space.conditions
	if d.caseDrawers == nil {
		d.uniformDrawer.draw(r, y, n, d.space.total)
		c.draw(r, y)
		return
	}
	k := c.drawableCaseLaws[n].draw(r)
	d.caseDrawers[k].draw(r, y, n, d.space.total)
	c.drawWithinCase(r, y, k)
}

// draw makes y uniform on X_n, the set of the compositions with n ingredients. It draws a uniform
// set of n ingredients, and a uniform set of n−1 cuts among the total−1 gaps between units.
//
// Both sets are drawn by Floyd's algorithm (Bentley and Floyd 1987). To draw a subset, let top rise
// from (number of elements − size of the subset) to the last element. For each top, take a uniform
// element up to top, or top itself if that element was drawn before. The pairing of cuts and
// ingredients does not depend on the order of the ingredients, so this order does not affect the
// distribution.
//
// In a space with rules, draw draws from the compositions of n ingredients that keep the countable
// rules. There must be such a composition.
func (e *uniformDrawer) draw(r *Rand, y *Composition, n, total int) {
	y.clear()
	if e.sampler != nil {
		var err error
		e.ingredients, e.amounts, err = e.sampler.Draw(r, n, e.ingredients[:0], e.amounts[:0])
		if err != nil {
			panic("kir: drew from a size without compositions: " + err.Error()) // the law has no mass there
		}
		for k, i := range e.ingredients {
			y.addIngredient(int(i), int(e.amounts[k]))
		}
		return
	}
	// Draw all numbers before reading the first amount, so that the processor can wait for many
	// cache misses at once.
	e.cuts.reset(n-1, total-1)
	first := y.N() - n
	y.used = slices.Grow(y.used, n)[:n]
	for k := range n - 1 {
		i, cut := r.intnPair(first+k+1, total-n+k+1)
		y.used[k] = int32(i)
		e.cuts.add(cut, total-n+k)
	}
	y.used[n-1] = int32(r.Intn(y.N()))
	for k, i := range y.used {
		if y.amounts[i] > 0 {
			i = int32(first + k)
			y.used[k] = i
		}
		y.amounts[i] = 1
	}
	if n > maxScannedUsed {
		y.recordPositions()
	}
	y.total = total
	e.cuts.divideUnits(y.used, y.amounts, total)
}

// drawAmounts divides total units at random among the ingredients in list. All divisions that give
// each ingredient at least 1 unit have the same probability. The units of ingredient i are written
// to amounts[i].
func (e *uniformDrawer) drawAmounts(r *Rand, list, amounts []int32, total int) {
	n := len(list)
	e.cuts.reset(n-1, total-1)
	for gap := total - n; gap < total-1; gap++ {
		cut := 0
		if gap > 0 {
			cut = r.Intn(gap + 1)
		}
		e.cuts.add(cut, gap)
	}
	e.cuts.divideUnits(list, amounts, total)
}

// A cutSet is a set of cuts. A cut is a gap between two units, numbered from 0, at which a total is
// divided. Cuts are added in any order and read in ascending order. If there are few gaps per cut,
// the set is a bit set. Otherwise it has about as many buckets as cuts, each a sorted linked list,
// so adding a cut takes constant time on average.
type cutSet struct {
	bits []uint64 // the bit set, one bit per gap; empty if the set has buckets

	bucketShift uint    // the cut at gap g belongs to bucket g>>bucketShift
	bucketHeads []int32 // bucketHeads[b] is 1 + the index in gaps of the first cut of bucket b; 0 if bucket b is empty
	nextCuts    []int32 // nextCuts[c] is 1 + the index in gaps of the cut after cut c in its bucket; 0 for the last cut
	gaps        []int32 // gaps[c] is the number of the gap at cut c; cuts are numbered in the order of adding
}

// reset empties the set and prepares it for size cuts among the given number of gaps.
func (c *cutSet) reset(size, gaps int) {
	if gaps/64+1 <= 2*size+4 {
		c.resetAsBits(gaps)
	} else {
		c.resetAsBuckets(size, gaps)
	}
}

// resetAsBits empties the set and makes it a bit set with one bit for each of the given number of
// gaps.
func (c *cutSet) resetAsBits(gaps int) {
	words := gaps/64 + 1
	c.bits = slices.Grow(c.bits[:0], words)[:words]
	clear(c.bits)
}

// resetAsBuckets empties the set and gives it buckets for size cuts among the given number of gaps.
func (c *cutSet) resetAsBuckets(size, gaps int) {
	c.bits = c.bits[:0]
	c.bucketShift = uint(max(bits.Len(uint(gaps))-bits.Len(uint(size)), 0))
	buckets := gaps>>c.bucketShift + 1
	c.bucketHeads = slices.Grow(c.bucketHeads[:0], buckets)[:buckets]
	clear(c.bucketHeads)
	c.nextCuts, c.gaps = c.nextCuts[:0], c.gaps[:0]
}

// add adds the cut at the given gap. If the set already contains this cut, it adds a cut at the gap
// top instead, which must exceed all gaps in the set.
func (c *cutSet) add(gap, top int) {
	if len(c.bits) > 0 {
		if c.bits[gap/64]&(1<<(gap%64)) != 0 {
			gap = top
		}
		c.bits[gap/64] |= 1 << (gap % 64)
		return
	}
	link := c.linkBefore(gap)
	if *link > 0 && c.gaps[*link-1] == int32(gap) {
		gap = top
		link = c.linkBefore(gap)
	}
	after := *link
	*link = int32(len(c.gaps) + 1)
	c.gaps = append(c.gaps, int32(gap))
	c.nextCuts = append(c.nextCuts, after)
}

// linkBefore finds the place of a new cut in the sorted linked list of its bucket. It returns a
// pointer to the link that must point to the new cut. All cuts before this link are below gap.
func (c *cutSet) linkBefore(gap int) *int32 {
	link := &c.bucketHeads[gap>>c.bucketShift]
	for *link > 0 && c.gaps[*link-1] < int32(gap) {
		link = &c.nextCuts[*link-1]
	}
	return link
}

// divideUnits divides total units at the cuts of the set. Each ingredient of list, in turn, gets
// the units up to the next cut. The units of ingredient i are written to amounts[i].
func (c *cutSet) divideUnits(list, amounts []int32, total int) {
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
		for _, link := range c.bucketHeads {
			for ; link > 0; link = c.nextCuts[link-1] {
				to := c.gaps[link-1] + 1
				amounts[list[0]], list = to-from, list[1:]
				from = to
			}
		}
	}
	amounts[list[0]] = int32(total) - from
}

// drawTwoUsed draws an ordered pair of two different used ingredients. At least 2 ingredients must
// be used.
func drawTwoUsed(r *Rand, c *Composition) (i, j int) {
	p, q := r.intnPair(len(c.used), len(c.used)-1)
	if q >= p {
		q++
	}
	return int(c.used[p]), int(c.used[q])
}

// drawUsedAndOther draws a used ingredient i uniformly, and an ingredient j uniformly among all
// ingredients other than i. It returns the index p of i in the list of used ingredients, and j. The
// result used reports whether j is used too.
func drawUsedAndOther(r *Rand, x *Composition) (p int, j int32, used bool) {
	p, q := r.intnPair(len(x.used), len(x.amounts)-1)
	if j = int32(q); j == x.used[p] {
		j = int32(len(x.amounts) - 1)
	}
	return p, j, x.amounts[j] > 0
}

// drawCutPlace draws a place at which the amount of a used ingredient can be divided in two. It is
// uniform among the M−n places between two units of the same ingredient. The result is the
// ingredient and the number of its units before the place.
func drawCutPlace(r *Rand, c *Composition) (i, units int) {
	at := 0
	if places := c.total - c.UsedCount(); places > 1 {
		at = r.Intn(places)
	}
	for _, i := range c.used {
		if inner := int(c.amounts[i]) - 1; at < inner {
			return int(i), at + 1
		} else {
			at -= inner
		}
	}
	panic("kir: a composition with fewer units than its total")
}

// drawAbsent draws one of the N−n unused ingredients uniformly. There must be such an ingredient.
//
// It draws a number j below N−n. If ingredient j is not used, it returns j. There are as many used
// ingredients below N−n as there are unused ingredients from N−n on, so each of the former can
// stand for one of the latter. If j is the k-th used ingredient below N−n, in the order of the list
// of used ingredients, the result is the k-th unused ingredient from N−n on.
func (x *Composition) drawAbsent(r *Rand) int {
	absent := len(x.amounts) - len(x.used)
	j := 0
	if absent > 1 {
		j = r.Intn(absent)
	}
	if x.amounts[j] == 0 {
		return j
	}
	before := 0
	for _, i := range x.used[:x.positionOf(int32(j))] {
		if int(i) < absent {
			before++
		}
	}
	for j = absent; ; j++ {
		if x.amounts[j] > 0 {
			continue
		}
		if before == 0 {
			return j
		}
		before--
	}
}
