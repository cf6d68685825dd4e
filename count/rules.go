package count

import (
	"fmt"
	"slices"
	"strconv"
)

// A Ruleset describes a space by rules that may each speak of many ingredients,
// and of which several may speak of the same one.
type Ruleset struct {
	Ingredients int // N
	Total       int // M
	Rules       []Rule

	// Used lists the numbers of used ingredients that are asked for, those to
	// which the law of n gives weight. nil stands for all.
	Used []int

	// Name names an ingredient in explanations; nil gives "ingredient 0".
	Name func(ingredient int) string
}

// A Rule limits some ingredients. Fields left at zero do not limit, and all
// others of a rule hold together.
type Rule struct {
	Name string // how explanations call it; empty stands for "rule 0"
	Of   []int  // the ingredients

	// Require makes the ingredients used, Exclude makes them unused.
	Require, Exclude bool

	// Min, Max and Step bound the amount of each of the ingredients when it is
	// used, as in [Ingredient].
	Min, Max, Step int

	// Used and Total bound the ingredients together, as in [Group].
	Used, Total *Range
}

// limitsAmounts reports whether a rule bounds amounts one by one.
func (r *Rule) limitsAmounts() bool { return r.Min > 0 || r.Max > 0 || r.Step > 0 }

// limitsGroup reports whether a rule bounds its ingredients together.
func (r *Rule) limitsGroup() bool { return r.Used != nil || r.Total != nil }

// Space returns the space of the compositions that keep all rules. An amount is
// allowed if each rule allows it: the rules "multiples of 50" and "at least 120"
// leave 150, 200 and so on. Groups come in the order of their rules.
//
// It fails with [ErrInvalid] for rules that are no rules: an index out of range,
// a negative number, a least above a greatest.
func (rs Ruleset) Space() (Space, error) {
	if rs.Ingredients < 1 || rs.Ingredients > maxSize || rs.Total < 1 || rs.Total > maxSize {
		return Space{}, fmt.Errorf("%w: %d ingredients and a total of %d; both must be from 1 to %d", ErrInvalid, rs.Ingredients, rs.Total, maxSize)
	}
	s := Space{Total: rs.Total, Ingredients: make([]Ingredient, rs.Ingredients)}
	amounts := make([]kind, rs.Ingredients)
	for i := range amounts {
		amounts[i] = Ingredient{}.kind(rs.Total)
	}
	for n := range rs.Rules {
		r := &rs.Rules[n]
		if err := rs.check(n); err != nil {
			return Space{}, err
		}
		own := Ingredient{Min: r.Min, Max: r.Max, Step: r.Step}.kind(rs.Total)
		for _, i := range r.Of {
			s.Ingredients[i].Required = s.Ingredients[i].Required || r.Require
			s.Ingredients[i].Excluded = s.Ingredients[i].Excluded || r.Exclude
			if r.limitsAmounts() {
				amounts[i] = common(amounts[i], own)
			}
		}
		if r.limitsGroup() {
			g := Group{Members: slices.Clone(r.Of), Used: r.Used, Total: r.Total}
			slices.Sort(g.Members)
			g.Members = slices.Compact(g.Members)
			s.Groups = append(s.Groups, g)
		}
	}
	for i, k := range amounts {
		if k.n == 0 {
			s.Ingredients[i].Excluded = true
			continue
		}
		s.Ingredients[i].Min, s.Ingredients[i].Max, s.Ingredients[i].Step = k.lo, k.hi(), k.step
	}
	return s, nil
}

// Disjoint splits rules into those that can be counted together and the rest, by
// index: a group rule is of the rest if its group crosses one kept before it, as
// in [Space.Disjoint]. A rule of the rest is to be left out of the ruleset, and
// the share of draws that keep it measured.
func (rs Ruleset) Disjoint() (kept, rest []int, err error) {
	s, err := rs.Space()
	if err != nil {
		return nil, nil, err
	}
	_, crossing := s.Disjoint()
	group := 0
	for n := range rs.Rules {
		if rs.Rules[n].limitsGroup() {
			group++
			if slices.Contains(crossing, group-1) {
				rest = append(rest, n)
				continue
			}
		}
		kept = append(kept, n)
	}
	return kept, rest, nil
}

// check returns what is wrong with rule n.
func (rs Ruleset) check(n int) error {
	r := &rs.Rules[n]
	switch {
	case r.Min < 0 || r.Max < 0 || r.Step < 0:
		return fmt.Errorf("%w: %s has a negative amount", ErrInvalid, rs.ruleName(n))
	case r.Max > 0 && r.Min > r.Max:
		return fmt.Errorf("%w: %s asks for amounts of at least %d and at most %d", ErrInvalid, rs.ruleName(n), r.Min, r.Max)
	case r.Used != nil && r.Used.Min > r.Used.Max:
		return fmt.Errorf("%w: %s asks for %d to %d used", ErrInvalid, rs.ruleName(n), r.Used.Min, r.Used.Max)
	case r.Total != nil && r.Total.Min > r.Total.Max:
		return fmt.Errorf("%w: %s asks for a total of %d to %d", ErrInvalid, rs.ruleName(n), r.Total.Min, r.Total.Max)
	}
	for _, i := range r.Of {
		if i < 0 || i >= rs.Ingredients {
			return fmt.Errorf("%w: %s names ingredient %d and they go from 0 to %d", ErrInvalid, rs.ruleName(n), i, rs.Ingredients-1)
		}
	}
	return nil
}

func (rs Ruleset) ruleName(n int) string {
	if name := rs.Rules[n].Name; name != "" {
		return name
	}
	return "rule " + strconv.Itoa(n)
}

func (rs Ruleset) name(ingredient int) string {
	if rs.Name != nil {
		return rs.Name(ingredient)
	}
	return "ingredient " + strconv.Itoa(ingredient)
}

// common returns the amounts that two kinds have in common. They too are a
// first amount and steps from there, by the Chinese remainder theorem.
func common(a, b kind) kind {
	if a.n == 0 || b.n == 0 {
		return kind{}
	}
	g := gcd(a.step, b.step)
	if (b.lo-a.lo)%g != 0 {
		return kind{}
	}
	// a.lo + a.step·t is of b for t ≡ (b.lo − a.lo)/g · (a.step/g)⁻¹ modulo b.step/g.
	// Steps are below 2^31, so that products fit in 64 bits.
	m := b.step / g
	t := (b.lo - a.lo) / g % m * inverse(a.step/g, m) % m
	if t < 0 {
		t += m
	}
	lo, step := a.lo+a.step*t, a.step*m
	if first := max(a.lo, b.lo); lo < first {
		lo += (first - lo + step - 1) / step * step
	}
	hi := min(a.hi(), b.hi())
	if lo > hi {
		return kind{}
	}
	k := kind{lo: lo, step: step, n: (hi-lo)/step + 1}
	if k.n == 1 {
		k.step = 1
	}
	return k
}

// inverse returns x with a·x ≡ 1 modulo m, 0 ≤ x < m, for a and m without a
// common divisor.
func inverse(a, m int) int {
	x, y := 1, 0 // a·x ≡ r, a·y ≡ s
	r, s := a%m, m
	if m == 1 {
		return 0
	}
	for s != 0 {
		q := r / s
		r, s = s, r-q*s
		x, y = y, x-q*y
	}
	return (x%m + m) % m
}
