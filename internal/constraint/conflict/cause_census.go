package conflict

import (
	"slices"

	"kir/internal/constraint/count"
)

// A tally bounds what some ingredients can do together: at least required and at most possible
// of them are used, and they take min to max units.
type tally struct {
	required, possible int
	min, max           int
}

func (t *tally) add(u tally) {
	t.required, t.possible, t.min, t.max = t.required+u.required, t.possible+u.possible, t.min+u.min, t.max+u.max
}

// fillTallies fills in the tallies of all groups, inner groups first. ok is false if groups overlap without
// being nested.
func (b *bounds) fillTallies() (ok bool) {
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
	for i, k := range b.amount {
		if k.N == 0 {
			continue
		}
		one := tally{possible: 1, max: k.Hi()}
		if b.space.Ingredients[i].Required {
			one.required, one.min = 1, k.Lo
		}
		at(inner[i]).add(one)
	}
	for _, g := range slices.Backward(order) {
		used, total, c := b.groupCensus(g.Index)
		t := b.groupTallies[g.Index]
		at(g.Within).add(tally{
			required: max(t.required, used.Min, c.minCount(total.Min)), possible: min(t.possible, used.Max, c.maxCount(total.Max)),
			min: max(t.min, total.Min, c.min), max: min(t.max, total.Max, c.max),
		})
	}
	return true
}

// A census summarises some ingredients: which can be used, which must be, and the amounts they can have.
type census struct {
	usable, required []int
	min, max         int   // bounds of the units they take together, given how many are used
	lows, highs      []int // least amounts in ascending order, and greatest amounts in descending order
}

// minCount returns the least number of ingredients whose amounts can add up to sum. If all of them together
// cannot, it returns one more than their number.
func (c *census) minCount(sum int) int {
	n := 0
	for ; sum > 0; n++ {
		if n == len(c.highs) {
			return n + 1
		}
		sum -= c.highs[n]
	}
	return n
}

// maxCount returns the greatest number of ingredients whose least amounts add up to at most sum.
func (c *census) maxCount(sum int) int {
	n := 0
	for ; n < len(c.lows) && sum >= c.lows[n]; n++ {
		sum -= c.lows[n]
	}
	return n
}

// takeCensus summarises the ingredients in of. At least least and at most most of them are used.
func (b *bounds) takeCensus(of []int, least, most int) census {
	var c census
	var free []int // least amounts of the ingredients that are not required
	for _, i := range of {
		k := b.amount[i]
		if k.N == 0 {
			continue
		}
		c.usable = append(c.usable, i)
		c.lows, c.highs = append(c.lows, k.Lo), append(c.highs, k.Hi())
		if b.space.Ingredients[i].Required {
			c.required = append(c.required, i)
			c.min += k.Lo
		} else {
			free = append(free, k.Lo)
		}
	}
	slices.Sort(free)
	for t := 0; t < least-len(c.required) && t < len(free); t++ {
		c.min += free[t]
	}
	slices.Sort(c.lows)
	slices.SortFunc(c.highs, func(a, b int) int { return b - a })
	for t := 0; t < most && t < len(c.highs); t++ {
		c.max += c.highs[t]
	}
	return c
}

func (b *bounds) allIngredients() []int {
	out := make([]int, len(b.amount))
	for i := range out {
		out[i] = i
	}
	return out
}

// groupCensus returns the limits of group g, with defaults filled in, and the census of its members.
func (b *bounds) groupCensus(g int) (used, total count.Range, c census) {
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
