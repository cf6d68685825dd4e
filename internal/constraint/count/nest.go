package count

import (
	"cmp"
	"slices"
)

// A NestedGroup is a group that may lie in another group. Index is the index of the group in Space.Groups. Parent
// is the index of the smallest group that contains the group, or −1 if no group does.
type NestedGroup struct{ Index, Parent int }

// NestGroups returns how the groups of the space nest. Item i of inner is the index of the smallest group that
// contains ingredient i, or −1. The slice groups holds the groups that have a limit, in an order in which each
// group comes after the groups that contain it. Ingredients that no composition can use belong to no group. The
// result ok is false if two groups cross, that is, overlap without one containing the other.
func (s Space) NestGroups() (inner []int, groups []NestedGroup, ok bool) {
	return nestGroups(s, s.usable)
}

// nestGroups does the work of [Space.NestGroups]. The function usable tells which ingredients compositions can
// use.
func nestGroups(s Space, usable func(i int) bool) (inner []int, groups []NestedGroup, ok bool) {
	members := make([][]int, len(s.Groups))
	for g, group := range s.Groups {
		if group.Used != nil || group.Total != nil {
			groups = append(groups, NestedGroup{g, -1})
			members[g] = slices.DeleteFunc(slices.Clone(group.Members), func(i int) bool { return !usable(i) })
		}
	}
	slices.SortStableFunc(groups, func(a, b NestedGroup) int {
		return cmp.Compare(len(members[b.Index]), len(members[a.Index]))
	})
	inner = make([]int, len(s.Ingredients))
	for i := range inner {
		inner[i] = -1
	}
	for n := range groups {
		g := &groups[n]
		for t, i := range members[g.Index] {
			switch {
			case t == 0:
				g.Parent = inner[i]
			case inner[i] != g.Parent:
				return nil, nil, false
			}
		}
		for _, i := range members[g.Index] {
			inner[i] = g.Index
		}
	}
	return inner, groups, true
}

// CompatibleGroups divides the groups into kept and rest, given as increasing indices. The kept groups can be
// counted together exactly, because any two are disjoint or nested. CompatibleGroups goes through the groups in
// order and keeps a group if the group is disjoint from or nested with the groups kept before. A space whose
// groups cross can be measured by draws from the space with only the kept groups: the fraction of the draws that
// satisfy the rest.
func (s Space) CompatibleGroups() (kept, rest []int) {
	holders := make(map[int][]int) // for each ingredient: the kept groups that contain the ingredient
	size := make([]int, len(s.Groups))
	for g, group := range s.Groups {
		if group.Used == nil && group.Total == nil {
			kept = append(kept, g)
			continue
		}
		common := make(map[int]int)
		for _, i := range group.Members {
			if s.usable(i) {
				size[g]++
				for _, h := range holders[i] {
					common[h]++
				}
			}
		}
		fits := true
		for h, n := range common {
			fits = fits && (n == size[g] || n == size[h])
		}
		if !fits {
			rest = append(rest, g)
			continue
		}
		kept = append(kept, g)
		for _, i := range group.Members {
			if s.usable(i) {
				holders[i] = append(holders[i], g)
			}
		}
	}
	return kept, rest
}

// usable reports whether the limits on amounts leave ingredient i at least one amount.
func (s Space) usable(i int) bool {
	return i >= 0 && i < len(s.Ingredients) && !s.Ingredients[i].Excluded && s.Ingredients[i].amountSet(s.Total).n > 0
}
