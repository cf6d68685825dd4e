package condition

import (
	"kir/internal/count"
	"kir/rule"
)

// A Ledger has what the parts of a composition come to in groups and sums while
// they are put in and taken out one at a time.
type Ledger struct {
	*Conditions
	Used, Totals []int   // by group
	Comes        []int64 // by sum: what it comes to
	Has          []bool  // by ingredient: whether it is used

	broken int // groups and sums that do not hold
	over   int // those that are beyond their greatest, which no further part mends
	work   int // how many of them were looked at
}

// NewLedger returns a ledger without parts.
func NewLedger(c *Conditions) *Ledger {
	return &Ledger{
		Conditions: c,
		Used:       make([]int, len(c.Groups)), Totals: make([]int, len(c.Groups)), Comes: make([]int64, len(c.Sums)),
		Has:    make([]bool, len(c.Amounts)),
		broken: len(c.IdleGroups) + len(c.IdleSums),
	}
}

// Put adds a part.
func (l *Ledger) Put(p rule.Part) { l.change(p, 1) }

// Take removes a part that was put.
func (l *Ledger) Take(p rule.Part) { l.change(p, -1) }

func (l *Ledger) change(p rule.Part, sign int) {
	l.Has[p.Ingredient] = sign > 0
	for _, g := range l.GroupsOf[p.Ingredient] {
		group := &l.Groups[g]
		was, wasOver := allows(group, l.Used[g], l.Totals[g]), beyond(group, l.Used[g], l.Totals[g])
		l.Used[g] += sign
		l.Totals[g] += sign * p.Amount
		l.broken += turned(was, allows(group, l.Used[g], l.Totals[g]))
		l.over -= turned(wasOver, beyond(group, l.Used[g], l.Totals[g]))
	}
	for _, k := range l.SumsOf[p.Ingredient] {
		s := &l.Sums[k]
		was := s.contains(l.Comes[k])
		l.Comes[k] += int64(sign) * s.Term(p.Ingredient).At(p.Amount)
		l.broken += turned(was, s.contains(l.Comes[k]))
	}
	l.work += len(l.GroupsOf[p.Ingredient]) + len(l.SumsOf[p.Ingredient])
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

// Holds says whether parts, which are those put, keep all groups, sums and needs.
func (l *Ledger) Holds(parts []rule.Part) bool {
	if l.broken > 0 {
		return false
	}
	for _, p := range parts {
		for _, k := range l.NeedsOf[p.Ingredient] {
			l.work++
			if !l.Needs[k].Kept(func(i int) bool { return l.Has[i] }) {
				return false
			}
		}
	}
	return true
}
