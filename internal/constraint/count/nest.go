package count

import (
	"cmp"
	"slices"
)

// A Nested group is given by its index and by that of the smallest group that contains it, or -1.
type Nested struct{ Index, Within int }

// Nest finds for each ingredient the smallest group that contains it, or -1. It lists the groups
// that limit anything, each after those that contain it. Ingredients that cannot be used belong to
// no group. ok is false if two groups cross.
func (s Space) Nest() (inner []int, groups []Nested, ok bool) { return nest(s, s.usable) }

// nest is [Space.Nest] for the ingredients that are usable according to a function.
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

// Disjoint divides the space's groups into those that can be counted together, because each two of
// them are disjoint or nested, and the rest. It keeps a group if it is compatible with those kept
// before it, and returns indexes in increasing order. A space with overlapping groups can be
// measured by draws from the [Space] of the groups kept: the share of draws that keep the other
// groups.
func (s Space) Disjoint() (kept, rest []int) {
	holders := make(map[int][]int) // by ingredient: the kept groups that contain it
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

// usable reports whether ingredient i may take some amount.
func (s Space) usable(i int) bool {
	return i >= 0 && i < len(s.Ingredients) && !s.Ingredients[i].Excluded && s.Ingredients[i].amountSet(s.Total).n > 0
}
