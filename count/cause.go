package count

import (
	"fmt"
	"slices"
)

// A cause is a common reason why no composition keeps some rules, shown by
// arithmetic on their bounds.
type cause struct {
	kind        Kind
	ingredients []int
	sum, limit  int
	text        string
	fixes       []fix
}

// A fix changes a space so that the cause is gone.
type fix struct {
	text  string
	by    int
	apply func(*Space)
}

// bounds is a ruleset as the search for causes sees it.
type bounds struct {
	rs     Ruleset
	space  Space
	amount []kind // of each ingredient, none if it cannot be used
	groups []int  // rule of each group of the space
	lo, hi int    // how many ingredients may be used

	within []tally // of each group, what its members and inner groups come to
	all    tally   // the same for all ingredients
}

// A tally bounds how many of some ingredients are used and what they sum to.
type tally struct {
	must, can int
	min, max  int
}

func (t *tally) add(u tally) {
	t.must, t.can, t.min, t.max = t.must+u.must, t.can+u.can, t.min+u.min, t.max+u.max
}

// tally fills in the tallies, from the inner groups outwards.
func (b *bounds) tally() error {
	inner, order, err := nest(b.space, b.space.usable)
	if err != nil {
		return err
	}
	b.within = make([]tally, len(b.space.Groups))
	at := func(g int) *tally {
		if g < 0 {
			return &b.all
		}
		return &b.within[g]
	}
	for i, k := range b.amount {
		if k.n == 0 {
			continue
		}
		one := tally{can: 1, max: k.hi()}
		if b.space.Ingredients[i].Required {
			one.must, one.min = 1, k.lo
		}
		at(inner[i]).add(one)
	}
	for _, g := range slices.Backward(order) {
		used, total, c := b.group(g.index)
		t := b.within[g.index]
		at(g.within).add(tally{
			must: max(t.must, used.Min, c.fewest(total.Min)), can: min(t.can, used.Max, c.most(total.Max)),
			min: max(t.min, total.Min, c.min), max: min(t.max, total.Max, c.max),
		})
	}
	return nil
}

// findCause returns a common cause, nil if there is none.
func findCause(rs Ruleset) *cause {
	s, err := rs.Space()
	if err != nil {
		return nil
	}
	b := &bounds{rs: rs, space: s, amount: make([]kind, len(s.Ingredients)), lo: 1, hi: min(rs.Ingredients, rs.Total)}
	for i, ing := range s.Ingredients {
		if !ing.Excluded {
			b.amount[i] = ing.kind(s.Total)
		}
	}
	for n := range rs.Rules {
		if rs.Rules[n].limitsGroup() {
			b.groups = append(b.groups, n)
		}
	}
	if rs.Used != nil {
		if len(rs.Used) == 0 {
			return &cause{kind: UsedCount, limit: b.hi,
				text: fmt.Sprintf("no number of used ingredients from 1 to %d is asked for", b.hi)}
		}
		b.lo, b.hi = slices.Min(rs.Used), slices.Max(rs.Used)
	}
	if b.tally() != nil {
		return nil
	}
	for _, find := range []func() *cause{b.unusable, b.groupUsed, b.groupTotal, b.usedCount, b.minima, b.maxima, b.steps} {
		if c := find(); c != nil {
			return c
		}
	}
	return nil
}

// unusable finds a required ingredient that cannot be used, or that none can.
func (b *bounds) unusable() *cause {
	any := false
	for i, k := range b.amount {
		any = any || k.n > 0
		if k.n > 0 || !b.space.Ingredients[i].Required {
			continue
		}
		c := &cause{kind: Unusable, ingredients: []int{i}, text: b.rs.name(i) + " is required, and its rules leave it no amount"}
		for n := range b.rs.Rules {
			if r := &b.rs.Rules[n]; r.Exclude && slices.Contains(r.Of, i) {
				c.text = b.rs.name(i) + " is both required and excluded"
			}
		}
		return c
	}
	if !any {
		return &cause{kind: Unusable, text: "no ingredient is left that may be used"}
	}
	return nil
}

// A census is what is known of some ingredients: how many can be used and must
// be, and the amounts of those that can.
type census struct {
	usable, required []int
	min, max         int // of the sum of amounts, if used as said
	lows, highs      []int
}

// fewest returns how many ingredients it takes at least to reach a sum, one more
// than there are if it cannot be reached.
func (c *census) fewest(sum int) int {
	n := 0
	for ; sum > 0; n++ {
		if n == len(c.highs) {
			return n + 1
		}
		sum -= c.highs[n]
	}
	return n
}

// most returns how many ingredients a sum is enough for at most.
func (c *census) most(sum int) int {
	n := 0
	for ; n < len(c.lows) && sum >= c.lows[n]; n++ {
		sum -= c.lows[n]
	}
	return n
}

