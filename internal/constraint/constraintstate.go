package constraint

import (
	"kir/internal/constraint/count"
	"kir/rule"
)

// A ConstraintState holds the values of all groups and sums for one composition. Parts are added to the
// composition, or removed from the composition, one part at a time, and the values are updated.
type ConstraintState struct {
	*Conditions
	UsedMembers, GroupUnits []int   // item g is the number of used members of group g, or the number of units that the used members take
	SumValues               []int64 // item k is the value of the sum with index k
	IsUsed                  []bool  // item i tells whether ingredient i is used

	violatedCount      int // number of groups and sums that are violated
	exceededGroupCount int // number of groups above their maximum; adding further parts cannot repair such a group
	checkCount         int // number of checks of groups, sums and dependences made so far, as a measure of work
}

// NewConstraintState returns the state of a composition without parts.
func NewConstraintState(c *Conditions) *ConstraintState {
	return &ConstraintState{
		Conditions:  c,
		UsedMembers: make([]int, len(c.Groups)), GroupUnits: make([]int, len(c.Groups)), SumValues: make([]int64, len(c.Sums)),
		IsUsed:        make([]bool, len(c.Amounts)),
		violatedCount: len(c.IdleGroups) + len(c.IdleSums),
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
		was, wasOver := groupAllows(group, l.UsedMembers[g], l.GroupUnits[g]), exceedsGroupMaximum(group, l.UsedMembers[g], l.GroupUnits[g])
		l.UsedMembers[g] += sign
		l.GroupUnits[g] += sign * p.Amount
		l.violatedCount += violatedChange(was, groupAllows(group, l.UsedMembers[g], l.GroupUnits[g]))
		l.exceededGroupCount -= violatedChange(wasOver, exceedsGroupMaximum(group, l.UsedMembers[g], l.GroupUnits[g]))
	}
	for _, k := range l.SumsOf[p.Ingredient] {
		s := &l.Sums[k]
		was := s.contains(l.SumValues[k])
		l.SumValues[k] += int64(sign) * s.Term(p.Ingredient).ValueAt(p.Amount)
		l.violatedCount += violatedChange(was, s.contains(l.SumValues[k]))
	}
	l.checkCount += len(l.GroupsOf[p.Ingredient]) + len(l.SumsOf[p.Ingredient])
}

// exceedsGroupMaximum reports whether a composition exceeds a maximum of the group g. The parameter used is the number
// of members that the composition uses, and total is the number of units that the members take together.
func exceedsGroupMaximum(g *count.Group, used, total int) bool {
	return g.Used != nil && used > g.Used.Max || g.Total != nil && total > g.Total.Max
}

// violatedChange returns by how much the number of violated conditions changes, when a condition is kept or not
// before a change of the composition and kept or not after the change. The result is 1, 0 or −1.
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
	if l.violatedCount > 0 {
		return false
	}
	for _, p := range parts {
		for _, k := range l.DependencesOf[p.Ingredient] {
			l.checkCount++
			if !l.Dependences[k].IsMet(func(i int) bool { return l.IsUsed[i] }) {
				return false
			}
		}
	}
	return true
}
