package constraint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/constraint/count"
	"kir/rule"
)

// Conditions hold the rules of a set, converted to conditions on whole numbers. The conditions are the amounts
// that each ingredient may have when used, groups, dependences, and bounds on weighted sums. A composition keeps
// the rules if and only if the composition keeps all conditions.
type Conditions struct {
	Total       int                // total units of a composition
	Amounts     []count.Ingredient // for each ingredient: the amounts that the ingredient may have, with explicit bounds
	Groups      []count.Group      // groups; the members of each group are ascending and listed once
	Dependences []Dependence
	Sums        []Sum

	AmountSets    []AmountSet // for each ingredient: the amounts that the ingredient may have when used; empty for an excluded ingredient
	GroupsOf      [][]int32   // for each ingredient: ascending indices into Groups of the groups that contain the ingredient
	DependencesOf [][]int32   // for each ingredient: ascending indices into Needs of the dependences whose If is the ingredient
	SumsOf        [][]int32   // for each ingredient: ascending indices into Sums of the sums that have a term for the ingredient
	RequiredCount int         // number of required ingredients

	IdleGroups []int32 // indices into Groups of the groups that a composition violates by using none of their members
	IdleSums   []int32 // indices into Sums of the sums that a composition violates by using none of their ingredients

	GroupRules, DependenceRules, SumRules []int // for each group, dependence and sum: index of the rule that made the condition

	ruleIndex       int     // index of the rule whose conditions are being added
	guards          []guard // conditions of the enclosing If rules while a rule is added
	numbersTooLarge bool    // whether the conditions of some rule need numbers above 2⁶²
	unknownRule     bool    // whether some rule is of an unknown type
}

// A Dependence requires that if ingredient If is used, at least one ingredient of Then is used too.
type Dependence struct {
	If   int
	Then []int
}

// Sum returns the dependence as a sum: [If is used] − Σ [member of Then is used] ≤ 0, where a bracket is 1 if
// the statement in the bracket is true and 0 otherwise.
func (d Dependence) Sum() count.Sum {
	s := count.Sum{Min: math.MinInt64, Terms: []count.Term{{Ingredient: d.If, PerUse: 1}}}
	for _, i := range d.Then {
		s.Terms = append(s.Terms, count.Term{Ingredient: i, PerUse: -1})
	}
	return s
}

// IsMet reports whether the dependence holds. The function used reports whether ingredient i is used.
func (d Dependence) IsMet(used func(i int) bool) bool {
	return !used(d.If) || slices.ContainsFunc(d.Then, used)
}

// FromRules converts the rules of a set to conditions. Then FromRules calls each function of changes, which may
// add conditions that no rule can express. FromRules returns a [*rule.Error] for an invalid rule.
func FromRules(s rule.Set, changes ...func(*Conditions)) (*Conditions, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := newConditions(s.Ingredients, s.Total)
	for k, r := range s.Rules {
		if r == nil {
			continue
		}
		c.ruleIndex = k
		c.addRule(r)
		switch {
		case c.numbersTooLarge:
			return nil, &rule.Error{Rule: k, Err: errors.New("needs numbers above 2⁶²: take factors of fewer digits, or a smaller total")}
		case c.unknownRule:
			return nil, &rule.Error{Rule: k, Err: fmt.Errorf("is a %T, which is no kind of rule", r)}
		}
	}
	c.setAmountLimits()
	for _, change := range changes {
		change(c)
	}
	c.buildIndex()
	return c, nil
}