// census counts some ingredients, of which from least to most are used.
func (b *bounds) census(of []int, least, most int) census {
	var c census
	var free []int // least amounts of those that may be left out
	for _, i := range of {
		k := b.amount[i]
		if k.n == 0 {
			continue
		}
		c.usable = append(c.usable, i)
		c.lows, c.highs = append(c.lows, k.lo), append(c.highs, k.hi())
		if b.space.Ingredients[i].Required {
			c.required = append(c.required, i)
			c.min += k.lo
		} else {
			free = append(free, k.lo)
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

func (b *bounds) every() []int {
	out := make([]int, len(b.amount))
	for i := range out {
		out[i] = i
	}
	return out
}

// group returns a group's limits, in full, and the census of its members.
func (b *bounds) group(g int) (used, total Range, c census) {
	group := &b.space.Groups[g]
	used, total = Range{0, len(group.Members)}, Range{0, b.space.Total}
	if group.Used != nil {
		used = *group.Used
	}
	if group.Total != nil {
		total = *group.Total
	}
	return used, total, b.census(group.Members, used.Min, used.Max)
}

// groupUsed finds a group whose members cannot be used as often as it wants.
func (b *bounds) groupUsed() *cause {
	for g, n := range b.groups {
		used, _, c := b.group(g)
		switch {
		case used.Min > len(c.usable):
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: len(c.usable), limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and only %d of its ingredients can be", b.rs.ruleName(n), used.Min, len(c.usable))}
		case len(c.required) > used.Max:
			return &cause{kind: GroupUsed, ingredients: c.required, sum: len(c.required), limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and %d are required: %s", b.rs.ruleName(n), used.Max, len(c.required), b.names(c.required))}
		case b.within[g].can < used.Min:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.within[g].can, limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and the groups within it allow at most %d", b.rs.ruleName(n), used.Min, b.within[g].can)}
		case b.within[g].must > used.Max:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.within[g].must, limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and the groups within it ask for at least %d", b.rs.ruleName(n), used.Max, b.within[g].must)}
		}
	}
	return nil
}

// groupTotal finds a group whose members' amounts cannot sum to what it wants.
func (b *bounds) groupTotal() *cause {
	for g, n := range b.groups {
		used, total, c := b.group(g)
		members := b.space.Groups[g].Members
		at := func(sum, limit int, text string) *cause {
			return &cause{kind: GroupTotal, ingredients: members, sum: sum, limit: limit, text: text}
		}
		switch {
		case total.Min > b.space.Total:
			return at(total.Min, b.space.Total, fmt.Sprintf("%s asks for at least %d of a total of %d", b.rs.ruleName(n), total.Min, b.space.Total))
		case c.min > total.Max:
			return at(c.min, total.Max, fmt.Sprintf("%s allows at most %d together, and the least amounts of those that have to be used sum to %d", b.rs.ruleName(n), total.Max, c.min))
		case c.max < total.Min:
			most := ""
			if used.Max < len(c.usable) {
				most = fmt.Sprintf("%d ", used.Max)
			}
			return at(c.max, total.Min, fmt.Sprintf("%s asks for at least %d together, and the greatest amounts of the %sthat may be used sum to %d", b.rs.ruleName(n), total.Min, most, c.max))
		case b.within[g].min > total.Max:
			return at(b.within[g].min, total.Max, fmt.Sprintf("%s allows at most %d together, and the groups within it take at least %d", b.rs.ruleName(n), total.Max, b.within[g].min))
		case b.within[g].max < total.Min:
			return at(b.within[g].max, total.Min, fmt.Sprintf("%s asks for at least %d together, and the groups within it allow at most %d", b.rs.ruleName(n), total.Min, b.within[g].max))
		}
	}
	return nil
}

// usedCount finds that more have to be used than may be, or fewer can be than
// have to.
func (b *bounds) usedCount() *cause {
	must, can := b.all.must, b.all.can
	all := b.census(b.every(), 0, b.hi)
	switch {
	case must > b.hi:
		out := &cause{kind: UsedCount, ingredients: all.required, sum: must, limit: b.hi}
		what := fmt.Sprintf("%d ingredients have to be used", must)
		if must == len(all.required) {
			what = fmt.Sprintf("%d ingredients are required", must)
		}
		if b.rs.Used == nil || b.hi == b.space.Total {
			out.text = fmt.Sprintf("%s, and a total of %d units is enough for %d", what, b.space.Total, b.hi)
		} else {
			out.text = fmt.Sprintf("%s, and at most %d used are asked for", what, b.hi)
		}
		return out
	case can < b.lo:
		return &cause{kind: UsedCount, sum: can, limit: b.lo,
			text: fmt.Sprintf("at least %d used ingredients are asked for, and the rules allow at most %d", b.lo, can)}
	}
	return nil
}

// minima finds that what has to be used needs more than the total.
func (b *bounds) minima() *cause {
	total := b.space.Total
	all := b.census(b.every(), b.lo, b.hi)
	if sum := b.census(all.required, 0, 0).min; sum > total {
		return b.requiredMinima(all.required, sum)
	}
	if all.min > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: all.min, limit: total,
			text: fmt.Sprintf("at least %d used ingredients are asked for, and their least amounts sum to %s", b.lo, b.ofTotal(all.min))}
	}
	if sum := b.all.min; sum > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: sum, limit: total,
			text: fmt.Sprintf("the least amounts of the groups and the required ingredients sum to %s", b.ofTotal(sum))}
	}
	return nil
}

