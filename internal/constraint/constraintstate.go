package constraint

import (
	"kir/internal/constraint/count"
	"kir/rule"
)

// A ConstraintState tracks the values of all groups and sums while parts are added to a composition, or removed
// from the composition, one part at a time.
type ConstraintState struct {
	*Conditions
	UsedMembers, GroupUnits []int   // for each group: number of used members, and units of the used members
	SumValues               []int64 // for each sum: value of the sum
	IsUsed                  []bool  // for each ingredient: whether the ingredient is used

	violated       int // number of groups and sums that are violated
	groupsExceeded int // number of groups above their maximum, which no further part can repair
	checks         int // number of checks of groups, sums and dependences so far
}

// NewConstraintState returns the state of a composition without parts.
func NewConstraintState(c *Conditions) *ConstraintState {
	return &ConstraintState{
		Conditions:  c,
		UsedMembers: make([]int, len(c.Groups)), GroupUnits: make([]int, len(c.Groups)), SumValues: make([]int64, len(c.Sums)),
		IsUsed:   make([]bool, len(c.Amounts)),
		violated: len(c.IdleGroups) + len(c.IdleSums),
	}
}

// Add adds the part p to the composition.
func (l *ConstraintState) Add(p rule.Part) { l.addOrRemove(p, 1) }

// Remove removes the part p, which was added before, from the composition.
func (l *ConstraintState) Remove(p rule.Part) { l.addOrRemove(p, -1) }

func (l *ConstraintState) addOrRemove(p rule.Part, sign int) {
	l.IsUsed[p.Ingredient] = sign > 0
	for _, g := range l.GroupsOf[p.Ingredient] {
		group := &l.Groups[g]
		was, wasOver := groupAllows(group, l.UsedMembers[g], l.GroupUnits[g]), exceedsGroup(group, l.UsedMembers[g], l.GroupUnits[g])
		l.UsedMembers[g] += sign
		l.GroupUnits[g] += sign * p.Amount
		l.violated += violatedChange(was, groupAllows(group, l.UsedMembers[g], l.GroupUnits[g]))
		l.groupsExceeded -= violatedChange(wasOver, exceedsGroup(group, l.UsedMembers[g], l.GroupUnits[g]))
	}
	for _, k := range l.SumsOf[p.Ingredient] {
		s := &l.Sums[k]
		was := s.contains(l.SumValues[k])
		l.SumValues[k] += int64(sign) * s.Term(p.Ingredient).ValueAt(p.Amount)
		l.violated += violatedChange(was, s.contains(l.SumValues[k]))
	}
	l.checks += len(l.GroupsOf[p.Ingredient]) + len(l.SumsOf[p.Ingredient])
}

// exceedsGroup reports whether a group is above a maximum, if the number of used members is used and the units
// of the members are total.
func exceedsGroup(g *count.Group, used, total int) bool {
	return g.Used != nil && used > g.Used.Max || g.Total != nil && total > g.Total.Max
}

// violatedChange returns the change of the number of violated conditions: 1, 0 or −1. The parameters before and
// after tell whether the condition is kept before and after a part is added or removed.
func violatedChange(before, after bool) int {
	switch {
	case before && !after:
		return 1
	case after && !before:
		return -1
	}
	return 0
}

// IsSatisfied reports whether the composition keeps all groups, sums and dependences. The parts must be all
// parts of the composition.
func (l *ConstraintState) IsSatisfied(parts []rule.Part) bool {
	if l.violated > 0 {
		return false
	}
	for _, p := range parts {
		for _, k := range l.DependencesOf[p.Ingredient] {
			l.checks++
			if !l.Dependences[k].IsMet(func(i int) bool { return l.IsUsed[i] }) {
				return false
			}
		}
	}
	return true
}
