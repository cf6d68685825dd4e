package constraint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/constraint/count"
	"kir/rule"
)

// Conditions are the rules of a set, written as conditions on whole numbers: the amounts that each
// ingredient may take when used, groups, dependences, and bounds on weighted sums. A composition keeps the
// rules if and only if it keeps all of these conditions.
type Conditions struct {
	Total   int
	Amounts []count.Ingredient // amounts that each ingredient may have; bounds are always explicit
	Groups  []count.Group      // groups, whose members are ascending and listed once
	Needs   []Dependence
	Sums    []Sum

	AmountSets []AmountSet // amounts that each ingredient may have when used; empty for an excluded ingredient
	GroupsOf   [][]int32   // for each ingredient: ascending indices into Groups of the groups that contain it
	NeedsOf    [][]int32   // for each ingredient: ascending indices into Needs of the dependences whose If it is
	SumsOf     [][]int32   // for each ingredient: ascending indices into Sums of the sums with a term for it
	Required   int         // number of required ingredients

	IdleGroups []int32 // groups that are violated if none of their members is used
	IdleSums   []int32 // sums that are violated if none of their ingredients is used

	GroupRules, NeedRules, SumRules []int // for each group, dependence and sum: index of the rule that it comes from

	rule     int     // index of the rule whose conditions are being added
	guards   []guard // conditions of the enclosing If rules while a rule is added
	tooLarge bool    // whether some number would exceed 2⁶²
	unknown  bool    // whether some rule is of an unknown type
}

// A Dependence requires that if ingredient If is used, at least one ingredient of Then is used too.
type Dependence struct {
	If   int
	Then []int
}

// Sum returns the dependence as a sum: [If used] − Σ [Then used] ≤ 0.
func (d Dependence) Sum() count.Sum {
	s := count.Sum{Min: math.MinInt64, Terms: []count.Term{{Ingredient: d.If, PerUse: 1}}}
	for _, i := range d.Then {
		s.Terms = append(s.Terms, count.Term{Ingredient: i, PerUse: -1})
	}
	return s
}

// IsMet reports whether the dependence holds, given which ingredients are used.
func (d Dependence) IsMet(used func(i int) bool) bool {
	return !used(d.If) || slices.ContainsFunc(d.Then, used)
}

// FromRules converts the rules of a set to conditions, then applies changes that no rule can express. It
// returns a [*rule.Error] for an invalid rule.
func FromRules(s rule.Set, changes ...func(*Conditions)) (*Conditions, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := newConditions(s.Ingredients, s.Total)
	for k, r := range s.Rules {
		if r == nil {
			continue
		}
		c.rule = k
		c.add(r)
		switch {
		case c.tooLarge:
			return nil, &rule.Error{Rule: k, Err: errors.New("needs numbers above 2⁶²: take factors of fewer digits, or a smaller total")}
		case c.unknown:
			return nil, &rule.Error{Rule: k, Err: fmt.Errorf("is a %T, which is no kind of rule", r)}
		}
	}
	c.bound()
	for _, change := range changes {
		change(c)
	}
	c.index()
	return c, nil
}

// add adds the conditions that a rule makes.
func (c *Conditions) add(r rule.Rule) {
	k := kindOf(r)
	if k == nil {
		c.unknown = true
		return
	}
	k.conditions(c)
}

func newConditions(ingredients, total int) *Conditions {
	c := &Conditions{
		Total: total, Amounts: make([]count.Ingredient, ingredients),
		AmountSets: make([]AmountSet, ingredients), GroupsOf: make([][]int32, ingredients),
	}
	for i := range c.AmountSets {
		c.AmountSets[i] = AmountSet{1, 1, total}
	}
	return c
}

// bound sets Amounts to the limits in AmountSets, once all rules have been added.
func (c *Conditions) bound() {
	for i, d := range c.AmountSets {
		if a := &c.Amounts[i]; d.N == 0 {
			a.Excluded = true
		} else {
			a.Min, a.Max, a.Step = d.Lo, d.Hi(), d.Step
		}
	}
}

