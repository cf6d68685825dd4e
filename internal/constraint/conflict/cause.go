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

// A cause is a common reason why rules conflict, such as "the least amounts add up to more than the total". A
// cause follows from the bounds of the rules by arithmetic.
type cause struct {
	kind        Kind   // type of the cause
	ingredients []int  // indices of the ingredients concerned
	sum, limit  int    // sum is the number that violates a limit, such as a sum of least amounts, and limit is the violated limit
	text        string // the cause as a sentence without its full stop
	fixes       []fix  // changes of the rules that remove the cause
}

// A fix is a change of a set of rules that removes a cause.
type fix struct {
	text  string          // description of the change
	units int             // number of units by which the change lowers amounts in total; 0 if the change is not a change of amounts
	apply func(*question) // applies the change to a set of rules
}

// ruleBounds holds the limits that a set of rules puts on amounts, groups and numbers of used ingredients. The
// function findCause looks for causes in these limits.
type ruleBounds struct {
	question         question               // the set of rules
	space            count.Space            // total, amounts and groups of the rules
	amountSets       []constraint.AmountSet // item i holds the amounts that ingredient i may have when used; empty if ingredient i cannot be used
	groupRules       []int                  // item g is the index of the rule that made group g
	minUsed, maxUsed int                    // least and greatest permitted number of used ingredients

	groupTallies []tally // item g bounds the use of the members of group g, given the limits of the group and of the groups within the group
	totalTally   tally   // bounds of the use of all ingredients together
}

// findCause returns the first common [cause] of the conflict in the rules of s that findCause can find, or nil.
func findCause(s question) *cause {
	c, err := s.conditions()
	if err != nil {
		return nil
	}
	b := &ruleBounds{question: s, amountSets: make([]constraint.AmountSet, s.Ingredients), groupRules: c.GroupRules, minUsed: 1, maxUsed: min(s.Ingredients, s.Total)}
	b.space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	for i, a := range c.Amounts {
		if !a.Excluded {
			b.amountSets[i] = constraint.AmountSetOf(a, c.Total)
		}
	}
	if s.Used != nil {
		sizes := s.usedCounts()
		if len(sizes) == 0 {
			return &cause{kind: UsedCount, limit: b.maxUsed,
				text: fmt.Sprintf("no number of used ingredients from 1 to %d is asked for", b.maxUsed)}
		}
		b.minUsed, b.maxUsed = sizes[0], sizes[len(sizes)-1]
	}
	if !b.fillTallies() {
		return nil
	}
	for _, find := range []func() *cause{b.findUnusableCause, b.findGroupUsedCause, b.findGroupTotalCause, b.findUsedCountCause, b.findMinimaCause, b.findMaximaCause, b.findStepsCause} {
		if c := find(); c != nil {
			return c
		}
	}
	return nil
}

// findUnusableCause returns the cause that a required ingredient cannot be used, or that no ingredient can be used.
// The cause is nil if neither is true.
func (b *ruleBounds) findUnusableCause() *cause {
	any := false
	for i, k := range b.amountSets {
		any = any || k.Count > 0
		if k.Count > 0 || !b.space.Ingredients[i].Required {
			continue
		}
		c := &cause{kind: Unusable, ingredients: []int{i}, text: b.question.NameOf(i) + " is required, and its rules leave it no amount"}
		for _, r := range b.question.Rules {
			if e, ok := r.(rule.Exclude); ok && slices.Contains(e.Of, i) {
				c.text = b.question.NameOf(i) + " is both required and excluded"
			}
		}
		return c
	}
	if !any {
		return &cause{kind: Unusable, text: "no ingredient is left that may be used"}
	}
	return nil
}

// findGroupUsedCause returns the cause that the number of used members of a group cannot satisfy the limits of the
// group. The cause is nil if every group can satisfy its limits.
func (b *ruleBounds) findGroupUsedCause() *cause {
	for g, n := range b.groupRules {
		used, _, c := b.censusOfGroup(g)
		switch {
		case used.Min > len(c.usable):
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: len(c.usable), limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and only %d of its ingredients can be", b.question.TextOf(n), used.Min, len(c.usable))}
		case len(c.required) > used.Max:
			are := "are"
			if len(c.required) == 1 {
				are = "is"
			}
			return &cause{kind: GroupUsed, ingredients: c.required, sum: len(c.required), limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and %d %s required: %s", b.question.TextOf(n), used.Max, len(c.required), are, b.question.joinNames(c.required))}
		case b.groupTallies[g].maxUsed < used.Min:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.groupTallies[g].maxUsed, limit: used.Min,
				text: fmt.Sprintf("%s asks for at least %d used, and the groups within it allow at most %d", b.question.TextOf(n), used.Min, b.groupTallies[g].maxUsed)}
		case b.groupTallies[g].minUsed > used.Max:
			return &cause{kind: GroupUsed, ingredients: b.space.Groups[g].Members, sum: b.groupTallies[g].minUsed, limit: used.Max,
				text: fmt.Sprintf("%s allows at most %d used, and the groups within it ask for at least %d", b.question.TextOf(n), used.Max, b.groupTallies[g].minUsed)}
		}
	}
	return nil
}

