package conflict

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/constraint"
	"kir/rule"
)

// maxChanges is the greatest number of changes that a Conflict suggests.
const maxChanges = 4

// addChanges looks for changes after which some composition keeps all rules. It first tries the fixes of
// the cause, the least relaxation of each rule in conflict and other numbers of used ingredients. If none
// works it tries to drop a rule, and then a combination of changes.
func (x *explainer) addChanges(c *Conflict, fixes []fix) {
	c.Changes = x.ruleChanges(x.set, c, fixes)
	if len(c.Changes) == 0 {
		c.Changes = x.dropChanges(x.set, c)
	}
	if len(c.Changes) == 0 {
		c.Changes = x.combinedChange(c)
	}
	if len(c.Changes) > maxChanges {
		c.Changes = c.Changes[:maxChanges]
	}
}

// resolvesConflict reports whether it is proven that after change c some composition keeps all rules of s.
func (x *explainer) resolvesConflict(c Change, s question) bool {
	return !x.isOverBudget() && x.ask(c.applyTo(s), true) == satisfiable
}

// ruleChanges returns changes of a single rule in conflict, or of the permitted numbers of ingredients. After each it
// is proven that some composition keeps all rules of s.
func (x *explainer) ruleChanges(s question, c *Conflict, fixes []fix) []Change {
	var out []Change
	try := func(change Change) bool {
		ok := x.resolvesConflict(change, s)
		said := slices.ContainsFunc(out, func(c Change) bool { return c.Text == change.Text })
		if ok && !said {
			out = append(out, change)
		}
		return ok
	}
	for _, f := range fixes {
		try(Change{Rule: -1, By: f.amount, Text: f.text, apply: f.apply})
	}
	for _, k := range c.Rules {
		for _, q := range constraint.Relaxations(s.Rules[k], &s.Set) {
			if x.isOverBudget() {
				break
			}
			notches := x.leastRelaxation(s, k, q)
			if notches == 0 {
				continue
			}
			relaxed := func(notches int) Change {
				return Change{Rule: k, By: notches * q.UnitsPerNotch, Text: q.Text(notches, s.TextOf(k)),
					apply: func(s *question) { s.Rules[k] = q.Relax(notches) }}
			}
			if q.RoundUp != nil && try(relaxed(min(q.RoundUp(notches), q.Limit))) {
				continue
			}
			try(relaxed(notches))
		}
	}
	for _, k := range c.Rules {
		x.tryReleases(s, k, try)
	}
	if s.Used != nil && c.Law {
		if n := x.nearestSize(s); n > 0 {
			try(allowSize(n))
		}
	}
	return out
}

// dropChanges returns, for each rule in conflict, the change that drops it, if that alone resolves the conflict.
func (x *explainer) dropChanges(s question, c *Conflict) []Change {
	var out []Change
	for _, k := range c.Rules {
		if change := x.dropRule(k); x.resolvesConflict(change, s) {
			out = append(out, change)
		}
	}
	return out
}

func (x *explainer) dropRule(k int) Change {
	return Change{Rule: k, Text: "drop " + x.set.TextOf(k), apply: func(s *question) { s.Rules[k] = nil }}
}

// combinedChange returns one change made of several. It resolves the conflict, then the next one, until
// some composition keeps all rules; then it removes changes that are not needed.
func (x *explainer) combinedChange(c *Conflict) []Change {
	var steps []Change
	y := *x
	for range 2 * (len(x.set.Rules) + 1) {
		if y.isOverBudget() {
			return nil
		}
		step := y.resolve(c)
		again := func(c Change) bool { return c.Rule >= 0 && c.Rule == step.Rule }
		if slices.ContainsFunc(steps, again) { // this rule was changed before and not enough
			steps = slices.DeleteFunc(steps, again)
			step = x.dropRule(step.Rule)
		}
		steps = append(steps, step)
		y.set = x.set
		for _, c := range steps {
			y.set = c.applyTo(y.set)
		}
		y = explainer{asker: y.asker, set: y.set}
		switch y.ask(y.set, true) {
		case satisfiable:
			x.err = y.err
			return []Change{x.joinChanges(steps)}
		case unknown: // some rule cannot be counted, so only dropping a rule remains
			conditions, err := y.set.conditions()
			if err != nil || y.err != nil {
				x.err = y.err
				return nil
			}
			left := conditions.Uncounted()
			if len(left) == 0 {
				return nil
			}
			c = &Conflict{Rules: left[len(left)-1:], Kind: Other}
		default:
			c = &Conflict{}
			c.Rules, c.Law = y.smallestCore()
		}
	}
	x.err = y.err
	return nil
}