// index computes the fields that follow from the conditions, such as GroupsOf.
func (c *Conditions) index() {
	for i := range c.Amounts {
		a := &c.Amounts[i]
		if a.Required {
			c.Required++
		}
		if c.AmountSets[i] = (AmountSet{}); !a.Excluded {
			c.AmountSets[i] = AmountSetOf(*a, c.Total)
		}
	}
	c.NeedsOf, c.SumsOf = make([][]int32, len(c.Amounts)), make([][]int32, len(c.Amounts))
	for g := range c.Groups {
		for _, i := range c.Groups[g].Members {
			c.GroupsOf[i] = append(c.GroupsOf[i], int32(g))
		}
		if !groupAllows(&c.Groups[g], 0, 0) {
			c.IdleGroups = append(c.IdleGroups, int32(g))
		}
	}
	for k, n := range c.Needs {
		c.NeedsOf[n.If] = append(c.NeedsOf[n.If], int32(k))
	}
	for k := range c.Sums {
		for _, t := range c.Sums[k].Terms {
			c.SumsOf[t.Ingredient] = append(c.SumsOf[t.Ingredient], int32(k))
		}
		if !c.Sums[k].contains(0) {
			c.IdleSums = append(c.IdleSums, int32(k))
		}
	}
}

// require makes the listed ingredients required.
func (c *Conditions) require(of []int) {
	if len(c.guards) > 0 {
		s := usedSum(of)
		s.Min = int64(len(s.Terms))
		c.addSum(s)
		return
	}
	for _, i := range of {
		c.Amounts[i].Required = true
	}
}

// exclude makes the listed ingredients excluded.
func (c *Conditions) exclude(of []int) {
	if len(c.guards) > 0 {
		s := usedSum(of)
		s.Max = 0
		c.addSum(s)
		return
	}
	for _, i := range of {
		c.Amounts[i].Excluded = true
	}
}

// allow restricts the amounts that ingredient i may have when used to those in d.
func (c *Conditions) allow(i int, d AmountSet) {
	switch {
	case len(c.guards) == 0:
		c.AmountSets[i] = intersectAmountSets(c.AmountSets[i], d)
		return
	case d.N == 0:
		c.exclude([]int{i})
		return
	}
	only := func(t Term, least, most int64) {
		t.Ingredient = i
		c.addSum(Sum{[]Term{t}, least, most})
	}
	if d.Lo > 1 {
		only(Term{PerUnit: 1, PerUse: -int64(d.Lo)}, 0, math.MaxInt64)
	}
	if d.Hi() < c.Total {
		only(Term{PerUnit: 1}, math.MinInt64, int64(d.Hi()))
	}
	if d.Step > 1 {
		only(Term{Off: 1, First: d.Lo, Step: d.Step}, math.MinInt64, 0)
	}
}

// Keeps reports whether a composition of the right total, given by its parts, keeps all conditions. It is
// the reference: every faster check is tested against it.
func (c *Conditions) Keeps(parts []rule.Part) bool {
	required := 0
	for _, p := range parts {
		if !c.AmountSets[p.Ingredient].allow(p.Amount) {
			return false
		}
		if c.Amounts[p.Ingredient].Required {
			required++
		}
	}
	if required < c.Required {
		return false
	}
	// Conditions without any of the parts need no check unless they are idle: see IdleGroups and IdleSums.
	for _, g := range c.IdleGroups {
		if !c.keepsGroup(parts, g) {
			return false
		}
	}
	for _, k := range c.IdleSums {
		if !c.Sums[k].holds(parts) {
			return false
		}
	}
	for at, p := range parts {
		for _, g := range c.GroupsOf[p.Ingredient] {
			if !involves(c.GroupsOf, parts[:at], g) && !c.keepsGroup(parts, g) {
				return false
			}
		}
		for _, k := range c.NeedsOf[p.Ingredient] {
			if !c.Needs[k].IsMet(func(i int) bool { return amountOf(parts, i) > 0 }) {
				return false
			}
		}
		for _, k := range c.SumsOf[p.Ingredient] {
			if !involves(c.SumsOf, parts[:at], k) && !c.Sums[k].holds(parts) {
				return false
			}
		}
	}
	return true
}

// involves reports whether a condition involves one of the parts. of holds the ascending conditions of each
// ingredient.
func involves(of [][]int32, parts []rule.Part, condition int32) bool {
	for _, p := range parts {
		if _, ok := slices.BinarySearch(of[p.Ingredient], condition); ok {
			return true
		}
	}
	return false
}