// requiredMinima says that the least amounts of the required ingredients are
// too much, and by how much to lower them, or how many to leave out.
func (b *bounds) requiredMinima(required []int, sum int) *cause {
	total := b.space.Total
	least := func(i int) int { return b.amount[i].lo }
	c := &cause{kind: MinimaAbove, ingredients: required, sum: sum, limit: total}
	if len(required) == 1 {
		i := required[0]
		c.text = fmt.Sprintf("%s is required and takes at least %s", b.rs.name(i), b.ofTotal(sum))
	} else {
		c.text = fmt.Sprintf("the least amounts of the %d required ingredients sum to %s", len(required), b.ofTotal(sum))
	}
	large := slices.Clone(required)
	slices.SortStableFunc(large, func(i, j int) int { return least(j) - least(i) })

	c.fixes = append(c.fixes, fix{
		text: fmt.Sprintf("lower them by %d in all (%s of the total)", sum-total, percent(sum-total, total)),
		by:   sum - total,
		apply: func(s *Space) {
			over := sum - total
			for _, i := range large {
				ing := &s.Ingredients[i]
				k := ing.kind(s.Total)
				steps := min((over+k.step-1)/k.step, (k.lo-1)/k.step)
				ing.Min -= steps * k.step
				over -= min(over, steps*k.step)
			}
		},
	})
	left, drop := sum, 0
	for left > total {
		left -= least(large[drop])
		drop++
	}
	text := fmt.Sprintf("do not require %d of them", drop)
	if drop == 1 {
		text = fmt.Sprintf("do not require one of them, such as %s", b.rs.name(large[0]))
	}
	c.fixes = append(c.fixes, fix{text: text, apply: func(s *Space) {
		for _, i := range large[:drop] {
			s.Ingredients[i].Required = false
		}
	}})
	return c
}

// maxima finds that what may be used cannot make up the total.
func (b *bounds) maxima() *cause {
	total := b.space.Total
	all := b.census(b.every(), b.lo, b.hi)
	if all.max < total {
		which := "all ingredients that may be used"
		if b.hi < len(all.usable) {
			which = fmt.Sprintf("the largest %d ingredients", b.hi)
		}
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: all.max, limit: total,
			text: fmt.Sprintf("the greatest amounts of %s sum to %s", which, b.ofTotal(all.max))}
	}
	if sum := b.all.max; sum < total {
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: sum, limit: total,
			text: fmt.Sprintf("the greatest amounts of the groups and the other ingredients sum to %s", b.ofTotal(sum))}
	}
	return nil
}

// steps finds that all amounts are multiples of what the total is not.
func (b *bounds) steps() *cause {
	unit := 0
	for _, k := range b.amount {
		if k.n > 0 {
			unit = gcd(unit, k.lo)
		}
		if k.n > 1 {
			unit = gcd(unit, k.step)
		}
	}
	if unit > 1 && b.space.Total%unit != 0 {
		return &cause{kind: Steps, sum: unit, limit: b.space.Total,
			text: fmt.Sprintf("all amounts are multiples of %d, and the total of %d is not", unit, b.space.Total)}
	}
	return nil
}

func (b *bounds) ofTotal(sum int) string {
	return fmt.Sprintf("%d of a total of %d (%s)", sum, b.space.Total, percent(sum, b.space.Total))
}

func percent(part, whole int) string {
	share := 100 * float64(part) / float64(whole)
	if share >= 100 {
		return fmt.Sprintf("%.0f %%", share)
	}
	return fmt.Sprintf("%.3g %%", share)
}

func (b *bounds) names(of []int) string {
	texts := make([]string, len(of))
	for t, i := range of {
		texts[t] = b.rs.name(i)
	}
	return andList(texts)
}

// describe fills in the cause of a conflict: that of its rules alone. Sums over
// all ingredients are given in the numbers of all rules, which is what has to
// change, if these show the same cause.
func (x *explainer) describe(c *Conflict) (fixes []fix) {
	found := findCause(x.only(c.Rules, c.Law))
	if found == nil {
		c.Cause = x.nameRules(c)
		return nil
	}
	switch found.kind {
	case MinimaAbove, MaximaBelow, UsedCount:
		whole := x.rs
		if !c.Law {
			whole.Used = nil
		}
		if all := findCause(whole); all != nil && all.kind == found.kind {
			found = all
		}
	}
	c.Kind, c.Ingredients, c.Sum, c.Limit, c.Cause = found.kind, found.ingredients, found.sum, found.limit, found.text
	return found.fixes
}

// nameRules says no more than which rules are in conflict.
func (x *explainer) nameRules(c *Conflict) string {
	names := make([]string, len(c.Rules))
	for t, n := range c.Rules {
		names[t] = x.rs.ruleName(n)
	}
	if c.Law {
		names = append(names, "the numbers of used ingredients asked for")
	}
	if len(names) == 1 {
		return fmt.Sprintf("no composition of %d units keeps %s", x.rs.Total, names[0])
	}
	return fmt.Sprintf("no composition of %d units keeps %s together", x.rs.Total, andList(names))
}