// findGroupTotalCause returns the cause that the members of a group cannot add up to the units that the group must
// have. The cause is nil if the members of every group can add up to these units.
func (b *ruleBounds) findGroupTotalCause() *cause {
	for g, n := range b.groupRules {
		used, total, c := b.censusOfGroup(g)
		members := b.space.Groups[g].Members
		at := func(sum, limit int, text string) *cause {
			return &cause{kind: GroupTotal, ingredients: members, sum: sum, limit: limit, text: text}
		}
		switch {
		case total.Min > b.space.Total:
			return at(total.Min, b.space.Total, fmt.Sprintf("%s asks for at least %d of a total of %d", b.question.TextOf(n), total.Min, b.space.Total))
		case c.minUnits > total.Max:
			return at(c.minUnits, total.Max, fmt.Sprintf("%s allows at most %d together, and the least amounts of those that have to be used sum to %d", b.question.TextOf(n), total.Max, c.minUnits))
		case c.maxUnits < total.Min:
			most := ""
			if used.Max < len(c.usable) {
				most = fmt.Sprintf("%d ", used.Max)
			}
			return at(c.maxUnits, total.Min, fmt.Sprintf("%s asks for at least %d together, and the greatest amounts of the %sthat may be used sum to %d", b.question.TextOf(n), total.Min, most, c.maxUnits))
		case b.groupTallies[g].minUnits > total.Max:
			return at(b.groupTallies[g].minUnits, total.Max, fmt.Sprintf("%s allows at most %d together, and the groups within it take at least %d", b.question.TextOf(n), total.Max, b.groupTallies[g].minUnits))
		case b.groupTallies[g].maxUnits < total.Min:
			return at(b.groupTallies[g].maxUnits, total.Min, fmt.Sprintf("%s asks for at least %d together, and the groups within it allow at most %d", b.question.TextOf(n), total.Min, b.groupTallies[g].maxUnits))
		}
	}
	return nil
}

// findUsedCountCause returns the cause that the other rules contradict the permitted numbers of used ingredients: the
// other rules require more used ingredients than permitted, or allow fewer. The cause is nil if there is no
// contradiction.
func (b *ruleBounds) findUsedCountCause() *cause {
	must, can := b.totalTally.minUsed, b.totalTally.maxUsed
	all := b.takeCensus(b.allIngredients(), 0, b.maxUsed)
	switch {
	case must > b.maxUsed:
		out := &cause{kind: UsedCount, ingredients: all.required, sum: must, limit: b.maxUsed}
		what := fmt.Sprintf("%d ingredients have to be used", must)
		if must == len(all.required) {
			what = fmt.Sprintf("%d ingredients are required", must)
		}
		if b.question.Used == nil || b.maxUsed == b.space.Total {
			out.text = fmt.Sprintf("%s, and a total of %d units is enough for %d", what, b.space.Total, b.maxUsed)
		} else {
			out.text = fmt.Sprintf("%s, and at most %d used are asked for", what, b.maxUsed)
		}
		return out
	case can < b.minUsed:
		return &cause{kind: UsedCount, sum: can, limit: b.minUsed,
			text: fmt.Sprintf("at least %d used ingredients are asked for, and the rules allow at most %d", b.minUsed, can)}
	}
	return nil
}

// findMinimaCause returns the cause that the least amounts of the ingredients that must be used exceed the total. The
// cause is nil if the least amounts fit in the total.
func (b *ruleBounds) findMinimaCause() *cause {
	total := b.space.Total
	all := b.takeCensus(b.allIngredients(), b.minUsed, b.maxUsed)
	if sum := b.takeCensus(all.required, 0, 0).minUnits; sum > total {
		return b.requiredMinimaCause(all.required, sum)
	}
	if all.minUnits > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: all.minUnits, limit: total,
			text: fmt.Sprintf("at least %d used ingredients are asked for, and their least amounts sum to %s", b.minUsed, b.shareText(all.minUnits))}
	}
	if sum := b.totalTally.minUnits; sum > total {
		return &cause{kind: MinimaAbove, ingredients: all.required, sum: sum, limit: total,
			text: fmt.Sprintf("the least amounts of the groups and the required ingredients sum to %s", b.shareText(sum))}
	}
	return nil
}

