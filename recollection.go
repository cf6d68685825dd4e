package kir

import (
	"math"
	"math/bits"
	"slices"

	"kir/rule"
)

// A recollection is the law of whole compositions that recall draws from, made of
// the states that warm-up met:
//
//   - which of the ingredients that were met most, the core, come together, and how
//     many others with them, is taken from one of the states;
//   - the others are drawn independently, each as often as it was met;
//   - in place of both, now and then a size is drawn, and then all ingredients are;
//   - the amounts are divided in the order of how often ingredients were met, as
//     uniform ones would be but for the bounds that rules set each, and for a tilt: how
//     much more often an ingredient's amount was met in each twentieth of the total.
type recollection struct {
	states         // that were met
	count  []int32 // by ingredient: how often they use it

	order   []int32 // the ingredients met most, by falling count
	rank    []uint8 // by ingredient: where it stands in the order; unranked if it does not
	core    int     // how many of the order are the core
	standIn []int32 // by rank in the core: what is drawn in place of it among the others

	cores     []uint64 // by state: which of the core it uses, a bit for each
	coreCount []int32  // by size, from the law's first on, and core: how many states
	sizeCount []int32  // by size: how many states
	others    []int32  // ingredients met that are not of the core

	tilts [][tiltBins]float64 // by rank
	odds  []float64           // by rank: how often a state uses it against how often not

	doses []doses // by ingredient: which amounts the rules allow; nil if they allow all

	// Scratch: ingredients in the order of their amounts, odds and bins to draw by.
	parts  []int32
	absent [orderMost]float64
	bins   binLaw
}

const (
	coreMost   = 6   // ingredients of the core, at most
	orderMost  = 64  // ingredients of the order, at most
	unranked   = 255 // of an ingredient that is not of the order
	tiltBins   = 20  // parts of the total in each of which the tilt is constant
	loose      = 0.3 // how often recall draws all ingredients independently
	tiltWeight = 8   // of no tilt, in states, against what was met
)

// learn makes it that of the given states.
func (c *recollection) learn(t *Target, met *states) {
	if len(met.list) == 0 {
		return
	}
	if c.count == nil {
		c.count = make([]int32, t.space.ingredients)
		c.rank = slices.Repeat([]uint8{unranked}, t.space.ingredients)
	}
	for _, i := range c.list {
		c.count[i], c.rank[i] = 0, unranked
	}
	c.copyFrom(met)
	if t.space.rules != nil {
		c.doses = t.space.rules.doses
	}
	for _, i := range c.list {
		c.count[i]++
	}
	c.order = slices.Sorted(slices.Values(c.list))
	c.order = slices.Compact(c.order)
	slices.SortStableFunc(c.order, func(i, j int32) int { return int(c.count[j] - c.count[i]) })
	c.order = c.order[:min(len(c.order), orderMost)]
	for k, i := range c.order {
		c.rank[i] = uint8(k)
	}
	c.core = min(coreMost, len(c.order), t.space.ingredients-1)
	c.substitute(t.space.ingredients)

	c.sizeCount = make([]int32, len(t.law.p))
	c.coreCount = make([]int32, len(t.law.p)<<c.core)
	c.cores, c.others = c.cores[:0], c.others[:0]
	list := c.list
	for _, n := range c.sizes {
		core := uint64(0)
		for _, i := range list[:n] {
			if k := c.rank[i]; int(k) < c.core {
				core |= 1 << k
			} else {
				c.others = append(c.others, i)
			}
		}
		list = list[n:]
		c.cores = append(c.cores, core)
		c.sizeCount[int(n)-t.law.lo]++
		c.coreCount[c.coreAt(t, int(n), core)]++
	}
	c.learnTilts(t, &c.states)
	c.odds = c.odds[:0]
	for _, i := range c.order {
		used := float64(c.count[i])
		c.odds = append(c.odds, (used+0.5)/(float64(len(c.sizes))-used+0.5))
	}
}

// drawAbsent draws one of the order that x does not use, in proportion to its odds. It
// says whether there is one.
func (c *recollection) drawAbsent(r *Rand, x *Composition) (j int, ok bool) {
	weights := c.absent[:len(c.order)]
	for k, i := range c.order {
		weights[k] = 0
		if x.amounts[i] == 0 {
			weights[k], ok = c.odds[k], true
		}
	}
	if !ok {
		return 0, false
	}
	return int(c.order[r.Categorical(weights)]), true
}

