package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/constraint/count"
)

// exactScratch is the scratch memory for drawing a composition.
type exactScratch struct {
	sampler *count.Sampler // of a space with rules, else nil

	ingredients, amounts []int32 // drawn by the sampler; amounts by position in ingredients

	cuts cutSet
}

// A drawer draws compositions of a space, with their conditions.
type drawer struct {
	exactScratch
	space *Space
	cases []exactScratch // by case; nil without cases
}

// newDrawer returns a drawer, for one goroutine.
func (s *Space) newDrawer() (d drawer) {
	d.space = s
	if s.rules != nil {
		d.sampler = s.rules.sampler.Clone()
	}
	if s.conditions.isTied() {
		d.cases = make([]exactScratch, len(s.conditions.spaces))
		for k, c := range s.conditions.spaces {
			if c != nil {
				d.cases[k].sampler = c.rules.sampler.Clone()
			}
		}
	}
	return d
}

// draw makes y uniform on X_n, as [exactScratch.draw] does, and draws its conditions from p. Where
// rules join them, the case is drawn first, in proportion to p and the number of its compositions.
func (d *drawer) draw(r *Rand, y *Composition, n int) {
	c := d.space.conditions
	if d.cases == nil {
		d.exactScratch.draw(r, y, n, d.space.total)
		c.draw(r, y)
		return
	}
	k := c.drawable[n].draw(r)
	d.cases[k].draw(r, y, n, d.space.total)
	c.drawWithin(r, y, k)
}

// draw makes y uniform on X_n. It draws a uniform n-subset of the ingredients and a uniform
// (n−1)-subset of the total−1 gaps between units, the cuts. Both use Floyd's algorithm (Bentley and
// Floyd 1987): for each top from (number of things − size of the subset) upwards, it takes a
// uniform thing up to top, or top itself if that thing was drawn before. The pairing of cuts and
// ingredients does not depend on the order of the ingredients, so the order does not affect the
// law.
//
// With rules it draws from the compositions that keep the countable rules; X_n must not be empty.
func (e *exactScratch) draw(r *Rand, y *Composition, n, total int) {
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
	if n > maxScanned {
		y.recordSlots()
	}
	y.total = total
	e.cuts.divideUnits(y.list, y.amounts, total)
}

// drawAmounts divides total units among the listed ingredients, uniformly among the ways that give
// each at least 1.
func (e *exactScratch) drawAmounts(r *Rand, list, amounts []int32, total int) {
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

// A cutSet is a set of gaps between units, numbered from 0. Gaps are added in any order and read
// sorted. With few gaps a cut it is a bit set. Otherwise it has about as many buckets as cuts, each
// a sorted list, so that adding a cut takes constant time whatever the range.
type cutSet struct {
	bits []uint64 // the bit set; empty if there are buckets

	shift uint
	first []int32 // by bucket: 1 + the index of its first cut; 0 if it is empty
	next  []int32 // by cut: 1 + the index of the next cut in its bucket; 0 for the last
	at    []int32 // by cut: the gap that it takes
}

// reset empties the set for a number of cuts among a number of gaps.
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

// add adds a gap, or top if the set already has that gap. top exceeds all gaps in the set.
func (c *cutSet) add(gap, top int) {
	if len(c.bits) > 0 {
		if c.bits[gap/64]&(1<<(gap%64)) != 0 {
			gap = top
		}
		c.bits[gap/64] |= 1 << (gap % 64)
		return
	}
	link := c.linkBefore(gap)
	if *link > 0 && c.at[*link-1] == int32(gap) {
		gap = top
		link = c.linkBefore(gap)
	}
	after := *link
	*link = int32(len(c.at) + 1)
	c.at = append(c.at, int32(gap))
	c.next = append(c.next, after)
}

// linkBefore returns the link to the first cut of the bucket that is not below gap.
func (c *cutSet) linkBefore(gap int) *int32 {
	link := &c.first[gap>>c.shift]
	for *link > 0 && c.at[*link-1] < int32(gap) {
		link = &c.next[*link-1]
	}
	return link
}

// divideUnits gives each ingredient in turn the units up to the next cut.
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

// drawUsedTwo draws an ordered pair of used ingredients. At least 2 must be used.
func drawUsedTwo(r *Rand, c *Composition) (i, j int) {
	p, q := r.pair(len(c.list), len(c.list)-1)
	if q >= p {
		q++
	}
	return int(c.list[p]), int(c.list[q])
}

// drawUsedPair draws i uniformly among the used ingredients and j uniformly among all others. It
// returns the position of i in the list, j, and whether j is used too.
func drawUsedPair(r *Rand, x *Composition) (p int, j int32, used bool) {
	p, q := r.pair(len(x.list), len(x.amounts)-1)
	if j = int32(q); j == x.list[p] {
		j = int32(len(x.amounts) - 1)
	}
	return p, j, x.amounts[j] > 0
}

// drawCut draws uniformly one of the M−n places between units where no used ingredient ends. It
// returns the ingredient divided there and its units before the place.
func drawCut(r *Rand, c *Composition) (i, units int) {
	at := 0
	if places := c.total - c.Used(); places > 1 {
		at = r.Intn(places)
	}
	for _, i := range c.list {
		if inner := int(c.amounts[i]) - 1; at < inner {
			return int(i), at + 1
		} else {
			at -= inner
		}
	}
	panic("kir: a composition with fewer units than its total")
}

// drawAbsent draws uniformly one of the N−n ingredients that are not used. There must be one.
//
// It draws a number below N−n. Most such numbers are absent ingredients and are returned as they
// are. The used ingredients below N−n are as many as the absent ones from N−n on. Each stands for
// one of these, in rising order.
func (x *Composition) drawAbsent(r *Rand) int {
	absent := len(x.amounts) - len(x.list)
	j := 0
	if absent > 1 {
		j = r.Intn(absent)
	}
	if x.amounts[j] == 0 {
		return j
	}
	before := 0
	for _, i := range x.list[:x.find(int32(j))] {
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
