package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// A room is the part of the total left for ingredients without amounts yet, and the least and most
// that these may take together.
type room struct{ left, least, most int }

// arrange lists ingredients in the order in which amounts are divided: by rank, and, where rules
// bound amounts, then by number. It returns the ranks present, one bit each.
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

// next returns the amounts allowed for the part at a place, given what is left for it and the parts
// after it.
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

// A binLaw is the law of one amount when several ingredients divide the rest of a total. Each bin, a range of
// amounts, has a weight. Within a bin all allowed amounts are equally likely.
type binLaw struct {
	doses
	weights [tiltBins]float64
	count   int // only weights[:count] are in use

	last [tiltBins + 1]int // amounts of bin b are above last[b], up to last[b+1]

	tails []binTails // cache by (most, n): without it, powers take most of the time of learning
}

// binTails are P(amount > last[b+1]) by bin b for the first of n+1 parts, without a tilt.
type binTails struct {
	most, n       int
	known         uint32 // bit b is set if of[b] is computed
	probabilities [tiltBins]float64
}

const keptTails = 256 // number of entries of binLaw.tails

// bin sets the limits of the bins: equal parts of the total.
func (l *binLaw) bin(total int) {
	for b := range l.last {
		l.last[b] = b * total / tiltBins
	}
}

// binOf returns the bin of an amount.
func binOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

// within returns the allowed amounts of bin b: the first one and their number n.
func (l *binLaw) within(b int) (first, n int) {
	first, last := max(l.last[b]+1, l.lo), min(l.last[b+1], l.hi)
	if l.step > 1 {
		first += (l.step - (first-l.lo)%l.step) % l.step
		last -= ((last-l.lo)%l.step + l.step) % l.step
	}
	return first, max((last-first)/l.step+1, 0)
}

// fill computes the weights of doses. Without a tilt they follow, up to a factor, the first part of
// a line cut into parts at uniform points: P(amount > a) = (1 − a/most)^(parts−1).
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
			next = t.probabilities[b]
		default:
			next = tail(l.last[b+1], most, parts-1)
			t.known |= 1 << b
			t.probabilities[b] = next
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

// tailsOf returns the tails for the given number of parts, computed on first use.
func (l *binLaw) tailsOf(most, n int) *binTails {
	if l.tails == nil {
		l.tails = make([]binTails, keptTails)
	}
	t := &l.tails[uint(most+67*n)%keptTails] // the factor 67 spreads the pairs (most, n) over the entries
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

// divide draws the amounts of y, whose ingredients are listed. Without a stream of random choices
// it keeps y's amounts. It returns the probability of these amounts. Where the doses cannot add up
// to what is left, divide ignores the doses from there on, so that a division always exists.
func (c *adaptiveProposal) divide(r *Rand, e *exactScratch, y *Composition) product {
	ranks, room := c.arrange(y.list, y.total)
	ranked := bits.OnesCount64(ranks)
	l, n, p := &c.bins, len(c.parts), one()
	single := n - 1 // number of parts whose amounts are drawn one by one
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
