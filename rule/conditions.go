package rule

import (
	"math"
	"slices"

	"kir/count"
)

// Conditions are rules written out in whole numbers: what each ingredient may
// take when it is used, groups, needs, and bounds on weighted sums. A
// composition keeps the rules if it keeps all of them.
type Conditions struct {
	Total   int
	Amounts []count.Ingredient // by ingredient, with its bounds written out
	Groups  []count.Group      // members rising, each once
	Needs   []Dependence
	Sums    []Sum

	GroupsOf [][]int32 // by ingredient: the groups that it is a member of
	Required int       // how many ingredients are

	groupRules, needRules, sumRules []int // the rule that each is of

	rule  int     // that is being written out
	doses []doses // by ingredient, none of those that are excluded
}

// A Dependence says that if an ingredient is used, so is at least one of others.
type Dependence struct {
	If   int
	Then []int
}

// kept says whether it is met, given which ingredients are used.
func (d Dependence) kept(used func(i int) bool) bool {
	return !used(d.If) || slices.ContainsFunc(d.Then, used)
}

// A Sum bounds a weighted sum of all amounts: Min ≤ Σ_i f_i·x_i ≤ Max. The
// largest |f_i| times the total is below 2⁶².
type Sum struct {
	Factors  []int64
	Min, Max int64
}

func newConditions(ingredients, total int) *Conditions {
	c := &Conditions{
		Total: total, Amounts: make([]count.Ingredient, ingredients),
		doses: make([]doses, ingredients), GroupsOf: make([][]int32, ingredients),
	}
	for i := range c.doses {
		c.doses[i] = doses{1, 1, total}
	}
	return c
}

// bound writes out the bounds of amounts, once all rules have been.
func (c *Conditions) bound() {
	for i, d := range c.doses {
		if a := &c.Amounts[i]; d.n == 0 {
			a.Excluded = true
		} else {
			a.Min, a.Max, a.Step = d.lo, d.hi(), d.step
		}
	}
}

// index works out what follows from the conditions.
func (c *Conditions) index() {
	for i := range c.Amounts {
		a := &c.Amounts[i]
		if a.Required {
			c.Required++
		}
		if c.doses[i] = (doses{}); !a.Excluded {
			c.doses[i] = dosesOf(*a, c.Total)
		}
	}
	for g := range c.Groups {
		for _, i := range c.Groups[g].Members {
			c.GroupsOf[i] = append(c.GroupsOf[i], int32(g))
		}
	}
}

// each changes what ingredients may take.
func (c *Conditions) each(of []int, change func(*count.Ingredient)) {
	for _, i := range of {
		change(&c.Amounts[i])
	}
}

// Keeps reports whether a composition of the total, given by its parts, keeps
// all conditions. It is the judgement: all that decides faster is tested
// against it.
func (c *Conditions) Keeps(parts []Part) bool {
	required := 0
	for _, p := range parts {
		if !c.doses[p.Ingredient].allow(p.Amount) {
			return false
		}
		if c.Amounts[p.Ingredient].Required {
			required++
		}
	}
	if required < c.Required {
		return false
	}
	for g := range c.Groups {
		used, total := 0, 0
		for _, p := range parts {
			if slices.Contains(c.GroupsOf[p.Ingredient], int32(g)) {
				used++
				total += p.Amount
			}
		}
		group := &c.Groups[g]
		if group.Used != nil && !contains(group.Used, used) || group.Total != nil && !contains(group.Total, total) {
			return false
		}
	}
	for _, n := range c.Needs {
		if !n.kept(func(i int) bool { return amountOf(parts, i) > 0 }) {
			return false
		}
	}
	for k := range c.Sums {
		if s := &c.Sums[k]; !s.holds(parts) {
			return false
		}
	}
	return true
}

func contains(r *Range, v int) bool { return r.Min <= v && v <= r.Max }

// holds says whether the sum is within its bounds.
func (s *Sum) holds(parts []Part) bool {
	v := s.of(parts)
	return s.Min <= v && v <= s.Max
}

func (s *Sum) of(parts []Part) int64 {
	v := int64(0)
	for _, p := range parts {
		v += s.Factors[p.Ingredient] * int64(p.Amount)
	}
	return v
}

// Countable returns the space of the conditions that can be counted together:
// amounts, and the groups that are disjoint or nested, each kept if it fits with
// those before it. all says that there are no others.
func (c *Conditions) Countable() (space count.Space, all bool) {
	space = count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	kept, rest := space.Disjoint()
	if len(rest) > 0 {
		space.Groups = nil
		for _, g := range kept {
			space.Groups = append(space.Groups, c.Groups[g])
		}
	}
	return space, len(rest) == 0 && len(c.Needs) == 0 && len(c.Sums) == 0
}

// Whole returns the space of all conditions.
func (c *Conditions) Whole() count.Space {
	space := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}
	for _, n := range c.Needs { // [if used] − Σ [then used] ≤ 0
		sum := count.Sum{Min: math.MinInt64, Terms: []count.Term{{Ingredient: n.If, Whole: 1}}}
		for _, i := range n.Then {
			sum.Terms = append(sum.Terms, count.Term{Ingredient: i, Whole: -1})
		}
		space.Sums = append(space.Sums, sum)
	}
	for _, s := range c.Sums {
		sum := count.Sum{Min: s.Min, Max: s.Max}
		for i, f := range s.Factors {
			if f != 0 {
				sum.Terms = append(sum.Terms, count.Term{Ingredient: i, PerUnit: f})
			}
		}
		space.Sums = append(space.Sums, sum)
	}
	return space
}

// Crossing returns the groups that [Conditions.Countable] leaves out.
func (c *Conditions) Crossing() []count.Group {
	_, rest := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}.Disjoint()
	var groups []count.Group
	for _, g := range rest {
		groups = append(groups, c.Groups[g])
	}
	return groups
}

// Uncounted returns the rules, by index, of which a condition is not part of
// what [Conditions.Countable] returns.
func (c *Conditions) Uncounted() []int {
	out := slices.Concat(c.needRules, c.sumRules)
	_, rest := count.Space{Total: c.Total, Ingredients: c.Amounts, Groups: c.Groups}.Disjoint()
	for _, g := range rest {
		out = append(out, c.groupRules[g])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Conditions) addGroup(g count.Group) {
	slices.Sort(g.Members)
	g.Members = slices.Compact(g.Members)
	c.Groups, c.groupRules = append(c.Groups, g), append(c.groupRules, c.rule)
}

func (c *Conditions) addNeed(n Dependence) {
	c.Needs, c.needRules = append(c.Needs, n), append(c.needRules, c.rule)
}

func (c *Conditions) addSum(s Sum) {
	c.Sums, c.sumRules = append(c.Sums, s), append(c.sumRules, c.rule)
}
