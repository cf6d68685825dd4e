package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// remainingUnits describes a division of a total in progress: the units that are left, and the
// least and the most units that the ingredients without an amount may take together.
type remainingUnits struct{ unitsLeft, minUnits, maxUnits int }

// orderForDivision sets divisionOrder to the ingredients of list in the order in which they get
// amounts. The order is by rank; if rules bound amounts, ingredients without a rank are sorted by
// number. The result ranks has a bit for the rank of each ingredient. The result room describes
// what the ingredients may take before the first one gets an amount.
func (c *adaptiveProposal) orderForDivision(list []int32, total int) (ranks uint64, room remainingUnits) {
	c.divisionOrder = c.divisionOrder[:0]
	for _, i := range list {
		if k := c.rankOf(i); k != unranked {
			ranks |= 1 << k
		}
	}
	for left := ranks; left != 0; left &= left - 1 {
		c.divisionOrder = append(c.divisionOrder, c.rankedIngredients[bits.TrailingZeros64(left)])
	}
	ranked := len(c.divisionOrder)
	for _, i := range list {
		if c.rankOf(i) == unranked {
			c.divisionOrder = append(c.divisionOrder, i)
		}
	}
	room.unitsLeft = total
	if c.amountRanges != nil {
		slices.Sort(c.divisionOrder[ranked:])
		for _, i := range c.divisionOrder {
			room.minUnits += c.amountRanges[i].lo
			room.maxUnits += c.amountRanges[i].hi
		}
	}
	return ranks, room
}

// allowedAmounts returns the amounts that the ingredient at index at of divisionOrder may get. The
// argument room describes what is left for this ingredient and all later ones. If rules bound
// amounts, allowedAmounts takes the limits of this ingredient out of room.
func (c *adaptiveProposal) allowedAmounts(room *remainingUnits, at int) amountRange {
	if c.amountRanges == nil {
		return amountRange{1, room.unitsLeft - (len(c.divisionOrder) - 1 - at), 1}
	}
	s := c.amountRanges[c.divisionOrder[at]]
	room.minUnits -= s.lo
	room.maxUnits -= s.hi
	if least := room.unitsLeft - room.maxUnits; s.lo < least {
		s.lo += (least - s.lo + s.step - 1) / s.step * s.step
	}
	s.hi = min(s.hi, room.unitsLeft-room.minUnits)
	return s
}

// A binLaw is the law of one amount when several ingredients divide the rest of a total. The total
// is divided into bins, which are ranges of amounts, and each bin has a weight. Within a bin all
// allowed amounts are equally likely.
type binLaw struct {
	amountRange                    // the amounts that are allowed
	weights      [tiltBins]float64 // by bin: its weight
	usedBinCount int               // only weights[:usedBinCount] are valid

	binEdges [tiltBins + 1]int // bin b contains the amounts above binEdges[b], up to binEdges[b+1]

	tailCache []binTails // cache by greatest amount and number of parts; without it, powers take most of the time of learning
}

// binTails holds, by bin, the probability that an amount exceeds the upper edge of the bin. The
// amount is the first of furtherParts+1 parts of a total, without a tilt.
type binTails struct {
	maxAmount, furtherParts int               // the greatest possible amount; the number of parts after the first
	computedBins            uint32            // bit b is set if probabilities[b] has been computed
	probabilities           [tiltBins]float64 // by bin: the probability that the amount exceeds the upper edge of the bin
}

const tailCacheSize = 256 // number of entries of binLaw.tailCache

// setEdges divides the amounts from 1 to total into bins of equal width.
func (l *binLaw) setEdges(total int) {
	for b := range l.binEdges {
		l.binEdges[b] = b * total / tiltBins
	}
}

// binOf returns the bin that contains an amount.
func binOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

// amountsInBin returns the first allowed amount of bin b, and the number n of allowed amounts in
// the bin.
func (l *binLaw) amountsInBin(b int) (first, n int) {
	first, last := max(l.binEdges[b]+1, l.lo), min(l.binEdges[b+1], l.hi)
	if l.step > 1 {
		first += (l.step - (first-l.lo)%l.step) % l.step
		last -= ((last-l.lo)%l.step + l.step) % l.step
	}
	return first, max((last-first)/l.step+1, 0)
}

