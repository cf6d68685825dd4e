package mcmc

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// An adaptiveProposal is the law from which recall draws whole compositions. It is learnt from the
// states that warm-up met:
//
//   - The core is the set of the ingredients that most states use, at most 8. A met state, chosen
//     at random, decides which core ingredients are used and how many other ingredients.
//   - The other ingredients are drawn independently, each in proportion to the number of states
//     that use it. Half of these draws use only the states with the same core ingredients, their
//     [coreGroup].
//   - With probability independentRecallShare, a number of ingredients is drawn instead, and then
//     all ingredients independently.
//   - Amounts are drawn one by one, first for the ingredients that most states use. An amount is
//     uniform within what rules allow, times a [amountTilt]. The tilt says how much more often an amount
//     was met in each twentieth of the total, overall and in the group.
type adaptiveProposal struct {
	stateList         // the compositions that warm-up met
	useCounts []int32 // by ingredient: number of states that use it

	rankedIngredients []int32 // the ingredients that most states use, by falling number of states; at most maxOrder
	ranks             []uint8 // by ingredient: its index in rankedIngredients, or unranked
	coreSize          int     // number of ingredients in the core, which are the first of rankedIngredients
	standIns          []int32 // by rank in the core: the ingredient outside the core that is drawn in place of the core ingredient

	stateCores []uint64 // by state: the core ingredients that it uses, one bit per rank
	coreCounts []int32  // number of met states, by number of used ingredients and set of used core ingredients; see coreCountIndex
	sizeCounts []int32  // number of states that use n ingredients, by n from the least n of the law
	otherUses  []int32  // the ingredients outside the core that states use, once for each state

	tilts        []amountTilt             // by rank: the tilt over all states
	groupsByCore [1 << maxCore]*coreGroup // by set of core ingredients, as bits: what the met states with this set have in common; nil if they are few
	useOdds      []float64                // by rank: odds that a state uses the ingredient

	amountRanges []amountRange // by ingredient: the amounts that the rules allow; nil if the rules allow all amounts

	// Scratch memory: the ingredients in the order in which they get amounts, the weights of
	// drawAbsent, and the law of an amount.
	divisionOrder []int32
	absentWeights [maxOrder]float64
	amountLaw     binLaw
}

const (
	maxCore                = 8   // greatest number of ingredients in the core
	maxOrder               = 64  // greatest number of ingredients that have a rank
	unranked               = 255 // rank of an ingredient that has no rank
	independentRecallShare = 0.3 // share of recalls that draw all ingredients independently
)

// uniformDrawShare is the share of draws by a [warmupMemory] that ignore what was met, so that ingredients
// that warm-up never met are drawn too.
const uniformDrawShare = 0.2

// learnFrom replaces the law by the law learnt from the compositions in met. It does nothing if met
// is empty.
func (c *adaptiveProposal) learnFrom(t *Target, met *stateList) {
	if len(met.ingredients) == 0 {
		return
	}
	if c.useCounts == nil {
		c.useCounts = make([]int32, t.space.ingredients)
		c.ranks = slices.Repeat([]uint8{unranked}, t.space.ingredients)
	}
	for _, i := range c.ingredients {
		c.useCounts[i], c.ranks[i] = 0, unranked
	}
	c.copyFrom(met)
	if t.space.rules != nil {
		c.amountRanges = t.space.rules.amountRanges
	}
	for _, i := range c.ingredients {
		c.useCounts[i]++
	}
	c.rankedIngredients = slices.Sorted(slices.Values(c.ingredients))
	c.rankedIngredients = slices.Compact(c.rankedIngredients)
	slices.SortStableFunc(c.rankedIngredients, func(i, j int32) int { return int(c.useCounts[j] - c.useCounts[i]) })
	c.rankedIngredients = c.rankedIngredients[:min(len(c.rankedIngredients), maxOrder)]
	for k, i := range c.rankedIngredients {
		c.ranks[i] = uint8(k)
	}
	c.coreSize = min(maxCore, len(c.rankedIngredients), t.space.ingredients-1)
	c.pairStandIns(t.space.ingredients)

	c.sizeCounts = make([]int32, len(t.law.probabilities))
	c.coreCounts = make([]int32, len(t.law.probabilities)<<c.coreSize)
	c.stateCores, c.otherUses = c.stateCores[:0], c.otherUses[:0]
	list := c.ingredients
	for _, n := range c.sizes {
		core := uint64(0)
		for _, i := range list[:n] {
			if k := c.ranks[i]; int(k) < c.coreSize {
				core |= 1 << k
			} else {
				c.otherUses = append(c.otherUses, i)
			}
		}
		list = list[n:]
		c.stateCores = append(c.stateCores, core)
		c.sizeCounts[int(n)-t.law.minSize]++
		c.coreCounts[c.coreCountIndex(t, int(n), core)]++
	}
	c.amountLaw.setEdges(t.space.total)
	all := c.stateLocations()
	c.tilts = c.learnTilts(t, all, nil, flatTiltWeight)
	c.learnGroups(t, all)
	c.useOdds = c.useOdds[:0]
	for _, i := range c.rankedIngredients {
		used := float64(c.useCounts[i])
		c.useOdds = append(c.useOdds, (used+0.5)/(float64(len(c.sizes))-used+0.5))
	}
}