// keepsGroup reports whether a composition satisfies group number g.
func (c *Conditions) keepsGroup(parts []rule.Part, g int32) bool {
	used, total := 0, 0
	for _, p := range parts {
		if _, ok := slices.BinarySearch(c.GroupsOf[p.Ingredient], g); ok {
			used++
			total += p.Amount
		}
	}
	return groupAllows(&c.Groups[g], used, total)
}

// groupAllows reports whether the group permits used members that take total units together.
func groupAllows(g *count.Group, used, total int) bool {
	return (g.Used == nil || contains(g.Used, used)) && (g.Total == nil || contains(g.Total, total))
}

func contains(r *count.Range, v int) bool { return r.Min <= v && v <= r.Max }

// Countable returns the part of the conditions that can be counted exactly: the amounts, and those groups
// that are disjoint or nested. A group is kept if it fits with the groups before it. all reports whether
// nothing was left out.
func (c *Conditions) Countable() (space count.Space, all bool) {
	space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	kept, rest := space.CompatibleGroups()
	if len(rest) > 0 {
		space.Groups = nil
		for _, g := range kept {
			space.Groups = append(space.Groups, c.Groups[g])
		}
	}
	return space, len(rest) == 0 && len(c.Needs) == 0 && len(c.Sums) == 0
}

// FullSpace returns the space with all conditions. It returns a [count.SizeError] if a term is bent (see
// [Term.IsBent]), because no table can hold such a term.
func (c *Conditions) FullSpace() (space count.Space, err error) {
	space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	for _, n := range c.Needs {
		space.Sums = append(space.Sums, n.Sum())
	}
	for _, s := range c.Sums {
		sum := count.Sum{Min: s.Min, Max: s.Max}
		for _, t := range s.Terms {
			if t.IsBent() {
				return space, &count.SizeError{Need: 1, Resource: "sums in which not each unit counts alike"}
			}
			sum.Terms = append(sum.Terms, count.Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, PerUse: t.PerUse})
		}
		space.Sums = append(space.Sums, sum)
	}
	return space, nil
}

// UncountedSums returns, as sums, the conditions that [Conditions.Countable] leaves out.
func (c *Conditions) UncountedSums() []Sum {
	sums := slices.Clone(c.Sums)
	_, rest := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}.CompatibleGroups()
	for _, g := range rest {
		for _, s := range c.Groups[g].Sums() {
			sums = append(sums, SumOf(s))
		}
	}
	for _, n := range c.Needs {
		sums = append(sums, SumOf(n.Sum()))
	}
	return sums
}

// Uncounted returns the indexes of the rules that [Conditions.Countable] leaves out in whole or in part.
func (c *Conditions) Uncounted() []int {
	out := slices.Concat(c.NeedRules, c.SumRules)
	_, rest := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}.CompatibleGroups()
	for _, g := range rest {
		out = append(out, c.GroupRules[g])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Conditions) addGroup(g count.Group) {
	if len(c.guards) > 0 {
		if g.Used != nil {
			c.addRange(usedSum(g.Members), g.Used)
		}
		if g.Total != nil {
			c.addRange(total(g.Members, 1), g.Total)
		}
		return
	}
	slices.Sort(g.Members)
	g.Members = slices.Compact(g.Members)
	c.Groups, c.GroupRules = append(c.Groups, g), append(c.GroupRules, c.rule)
}

func (c *Conditions) addRange(s Sum, r *count.Range) {
	s.Min, s.Max = int64(r.Min), int64(r.Max)
	c.addSum(s)
}

func (c *Conditions) addNeed(n Dependence) {
	if len(c.guards) > 0 {
		s := usedSum(n.Then)
		s.Min = 1
		c.withGuard(guard{ingredients: []int{n.If}}, func() { c.addSum(s) })
		return
	}
	c.Needs, c.NeedRules = append(c.Needs, n), append(c.NeedRules, c.rule)
}

// withGuard calls write. The conditions that write adds hold only if the guard g does, in addition to the enclosing
// guards.
func (c *Conditions) withGuard(g guard, write func()) {
	c.guards = append(c.guards, g)
	write()
	c.guards = c.guards[:len(c.guards)-1]
}