// absentShares returns with which probability drawAbsent returns i if j is used, and
// j if i is. What x else uses is used.
func (c *recollection) absentShares(x *Composition, i, j int) (ofI, ofJ float64) {
	sum := 0.0
	for k, v := range c.order {
		if x.amounts[v] == 0 && int(v) != i && int(v) != j {
			sum += c.odds[k]
		}
	}
	share := func(i int) float64 {
		k := c.rankOf(int32(i))
		if k == unranked {
			return 0
		}
		return c.odds[k] / (sum + c.odds[k])
	}
	return share(i), share(j)
}

// coreAt is where the count of a size and a core stands.
func (c *recollection) coreAt(t *Target, n int, core uint64) int {
	return (n-t.law.lo)<<c.core | int(core)
}

// substitute pairs the core's ingredients below N − core with the others from there
// on: a number below N − core that is of the core stands for one of those.
func (c *recollection) substitute(ingredients int) {
	c.standIn = make([]int32, c.core)
	next := int32(ingredients - c.core)
	for k, i := range c.order[:c.core] {
		if int(i) >= ingredients-c.core {
			continue
		}
		for int(c.rank[next]) < c.core {
			next++
		}
		c.standIn[k] = next
		next++
	}
}

// learnTilts counts how often each amount was met and how often it would have been,
// were amounts uniform given those before it.
func (c *recollection) learnTilts(t *Target, s *states) {
	met, expected := make([][tiltBins]float64, len(c.order)), make([][tiltBins]float64, len(c.order))
	list, amounts := s.list, s.amounts
	var of [orderMost]int32
	for _, n := range s.sizes {
		for p, i := range list[:n] {
			if k := c.rank[i]; k != unranked {
				of[k] = amounts[p]
			}
		}
		tilted, room := c.arrange(list[:n], t.space.total)
		list, amounts = list[n:], amounts[n:]
		for at, i := range c.parts[:min(tilted, int(n)-1)] {
			k := c.rank[i]
			sum := c.bins.fill(nil, c.next(&room, at), room.left, int(n)-at, t.space.total)
			for b, w := range c.bins.weights[:c.bins.count] {
				expected[k][b] += w / sum
			}
			met[k][binOf(int(of[k]), t.space.total)]++
			room.left -= int(of[k])
		}
	}
	c.tilts = slices.Grow(c.tilts[:0], len(c.order))[:len(c.order)]
	for k := range c.tilts {
		for b := range c.tilts[k] {
			c.tilts[k][b] = (met[k][b] + tiltWeight) / (expected[k][b] + tiltWeight)
		}
	}
}

// Doses are the amounts lo, lo+step … that are at most hi.
type doses struct{ lo, hi, step int }

// dosesOf returns those that conditions allow each ingredient, nil if they allow all.
func dosesOf(c *rule.Conditions) []doses {
	all, bounded := make([]doses, len(c.Amounts)), false
	for i, a := range c.Amounts {
		lo, step, n := a.Doses(c.Total)
		if all[i] = (doses{lo, lo + (n-1)*step, step}); a.Excluded || n == 0 {
			all[i] = doses{1, 0, 1}
			continue
		}
		bounded = bounded || all[i] != doses{1, c.Total, 1}
	}
	if !bounded {
		return nil
	}
	return all
}

// A room is what is left of the total for ingredients that have no amounts yet, and
// what these may take together.
type room struct{ left, least, most int }

// arrange takes ingredients in the order in which amounts are divided: by rank, then,
// where rules bound amounts, by number. It returns how many have a rank.
func (c *recollection) arrange(list []int32, total int) (tilted int, of room) {
	ranks := uint64(0)
	c.parts = c.parts[:0]
	for _, i := range list {
		if k := c.rankOf(i); k != unranked {
			ranks |= 1 << k
		}
	}
	tilted = bits.OnesCount64(ranks)
	for ; ranks != 0; ranks &= ranks - 1 {
		c.parts = append(c.parts, c.order[bits.TrailingZeros64(ranks)])
	}
	for _, i := range list {
		if c.rankOf(i) == unranked {
			c.parts = append(c.parts, i)
		}
	}
	of.left = total
	if c.doses != nil {
		slices.Sort(c.parts[tilted:])
		for _, i := range c.parts {
			of.least += c.doses[i].lo
			of.most += c.doses[i].hi
		}
	}
	return tilted, of
}

// next returns which amounts there may be of the part at a place, given what is left
// for it and those after it.
func (c *recollection) next(of *room, at int) doses {
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
}

// binOf returns the bin of an amount.
func binOf(amount, total int) int { return (amount*tiltBins+total-1)/total - 1 }

