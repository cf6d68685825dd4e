package condition

import (
	"kir/internal/count"
	"kir/rule"
)

// A ConstraintState has what the parts of a composition come to in groups and sums while
// they are put in and taken out one at a time.
type ConstraintState struct {
	*Conditions
	Used, Totals []int   // by group
	SumValues    []int64 // by sum: what it comes to
	IsUsed       []bool  // by ingredient: whether it is used

	broken   int // groups and sums that do not hold
	exceeded int // those that are beyond their greatest, which no further part mends
	work     int // how many of them were looked at
}

// NewConstraintState returns a ledger without parts.
func NewConstraintState(c *Conditions) *ConstraintState {
	return &ConstraintState{
		Conditions: c,
		Used:       make([]int, len(c.Groups)), Totals: make([]int, len(c.Groups)), SumValues: make([]int64, len(c.Sums)),
		IsUsed: make([]bool, len(c.Amounts)),
		broken: len(c.IdleGroups) + len(c.IdleSums),
	}
}

// Add adds a part.
func (l *ConstraintState) Add(p rule.Part) { l.change(p, 1) }

// Remove removes a part that was put.
func (l *ConstraintState) Remove(p rule.Part) { l.change(p, -1) }

func (l *ConstraintState) change(p rule.Part, sign int) {
	l.IsUsed[p.Ingredient] = sign > 0
	for _, g := range l.GroupsOf[p.Ingredient] {
		group := &l.Groups[g]
		was, wasOver := groupAllows(group, l.Used[g], l.Totals[g]), exceedsGroup(group, l.Used[g], l.Totals[g])
		l.Used[g] += sign
		l.Totals[g] += sign * p.Amount
		l.broken += brokenChange(was, groupAllows(group, l.Used[g], l.Totals[g]))
		l.exceeded -= brokenChange(wasOver, exceedsGroup(group, l.Used[g], l.Totals[g]))
	}
	for _, k := range l.SumsOf[p.Ingredient] {
		s := &l.Sums[k]
		was := s.contains(l.SumValues[k])
		l.SumValues[k] += int64(sign) * s.Term(p.Ingredient).At(p.Amount)
		l.broken += brokenChange(was, s.contains(l.SumValues[k]))
	}
	l.work += len(l.GroupsOf[p.Ingredient]) + len(l.SumsOf[p.Ingredient])
}

// exceedsGroup says whether a group has more than it may.
func exceedsGroup(g *count.Group, used, total int) bool {
	return g.Used != nil && used > g.Used.Max || g.Total != nil && total > g.Total.Max
}

// brokenChange is how the number of what does not hold changes.
func brokenChange(before, after bool) int {
	switch {
	case before && !after:
		return 1
	case after && !before:
		return -1
	}
	return 0
}

// IsSatisfied says whether parts, which are those put, keep all groups, sums and needs.
func (l *ConstraintState) IsSatisfied(parts []rule.Part) bool {
	if l.broken > 0 {
		return false
	}
	for _, p := range parts {
		for _, k := range l.NeedsOf[p.Ingredient] {
			l.work++
			if !l.Needs[k].IsMet(func(i int) bool { return l.IsUsed[i] }) {
				return false
			}
		}
	}
	return true
}
