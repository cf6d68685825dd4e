package mcmc

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// An adaptiveProposal is the law of whole compositions that recall draws from. It is built from the
// states that warm-up met:
//
//   - The core are the ingredients that were met most. One of the states decides which of them come
//     together, and with how many others.
//   - The others are drawn independently, each as often as it was met. Half of the draws use only
//     the states with the same core, their group.
//   - Now and then, in place of both, a size is drawn and then all ingredients independently.
//   - The amounts are divided in the order of how often ingredients were met. They are uniform
//     within the doses that rules leave each, times a tilt. The tilt is how much more often an
//     ingredient's amount was met in each twentieth of the total, and how much more often in its
//     group.
type adaptiveProposal struct {
	states         // the compositions that warm-up met
	count  []int32 // by ingredient: number of states that use it

	order   []int32 // the ingredients that most states use, by falling count
	rank    []uint8 // by ingredient: its index in order, or unranked
	core    int     // the core is order[:core]
	standIn []int32 // by rank in the core: the ingredient that stands for it where others are drawn

	cores     []uint64 // by state: the core ingredients that it uses, as bits by rank
	coreCount []int32  // by size from the law's least and core bits: number of states
	sizeCount []int32  // by size from the law's least: number of states
	others    []int32  // the ingredients of all states without the core, one entry a use

	tilts  []tilt                // by rank: the tilt over all states
	groups [1 << coreMost]*group // by core bits; nil for a core that few states have
	odds   []float64             // by rank: odds that a state uses the ingredient

	doses []doses // by ingredient: which amounts the rules allow; nil if they allow all

	// Scratch: ingredients in the order of their amounts, and the odds and bins for draws.
	parts  []int32
	absent [orderMost]float64
	bins   binLaw
}

const (
	coreMost   = 8   // greatest number of ingredients in the core
	orderMost  = 64  // greatest number of ingredients in the order
	unranked   = 255 // rank of an ingredient outside the order
	looseShare = 0.3 // share of recalls that draw all ingredients independently
)

// uniformShare is the share of draws by a [memory] that ignore it, so that ingredients never met in
// warm-up are still drawn.
const uniformShare = 0.2

// learn builds the law from the given states.
func (c *adaptiveProposal) learn(t *Target, met *states) {
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
	c.pairStandIns(t.space.ingredients)

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
	c.bins.bin(t.space.total)
	all := c.places()
	c.tilts = c.tiltsOf(t, all, nil, flatTiltWeight)
	c.learnGroups(t, all)
	c.odds = c.odds[:0]
	for _, i := range c.order {
		used := float64(c.count[i])
		c.odds = append(c.odds, (used+0.5)/(float64(len(c.sizes))-used+0.5))
	}
}

// drawAbsent draws an ingredient of the order that x does not use, in proportion to its odds. It reports whether
// there is one.
func (c *adaptiveProposal) drawAbsent(r *Rand, x *Composition) (j int, ok bool) {
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

// absentShares returns the probability that drawAbsent returns i when j is used and i is not, and
// vice versa. The other ingredients of x are used.
func (c *adaptiveProposal) absentShares(x *Composition, i, j int) (ofI, ofJ float64) {
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

// coreAt returns the position of the count for a size and a core.
func (c *adaptiveProposal) coreAt(t *Target, n int, core uint64) int {
	return (n-t.law.lo)<<c.core | int(core)
}

// pairStandIns pairs the core's ingredients below N − core with the non-core ingredients from N −
// core on. A drawn number below N − core that belongs to the core stands for its partner.
func (c *adaptiveProposal) pairStandIns(ingredients int) {
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

// A product is factor·e^rest. It holds a product of factors ≤ 1 that may underflow a float64, alone
// or together.
type product struct{ factor, rest float64 }

func one() product { return product{factor: 1} }

const tiny = 1e-100 // products of two factors of at least tiny do not underflow

func (p *product) times(f float64) {
	if f < tiny {
		p.rest += portable.Log(f)
		return
	}
	if p.factor = float64(p.factor * f); p.factor < tiny {
		p.rest += portable.Log(p.factor)
		p.factor = 1
	}
}

// timesProduct returns p·q.
func (p product) timesProduct(q product) product {
	p.times(q.factor)
	p.rest += q.rest
	return p
}

// plus returns p + q.
func (p product) plus(q product) product {
	if p.rest == q.rest {
		return product{p.factor + q.factor, p.rest}
	}
	a, b := p.log(), q.log()
	return product{1, max(a, b) + portable.Log1p(portable.Exp(-math.Abs(a-b)))}
}

func (p product) log() float64 { return p.rest + portable.Log(p.factor) }

// rankOf returns the position of an ingredient in the order.
func (c *adaptiveProposal) rankOf(i int32) uint8 {
	if c.rank == nil {
		return unranked
	}
	return c.rank[i]
}

// drawOther draws one of n ingredients outside the core.
func (c *adaptiveProposal) drawOther(r *Rand, g *group, n int) int32 {
	if g != nil && len(g.others) > 0 && r.Bernoulli(ownShare) {
		return g.others[r.Intn(len(g.others))]
	}
	if len(c.others) > 0 && !r.Bernoulli(uniformShare) {
		return c.others[r.Intn(len(c.others))]
	}
	i := int32(r.Intn(n - c.core))
	if k := c.rankOf(i); int(k) < c.core {
		return c.standIn[k]
	}
	return i
}

// otherShare is the probability that drawOther returns ingredient i of n.
func (c *adaptiveProposal) otherShare(i int32, g *group, n int) float64 {
	u := 1 / float64(n-c.core)
	if len(c.others) > 0 {
		u = float64(uniformShare*u) + (1-uniformShare)*float64(c.count[i])/float64(len(c.others))
	}
	if g == nil || len(g.others) == 0 {
		return u
	}
	own := 0.0
	if k := c.rank[i]; k != unranked {
		own = float64(g.count[k]) / float64(len(g.others))
	}
	return float64((1-ownShare)*u) + float64(ownShare*own)
}

// states is a list of compositions, stored without gaps in shared slices.
type states struct {
	sizes         []int32 // by composition: how many ingredients it uses
	list, amounts []int32 // the used ingredients of all compositions in turn, and their units
}

// add appends a composition.
func (s *states) add(c *Composition) {
	s.sizes = append(s.sizes, int32(c.Used()))
	s.list = append(s.list, c.list...)
	for _, i := range c.list {
		s.amounts = append(s.amounts, c.amounts[i])
	}
}

// addAll appends all compositions of u.
func (s *states) addAll(u *states) {
	s.sizes = append(s.sizes, u.sizes...)
	s.list = append(s.list, u.list...)
	s.amounts = append(s.amounts, u.amounts...)
}

// addLast appends the last compositions of u, as many as use at most room ingredients together.
func (s *states) addLast(u *states, room int) {
	first, from := len(u.sizes), len(u.list)
	for first > 0 && len(u.list)-from+int(u.sizes[first-1]) <= room {
		first--
		from -= int(u.sizes[first])
	}
	s.addAll(&states{u.sizes[first:], u.list[from:], u.amounts[from:]})
}

// copyFrom makes s a copy of u.
func (s *states) copyFrom(u *states) {
	s.sizes, s.list, s.amounts = s.sizes[:0], s.list[:0], s.amounts[:0]
	s.addAll(u)
}