// drawAbsent draws one of the most-met ingredients that x does not use, in proportion to its odds
// of being used. The result ok is false if x uses all of them.
func (c *adaptiveProposal) drawAbsent(r *Rand, x *Composition) (j int, ok bool) {
	weights := c.absentWeights[:len(c.rankedIngredients)]
	for k, i := range c.rankedIngredients {
		weights[k] = 0
		if x.amounts[i] == 0 {
			weights[k], ok = c.useOdds[k], true
		}
	}
	if !ok {
		return 0, false
	}
	return int(c.rankedIngredients[r.Categorical(weights)]), true
}

// absentProbabilities returns two probabilities of draws by drawAbsent: that it draws i when x uses
// j and not i, and that it draws j when x uses i and not j. All other ingredients are as in x.
func (c *adaptiveProposal) absentProbabilities(x *Composition, i, j int) (ofI, ofJ float64) {
	sum := 0.0
	for k, v := range c.rankedIngredients {
		if x.amounts[v] == 0 && int(v) != i && int(v) != j {
			sum += c.useOdds[k]
		}
	}
	share := func(i int) float64 {
		k := c.rankOf(int32(i))
		if k == unranked {
			return 0
		}
		return c.useOdds[k] / (sum + c.useOdds[k])
	}
	return share(i), share(j)
}

// coreCountIndex returns the index in coreCounts of the number of states with n ingredients that
// use the given core ingredients.
func (c *adaptiveProposal) coreCountIndex(t *Target, n int, core uint64) int {
	return (n-t.law.minSize)<<c.coreSize | int(core)
}

// pairStandIns computes standIns. A uniform draw of a non-core ingredient draws a number below N −
// coreSize. If the number is a core ingredient, its stand-in is returned, a non-core ingredient
// from N − coreSize on.
func (c *adaptiveProposal) pairStandIns(ingredients int) {
	c.standIns = make([]int32, c.coreSize)
	next := int32(ingredients - c.coreSize)
	for k, i := range c.rankedIngredients[:c.coreSize] {
		if int(i) >= ingredients-c.coreSize {
			continue
		}
		for int(c.ranks[next]) < c.coreSize {
			next++
		}
		c.standIns[k] = next
		next++
	}
}

// A smallProduct is a product of factors ≤ 1, which may be too small for a float64. Its value is
// factor·e^logRest.
type smallProduct struct{ factor, logRest float64 }

// unitProduct returns the product without factors, which is 1.
func unitProduct() smallProduct { return smallProduct{factor: 1} }

const minFactor = 1e-100 // products of two factors of at least minFactor do not underflow

// multiply multiplies p by f.
func (p *smallProduct) multiply(f float64) {
	if f < minFactor {
		p.logRest += portable.Log(f)
		return
	}
	if p.factor = float64(p.factor * f); p.factor < minFactor {
		p.logRest += portable.Log(p.factor)
		p.factor = 1
	}
}

