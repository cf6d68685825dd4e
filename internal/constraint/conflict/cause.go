package conflict

import (
	"fmt"
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/number"
	"kir/internal/portable"
	"kir/rule"
)

// A cause is a common reason for a conflict, shown by arithmetic on the bounds of rules.
type cause struct {
	kind        Kind
	ingredients []int
	sum, limit  int
	text        string
	fixes       []fix
}

// A fix changes a set of rules so that the cause is removed.
type fix struct {
	text   string
	amount int
	apply  func(*question)
}

// bounds holds a set of rules in the form in which findCause looks for causes.
type bounds struct {
	set    question
	space  count.Space
	amount []constraint.AmountSet // amounts each ingredient may have; empty if it cannot be used
	groups []int                  // index of the rule that each group comes from
	lo, hi int                    // least and greatest number of used ingredients

	groupTallies []tally // for each group: bounds that follow from its members and inner groups
	totalTally   tally   // bounds for all ingredients together
}

// findCause returns a common cause of the conflict, or nil.
func findCause(s question) *cause {
	c, err := s.conditions()
	if err != nil {
		return nil
	}
	b := &bounds{set: s, amount: make([]constraint.AmountSet, s.Ingredients), groups: c.GroupRules, lo: 1, hi: min(s.Ingredients, s.Total)}
	b.space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	for i, a := range c.Amounts {
		if !a.Excluded {
			b.amount[i] = constraint.AmountSetOf(a, c.Total)
		}
	}
	if s.Used != nil {
		sizes := s.sizes()
		if len(sizes) == 0 {
			return &cause{kind: UsedCount, limit: b.hi,
				text: fmt.Sprintf("no number of used ingredients from 1 to %d is asked for", b.hi)}
		}
		b.lo, b.hi = sizes[0], sizes[len(sizes)-1]
	}
	if !b.fillTallies() {
		return nil
	}
	for _, find := range []func() *cause{b.findUnusable, b.findGroupUsed, b.findGroupTotal, b.findUsedCount, b.findMinima, b.findMaxima, b.findSteps} {
		if c := find(); c != nil {
			return c
		}
	}
	return nil
}

// findUnusable finds a required ingredient that cannot be used, or that no ingredient can be used.
func (b *bounds) findUnusable() *cause {
	any := false
	for i, k := range b.amount {
		any = any || k.N > 0
		if k.N > 0 || !b.space.Ingredients[i].Required {
			continue
		}
		c := &cause{kind: Unusable, ingredients: []int{i}, text: b.set.NameOf(i) + " is required, and its rules leave it no amount"}
		for _, r := range b.set.Rules {
			if e, ok := r.(rule.Exclude); ok && slices.Contains(e.Of, i) {
				c.text = b.set.NameOf(i) + " is both required and excluded"
			}
		}
		return c
	}
	if !any {
		return &cause{kind: Unusable, text: "no ingredient is left that may be used"}
	}
	return nil
}

// findGroupUsed finds a group that cannot have as many or as few used members as it must.
func (b *bounds) findGroupUsed() *cause {
	for g, n := range b.groups {
		used, _, c := b.groupCensus(g)
		switch {
		case used.Min > len(c.usable):
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: len(c.usable), limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and only %d of its ingredients can be", b.set.TextOf(n), used.Min, len(c.usable))}
		case len(c.required) > used.Max:
			are := "are"
			if len(c.required) == 1 {
				are = "is"
			}
			return &cause{kind: GroupUsed, ingredients: c.required, sum: len(c.required), limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and %d %s required: %s", b.set.TextOf(n), used.Max, len(c.required), are, b.set.joinNames(c.required))}
		case b.groupTallies[g].possible < used.Min:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.groupTallies[g].possible, limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and the groups within it allow at most %d", b.set.TextOf(n), used.Min, b.groupTallies[g].possible)}
		case b.groupTallies[g].required > used.Max:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.groupTallies[g].required, limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and the groups within it ask for at least %d", b.set.TextOf(n), used.Max, b.groupTallies[g].required)}
		}
	}
	return nil
}

// findGroupTotal finds a group whose members cannot add up to the total that it must have.
func (b *bounds) findGroupTotal() *cause {
	for g, n := range b.groups {
		used, total, c := b.groupCensus(g)
		members := b.space.Groups[g].Members
		at := func(sum, limit int, text string) *cause {
			return &cause{kind: GroupTotal, ingredients: members, sum: sum, limit: limit, text: text}
		}
		switch {
		case total.Min > b.space.Total:
			return at(total.Min, b.space.Total, fmt.Sprintf("%s asks for at least %d of a total of %d", b.set.TextOf(n), total.Min, b.space.Total))
		case c.min > total.Max:
			return at(c.min, total.Max, fmt.Sprintf("%s allows at most %d together, and the least amounts of those that have to be used sum to %d", b.set.TextOf(n), total.Max, c.min))
		case c.max < total.Min:
			most := ""
			if used.Max < len(c.usable) {
				most = fmt.Sprintf("%d ", used.Max)
			}
			return at(c.max, total.Min, fmt.Sprintf("%s asks for at least %d together, and the greatest amounts of the %sthat may be used sum to %d", b.set.TextOf(n), total.Min, most, c.max))
		case b.groupTallies[g].min > total.Max:
			return at(b.groupTallies[g].min, total.Max, fmt.Sprintf("%s allows at most %d together, and the groups within it take at least %d", b.set.TextOf(n), total.Max, b.groupTallies[g].min))
		case b.groupTallies[g].max < total.Min:
			return at(b.groupTallies[g].max, total.Min, fmt.Sprintf("%s asks for at least %d together, and the groups within it allow at most %d", b.set.TextOf(n), total.Min, b.groupTallies[g].max))
		}
	}
	return nil
}

// findUsedCount finds that more ingredients must be used than may be, or that fewer can be used than must
// be.
func (b *bounds) findUsedCount() *cause {
	must, can := b.totalTally.required, b.totalTally.possible
	all := b.takeCensus(b.allIngredients(), 0, b.hi)
	switch {
	case must > b.hi:
		out := &cause{kind: UsedCount, ingredients: all.required, sum: must, limit: b.hi}
		what := fmt.Sprintf("%d ingredients have to be used", must)
		if must == len(all.required) {
			what = fmt.Sprintf("%d ingredients are required", must)
		}
		if b.set.Used == nil || b.hi == b.space.Total {
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

// findMinima finds that the ingredients that must be used need more than the total.
func (b *bounds) findMinima() *cause {
	total := b.space.Total
	all := b.takeCensus(b.allIngredients(), b.lo, b.hi)
	if sum := b.takeCensus(all.required, 0, 0).min; sum > total {
		return b.requiredMinimaCause(all.required, sum)
	}
	if all.min > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: all.min, limit: total,
			text: fmt.Sprintf("at least %d used ingredients are asked for, and their least amounts sum to %s", b.lo, b.shareText(all.min))}
	}
	if sum := b.totalTally.min; sum > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: sum, limit: total,
			text: fmt.Sprintf("the least amounts of the groups and the required ingredients sum to %s", b.shareText(sum))}
	}
	return nil
}

