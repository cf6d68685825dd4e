package conflict

import (
	"fmt"
	"slices"
	"strings"

	"kir/internal/constraint"
	"kir/rule"
)

// maxChanges is the maximum number of changes that a Conflict suggests.
const maxChanges = 4

// addChanges sets c.Changes to changes after which some composition keeps all rules. First addChanges tries the
// fixes of the cause, then loosening each rule in conflict as little as possible, then permitting other numbers
// of used ingredients. If no such change works, addChanges tries to drop a rule, and then a combination of
// changes.
func (x *explainer) addChanges(c *Conflict, fixes []fix) {
	c.Changes = x.ruleChanges(x.question, c, fixes)
	if len(c.Changes) == 0 {
		c.Changes = x.dropChanges(x.question, c)
	}
	if len(c.Changes) == 0 {
		c.Changes = x.combinedChange(c)
	}
	if len(c.Changes) > maxChanges {
		c.Changes = c.Changes[:maxChanges]
	}
}

// resolvesConflict reports whether some composition is proven to keep all rules of s after the change c.
func (x *explainer) resolvesConflict(c Change, s question) bool {
	return !x.isOverBudget() && x.ask(c.applyTo(s), true) == satisfiable
}

// ruleChanges returns changes of a single rule in conflict, or of the permitted numbers of used ingredients.
// After each change some composition is proven to keep all rules of s.
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
		try(Change{Rule: -1, BoundChange: f.units, Text: f.text, apply: f.apply})
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
				return Change{Rule: k, BoundChange: notches * q.UnitsPerNotch, Text: q.Text(notches, s.TextOf(k)),
					apply: func(s *question) { s.Rules[k] = q.Relax(notches) }}
			}
			if q.RoundUp != nil && try(relaxed(min(q.RoundUp(notches), q.MaxNotches))) {
				continue
			}
			try(relaxed(notches))
		}
	}
	for _, k := range c.Rules {
		x.tryReleases(s, k, try)
	}
	if s.Used != nil && c.InvolvesUsedCounts {
		if n := x.nearestUsedCount(s); n > 0 {
			try(allowUsedCount(n))
		}
	}
	return out
}

// dropChanges returns the changes that drop one rule in conflict and alone resolve the conflict.
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
	return Change{Rule: k, Text: "drop " + x.question.TextOf(k), apply: func(s *question) { s.Rules[k] = nil }}
}

// combinedChange returns one change that combines several changes, or nil if no combination was found. The method
// resolves one conflict after another, until some composition keeps all rules. Then the method leaves out the
// changes that are not needed.
func (x *explainer) combinedChange(c *Conflict) []Change {
	var steps []Change
	y := *x
	for range 2 * (len(x.question.Rules) + 1) {
		if y.isOverBudget() {
			return nil
		}
		step := y.resolveAlone(c)
		again := func(c Change) bool { return c.Rule >= 0 && c.Rule == step.Rule }
		if slices.ContainsFunc(steps, again) { // this rule was changed before and not enough
			steps = slices.DeleteFunc(steps, again)
			step = x.dropRule(step.Rule)
		}
		steps = append(steps, step)
		y.question = x.question
		for _, c := range steps {
			y.question = c.applyTo(y.question)
		}
		y = explainer{asker: y.asker, question: y.question}
		switch y.ask(y.question, true) {
		case satisfiable:
			x.firstError = y.firstError
			return []Change{x.joinChanges(steps)}
		case unknown: // some rule cannot be counted, so only dropping a rule remains
			conditions, err := y.question.conditions()
			if err != nil || y.firstError != nil {
				x.firstError = y.firstError
				return nil
			}
			left := conditions.UncountedRules()
			if len(left) == 0 {
				return nil
			}
			c = &Conflict{Rules: left[len(left)-1:], Kind: Other}
		default:
			c = &Conflict{}
			c.Rules, c.InvolvesUsedCounts = y.smallestConflict()
		}
	}
	x.firstError = y.firstError
	return nil
}

// resolveAlone returns a change that resolves the conflict c. Other conflicts in the rules may remain.
func (x *explainer) resolveAlone(c *Conflict) Change {
	if alone := x.ruleChanges(x.subsetQuestion(c.Rules, c.InvolvesUsedCounts), c, nil); len(alone) > 0 {
		return alone[0]
	}
	if len(c.Rules) == 0 {
		return allowUsedCount(max(x.nearestUsedCount(x.question), 1))
	}
	return x.dropRule(c.Rules[len(c.Rules)-1])
}

// joinChanges combines the changes in steps into one change. Changes that are not needed to resolve the conflict
// are left out.
func (x *explainer) joinChanges(steps []Change) Change {
	apply := func(steps []Change) func(*question) {
		return func(s *question) {
			for _, c := range steps {
				c.apply(s)
			}
		}
	}
	for k := len(steps) - 1; k >= 0 && len(steps) > 1; k-- {
		if fewer := slices.Delete(slices.Clone(steps), k, k+1); x.resolvesConflict(Change{apply: apply(fewer)}, x.question) {
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

// maxReleases is the maximum number of ingredients that tryReleases tries to take out of a rule, one at a time.
// The constant also limits how many numbers of used ingredients nearestUsedCount tries.
const maxReleases = 64

// tryReleases calls try with one change after another until try returns true. Each change takes one ingredient
// out of the rule with index k. The rule must require or exclude ingredients; for other rules tryReleases does
// nothing.
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

// nearestUsedCount returns the number of used ingredients that is nearest to the permitted numbers and with which
// some composition is proven to keep the rules. At most maxReleases numbers are tried. The result is 0 if no such
// number is found.
func (x *explainer) nearestUsedCount(s question) int {
	c, err := s.conditions()
	if err != nil {
		x.firstError = err
		return 0
	}
	least, most := 1, 1
	if len(s.Used) > 0 {
		possible := func(n int) int { return max(1, min(n, s.Ingredients, s.Total)) }
		least, most = possible(slices.Min(s.Used)), possible(slices.Max(s.Used))
	}
	distance := func(n int) int { return max(least-n, n-most, 0) }
	space, all := c.CountableSpace()
	can := x.reachableUsedCounts(space, 4*most+16)
	var near []int
	for n, ok := range can {
		if ok && n > 0 {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return distance(a) - distance(b) })
	for _, n := range near[:min(len(near), maxReleases)] {
		if all || x.resolvesConflict(allowUsedCount(n), s) {
			return n
		}
	}
	return 0
}

// allowUsedCount returns the change that also permits n used ingredients.
func allowUsedCount(n int) Change {
	text := fmt.Sprintf("allow %d used ingredients", n)
	if n == 1 {
		text = "allow 1 used ingredient"
	}
	return Change{Rule: -1, Text: text, apply: func(s *question) { s.Used = append(slices.Clone(s.Used), n) }}
}

// withoutIngredients returns a copy of a require or exclude rule without the given ingredients. Any other rule
// is returned unchanged.
func withoutIngredients(r rule.Rule, ingredients ...int) rule.Rule {
	switch r := r.(type) {
	case rule.Require:
		return rule.Require{Of: removeMembers(r.Of, ingredients...)}
	case rule.Exclude:
		return rule.Exclude{Of: removeMembers(r.Of, ingredients...)}
	}
	return r
}

// removeMembers returns a copy of list without the numbers in removed.
func removeMembers(list []int, removed ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return slices.Contains(removed, i) })
}
