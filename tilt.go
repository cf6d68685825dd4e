package kir

import (
	"math"
	"math/bits"
)

// A group is what the states that use the same of the core have of their own.
type group struct {
	others []int32          // ingredients met that are of the order and not of the core
	count  [orderMost]int32 // by rank: how often each is among them
	tilts  []tilt           // by rank
}

// A tilt is how much more often an amount was met in each bin than it would have been.
type tilt [tiltBins]float64

const (
	tiltBins    = 20  // parts of the total in each of which a tilt is constant
	tiltWeight  = 8   // of no tilt, in states, against what was met
	groupWeight = 2   // of the tilts of all, in states, against what a group met
	groupParts  = 128 // a group has at least one in so many states
	ownShare    = 0.5 // how often an ingredient that is not of the core is drawn as in its group
)

// learnGroups makes the groups of the states.
func (c *recollection) learnGroups(t *Target) {
	c.groups = [1 << coreMost]*group{}
	var states [1 << coreMost]int
	for _, core := range c.cores {
		if states[core]++; states[core] == max(1, len(c.cores)/groupParts) {
			c.groups[core] = new(group)
		}
	}
	list := c.list
	for s, core := range c.cores {
		n := c.sizes[s]
		if g := c.groups[core]; g != nil {
			for _, i := range list[:n] {
				if k := c.rank[i]; k != unranked && int(k) >= c.core {
					g.others = append(g.others, i)
					g.count[k]++
				}
			}
		}
		list = list[n:]
	}
	for core, g := range c.groups {
		if g != nil {
			g.tilts = c.tiltsOf(t, func(of uint64) bool { return of == uint64(core) }, c.tilts, groupWeight)
		}
	}
}

// tiltsOf counts how often each amount was met in the states of the wanted cores, and
// how often it would have been by other tilts, or if nil were amounts uniform, given
// those before it. It returns the ratios times those tilts.
func (c *recollection) tiltsOf(t *Target, wanted func(core uint64) bool, by []tilt, weight float64) []tilt {
	met, expected := make([]tilt, len(c.order)), make([]tilt, len(c.order))
	list, amounts := c.list, c.amounts
	var of [orderMost]int32
	var bins binLaw
	for s, n := range c.sizes {
		tilted := uint64(0)
		for p, i := range list[:n] {
			if k := c.rank[i]; k != unranked && wanted(c.cores[s]) {
				tilted |= 1 << k
				of[k] = amounts[p]
			}
		}
		list, amounts = list[n:], amounts[n:]
		left := t.space.total
		for parts := int(n); tilted != 0 && parts > 1; parts-- {
			k := bits.TrailingZeros64(tilted)
			tilted &= tilted - 1
			sum := bins.fill(tiltAt(by, k), left, parts, t.space.total)
			for b := range bins.count {
				expected[k][b] += bins.weights[b] / sum
			}
			met[k][binOf(int(of[k]), t.space.total)]++
			left -= int(of[k])
		}
	}
	for k := range met {
		for b := range met[k] {
			met[k][b] = (met[k][b] + weight) / (expected[k][b] + weight)
			if by != nil {
				met[k][b] *= by[k][b]
			}
		}
	}
	return met
}

// tiltAt returns the tilt of a rank, nil if there are none.
func tiltAt(tilts []tilt, k int) *tilt {
	if tilts == nil {
		return nil
	}
	return &tilts[k]
}

// A binLaw is the law of one amount, the first of several parts of what is left: how
// much weight each bin has, within which all are alike.
type binLaw struct {
	weights [tiltBins]float64
	count   int // bins that have any
	most    int // the largest amount there can be
}

// binOf returns the bin of an amount.
func binOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

// binFrom returns the amounts of bin b that are at most most: from < amount ≤ to.
func binFrom(b, total, most int) (from, to int) {
	return b * total / tiltBins, min((b+1)*total/tiltBins, most)
}

// fill computes the weights. Without a tilt they sum to 1, and are those of the first
// of so many parts of a line that is cut anywhere: P(amount > a) = (1 − a/most)^(parts−1).
func (l *binLaw) fill(tilt *tilt, left, parts, total int) (sum float64) {
	l.most = left - (parts - 1)
	per := 1 / float64(l.most)
	above := 1.0
	for b := range tiltBins {
		from, to := binFrom(b, total, l.most)
		if from >= l.most {
			break
		}
		next := intPow(float64(l.most-to)*per, parts-1)
		w := above - next
		above = next
		if tilt != nil {
			w *= tilt[b]
		}
		l.weights[b] = w
		l.count = b + 1
		sum += w
	}
	return sum
}

// intPow returns x^n, n ≥ 1.
func intPow(x float64, n int) float64 {
	switch n {
	case 1:
		return x
	case 2:
		return x * x
	case 3:
		return x * x * x
	}
	return math.Pow(x, float64(n))
}

// divide draws the amounts of y, whose ingredients are listed, if there is a stream
// of random choices to draw with; else y has them. It returns the log of the
// probability that they come out.
func (c *recollection) divide(r *Rand, e *exactScratch, y *Composition) float64 {
	tilted, total := uint64(0), y.total
	l := &c.bins
	c.rest = c.rest[:0]
	for _, i := range y.list {
		if k := c.rankOf(i); k != unranked {
			tilted |= 1 << k
		} else {
			c.rest = append(c.rest, i)
		}
	}
	left, parts := total, y.Used()
	tilts := c.tilts
	if g := c.groups[tilted&(1<<c.core-1)]; g != nil {
		tilts = g.tilts
	}
	p := one()
	for ; tilted != 0 && parts > 1; parts-- {
		k := bits.TrailingZeros64(tilted)
		tilted &= tilted - 1
		i := c.order[k]
		sum := l.fill(&tilts[k], left, parts, total)
		var b int
		if r != nil {
			b = r.Categorical(l.weights[:l.count])
			from, to := binFrom(b, total, l.most)
			y.amounts[i] = int32(from + 1 + r.Intn(to-from))
		} else {
			b = binOf(int(y.amounts[i]), total)
		}
		from, to := binFrom(b, total, l.most)
		p.times(l.weights[b] / (sum * float64(to-from)))
		left -= int(y.amounts[i])
	}
	if tilted != 0 {
		c.rest = append(c.rest, c.order[bits.TrailingZeros64(tilted)])
	}
	if r != nil {
		e.drawAmounts(r, c.rest, y.amounts, left)
	}
	for k := 1; k < parts; k++ {
		p.times(float64(k) / float64(left-k))
	}
	return p.log()
}