// requiredMinimaCause returns the cause that the least amounts of the required ingredients exceed the
// total. Its fixes lower these amounts, or no longer require some of the ingredients.
func (b *bounds) requiredMinimaCause(required []int, sum int) *cause {
	total := b.space.Total
	least := func(i int) int { return b.amount[i].Lo }
	c := &cause{kind: MinimaAbove, ingredients: required, sum: sum, limit: total}
	if len(required) == 1 {
		i := required[0]
		c.text = fmt.Sprintf("%s is required and takes at least %s", b.set.NameOf(i), b.shareText(sum))
	} else {
		c.text = fmt.Sprintf("the least amounts of the %d required ingredients sum to %s", len(required), b.shareText(sum))
	}
	large := slices.Clone(required)
	slices.SortStableFunc(large, func(i, j int) int { return least(j) - least(i) })

	c.fixes = append(c.fixes, fix{
		text:   fmt.Sprintf("lower them by %d in all (%s of the total)", sum-total, percent(sum-total, total)),
		amount: sum - total,
		apply: func(s *question) {
			s.overrides = append(slices.Clone(s.overrides), func(c *constraint.Conditions) { lowerMinima(c, large, sum-total) })
		},
	})
	left, drop := sum, 0
	for left > total {
		left -= least(large[drop])
		drop++
	}
	text := "do not require " + b.set.joinNames(large[:drop])
	c.fixes = append(c.fixes, fix{text: text, apply: func(s *question) {
		s.Rules = slices.Clone(s.Rules)
		for k, r := range s.Rules {
			if _, ok := r.(rule.Require); ok {
				s.Rules[k] = withoutIngredients(r, large[:drop]...)
			}
		}
	}})
	return c
}

// lowerMinima lowers the least amounts of the ingredients in of by a total of by units, beginning with the first.
func lowerMinima(c *constraint.Conditions, of []int, by int) {
	for _, i := range of {
		a := &c.Amounts[i]
		d := constraint.AmountSetOf(*a, c.Total)
		steps := min((by+d.Step-1)/d.Step, (d.Lo-1)/d.Step)
		a.Min -= steps * d.Step
		by -= min(by, steps*d.Step)
	}
}

// findMaxima finds that the ingredients that may be used cannot add up to the total.
func (b *bounds) findMaxima() *cause {
	total := b.space.Total
	all := b.takeCensus(b.allIngredients(), b.lo, b.hi)
	if all.max < total {
		which := "all ingredients that may be used"
		if b.hi < len(all.usable) {
			which = fmt.Sprintf("the largest %d ingredients", b.hi)
		}
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: all.max, limit: total,
			text: fmt.Sprintf("the greatest amounts of %s sum to %s", which, b.shareText(all.max))}
	}
	if sum := b.totalTally.max; sum < total {
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: sum, limit: total,
			text: fmt.Sprintf("the greatest amounts of the groups and the other ingredients sum to %s", b.shareText(sum))}
	}
	return nil
}

// findSteps finds that all amounts are multiples of a number that does not divide the total.
func (b *bounds) findSteps() *cause {
	unit := 0
	for _, k := range b.amount {
		if k.N > 0 {
			unit = portable.GCD(unit, k.Lo)
		}
		if k.N > 1 {
			unit = portable.GCD(unit, k.Step)
		}
	}
	if unit > 1 && b.space.Total%unit != 0 {
		return &cause{kind: Steps, sum: unit, limit: b.space.Total,
			text: fmt.Sprintf("all amounts are multiples of %d, and the total of %d is not", unit, b.space.Total)}
	}
	return nil
}

func (b *bounds) shareText(sum int) string {
	return fmt.Sprintf("%d of a total of %d (%s)", sum, b.space.Total, percent(sum, b.space.Total))
}

// percent writes a sum of amounts as a percentage of the total, to three significant figures. It writes
// more figures if they are needed to distinguish units.
func percent(part, whole int) string {
	share := 100 * float64(part) / float64(whole)
	if share >= 100 {
		return fmt.Sprintf("%.0f %%", share)
	}
	a := number.Percentages(whole)
	digits := 0
	for top := 100.0; share > 0 && share < top; top /= 10 {
		digits++
	}
	a.MinDigits = max(a.MinDigits, digits)
	return number.Trim(a.Write([]int{part})[0]) + " %"
}
