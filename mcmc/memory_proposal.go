package mcmc

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// An adaptiveProposal is the distribution from which the recall move of [Balanced] draws whole
// compositions. It is learnt from the states that warm-up met:
//
//   - The core is the set of the ingredients that most states use, at most 8. A met state, chosen
//     at random, decides which core ingredients are used and how many other ingredients.
//   - The other ingredients are drawn independently, each in proportion to the number of states
//     that use it. Half of these draws use only the states with the same core ingredients, their
//     [coreGroup].
//   - With probability independentRecallShare, only the number of ingredients is drawn first, and
//     then all ingredients independently.
//   - Amounts are drawn one by one, first for the ingredients that most states use. An amount is
//     uniform within what rules allow, times an [amountTilt]. The tilt says how much more often an
//     amount was met in each twentieth of the total, overall and in the group.
//
// The rank of an ingredient is its place when the ingredients are sorted by falling number of
// states that use them; only the first 64 have a rank.
type adaptiveProposal struct {
	stateList         // the compositions that warm-up met
	useCounts []int32 // useCounts[i] is the number of met states that use ingredient i

	rankedIngredients []int32 // rankedIngredients[k] is the ingredient of rank k, at most maxRankedIngredients of them
	ranks             []uint8 // ranks[i] is the rank of ingredient i, or unranked
	coreSize          int     // number of ingredients in the core, which have the ranks 0 to coreSize−1
	standIns          []int32 // standIns[k] is the ingredient outside the core that is drawn in place of the core ingredient of rank k

	stateCores []uint64 // in stateCores[s], bit k is set if met state s uses the core ingredient of rank k
	coreCounts []int32  // number of met states for each number of ingredients and each set of core ingredients; see coreCountIndex
	sizeCounts []int32  // sizeCounts[k] is the number of met states with k more ingredients than the least number of the law
	otherUses  []int32  // the ingredients outside the core that met states use; an ingredient is listed once for each such state

	tilts []amountTilt // tilts[k] is the tilt of the ingredient of rank k, learnt from all met states

	// groupsByCore[b] describes the met states whose core ingredients are the bits of b, one bit per
	// rank. It is nil if these states are few.
	groupsByCore [1 << maxCoreIngredients]*coreGroup
	useOdds      []float64 // useOdds[k] is the odds that a met state uses the ingredient of rank k

	amountRanges []amountRange // amountRanges[i] holds the amounts that the rules allow ingredient i; nil if the rules allow all amounts

	divisionOrder []int32                       // scratch memory: the ingredients of a candidate, in the order in which they get amounts
	absentWeights [maxRankedIngredients]float64 // scratch memory: the weights from which drawAbsent draws
	amountLaw     binLaw                        // scratch memory: the distribution of one amount
}

const (
	maxCoreIngredients     = 8   // greatest number of ingredients in the core; see [adaptiveProposal]
	maxRankedIngredients   = 64  // greatest number of ingredients that have a rank; see [adaptiveProposal]
	unranked               = 255 // stands for the rank of an ingredient that has no rank
	independentRecallShare = 0.3 // share of recall draws that draw all ingredients independently of each other
)

// uniformDrawShare is the share of draws by [warmupMemory.drawIngredient] and similar methods that
// ignore which states warm-up met. So ingredients that warm-up never met are drawn too.
const uniformDrawShare = 0.2

// learnFrom learns the distribution anew from the compositions in met. It does nothing if met is
// empty.
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
	c.rankedIngredients = c.rankedIngredients[:min(len(c.rankedIngredients), maxRankedIngredients)]
	for k, i := range c.rankedIngredients {
		c.ranks[i] = uint8(k)
	}
	c.coreSize = min(maxCoreIngredients, len(c.rankedIngredients), t.space.ingredients-1)
	c.computeStandIns(t.space.ingredients)

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

// drawAbsent draws an ingredient that x does not use, among the ranked ingredients, in proportion
// to the odds that a met state uses it. The result ok is false if x uses all of them.
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

// absentProbabilities returns two probabilities. The result ofI is the probability that drawAbsent
// draws i if the composition uses j and not i. The result ofJ is the probability that it draws j if
// the composition uses i and not j. All other ingredients are as in x.
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

// coreCountIndex returns the index in coreCounts for the states that use n ingredients, among them
// exactly the core ingredients whose bits are set in core.
func (c *adaptiveProposal) coreCountIndex(t *Target, n int, core uint64) int {
	return (n-t.law.minSize)<<c.coreSize | int(core)
}

// computeStandIns computes standIns, which serves to draw an ingredient outside the core uniformly.
// The draw is a number below N − coreSize. If it is the index of a core ingredient, the result is
// the stand-in of this core ingredient: an ingredient outside the core with index N − coreSize or
// greater.
func (c *adaptiveProposal) computeStandIns(ingredients int) {
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

// A smallProduct is a product of factors ≤ 1 that may be too small for a float64. Its value is
// factor·e^logRest.
type smallProduct struct{ factor, logRest float64 }

// unitProduct returns the number 1 as a product.
func unitProduct() smallProduct { return smallProduct{factor: 1} }

const minProductFactor = 1e-100 // the product of two factors of at least minProductFactor does not underflow

// multiply multiplies p by f.
func (p *smallProduct) multiply(f float64) {
	if f < minProductFactor {
		p.logRest += portable.Log(f)
		return
	}
	if p.factor = float64(p.factor * f); p.factor < minProductFactor {
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

// rankOf returns the rank of ingredient i, or unranked. Rank 0 has the ingredient that most met
// states use.
func (c *adaptiveProposal) rankOf(i int32) uint8 {
	if c.ranks == nil {
		return unranked
	}
	return c.ranks[i]
}

// drawOther draws an ingredient outside the core. The number of all ingredients is n. If g is not
// nil, half of the draws use only the states of group g.
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

// otherProbability returns the probability that drawOther draws ingredient i. The arguments g and n
// are those of drawOther.
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
	sizes       []int32 // sizes[s] is the number of ingredients that composition s uses
	ingredients []int32 // the used ingredients of composition 0, then those of composition 1, and so on
	amounts     []int32 // the units of these ingredients, in the same order
}

// addComposition appends the composition c to the list.
func (s *stateList) addComposition(c *Composition) {
	s.sizes = append(s.sizes, int32(c.UsedCount()))
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

// addLastThatFit appends the last compositions of u. It takes as many as use at most maxIngredients
// ingredients, summed over the compositions.
func (s *stateList) addLastThatFit(u *stateList, maxIngredients int) {
	first, from := len(u.sizes), len(u.ingredients)
	for first > 0 && len(u.ingredients)-from+int(u.sizes[first-1]) <= maxIngredients {
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
