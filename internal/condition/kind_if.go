package condition

import (
	"kir/rule"
)

type ifRule rule.If

func (r ifRule) conditions(c *Conditions) {
	write := func() { c.add(r.Then) }
	for _, g := range []guard{{of: r.Used}, {of: r.Unused, unused: true}} {
		if len(g.of) > 0 {
			g.of = total(g.of, 1).ingredients()
			inner := write
			write = func() { c.under(g, inner) }
		}
	}
	write()
}

// slacks has nothing to say where the condition does not hold.
func (r ifRule) slacks(parts []rule.Part, total int) []Slack {
	if len(r.Used) > 0 && usedOf(parts, r.Used) == 0 || usedOf(parts, r.Unused) > 0 {
		return nil
	}
	return Slacks(r.Then, parts, total)
}
