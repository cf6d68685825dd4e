package count

import (
	"fmt"
	"slices"
)

// maxChanges is how many changes are offered.
const maxChanges = 4

// A knob is a way to relax a rule: by 1 to limit notches, each more than the
// one before.
type knob struct {
	limit int
	turn  func(r *Rule, notches int)
	text  func(notches int) string
	by    int // of a notch, 0 if the knob drops something
}

// knobs returns the ways to relax rule n, but for dropping it.
func (x *explainer) knobs(n int) []knob {
	r := x.rs.Rules[n]
	name := x.rs.ruleName(n)
	var out []knob
	bound := func(what string, from, limit, by int, turn func(r *Rule, to int)) {
		verb := "raise"
		if by < 0 {
			verb = "lower"
		}
		if limit > 0 {
			out = append(out, knob{
				limit: limit,
				by:    max(by, -by),
				turn:  func(r *Rule, notches int) { turn(r, from+notches*by) },
				text: func(notches int) string {
					return fmt.Sprintf("%s the %s of %s from %d to %d", verb, what, name, from, from+notches*by)
				},
			})
		}
	}
	step := max(r.Step, 1)
	if r.Min > 0 {
		bound("min", r.Min, (r.Min-1)/step, -step, func(r *Rule, to int) { r.Min = to })
	}
	if r.Max > 0 {
		bound("max", r.Max, x.rs.Total-r.Max, 1, func(r *Rule, to int) { r.Max = to })
	}
	if u := r.Used; u != nil {
		bound("least used", u.Min, u.Min, -1, func(r *Rule, to int) { r.Used = &Range{to, u.Max} })
		bound("most used", u.Max, len(r.Of)-u.Max, 1, func(r *Rule, to int) { r.Used = &Range{u.Min, to} })
	}
	if t := r.Total; t != nil {
		bound("least total", t.Min, t.Min, -1, func(r *Rule, to int) { r.Total = &Range{to, t.Max} })
		bound("greatest total", t.Max, x.rs.Total-t.Max, 1, func(r *Rule, to int) { r.Total = &Range{t.Min, to} })
	}
	if r.Step > 1 {
		out = append(out, knob{
			limit: 1,
			turn:  func(r *Rule, _ int) { r.Step = 1 },
			text:  func(int) string { return "drop the step of " + name },
		})
	}
	return out
}

// relaxed returns rules in which rule n is turned by some notches.
func relaxed(rs Ruleset, n int, k knob, notches int) Ruleset {
	rs.Rules = slices.Clone(rs.Rules)
	k.turn(&rs.Rules[n], notches)
	return rs
}

// relax looks for changes that make compositions possible: those that come with
// the cause, the smallest turn of each knob of the rules in conflict, other
// numbers of used ingredients, and, if none of these does, which rule to drop.
// If no change of one rule resolves all conflicts it looks for what resolves
// this one.
func (x *explainer) relax(c *Conflict, fixes []fix) {
	whole := make([]int, len(x.rs.Rules))
	for n := range whole {
		whole[n] = n
	}
	hasLaw := x.rs.Used != nil
	c.Changes = x.changes(x.only(whole, hasLaw), whole, c, fixes)
	if len(c.Changes) == 0 && (len(c.Rules) < len(whole) || hasLaw && !c.Law) {
		c.Changes = x.changes(x.only(c.Rules, c.Law), c.Rules, c, fixes)
		c.Partly = len(c.Changes) > 0
	}
	if len(c.Changes) > maxChanges {
		c.Changes = c.Changes[:maxChanges]
	}
}

// changes returns the changes that make compositions of rs possible, whose rules
// are those of the given indexes.
func (x *explainer) changes(rs Ruleset, rules []int, c *Conflict, fixes []fix) []Change {
	var out []Change
	s, err := rs.Space()
	if err != nil {
		x.err = err
		return nil
	}
	for _, f := range fixes {
		t := s
		t.Ingredients = slices.Clone(s.Ingredients)
		f.apply(&t)
		if slices.Contains(x.reach(t, rs.Used, 0), true) {
			out = append(out, Change{Rule: -1, By: f.by, Text: f.text})
		}
	}
	at := make(map[int]int) // where in rs a rule is
	for t, n := range rules {
		at[n] = t
	}
	for _, n := range c.Rules {
		for _, k := range x.knobs(n) {
			can := func(notches int) bool { return x.holds(relaxed(rs, at[n], k, notches)) }
			if !can(k.limit) {
				continue
			}
			notches := firstTrue(k.limit, can)
			out = append(out, Change{Rule: n, By: notches * k.by, Text: k.text(notches),
				apply: func(rs *Ruleset) { k.turn(&rs.Rules[n], notches) }})
		}
	}
	out = append(out, x.releases(rs, at, c)...)
	if rs.Used != nil && c.Law {
		if change, ok := x.otherUsed(rs, s); ok {
			out = append(out, change)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, n := range c.Rules {
		less := rs
		less.Rules = slices.Delete(slices.Clone(rs.Rules), at[n], at[n]+1)
		if x.holds(less) {
			out = append(out, Change{Rule: n, Text: "drop " + x.rs.ruleName(n),
				apply: func(rs *Ruleset) { rs.Rules[n] = Rule{} }})
		}
	}
	return out
}

// firstTrue returns the least of 1..most for which can is true, which it is for
// most and all after the first.
func firstTrue(most int, can func(int) bool) int {
	lo, hi := 0, most // can(lo) is false
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; can(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// maxReleases is up to how many ingredients a rule may require or exclude for
// each to be looked at alone.
const maxReleases = 64

// releases finds an ingredient that a rule is not to require or to exclude.
func (x *explainer) releases(rs Ruleset, at map[int]int, c *Conflict) []Change {
	var out []Change
	for _, n := range c.Rules {
		r := x.rs.Rules[n]
		if !r.Require && !r.Exclude || len(r.Of) > maxReleases || r.limitsAmounts() || r.limitsGroup() {
			continue
		}
		for _, i := range r.Of {
			without := func(r *Rule) {
				r.Of = slices.DeleteFunc(slices.Clone(r.Of), func(j int) bool { return i == j })
			}
			less := rs
			less.Rules = slices.Clone(rs.Rules)
			without(&less.Rules[at[n]])
			if !x.holds(less) {
				continue
			}
			verb := "require"
			if r.Exclude {
				verb = "exclude"
			}
			out = append(out, Change{Rule: n, Text: "do not " + verb + " " + x.rs.name(i),
				apply: func(rs *Ruleset) { without(&rs.Rules[n]) }})
			break
		}
	}
	return out
}

// otherUsed finds the numbers of used ingredients nearest to those asked for.
func (x *explainer) otherUsed(rs Ruleset, s Space) (Change, bool) {
	least, most := 1, 1
	if len(x.wanted) > 0 {
		possible := func(n int) int { return max(1, min(n, len(s.Ingredients), s.Total)) }
		least, most = possible(slices.Min(x.wanted)), possible(slices.Max(x.wanted))
	}
	distance := func(n int) int { return max(least-n, n-most, 0) }
	best := 0
	for n, can := range x.reach(s, nil, 4*most+16) {
		if can && (best == 0 || distance(n) < distance(best)) {
			best = n
		}
	}
	if best == 0 {
		return Change{}, false
	}
	text := fmt.Sprintf("allow %d used ingredients", best)
	if best == 1 {
		text = "allow 1 used ingredient"
	}
	return Change{Rule: -1, By: distance(best), Text: text,
		apply: func(rs *Ruleset) { rs.Used = append(slices.Clone(rs.Used), best) }}, true
}
