package constraint

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/constraint/count"
	"kir/rule"
)

// A Sum bounds a sum over the used ingredients i with amounts x_i: Min ≤ Σ_i t_i(x_i) ≤ Max. Each ingredient has
// at most one term t_i, with t_i(0) = 0. Every rule that is not a bound of single amounts or of a group is
// written as sums: means, ratios, distances from a recipe, and conditional rules. The absolute value of a sum is
// always below 2⁶².
type Sum struct {
	Terms    []Term // terms in ascending order of ingredient, at most one for each ingredient
	Min, Max int64  // bounds; math.MinInt64 and math.MaxInt64 mean no bound
}

// A Term is the contribution of one used ingredient to a [Sum]. For an amount of x units the contribution is
// PerUnit·min(x, Cap) + PerUse, plus OffStepAddend if x − FirstStep is not a multiple of Step. A Cap of 0 means
// no cap. A Step below 2 means that OffStepAddend is never added. A sum with a capped term has no Max, and a
// capped term has PerUnit ≥ 0. So the sum is concave while units move from one ingredient to another: if the sum
// satisfies Min after moving a units and after moving b units, then also after any number of units between a and
// b.
type Term struct {
	Ingredient      int
	PerUnit, PerUse int64
	Cap             int
	OffStepAddend   int64
	FirstStep, Step int
}

// FromCountSum converts a sum of package count to a Sum.
func FromCountSum(s count.Sum) Sum {
	of := Sum{Min: s.Min, Max: s.Max, Terms: make([]Term, len(s.Terms))}
	for k, t := range s.Terms {
		of.Terms[k] = Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, PerUse: t.PerUse}
	}
	return of
}

// ValueAt returns the value of the term for an amount of the ingredient.
func (t *Term) ValueAt(amount int) int64 {
	if amount == 0 {
		return 0
	}
	v := t.PerUse
	if t.Cap > 0 && amount > t.Cap {
		v += t.PerUnit * int64(t.Cap)
	} else {
		v += t.PerUnit * int64(amount)
	}
	if t.Step > 1 && (amount-t.FirstStep)%t.Step != 0 {
		v += t.OffStepAddend
	}
	return v
}

// IsBent reports whether the term is not linear in the amount, because the term has a cap or a step.
func (t *Term) IsBent() bool { return t.Cap > 0 || t.Step > 1 }

// Term returns the term of an ingredient, or nil if the ingredient has no term.
func (s *Sum) Term(ingredient int) *Term {
	if ingredient < len(s.Terms) && s.Terms[ingredient].Ingredient == ingredient {
		return &s.Terms[ingredient] // if each ingredient before has a term, this is the index
	}
	if k, ok := s.findTerm(ingredient); ok {
		return &s.Terms[k]
	}
	return nil
}

// findTerm returns the index in Terms of the term of the ingredient, or the index at which to insert such a term.
// The second result reports whether the term exists.
func (s *Sum) findTerm(ingredient int) (int, bool) {
	return slices.BinarySearchFunc(s.Terms, ingredient, func(t Term, i int) int { return cmp.Compare(t.Ingredient, i) })
}

// value returns the value of the sum for a composition, given by its parts.
func (s *Sum) value(parts []rule.Part) int64 {
	v := int64(0)
	for _, p := range parts {
		if t := s.Term(p.Ingredient); t != nil {
			v += t.ValueAt(p.Amount)
		}
	}
	return v
}

// holds reports whether the value of the sum for a composition, given by its parts, lies within the bounds.
func (s *Sum) holds(parts []rule.Part) bool { return s.contains(s.value(parts)) }

func (s *Sum) contains(v int64) bool { return s.Min <= v && v <= s.Max }

// unitSum returns the sum whose value is factor times the units that the given ingredients take together. The sum
// has no bounds.
func unitSum(ingredients []int, factor int64) Sum {
	return uniformSum(ingredients, Term{PerUnit: factor})
}

// usedSum returns the sum whose value is the number of used ingredients among the given ingredients. The sum has
// no bounds.
func usedSum(ingredients []int) Sum { return uniformSum(ingredients, Term{PerUse: 1}) }

// uniformSum returns a sum in which each of the given ingredients has the term t. The sum has no bounds.
func uniformSum(ingredients []int, t Term) Sum {
	ingredients = slices.Clone(ingredients)
	slices.Sort(ingredients)
	s := Sum{Min: math.MinInt64, Max: math.MaxInt64}
	for _, i := range slices.Compact(ingredients) {
		t.Ingredient = i
		s.Terms = append(s.Terms, t)
	}
	return s
}

