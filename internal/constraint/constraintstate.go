package constraint

import (
	"kir/internal/constraint/count"
	"kir/rule"
)

// A ConstraintState tracks the values of all groups and sums while parts are added to a composition or
// removed one at a time.
type ConstraintState struct {
	*Conditions
	Used, Totals []int   // for each group: number of used members, and their units
	SumValues    []int64 // value of each sum
	IsUsed       []bool  // whether each ingredient is used

	broken   int // number of groups and sums that are violated
	exceeded int // number of groups and sums above their maximum, which no further part can repair
	work     int // number of checks of groups and sums so far
}

// NewConstraintState returns the state of a composition without parts.
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

// Remove removes a part that was added.
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

// exceedsGroup reports whether a group is above its maximum.
func exceedsGroup(g *count.Group, used, total int) bool {
	return g.Used != nil && used > g.Used.Max || g.Total != nil && total > g.Total.Max
}

// brokenChange returns the change of the number of violated conditions: 1, 0 or −1.
func brokenChange(before, after bool) int {
	switch {
	case before && !after:
		return 1
	case after && !before:
		return -1
	}
	return 0
}

// IsSatisfied reports whether the composition keeps all groups, sums and dependences. parts must be all parts that
// were added.
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
