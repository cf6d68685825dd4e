package conflict

import (
	"slices"

	"kir/internal/constraint/count"
)

// A tally bounds how much a list of ingredients is used. At least minUsed and at most maxUsed of the ingredients
// are used, and the ingredients together take at least minUnits and at most maxUnits units.
type tally struct {
	minUsed, maxUsed   int
	minUnits, maxUnits int
}

func (t *tally) add(u tally) {
	t.minUsed, t.maxUsed, t.minUnits, t.maxUnits = t.minUsed+u.minUsed, t.maxUsed+u.maxUsed, t.minUnits+u.minUnits, t.maxUnits+u.maxUnits
}

// fillTallies computes groupTallies, beginning with the innermost groups, and totalTally. The result ok is false
// if two groups overlap and neither contains the other.
func (b *ruleBounds) fillTallies() (ok bool) {
	inner, order, ok := b.space.NestGroups()
	if !ok {
		return false
	}
	b.groupTallies = make([]tally, len(b.space.Groups))
	at := func(g int) *tally {
		if g < 0 {
			return &b.totalTally
		}
		return &b.groupTallies[g]
	}
	for i, k := range b.amountSets {
		if k.Count == 0 {
			continue
		}
		one := tally{maxUsed: 1, maxUnits: k.Hi()}
		if b.space.Ingredients[i].Required {
			one.minUsed, one.minUnits = 1, k.Lo
		}
		at(inner[i]).add(one)
	}
	for _, g := range slices.Backward(order) {
		used, total, c := b.censusOfGroup(g.Index)
		t := b.groupTallies[g.Index]
		at(g.Parent).add(tally{
			minUsed: max(t.minUsed, used.Min, c.minIngredientsForSum(total.Min)), maxUsed: min(t.maxUsed, used.Max, c.maxIngredientsForSum(total.Max)),
			minUnits: max(t.minUnits, total.Min, c.minUnits), maxUnits: min(t.maxUnits, total.Max, c.maxUnits),
		})
	}
	return true
}

// A census summarises the limits on a list of ingredients: which ingredients can be used, which must be used, and
// which amounts the ingredients can have.
type census struct {
	usable, required              []int // indices of the ingredients that can be used (usable) or must be used (required)
	minUnits, maxUnits            int   // bounds of the units that the ingredients take together, given limits on the number of used ingredients
	leastAmounts, greatestAmounts []int // least amounts of the usable ingredients in ascending order, and greatest amounts in descending order; the two lists are ordered independently
}

// minIngredientsForSum returns the least number of ingredients whose greatest amounts add up to at least sum. If the
// greatest amounts of all ingredients add up to less than sum, minIngredientsForSum returns the number of ingredients plus
// one.
func (c *census) minIngredientsForSum(sum int) int {
	n := 0
	for ; sum > 0; n++ {
		if n == len(c.greatestAmounts) {
			return n + 1
		}
		sum -= c.greatestAmounts[n]
	}
	return n
}

// maxIngredientsForSum returns the greatest number of ingredients whose least amounts add up to at most sum.
func (c *census) maxIngredientsForSum(sum int) int {
	n := 0
	for ; n < len(c.leastAmounts) && sum >= c.leastAmounts[n]; n++ {
		sum -= c.leastAmounts[n]
	}
	return n
}

// takeCensus returns the census of the given ingredients for compositions that use at least minUsed and at most
// maxUsed of the ingredients.
func (b *ruleBounds) takeCensus(ingredients []int, minUsed, maxUsed int) census {
	var c census
	var free []int // least amounts of the ingredients that are not required
	for _, i := range ingredients {
		k := b.amountSets[i]
		if k.Count == 0 {
			continue
		}
		c.usable = append(c.usable, i)
		c.leastAmounts, c.greatestAmounts = append(c.leastAmounts, k.Lo), append(c.greatestAmounts, k.Hi())
		if b.space.Ingredients[i].Required {
			c.required = append(c.required, i)
			c.minUnits += k.Lo
		} else {
			free = append(free, k.Lo)
		}
	}
	slices.Sort(free)
	for t := 0; t < minUsed-len(c.required) && t < len(free); t++ {
		c.minUnits += free[t]
	}
	slices.Sort(c.leastAmounts)
	slices.SortFunc(c.greatestAmounts, func(a, b int) int { return b - a })
	for t := 0; t < maxUsed && t < len(c.greatestAmounts); t++ {
		c.maxUnits += c.greatestAmounts[t]
	}
	return c
}

func (b *ruleBounds) allIngredients() []int {
	out := make([]int, len(b.amountSets))
	for i := range out {
		out[i] = i
	}
	return out
}

// censusOfGroup returns the limits of the group with index g and the census of the members. If the group does not
// limit the used members, the range used is 0 to the number of members. If the group does not limit the units,
// the range total is 0 to the total of a composition.
func (b *ruleBounds) censusOfGroup(g int) (used, total count.Range, c census) {
	group := &b.space.Groups[g]
	used, total = count.Range{Min: 0, Max: len(group.Members)}, count.Range{Min: 0, Max: b.space.Total}
	if group.Used != nil {
		used = *group.Used
	}
	if group.Total != nil {
		total = *group.Total
	}
	return used, total, b.takeCensus(group.Members, used.Min, used.Max)
}
