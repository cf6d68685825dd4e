package mcmc

import (
	"math/bits"
	"slices"

	"kir/internal/portable"
)

// remainingUnits describes a division of a total among ingredients that is only partly done.
type remainingUnits struct {
	unitsLeft int // number of units that are not divided yet
	minUnits  int // least number of units that the ingredients without an amount must take together
	maxUnits  int // greatest number of units that the ingredients without an amount may take together
}

// orderForDivision sets divisionOrder to the ingredients in list, in the order in which they get
// amounts. Ingredients with a rank come first, by rank. If rules bound amounts, the other
// ingredients are sorted by number.
//
// In the result ranks, bit k is set if list contains the ingredient of rank k. The result room
// describes the division of the total before the first ingredient gets an amount.
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

// allowedAmounts returns the amounts that ingredient divisionOrder[at] may get. The argument room
// describes what this ingredient and all later ones may take together. If rules bound amounts,
// allowedAmounts removes the bounds of this ingredient from room.
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

// A binLaw is the distribution of one amount when several ingredients divide the rest of a total.
// The range from 1 to the total is divided into bins of equal width, and each bin has a weight.
// Within a bin all allowed amounts are equally likely.
type binLaw struct {
	amountRange                     // the amounts that are allowed
	weights       [tiltBins]float64 // weights[b] is the weight of bin b
	validBinCount int               // only the first validBinCount weights are valid; later bins have no weight

	binEdges [tiltBins + 1]int // bin b contains the amounts above binEdges[b], up to binEdges[b+1]

	// tailCache holds probabilities for each greatest amount and number of parts. Without this
	// cache, computing powers takes most of the time of learning.
	tailCache []binTails
}

// binTails holds, for each bin of a [binLaw], the probability that an amount exceeds the upper edge
// of the bin. The amount is the first of furtherPartCount+1 parts of a total that is divided
// uniformly.
type binTails struct {
	maxAmount        int               // the greatest possible amount
	furtherPartCount int               // number of parts after the first
	computedBins     uint32            // bit b is set if probabilities[b] has been computed
	probabilities    [tiltBins]float64 // probabilities[b] is the probability that the amount exceeds the upper edge of bin b
}

const tailCacheSize = 256 // number of entries of binLaw.tailCache

// setEdges divides the amounts from 1 to total into bins of equal width.
func (l *binLaw) setEdges(total int) {
	for b := range l.binEdges {
		l.binEdges[b] = b * total / tiltBins
	}
}

// binIndexOf returns the index of the bin that contains the amount, if the bins divide the amounts from
// 1 to total.
func binIndexOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

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

// computeWeights computes the weights of the bins for one amount in the range s, and returns their
// sum. The ingredient is the first of the given number of parts that divide unitsLeft units.
//
// If tilt is nil, the weights follow the first part of a line cut at uniform points: P(amount > a)
// = (1 − a/most)^(parts−1) with most = unitsLeft − (parts − 1). Otherwise the weight of bin b is
// multiplied by tilt[b].
func (l *binLaw) computeWeights(tilt *amountTilt, s amountRange, unitsLeft, parts int) (sum float64) {
	l.amountRange, l.validBinCount = s, 0
	if s.lo > s.hi {
		return 0
	}
	most := unitsLeft - (parts - 1)
	above, from := 1.0, binIndexOf(s.lo, l.binEdges[tiltBins])
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
		l.validBinCount = b + 1
		sum += w
	}
	return sum
}

// cachedTails returns the cached probabilities of the bins for a greatest amount and a number of
// further parts. If the place in the cache holds other probabilities, it returns empty ones for the
// caller to fill.
func (l *binLaw) cachedTails(maxAmount, furtherPartCount int) *binTails {
	if l.tailCache == nil {
		l.tailCache = make([]binTails, tailCacheSize)
	}
	t := &l.tailCache[uint(maxAmount+67*furtherPartCount)%tailCacheSize] // the factor 67 spreads the pairs (most, n) over the entries
	if t.maxAmount != maxAmount || t.furtherPartCount != furtherPartCount {
		*t = binTails{maxAmount: maxAmount, furtherPartCount: furtherPartCount}
	}
	return t
}

// tailProbability returns (1 − a/most)^n. This is the probability that the first of n+1 parts, into
// which uniform points cut a line of length most, is longer than a.
func tailProbability(a, most, n int) float64 {
	return intPow(float64(float64(most-a)*(1/float64(most))), n)
}

// intPow returns x^n for n ≥ 1.
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
// probability.
//
// It may happen that the allowed amounts cannot add up to the units that are left. From there on,
// divideAmounts ignores the limits of the rules, so a division always exists.
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
			first, ways := l.amountsInBin(r.categorical(l.weights[:l.validBinCount], sum))
			y.amounts[i] = int32(first + l.step*r.Intn(ways))
		}
		b := binIndexOf(int(y.amounts[i]), y.total)
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