// addRule adds the conditions that the rule r makes.
func (c *Conditions) addRule(r rule.Rule) {
	k := kindOf(r)
	if k == nil {
		c.unknownRule = true
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

// setAmountLimits copies the limits in AmountSets to Amounts, after all rules have been added.
func (c *Conditions) setAmountLimits() {
	for i, d := range c.AmountSets {
		if a := &c.Amounts[i]; d.Count == 0 {
			a.Excluded = true
		} else {
			a.Min, a.Max, a.Step = d.Lo, d.Hi(), d.Step
		}
	}
}

// buildIndex computes the fields that follow from the conditions, such as GroupsOf.
func (c *Conditions) buildIndex() {
	for i := range c.Amounts {
		a := &c.Amounts[i]
		if a.Required {
			c.RequiredCount++
		}
		if c.AmountSets[i] = (AmountSet{}); !a.Excluded {
			c.AmountSets[i] = AmountSetOf(*a, c.Total)
		}
	}
	c.DependencesOf, c.SumsOf = make([][]int32, len(c.Amounts)), make([][]int32, len(c.Amounts))
	for g := range c.Groups {
		for _, i := range c.Groups[g].Members {
			c.GroupsOf[i] = append(c.GroupsOf[i], int32(g))
		}
		if !groupAllows(&c.Groups[g], 0, 0) {
			c.IdleGroups = append(c.IdleGroups, int32(g))
		}
	}
	for k, n := range c.Dependences {
		c.DependencesOf[n.If] = append(c.DependencesOf[n.If], int32(k))
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

// require makes the given ingredients required.
func (c *Conditions) require(ingredients []int) {
	if len(c.guards) > 0 {
		s := usedSum(ingredients)
		s.Min = int64(len(s.Terms))
		c.addSum(s)
		return
	}
	for _, i := range ingredients {
		c.Amounts[i].Required = true
	}
}

// exclude forbids the use of the given ingredients.
func (c *Conditions) exclude(ingredients []int) {
	if len(c.guards) > 0 {
		s := usedSum(ingredients)
		s.Max = 0
		c.addSum(s)
		return
	}
	for _, i := range ingredients {
		c.Amounts[i].Excluded = true
	}
}

// restrictAmounts removes the amounts outside d from the amounts that ingredient i may have when used.
func (c *Conditions) restrictAmounts(i int, d AmountSet) {
	switch {
	case len(c.guards) == 0:
		c.AmountSets[i] = intersectAmountSets(c.AmountSets[i], d)
		return
	case d.Count == 0:
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
		only(Term{OffStepAddend: 1, FirstStep: d.Lo, Step: d.Step}, math.MinInt64, 0)
	}
}

// AreKeptBy reports whether a composition keeps all conditions. The parts list the used ingredients with their
// amounts, which must sum to Total. AreKeptBy is the reference against which every faster check is tested.
func (c *Conditions) AreKeptBy(parts []rule.Part) bool {
	required := 0
	for _, p := range parts {
		if !c.AmountSets[p.Ingredient].contains(p.Amount) {
			return false
		}
		if c.Amounts[p.Ingredient].Required {
			required++
		}
	}
	if required < c.RequiredCount {
		return false
	}
	// Conditions without any of the parts need no check unless the conditions are idle: see IdleGroups and
	// IdleSums.
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
			if !involvesAny(c.GroupsOf, parts[:at], g) && !c.keepsGroup(parts, g) {
				return false
			}
		}
		for _, k := range c.DependencesOf[p.Ingredient] {
			if !c.Dependences[k].IsMet(func(i int) bool { return amountOf(parts, i) > 0 }) {
				return false
			}
		}
		for _, k := range c.SumsOf[p.Ingredient] {
			if !involvesAny(c.SumsOf, parts[:at], k) && !c.Sums[k].holds(parts) {
				return false
			}
		}
	}
	return true
}

// involvesAny reports whether the condition involves the ingredient of at least one of the parts. For each
// ingredient, conditionsOf holds the ascending indices of the conditions that involve the ingredient.
func involvesAny(conditionsOf [][]int32, parts []rule.Part, condition int32) bool {
	for _, p := range parts {
		if _, ok := slices.BinarySearch(conditionsOf[p.Ingredient], condition); ok {
			return true
		}
	}
	return false
}

// keepsGroup reports whether a composition, given by its parts, keeps the group with index g.
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

// groupAllows reports whether the group allows a composition in which the number of used members is used and the
// units of the members are total.
func groupAllows(g *count.Group, used, total int) bool {
	return (g.Used == nil || contains(g.Used, used)) && (g.Total == nil || contains(g.Total, total))
}

func contains(r *count.Range, v int) bool { return r.Min <= v && v <= r.Max }

// CountableSpace returns the space of the conditions that can be counted exactly: the amounts, and the groups that
// are disjoint or nested. A group is included if the group is disjoint from or nested with every group included
// before. The result all reports whether the space has all conditions.
func (c *Conditions) CountableSpace() (space count.Space, all bool) {
	space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	kept, rest := space.CompatibleGroups()
	if len(rest) > 0 {
		space.Groups = nil
		for _, g := range kept {
			space.Groups = append(space.Groups, c.Groups[g])
		}
	}
	return space, len(rest) == 0 && len(c.Dependences) == 0 && len(c.Sums) == 0
}

// FullSpace returns the space with all conditions. FullSpace returns a [count.SizeError] if a term is not linear
// in the amount (see [Term.IsBent]), because no table can hold such a term.
func (c *Conditions) FullSpace() (space count.Space, err error) {
	space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	for _, n := range c.Dependences {
		space.Sums = append(space.Sums, n.Sum())
	}
	for _, s := range c.Sums {
		sum := count.Sum{Min: s.Min, Max: s.Max}
		for _, t := range s.Terms {
			if t.IsBent() {
				return space, &count.SizeError{Needed: 1, Resource: "sums in which not each unit counts alike"}
			}
			sum.Terms = append(sum.Terms, count.Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, PerUse: t.PerUse})
		}
		space.Sums = append(space.Sums, sum)
	}
	return space, nil
}

// UncountedSums returns the conditions that [Conditions.CountableSpace] leaves out, written as sums.
func (c *Conditions) UncountedSums() []Sum {
	sums := slices.Clone(c.Sums)
	_, rest := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}.CompatibleGroups()
	for _, g := range rest {
		for _, s := range c.Groups[g].Sums() {
			sums = append(sums, FromCountSum(s))
		}
	}
	for _, n := range c.Dependences {
		sums = append(sums, FromCountSum(n.Sum()))
	}
	return sums
}

// UncountedRules returns the ascending indices of the rules that [Conditions.CountableSpace] leaves out in whole or in
// part.
func (c *Conditions) UncountedRules() []int {
	out := slices.Concat(c.DependenceRules, c.SumRules)
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
			c.addRange(unitSum(g.Members, 1), g.Total)
		}
		return
	}
	slices.Sort(g.Members)
	g.Members = slices.Compact(g.Members)
	c.Groups, c.GroupRules = append(c.Groups, g), append(c.GroupRules, c.ruleIndex)
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
	c.Dependences, c.DependenceRules = append(c.Dependences, n), append(c.DependenceRules, c.ruleIndex)
}

// withGuard calls write with g added to the guards. So the conditions that write adds must hold only if g and
// all enclosing guards hold.
func (c *Conditions) withGuard(g guard, write func()) {
	c.guards = append(c.guards, g)
	write()
	c.guards = c.guards[:len(c.guards)-1]
}