// ingredients returns the indices of the ingredients that have a term, in ascending order.
func (s Sum) ingredients() []int {
	of := make([]int, len(s.Terms))
	for k, t := range s.Terms {
		of[k] = t.Ingredient
	}
	return of
}

// plusTerms returns the sum s plus the terms in more. Two terms of the same ingredient are merged into one term
// by adding PerUnit and PerUse, so the second term must be linear in the amount.
func (s Sum) plusTerms(more ...Term) Sum {
	terms := slices.Concat(s.Terms, more)
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.Ingredient, b.Ingredient) })
	s.Terms = terms[:0]
	for _, t := range terms {
		if k := len(s.Terms) - 1; k >= 0 && s.Terms[k].Ingredient == t.Ingredient {
			s.Terms[k].PerUnit += t.PerUnit
			s.Terms[k].PerUse += t.PerUse
		} else {
			s.Terms = append(s.Terms, t)
		}
	}
	return s
}

// valueRange returns a lower and an upper bound of the value of the sum, valid for all compositions of total
// units. The parameter ingredients is the number of ingredients of the problem.
func (s *Sum) valueRange(ingredients, total int) (lo, hi int64) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64) // least and greatest contribution of one unit
	if len(s.Terms) < ingredients {
		least, most = 0, 0
	}
	for _, t := range s.Terms {
		least, most = min(least, t.PerUnit), max(most, t.PerUnit)
		if t.Cap > 0 {
			least = min(least, 0)
		}
		lo += min(t.PerUse, 0) + min(t.OffStepAddend, 0)
		hi += max(t.PerUse, 0) + max(t.OffStepAddend, 0)
	}
	return lo + least*int64(total), hi + most*int64(total)
}

// A guard is one part of the condition of an If rule. If holdsIfUnused is false, the guard holds if at least one
// of the ingredients is used. If holdsIfUnused is true, the guard holds if none of the ingredients is used.
type guard struct {
	ingredients   []int // indices of the ingredients
	holdsIfUnused bool  // whether the guard holds if none, instead of at least one, of the ingredients is used
}

// addSum adds a sum that must hold only if all guards hold. addSum writes each guard into the sum: if the guard
// does not hold, the bound is so loose that every composition satisfies the bound. Let r be the amount by which s
// can exceed Max. "If i is used, s ≤ Max" becomes s + r·[i used] ≤ Max + r. "If none of J is used, s ≤ Max"
// becomes s − r·Σ_J [j used] ≤ Max. "If one of J is used" becomes one sum for each j.
func (c *Conditions) addSum(s Sum) {
	if len(c.guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.ruleIndex)
		return
	}
	lo, hi := s.valueRange(len(c.Amounts), c.Total)
	room := 1.0 // greater than what all guards together can add
	for _, g := range c.guards {
		room += float64(len(g.ingredients)) + 1
	}
	if (float64(hi)-float64(lo)+1)*room >= 1<<62 {
		c.numbersTooLarge = true
		return
	}
	if hi > s.Max {
		upper := s
		upper.Min, upper.Max = math.MinInt64, max(s.Max, lo-1)
		c.addWithGuards(upper, 1, hi-upper.Max, c.guards)
	}
	if lo < s.Min {
		lower := s
		lower.Min, lower.Max = min(s.Min, hi+1), math.MaxInt64
		c.addWithGuards(lower, -1, lower.Min-lo, c.guards)
	}
}

// addWithGuards writes the guards into the sum s and adds the result to the conditions. The sum s has only a Max
// (sign 1) or only a Min (sign −1). The parameter room is the greatest amount by which a composition can violate
// the bound of s.
func (c *Conditions) addWithGuards(s Sum, sign, room int64, guards []guard) {
	if len(guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.ruleIndex)
		return
	}
	g, guards := guards[0], guards[1:]
	if g.holdsIfUnused {
		c.addWithGuards(s.plusTerms(uniformSum(g.ingredients, Term{PerUse: -sign * room}).Terms...), sign, room, guards)
		return
	}
	if sign > 0 {
		s.Max += room
	} else {
		s.Min -= room
	}
	for _, i := range g.ingredients {
		c.addWithGuards(s.plusTerms(Term{Ingredient: i, PerUse: sign * room}), sign, room, guards)
	}
}
