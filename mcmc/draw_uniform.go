package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/count"
)

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
	if n > maxScanned {
		y.placeAll()
	}
	y.total = total
	e.cuts.share(y.list, y.amounts, total)
}

// drawAmounts splits total units anew among the listed ingredients, uniformly among
// the ways that leave each at least 1.
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
	e.cuts.share(list, amounts, total)
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

// drawUsedTwo draws an ordered pair of used ingredients; there are at least 2.
func drawUsedTwo(r *Rand, c *Composition) (i, j int) {
	p, q := r.pair(len(c.list), len(c.list)-1)
	if q >= p {
		q++
	}
	return int(c.list[p]), int(c.list[q])
}

// drawUsedPair draws i uniformly among the used ingredients and j uniformly
// among all others. It returns where i stands in the list, j, and whether that
// is used too.
func drawUsedPair(r *Rand, x *Composition) (p int, j int32, used bool) {
	p, q := r.pair(len(x.list), len(x.amounts)-1)
	if j = int32(q); j == x.list[p] {
		j = int32(len(x.amounts) - 1)
	}
	return p, j, x.amounts[j] > 0
}

// drawCut draws one of the M−n places between units where no used ingredient
// ends yet, uniformly: the ingredient that it divides and the units before it.
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

// absent draws one of the N−n ingredients that are not used, uniformly. There
// must be one.
//
// It draws a number below N−n. Most are of absent ingredients, which are
// drawn by that. The used ones below N−n are as many as the absent ones from
// N−n on, and stand for these, the first of either for the first of the other.
func (x *Composition) absent(r *Rand) int {
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