// timesProduct returns p·q.
func (p smallProduct) timesProduct(q smallProduct) smallProduct {
	p.multiply(q.factor)
	p.logRest += q.logRest
	return p
}

// plus returns p + q.
func (p smallProduct) plus(q smallProduct) smallProduct {
	if p.logRest == q.logRest {
		return smallProduct{p.factor + q.factor, p.logRest}
	}
	a, b := p.log(), q.log()
	return smallProduct{1, max(a, b) + portable.Log1p(portable.Exp(-math.Abs(a-b)))}
}

// log returns the logarithm of p.
func (p smallProduct) log() float64 { return p.logRest + portable.Log(p.factor) }

// rankOf returns the rank of ingredient i by the number of met states that use it, from 0, or
// unranked.
func (c *adaptiveProposal) rankOf(i int32) uint8 {
	if c.ranks == nil {
		return unranked
	}
	return c.ranks[i]
}

// drawOther draws one of the n ingredients that is not in the core. If g is not nil, half of the
// draws use the states of group g only.
func (c *adaptiveProposal) drawOther(r *Rand, g *coreGroup, n int) int32 {
	if g != nil && len(g.otherUses) > 0 && r.Bernoulli(groupDrawShare) {
		return g.otherUses[r.Intn(len(g.otherUses))]
	}
	if len(c.otherUses) > 0 && !r.Bernoulli(uniformDrawShare) {
		return c.otherUses[r.Intn(len(c.otherUses))]
	}
	i := int32(r.Intn(n - c.coreSize))
	if k := c.rankOf(i); int(k) < c.coreSize {
		return c.standIns[k]
	}
	return i
}

// otherProbability returns the probability that drawOther returns ingredient i of n.
func (c *adaptiveProposal) otherProbability(i int32, g *coreGroup, n int) float64 {
	u := 1 / float64(n-c.coreSize)
	if len(c.otherUses) > 0 {
		u = float64(uniformDrawShare*u) + (1-uniformDrawShare)*float64(c.useCounts[i])/float64(len(c.otherUses))
	}
	if g == nil || len(g.otherUses) == 0 {
		return u
	}
	own := 0.0
	if k := c.ranks[i]; k != unranked {
		own = float64(g.useCounts[k]) / float64(len(g.otherUses))
	}
	return float64((1-groupDrawShare)*u) + float64(groupDrawShare*own)
}

// A stateList is a list of compositions, stored one after another in shared slices.
type stateList struct {
	sizes                []int32 // by composition: the number of ingredients that it uses
	ingredients, amounts []int32 // the used ingredients of all compositions in turn, and their units
}

// add appends the composition c to the list.
func (s *stateList) add(c *Composition) {
	s.sizes = append(s.sizes, int32(c.Used()))
	s.ingredients = append(s.ingredients, c.used...)
	for _, i := range c.used {
		s.amounts = append(s.amounts, c.amounts[i])
	}
}

// addAll appends all compositions of u to the list.
func (s *stateList) addAll(u *stateList) {
	s.sizes = append(s.sizes, u.sizes...)
	s.ingredients = append(s.ingredients, u.ingredients...)
	s.amounts = append(s.amounts, u.amounts...)
}

// addLastThatFit appends the last compositions of u, as many as use at most room ingredients in
// all.
func (s *stateList) addLastThatFit(u *stateList, room int) {
	first, from := len(u.sizes), len(u.ingredients)
	for first > 0 && len(u.ingredients)-from+int(u.sizes[first-1]) <= room {
		first--
		from -= int(u.sizes[first])
	}
	s.addAll(&stateList{u.sizes[first:], u.ingredients[from:], u.amounts[from:]})
}

// copyFrom makes s a copy of u.
func (s *stateList) copyFrom(u *stateList) {
	s.sizes, s.ingredients, s.amounts = s.sizes[:0], s.ingredients[:0], s.amounts[:0]
	s.addAll(u)
}
