package count

import (
	"cmp"
	"slices"
)

// A Nested is a group that may lie in another. Index is its index in Space.Groups, and Within that of the smallest
// group that contains it, or −1.
type Nested struct{ Index, Within int }

// NestGroups returns inner, the index of the smallest group that contains each ingredient, or −1. It also returns the
// groups that limit something, each after those that contain it. Ingredients that no composition can use belong to no
// group. ok is false if two groups cross, that is, overlap without one containing the other.
func (s Space) NestGroups() (inner []int, groups []Nested, ok bool) { return nest(s, s.usable) }

// nest is [Space.NestGroups] with the usable ingredients given by a function.
func nest(s Space, usable func(i int) bool) (inner []int, groups []Nested, ok bool) {
	members := make([][]int, len(s.Groups))
	for g, group := range s.Groups {
		if group.Used != nil || group.Total != nil {
			groups = append(groups, Nested{g, -1})
			members[g] = slices.DeleteFunc(slices.Clone(group.Members), func(i int) bool { return !usable(i) })
		}
	}
	slices.SortStableFunc(groups, func(a, b Nested) int {
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
				g.Within = inner[i]
			case inner[i] != g.Within:
				return nil, nil, false
			}
		}
		for _, i := range members[g.Index] {
			inner[i] = g.Index
		}
	}
	return inner, groups, true
}

// CompatibleGroups returns the indices of the groups that can be counted together exactly, because each two are
// disjoint or nested, and of the rest. Each group is kept if it fits those kept before. Both lists are increasing. A
// space whose groups overlap can be measured by draws from the space with the kept groups: the fraction of draws that
// satisfy the rest.
func (s Space) CompatibleGroups() (kept, rest []int) {
	holders := make(map[int][]int) // for each ingredient: the kept groups that contain it
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

// usable reports whether any composition within the amounts' limits can use ingredient i.
func (s Space) usable(i int) bool {
	return i >= 0 && i < len(s.Ingredients) && !s.Ingredients[i].Excluded && s.Ingredients[i].amountSet(s.Total).n > 0
}
