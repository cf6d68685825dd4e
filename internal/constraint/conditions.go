package constraint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/constraint/count"
	"kir/rule"
)

// Conditions hold the rules of a [rule.Set], converted to conditions on whole numbers. There are four kinds of
// conditions: the allowed amounts of each ingredient, groups, dependences, and bounds on weighted sums. A
// composition keeps the rules if and only if the composition keeps all conditions.
type Conditions struct {
	Total       int                // total units of a composition
	Amounts     []count.Ingredient // item i holds the amounts that ingredient i may have, with explicit bounds
	Groups      []count.Group      // limits on groups of ingredients; the members of each group are listed once, in ascending order
	Dependences []Dependence       // requirements of the form "if one ingredient is used, another must be used"
	Sums        []Sum              // weighted sums of amounts and uses, with bounds

	AmountSets    []AmountSet // item i is the set of amounts that ingredient i may have when used; the set of an excluded ingredient is empty
	GroupsOf      [][]int32   // item i lists the groups that contain ingredient i, as ascending indices into Groups
	DependencesOf [][]int32   // item i lists the dependences whose If is ingredient i, as ascending indices into Dependences
	SumsOf        [][]int32   // item i lists the sums that have a term for ingredient i, as ascending indices into Sums
	RequiredCount int         // number of required ingredients

	IdleGroups []int32 // indices into Groups of the groups that are violated if no member is used
	IdleSums   []int32 // indices into Sums of the sums that are violated if no ingredient with a term is used

	GroupRules, DependenceRules, SumRules []int // item k is the index of the rule that made the group, dependence or sum with index k

	ruleIndex       int     // index of the rule that addRule is converting
	guards          []guard // conditions of the If rules that enclose the rule that addRule is converting
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

// IsMet reports whether the dependence holds for a composition. The function used tells whether the composition
// uses ingredient i.
func (d Dependence) IsMet(used func(i int) bool) bool {
	return !used(d.If) || slices.ContainsFunc(d.Then, used)
}

// FromRules converts the rules of a set to conditions. Then FromRules calls each of the functions in changes;
// such a function may add conditions that no rule can express. FromRules returns a [*rule.Error] for an invalid
// rule.
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

// setAmountLimits copies the limits in AmountSets to Amounts. The call comes after all rules have been added.
func (c *Conditions) setAmountLimits() {
	for i, d := range c.AmountSets {
		if a := &c.Amounts[i]; d.Count == 0 {
			a.Excluded = true
		} else {
			a.Min, a.Max, a.Step = d.Lo, d.Hi(), d.Step
		}
	}
}

// buildIndex computes the lookup fields, such as GroupsOf and IdleSums, from Groups, Dependences and Sums.
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

// require adds the condition that every composition uses the given ingredients.
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

// exclude adds the condition that no composition uses the given ingredients.
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
// amounts, which must sum to Total. AreKeptBy is simple but slow; tests compare every faster check with
// AreKeptBy.
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

// involvesAny reports whether the condition with the given index involves the ingredient of at least one of the
// parts. Item i of conditionsOf lists the conditions that involve ingredient i, as ascending indices.
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

// groupAllows reports whether a composition keeps the limits of the group g. The parameter used is the number of
// members that the composition uses, and total is the number of units that the members take together.
func groupAllows(g *count.Group, used, total int) bool {
	return (g.Used == nil || contains(g.Used, used)) && (g.Total == nil || contains(g.Total, total))
}

// contains reports whether the number v is in the range r, including both ends.
func contains(r *count.Range, v int) bool { return r.Min <= v && v <= r.Max }

// CountableSpace returns the conditions that package count can count exactly, as a [count.Space]: the amounts,
// and the groups that are disjoint or nested. CountableSpace goes through the groups in order and includes a
// group if the group is disjoint from or nested with every group included before. The result all reports whether
// the space has all conditions.
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

// FullSpace returns all conditions as a [count.Space]. FullSpace returns a [count.SizeError] if a term of a sum
// is not linear in the amount (see [Term.IsBent]), because the tables of package count cannot hold such a term.
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
			c.addBoundedSum(usedSum(g.Members), g.Used)
		}
		if g.Total != nil {
			c.addBoundedSum(unitSum(g.Members, 1), g.Total)
		}
		return
	}
	slices.Sort(g.Members)
	g.Members = slices.Compact(g.Members)
	c.Groups, c.GroupRules = append(c.Groups, g), append(c.GroupRules, c.ruleIndex)
}

func (c *Conditions) addBoundedSum(s Sum, r *count.Range) {
	s.Min, s.Max = int64(r.Min), int64(r.Max)
	c.addSum(s)
}

func (c *Conditions) addDependence(n Dependence) {
	if len(c.guards) > 0 {
		s := usedSum(n.Then)
		s.Min = 1
		c.withGuard(guard{ingredients: []int{n.If}}, func() { c.addSum(s) })
		return
	}
	c.Dependences, c.DependenceRules = append(c.Dependences, n), append(c.DependenceRules, c.ruleIndex)
}

// withGuard calls the function write while g is one of the guards. So each condition that write adds must hold
// only if g and all enclosing guards hold.
func (c *Conditions) withGuard(g guard, write func()) {
	c.guards = append(c.guards, g)
	write()
	c.guards = c.guards[:len(c.guards)-1]
}