// within returns the amounts of bin b that there may be: from the first on, n of them.
func (l *binLaw) within(b, total int) (first, n int) {
	first, last := max(b*total/tiltBins+1, l.lo), min((b+1)*total/tiltBins, l.hi)
	if l.step > 1 {
		first += (l.step - (first-l.lo)%l.step) % l.step
		last -= ((last-l.lo)%l.step + l.step) % l.step
	}
	return first, max((last-first)/l.step+1, 0)
}

// fill computes the weights of doses. Without a tilt they are, up to a
// factor, those of the first of so many parts of a line that is cut anywhere:
// P(amount > a) = (1 − a/most)^(parts−1).
func (l *binLaw) fill(tilt *[tiltBins]float64, s doses, left, parts, total int) (sum float64) {
	l.doses, l.count = s, 0
	if s.lo > s.hi {
		return 0
	}
	most := left - (parts - 1)
	per := 1 / float64(most)
	above, from := 1.0, binOf(s.lo, total)
	if s.lo > 1 {
		above = intPow(float64(most-s.lo+1)*per, parts-1)
		clear(l.weights[:from])
	}
	for b := from; b < tiltBins && b*total/tiltBins < s.hi; b++ {
		next := intPow(float64(most-min((b+1)*total/tiltBins, s.hi))*per, parts-1)
		w := above - next
		above = next
		if tilt != nil {
			w *= tilt[b]
		}
		if s.step > 1 {
			if _, n := l.within(b, total); n == 0 {
				w = 0
			}
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
// probability that they come out, −Inf if none can.
func (c *recollection) divide(r *Rand, e *exactScratch, y *Composition) float64 {
	tilted, room := c.arrange(y.list, y.total)
	l, n, p := &c.bins, len(c.parts), one()
	single := n - 1 // drawn one by one
	if c.doses == nil {
		single = min(single, tilted)
	}
	for at, i := range c.parts[:single] {
		var tilt *[tiltBins]float64
		if at < tilted {
			tilt = &c.tilts[c.rank[i]]
		}
		sum := l.fill(tilt, c.next(&room, at), room.left, n-at, y.total)
		if !(sum > 0) {
			return negInf
		}
		if r != nil {
			first, ways := l.within(r.Categorical(l.weights[:l.count]), y.total)
			y.amounts[i] = int32(first + l.step*r.Intn(ways))
		}
		b := binOf(int(y.amounts[i]), y.total)
		_, ways := l.within(b, y.total)
		p.times(l.weights[b] / (sum * float64(ways)))
		room.left -= int(y.amounts[i])
	}
	if r != nil {
		e.drawAmounts(r, c.parts[single:], y.amounts, room.left)
	}
	for k := 1; k < n-single; k++ {
		p.times(float64(k) / float64(room.left-k))
	}
	return p.log()
}

// A product is one of factors of which no few leave the range of a float64.
type product struct{ factor, rest float64 }

func one() product { return product{factor: 1} }

func (p *product) times(f float64) {
	if p.factor *= f; p.factor < 1e-200 {
		p.rest += math.Log(p.factor)
		p.factor = 1
	}
}

func (p *product) log() float64 { return p.rest + math.Log(p.factor) }

// rankOf returns where an ingredient stands in the order.
func (c *recollection) rankOf(i int32) uint8 {
	if c.rank == nil {
		return unranked
	}
	return c.rank[i]
}

// drawOther draws one of n ingredients that is not of the core.
func (c *recollection) drawOther(r *Rand, n int) int32 {
	if len(c.others) > 0 && !r.Bernoulli(unmet) {
		return c.others[r.Intn(len(c.others))]
	}
	i := int32(r.Intn(n - c.core))
	if k := c.rankOf(i); int(k) < c.core {
		return c.standIn[k]
	}
	return i
}

// otherShare is the probability that drawOther returns ingredient i of n.
func (c *recollection) otherShare(i int32, n int) float64 {
	u := 1 / float64(n-c.core)
	if len(c.others) == 0 {
		return u
	}
	return unmet*u + (1-unmet)*float64(c.count[i])/float64(len(c.others))
}

// states are compositions, one after the other.
type states struct {
	sizes         []int32 // how many ingredients each uses
	list, amounts []int32 // of all: the ingredients, and their units
}

// add appends a composition.
func (s *states) add(c *Composition) {
	s.sizes = append(s.sizes, int32(c.Used()))
	s.list = append(s.list, c.list...)
	for _, i := range c.list {
		s.amounts = append(s.amounts, c.amounts[i])
	}
}

// copyFrom makes s hold what u does.
func (s *states) copyFrom(u *states) {
	s.sizes = append(s.sizes[:0], u.sizes...)
	s.list = append(s.list[:0], u.list...)
	s.amounts = append(s.amounts[:0], u.amounts...)
}