// computeWeights computes the weights of the bins for an amount in the range s, and returns their
// sum. The ingredient is the first of the given number of parts that divide left units. A nil tilt
// stands for no tilt. Without a tilt the amount follows, up to a factor, the first part of a line
// cut at uniform points: P(amount > a) = (1 − a/most)^(parts−1) with most = left − (parts − 1).
func (l *binLaw) computeWeights(tilt *amountTilt, s amountRange, left, parts int) (sum float64) {
	l.amountRange, l.usedBinCount = s, 0
	if s.lo > s.hi {
		return 0
	}
	most := left - (parts - 1)
	above, from := 1.0, binOf(s.lo, l.binEdges[tiltBins])
	if s.lo > 1 {
		above = tailProbability(s.lo-1, most, parts-1)
		clear(l.weights[:from])
	}
	t := l.cachedTails(most, parts-1)
	for b := from; b < tiltBins && l.binEdges[b] < s.hi; b++ {
		var next float64
		switch {
		case l.binEdges[b+1] > s.hi:
			next = tailProbability(s.hi, most, parts-1)
		case t.computedBins>>b&1 == 1:
			next = t.probabilities[b]
		default:
			next = tailProbability(l.binEdges[b+1], most, parts-1)
			t.computedBins |= 1 << b
			t.probabilities[b] = next
		}
		w := above - next
		above = next
		if tilt != nil {
			w = float64(w * tilt[b])
		}
		if s.step > 1 {
			if _, n := l.amountsInBin(b); n == 0 {
				w = 0
			}
		}
		l.weights[b] = w
		l.usedBinCount = b + 1
		sum += w
	}
	return sum
}

// cachedTails returns the cached tails for a greatest amount and n further parts. An entry of the
// cache that holds other tails is replaced by empty ones.
func (l *binLaw) cachedTails(most, n int) *binTails {
	if l.tailCache == nil {
		l.tailCache = make([]binTails, tailCacheSize)
	}
	t := &l.tailCache[uint(most+67*n)%tailCacheSize] // the factor 67 spreads the pairs (most, n) over the entries
	if t.maxAmount != most || t.furtherParts != n {
		*t = binTails{maxAmount: most, furtherParts: n}
	}
	return t
}

// tailProbability returns (1 − a/most)^n.
func tailProbability(a, most, n int) float64 {
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

// divideAmounts draws the amounts of y, whose used ingredients are given, and returns the
// probability of these amounts. If r is nil, it keeps the amounts of y and only returns their
// probability. If the allowed amounts cannot add up to what is left, it ignores the limits from
// there on, so a division always exists.
func (c *adaptiveProposal) divideAmounts(r *Rand, e *uniformDrawer, y *Composition) smallProduct {
	ranks, room := c.orderForDivision(y.used, y.total)
	ranked := bits.OnesCount64(ranks)
	l, n, p := &c.amountLaw, len(c.divisionOrder), unitProduct()
	single := n - 1 // number of parts whose amounts are drawn one by one
	if c.amountRanges == nil {
		single = min(single, ranked)
	}
	tilts := c.tilts
	if g := c.groupsByCore[ranks&(1<<c.coreSize-1)]; g != nil {
		tilts = g.tilts
	}
	for at, i := range c.divisionOrder[:single] {
		var tilt *amountTilt
		if at < ranked {
			tilt = &tilts[c.ranks[i]]
		}
		sum := l.computeWeights(tilt, c.allowedAmounts(&room, at), room.unitsLeft, n-at)
		if !(sum > 0) {
			single = at
			break
		}
		if r != nil {
			first, ways := l.amountsInBin(r.categorical(l.weights[:l.usedBinCount], sum))
			y.amounts[i] = int32(first + l.step*r.Intn(ways))
		}
		b := binOf(int(y.amounts[i]), y.total)
		_, ways := l.amountsInBin(b)
		p.multiply(l.weights[b] / (sum * float64(ways)))
		room.unitsLeft -= int(y.amounts[i])
	}
	if r != nil {
		e.drawAmounts(r, c.divisionOrder[single:], y.amounts, room.unitsLeft)
	}
	for k := 1; k < n-single; k++ {
		p.multiply(float64(k) / float64(room.unitsLeft-k))
	}
	return p
}
