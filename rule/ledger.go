package rule

import "kir/internal/count"

// A ledger has what the parts of a composition come to in groups and sums while
// they are put in and taken out one at a time.
type ledger struct {
	*Conditions
	used, total []int // by group
	sums        []int64
	has         []bool // by ingredient

	broken int // groups and sums that do not hold
	over   int // those that are beyond their greatest, which no further part mends
	work   int // how many of them were looked at
}

func newLedger(c *Conditions) *ledger {
	return &ledger{
		Conditions: c,
		used:       make([]int, len(c.Groups)), total: make([]int, len(c.Groups)), sums: make([]int64, len(c.Sums)),
		has:    make([]bool, len(c.Amounts)),
		broken: len(c.idleGroups) + len(c.idleSums),
	}
}

// put adds a part.
func (l *ledger) put(p Part) { l.change(p, 1) }

// take removes a part that was put.
func (l *ledger) take(p Part) { l.change(p, -1) }

func (l *ledger) change(p Part, sign int) {
	l.has[p.Ingredient] = sign > 0
	for _, g := range l.GroupsOf[p.Ingredient] {
		group := &l.Groups[g]
		was, wasOver := allows(group, l.used[g], l.total[g]), beyond(group, l.used[g], l.total[g])
		l.used[g] += sign
		l.total[g] += sign * p.Amount
		l.broken += turned(was, allows(group, l.used[g], l.total[g]))
		l.over -= turned(wasOver, beyond(group, l.used[g], l.total[g]))
	}
	for _, k := range l.sumsOf[p.Ingredient] {
		s := &l.Sums[k]
		was := s.contains(l.sums[k])
		l.sums[k] += int64(sign) * s.term(p.Ingredient).At(p.Amount)
		l.broken += turned(was, s.contains(l.sums[k]))
	}
	l.work += len(l.GroupsOf[p.Ingredient]) + len(l.sumsOf[p.Ingredient])
}

// beyond says whether a group has more than it may.
func beyond(g *count.Group, used, total int) bool {
	return g.Used != nil && used > g.Used.Max || g.Total != nil && total > g.Total.Max
}

// turned is how the number of what does not hold changes.
func turned(before, after bool) int {
	switch {
	case before && !after:
		return 1
	case after && !before:
		return -1
	}
	return 0
}

// keeps says whether parts, which are those put, keep all groups, sums and needs.
func (l *ledger) keeps(parts []Part) bool {
	if l.broken > 0 {
		return false
	}
	for _, p := range parts {
		for _, k := range l.needsOf[p.Ingredient] {
			l.work++
			if !l.Needs[k].kept(func(i int) bool { return l.has[i] }) {
				return false
			}
		}
	}
	return true
}
