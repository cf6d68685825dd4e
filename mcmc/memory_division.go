package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// A room is what is left of the total for ingredients that have no amounts yet, and
// what these may take together.
type room struct{ left, least, most int }

// arrange takes ingredients in the order in which amounts are divided: by rank, then,
// where rules bound amounts, by number. It returns the ranks that there are, a bit for each.
func (c *adaptiveProposal) arrange(list []int32, total int) (ranks uint64, of room) {
	c.parts = c.parts[:0]
	for _, i := range list {
		if k := c.rankOf(i); k != unranked {
			ranks |= 1 << k
		}
	}
	for left := ranks; left != 0; left &= left - 1 {
		c.parts = append(c.parts, c.order[bits.TrailingZeros64(left)])
	}
	ranked := len(c.parts)
	for _, i := range list {
		if c.rankOf(i) == unranked {
			c.parts = append(c.parts, i)
		}
	}
	of.left = total
	if c.doses != nil {
		slices.Sort(c.parts[ranked:])
		for _, i := range c.parts {
			of.least += c.doses[i].lo
			of.most += c.doses[i].hi
		}
	}
	return ranks, of
}

// next returns which amounts there may be of the part at a place, given what is left
// for it and those after it.
func (c *adaptiveProposal) next(of *room, at int) doses {
	if c.doses == nil {
		return doses{1, of.left - (len(c.parts) - 1 - at), 1}
	}
	s := c.doses[c.parts[at]]
	of.least -= s.lo
	of.most -= s.hi
	if least := of.left - of.most; s.lo < least {
		s.lo += (least - s.lo + s.step - 1) / s.step * s.step
	}
	s.hi = min(s.hi, of.left-of.least)
	return s
}

// A binLaw is the law of one amount, the first of several parts of what is left: how
// much weight each bin has, within which all that there may be are alike.
type binLaw struct {
	doses
	weights [tiltBins]float64
	count   int // bins that have any

	last [tiltBins + 1]int // amounts of bin b are above last[b], up to last[b+1]

	tails []binTails // computed before: powers take most of the time of learning
}

// binTails are P(amount > last[b+1]) by bin b of the first of n+1 parts, without a tilt.
type binTails struct {
	most, n int
	known   uint32 // a bit for each bin
	of      [tiltBins]float64
}

const keptTails = 256 // of a memory

// bin lays out the bins of a total.
func (l *binLaw) bin(total int) {
	for b := range l.last {
		l.last[b] = b * total / tiltBins
	}
}

// binOf returns the bin of an amount.
func binOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

// within returns the amounts of bin b that there may be: from the first on, n of them.
func (l *binLaw) within(b int) (first, n int) {
	first, last := max(l.last[b]+1, l.lo), min(l.last[b+1], l.hi)
	if l.step > 1 {
		first += (l.step - (first-l.lo)%l.step) % l.step
		last -= ((last-l.lo)%l.step + l.step) % l.step
	}
	return first, max((last-first)/l.step+1, 0)
}

// fill computes the weights of doses. Without a tilt they are, up to a
// factor, those of the first of so many parts of a line that is cut anywhere:
// P(amount > a) = (1 − a/most)^(parts−1).
func (l *binLaw) fill(tilt *tilt, s doses, left, parts int) (sum float64) {
	l.doses, l.count = s, 0
	if s.lo > s.hi {
		return 0
	}
	most := left - (parts - 1)
	above, from := 1.0, binOf(s.lo, l.last[tiltBins])
	if s.lo > 1 {
		above = tail(s.lo-1, most, parts-1)
		clear(l.weights[:from])
	}
	t := l.tailsOf(most, parts-1)
	for b := from; b < tiltBins && l.last[b] < s.hi; b++ {
		var next float64
		switch {
		case l.last[b+1] > s.hi:
			next = tail(s.hi, most, parts-1)
		case t.known>>b&1 == 1:
			next = t.of[b]
		default:
			next = tail(l.last[b+1], most, parts-1)
			t.known |= 1 << b
			t.of[b] = next
		}
		w := above - next
		above = next
		if tilt != nil {
			w = float64(w * tilt[b])
		}
		if s.step > 1 {
			if _, n := l.within(b); n == 0 {
				w = 0
			}
		}
		l.weights[b] = w
		l.count = b + 1
		sum += w
	}
	return sum
}

// tailsOf returns the tails of so many parts, as far as they are known.
func (l *binLaw) tailsOf(most, n int) *binTails {
	if l.tails == nil {
		l.tails = make([]binTails, keptTails)
	}
	t := &l.tails[uint(most+67*n)%keptTails] // apart for up to 67 units
	if t.most != most || t.n != n {
		*t = binTails{most: most, n: n}
	}
	return t
}

// tail returns (1 − a/most)^n.
func tail(a, most, n int) float64 {
	return intPow(float64(float64(most-a)*(1/float64(most))), n)
}

// intPow returns x^n, n ≥ 1.
func intPow(x float64, n int) float64 {
	switch n {
	case 1:
		return x
	case 2:
		return float64(x * x)
	case 3:
		return float64(x * x * x)
	}
	return portable.Pow(x, float64(n))
}

// divide draws the amounts of y, whose ingredients are listed, if there is a stream
// of random choices to draw with; else y has them. It returns the probability that they
// come out. Where doses cannot come to what is left, those from there on are not kept, so
// that there is always a division.
func (c *adaptiveProposal) divide(r *Rand, e *exactScratch, y *Composition) product {
	ranks, room := c.arrange(y.list, y.total)
	ranked := bits.OnesCount64(ranks)
	l, n, p := &c.bins, len(c.parts), one()
	single := n - 1 // drawn one by one
	if c.doses == nil {
		single = min(single, ranked)
	}
	tilts := c.tilts
	if g := c.groups[ranks&(1<<c.core-1)]; g != nil {
		tilts = g.tilts
	}
	for at, i := range c.parts[:single] {
		var tilt *tilt
		if at < ranked {
			tilt = &tilts[c.rank[i]]
		}
		sum := l.fill(tilt, c.next(&room, at), room.left, n-at)
		if !(sum > 0) {
			single = at
			break
		}
		if r != nil {
			first, ways := l.within(r.categorical(l.weights[:l.count], sum))
			y.amounts[i] = int32(first + l.step*r.Intn(ways))
		}
		b := binOf(int(y.amounts[i]), y.total)
		_, ways := l.within(b)
		p.times(l.weights[b] / (sum * float64(ways)))
		room.left -= int(y.amounts[i])
	}
	if r != nil {
		e.drawAmounts(r, c.parts[single:], y.amounts, room.left)
	}
	for k := 1; k < n-single; k++ {
		p.times(float64(k) / float64(room.left-k))
	}
	return p
}