// resolve returns a change that resolves a conflict, without regard to other conflicts.
func (x *explainer) resolve(c *Conflict) Change {
	if alone := x.ruleChanges(x.subset(c.Rules, c.Law), c, nil); len(alone) > 0 {
		return alone[0]
	}
	if len(c.Rules) == 0 {
		return allowSize(max(x.nearestSize(x.set), 1))
	}
	return x.dropRule(c.Rules[len(c.Rules)-1])
}

// joinChanges combines several changes into one, and leaves out those that are not needed.
func (x *explainer) joinChanges(steps []Change) Change {
	apply := func(steps []Change) func(*question) {
		return func(s *question) {
			for _, c := range steps {
				c.apply(s)
			}
		}
	}
	for k := len(steps) - 1; k >= 0 && len(steps) > 1; k-- {
		if fewer := slices.Delete(slices.Clone(steps), k, k+1); x.resolvesConflict(Change{apply: apply(fewer)}, x.set) {
			steps = fewer
		}
	}
	if len(steps) == 1 {
		return steps[0]
	}
	texts := make([]string, len(steps))
	for k, c := range steps {
		texts[k] = c.Text
	}
	return Change{Rule: -1, Text: strings.Join(texts, " and "), apply: apply(steps)}
}

// maxReleases is the greatest number of ingredients in a rule of which tryReleases tries to release each one.
const maxReleases = 64

// tryReleases calls try with changes that take one ingredient out of rule k, which requires or excludes ingredients.
func (x *explainer) tryReleases(s question, k int, try func(Change) bool) {
	var of []int
	verb := "require"
	switch r := s.Rules[k].(type) {
	case rule.Require:
		of = r.Of
	case rule.Exclude:
		of, verb = r.Of, "exclude"
	}
	if len(of) > maxReleases {
		return
	}
	for _, i := range of {
		change := Change{Rule: k, Text: "do not " + verb + " " + s.NameOf(i), apply: func(s *question) { s.Rules[k] = withoutIngredients(s.Rules[k], i) }}
		if try(change) {
			return
		}
	}
}

// nearestSize returns the number of ingredients, nearest to those permitted, with which some composition may keep the
// rules. It returns 0 if there is none.
func (x *explainer) nearestSize(s question) int {
	c, err := s.conditions()
	if err != nil {
		x.err = err
		return 0
	}
	least, most := 1, 1
	if len(s.Used) > 0 {
		possible := func(n int) int { return max(1, min(n, s.Ingredients, s.Total)) }
		least, most = possible(slices.Min(s.Used)), possible(slices.Max(s.Used))
	}
	distance := func(n int) int { return max(least-n, n-most, 0) }
	space, all := c.Countable()
	can := x.reachableSizes(space, 4*most+16)
	var near []int
	for n, ok := range can {
		if ok && n > 0 {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return distance(a) - distance(b) })
	for _, n := range near[:min(len(near), maxReleases)] {
		if all || x.resolvesConflict(allowSize(n), s) {
			return n
		}
	}
	return 0
}

// allowSize returns the change that also permits n used ingredients.
func allowSize(n int) Change {
	text := fmt.Sprintf("allow %d used ingredients", n)
	if n == 1 {
		text = "allow 1 used ingredient"
	}
	return Change{Rule: -1, Text: text, apply: func(s *question) { s.Used = append(slices.Clone(s.Used), n) }}
}

// withoutIngredients returns a copy of a require or exclude rule without the given ingredients.
func withoutIngredients(r rule.Rule, of ...int) rule.Rule {
	switch r := r.(type) {
	case rule.Require:
		return rule.Require{Of: removeMembers(r.Of, of...)}
	case rule.Exclude:
		return rule.Exclude{Of: removeMembers(r.Of, of...)}
	}
	return r
}

// removeMembers returns a copy of list without the given members.
func removeMembers(list []int, some ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return slices.Contains(some, i) })
}