// requiredMinimaCause returns the cause that the least amounts of the required ingredients, which add up to sum,
// exceed the total. The cause has two fixes: one fix lowers the least amounts, and the other fix makes some of
// the ingredients optional.
func (b *ruleBounds) requiredMinimaCause(required []int, sum int) *cause {
	total := b.space.Total
	least := func(i int) int { return b.amountSets[i].Lo }
	c := &cause{kind: MinimaAbove, ingredients: required, sum: sum, limit: total}
	if len(required) == 1 {
		i := required[0]
		c.text = fmt.Sprintf("%s is required and takes at least %s", b.question.NameOf(i), b.shareText(sum))
	} else {
		c.text = fmt.Sprintf("the least amounts of the %d required ingredients sum to %s", len(required), b.shareText(sum))
	}
	large := slices.Clone(required)
	slices.SortStableFunc(large, func(i, j int) int { return least(j) - least(i) })

	c.fixes = append(c.fixes, fix{
		text:  fmt.Sprintf("lower them by %d in all (%s of the total)", sum-total, percentText(sum-total, total)),
		units: sum - total,
		apply: func(s *question) {
			s.conditionChanges = append(slices.Clone(s.conditionChanges), func(c *constraint.Conditions) { lowerMinima(c, large, sum-total) })
		},
	})
	left, drop := sum, 0
	for left > total {
		left -= least(large[drop])
		drop++
	}
	text := "do not require " + b.question.joinNames(large[:drop])
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

// lowerMinima lowers the least amounts of the given ingredients until the reductions add up to at least by units,
// if possible. The first ingredient is lowered first, and every least amount is lowered by whole steps.
func lowerMinima(c *constraint.Conditions, ingredients []int, by int) {
	for _, i := range ingredients {
		a := &c.Amounts[i]
		d := constraint.AmountSetOf(*a, c.Total)
		steps := min((by+d.Step-1)/d.Step, (d.Lo-1)/d.Step)
		a.Min -= steps * d.Step
		by -= min(by, steps*d.Step)
	}
}

// findMaximaCause returns the cause that the greatest amounts of the ingredients that may be used add up to less than
// the total. The cause is nil if the greatest amounts reach the total.
func (b *ruleBounds) findMaximaCause() *cause {
	total := b.space.Total
	all := b.takeCensus(b.allIngredients(), b.minUsed, b.maxUsed)
	if all.maxUnits < total {
		which := "all ingredients that may be used"
		if b.maxUsed < len(all.usable) {
			which = fmt.Sprintf("the largest %d ingredients", b.maxUsed)
		}
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: all.maxUnits, limit: total,
			text: fmt.Sprintf("the greatest amounts of %s sum to %s", which, b.shareText(all.maxUnits))}
	}
	if sum := b.totalTally.maxUnits; sum < total {
		return &cause{kind: MaximaBelow, ingredients: all.usable, sum: sum, limit: total,
			text: fmt.Sprintf("the greatest amounts of the groups and the other ingredients sum to %s", b.shareText(sum))}
	}
	return nil
}

// findStepsCause returns the cause that all amounts are multiples of a number that does not divide the total. The
// cause is nil if all amounts have no such common divisor.
func (b *ruleBounds) findStepsCause() *cause {
	unit := 0
	for _, k := range b.amountSets {
		if k.Count > 0 {
			unit = portable.GCD(unit, k.Lo)
		}
		if k.Count > 1 {
			unit = portable.GCD(unit, k.Step)
		}
	}
	if unit > 1 && b.space.Total%unit != 0 {
		return &cause{kind: Steps, sum: unit, limit: b.space.Total,
			text: fmt.Sprintf("all amounts are multiples of %d, and the total of %d is not", unit, b.space.Total)}
	}
	return nil
}

func (b *ruleBounds) shareText(sum int) string {
	return fmt.Sprintf("%d of a total of %d (%s)", sum, b.space.Total, percentText(sum, b.space.Total))
}

// percentText writes a sum of amounts as a percentage of the total, to three significant figures. The text has
// more figures if more are needed to distinguish neighbouring whole units.
func percentText(part, whole int) string {
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
