package constraint

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/constraint/count"
	"kir/rule"
)

// A Sum bounds a sum over the used ingredients: Min ≤ Σ_i t_i(x_i) ≤ Max. Some ingredients have a term t_i,
// with t_i(0) = 0. Every rule that is not a bound of single amounts or of a group is written as sums:
// means, ratios, distances from a recipe, and conditional rules. The absolute value of a sum is below 2⁶².
type Sum struct {
	Terms    []Term // ascending by ingredient, at most one for each
	Min, Max int64  // bounds; math.MinInt64 and math.MaxInt64 mean none
}

// A Term is the contribution of an ingredient that is used with x units: PerUnit·min(x, Cap) + PerUse. Off
// is added if x is neither First nor a multiple of Step away from it. Cap 0 means no cap, and a Step below
// 2 means no Off. A sum with caps has no Max, and a capped term has PerUnit ≥ 0. So the sum is concave as
// units move from one ingredient to another, and between two values that satisfy Min all values do.
type Term struct {
	Ingredient      int
	PerUnit, PerUse int64
	Cap             int
	Off             int64
	First, Step     int
}

// SumOf converts a sum of package count to a Sum.
func SumOf(s count.Sum) Sum {
	of := Sum{Min: s.Min, Max: s.Max, Terms: make([]Term, len(s.Terms))}
	for k, t := range s.Terms {
		of.Terms[k] = Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, PerUse: t.PerUse}
	}
	return of
}

// At returns the term's value for an amount of its ingredient.
func (t *Term) At(amount int) int64 {
	if amount == 0 {
		return 0
	}
	v := t.PerUse
	if t.Cap > 0 && amount > t.Cap {
		v += t.PerUnit * int64(t.Cap)
	} else {
		v += t.PerUnit * int64(amount)
	}
	if t.Step > 1 && (amount-t.First)%t.Step != 0 {
		v += t.Off
	}
	return v
}

// IsBent reports whether the term is not linear in the units, because of a cap or a step.
func (t *Term) IsBent() bool { return t.Cap > 0 || t.Step > 1 }

// Term returns the term of an ingredient, or nil.
func (s *Sum) Term(ingredient int) *Term {
	if ingredient < len(s.Terms) && s.Terms[ingredient].Ingredient == ingredient {
		return &s.Terms[ingredient] // if each ingredient before has a term, this is the index
	}
	if k, ok := s.find(ingredient); ok {
		return &s.Terms[k]
	}
	return nil
}

func (s *Sum) find(ingredient int) (int, bool) {
	return slices.BinarySearchFunc(s.Terms, ingredient, func(t Term, i int) int { return cmp.Compare(t.Ingredient, i) })
}

// value returns the sum's value for a composition.
func (s *Sum) value(parts []rule.Part) int64 {
	v := int64(0)
	for _, p := range parts {
		if t := s.Term(p.Ingredient); t != nil {
			v += t.At(p.Amount)
		}
	}
	return v
}

// holds reports whether the value for a composition lies within the bounds.
func (s *Sum) holds(parts []rule.Part) bool { return s.contains(s.value(parts)) }

func (s *Sum) contains(v int64) bool { return s.Min <= v && v <= s.Max }

// total returns a sum without bounds: factor times the units of the ingredients in of.
func total(of []int, factor int64) Sum {
	return uniformSum(of, Term{PerUnit: factor})
}

// usedSum returns a sum without bounds: how many of the ingredients in of are used.
func usedSum(of []int) Sum { return uniformSum(of, Term{PerUse: 1}) }

// uniformSum returns a sum without bounds in which each ingredient in of has the term t.
func uniformSum(of []int, t Term) Sum {
	of = slices.Clone(of)
	slices.Sort(of)
	s := Sum{Min: math.MinInt64, Max: math.MaxInt64}
	for _, i := range slices.Compact(of) {
		t.Ingredient = i
		s.Terms = append(s.Terms, t)
	}
	return s
}

// ingredients returns the ingredients that have a term.
func (s Sum) ingredients() []int {
	of := make([]int, len(s.Terms))
	for k, t := range s.Terms {
		of[k] = t.Ingredient
	}
	return of
}

// add returns the sum with further terms. Terms of one ingredient are added, so at most one of them may be bent.
func (s Sum) add(more ...Term) Sum {
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

// valueRange returns bounds of the sum's value over all compositions of total units of the given number of
// ingredients.
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
		lo += min(t.PerUse, 0) + min(t.Off, 0)
		hi += max(t.PerUse, 0) + max(t.Off, 0)
	}
	return lo + least*int64(total), hi + most*int64(total)
}

// A guard is the condition of an If rule: one of some ingredients is used, or none of them is.
type guard struct {
	ingredients []int
	unused      bool
}

// addSum adds a sum that must hold only if all guards hold. Each guard is written into the sum: if the
// guard does not hold, the bound is loosened until it cannot be violated. Let r be the amount by which s
// can exceed Max. "If i is used, s ≤ Max" becomes s + r·[i used] ≤ Max + r. "If none of J is used, s ≤ Max"
// becomes s − r·Σ_J [j used] ≤ Max. "If one of J is used" becomes one sum for each j.
func (c *Conditions) addSum(s Sum) {
	if len(c.guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.rule)
		return
	}
	lo, hi := s.valueRange(len(c.Amounts), c.Total)
	room := 1.0 // greater than what all guards together can add
	for _, g := range c.guards {
		room += float64(len(g.ingredients)) + 1
	}
	if (float64(hi)-float64(lo)+1)*room >= 1<<62 {
		c.tooLarge = true
		return
	}
	if hi > s.Max {
		upper := s
		upper.Min, upper.Max = math.MinInt64, max(s.Max, lo-1)
		c.slacken(upper, 1, hi-upper.Max, c.guards)
	}
	if lo < s.Min {
		lower := s
		lower.Min, lower.Max = min(s.Min, hi+1), math.MaxInt64
		c.slacken(lower, -1, lower.Min-lo, c.guards)
	}
}

// slacken adds the guards to a sum that has only a Max (sign 1) or only a Min (sign −1). room is by how much the
// sum can violate that bound.
func (c *Conditions) slacken(s Sum, sign, room int64, guards []guard) {
	if len(guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.rule)
		return
	}
	g, guards := guards[0], guards[1:]
	if g.unused {
		c.slacken(s.add(uniformSum(g.ingredients, Term{PerUse: -sign * room}).Terms...), sign, room, guards)
		return
	}
	if sign > 0 {
		s.Max += room
	} else {
		s.Min -= room
	}
	for _, i := range g.ingredients {
		c.slacken(s.add(Term{Ingredient: i, PerUse: sign * room}), sign, room, guards)
	}
}
