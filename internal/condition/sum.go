package condition

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/count"
	"kir/rule"
)

// A Sum bounds what the used ingredients add up to: Min ≤ Σ_i t_i(x_i) ≤ Max,
// with a term t_i for some of the ingredients and t_i(0) = 0. Whatever is no
// bound on single amounts or a group is written as sums: a mean, a ratio, how
// far a recipe is, and what stands behind a condition. All that a sum can come to
// is below 2⁶² in size.
type Sum struct {
	Terms    []Term // rising by ingredient, each once
	Min, Max int64  // math.MinInt64 and math.MaxInt64 where there is no bound
}

// A Term is what an ingredient adds to a sum if it is used with x units:
// PerUnit·min(x, Cap) + Whole, and Off more if x is not First or whole Steps away
// from it. Cap 0 stands for none, and a Step below 2 for no Off. A sum with caps
// has no Max, and PerUnit is not negative where there is one: so it is concave in
// what one ingredient takes of another, and between two ends keeps its bound on
// an interval.
type Term struct {
	Ingredient     int
	PerUnit, Whole int64
	Cap            int
	Off            int64
	First, Step    int
}

// SumOf returns a sum that is counted.
func SumOf(s count.Sum) Sum {
	of := Sum{Min: s.Min, Max: s.Max, Terms: make([]Term, len(s.Terms))}
	for k, t := range s.Terms {
		of.Terms[k] = Term{Ingredient: t.Ingredient, PerUnit: t.PerUnit, Whole: t.Whole}
	}
	return of
}

// At returns what an amount adds.
func (t *Term) At(amount int) int64 {
	if amount == 0 {
		return 0
	}
	v := t.Whole
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

// IsBent says whether the term is not the same for each unit.
func (t *Term) IsBent() bool { return t.Cap > 0 || t.Step > 1 }

// Term returns the term of an ingredient, nil if there is none.
func (s *Sum) Term(ingredient int) *Term {
	if ingredient < len(s.Terms) && s.Terms[ingredient].Ingredient == ingredient {
		return &s.Terms[ingredient] // there is one for each
	}
	if k, ok := s.find(ingredient); ok {
		return &s.Terms[k]
	}
	return nil
}

func (s *Sum) find(ingredient int) (int, bool) {
	return slices.BinarySearchFunc(s.Terms, ingredient, func(t Term, i int) int { return cmp.Compare(t.Ingredient, i) })
}

// value returns what a composition comes to.
func (s *Sum) value(parts []rule.Part) int64 {
	v := int64(0)
	for _, p := range parts {
		if t := s.Term(p.Ingredient); t != nil {
			v += t.At(p.Amount)
		}
	}
	return v
}

// holds says whether the sum is within its bounds.
func (s *Sum) holds(parts []rule.Part) bool { return s.contains(s.value(parts)) }

func (s *Sum) contains(v int64) bool { return s.Min <= v && v <= s.Max }

// total returns a sum of the amounts of some ingredients, times a factor.
func total(of []int, factor int64) Sum {
	return uniformSum(of, Term{PerUnit: factor})
}

// usedSum returns how many of some ingredients are used, as a sum.
func usedSum(of []int) Sum { return uniformSum(of, Term{Whole: 1}) }

// uniformSum returns a sum of terms that differ in the ingredient alone.
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

// ingredients returns those of the terms.
func (s Sum) ingredients() []int {
	of := make([]int, len(s.Terms))
	for k, t := range s.Terms {
		of[k] = t.Ingredient
	}
	return of
}

// add returns the sum with terms more. Of two of one ingredient only one may be
// bent.
func (s Sum) add(more ...Term) Sum {
	terms := slices.Concat(s.Terms, more)
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.Ingredient, b.Ingredient) })
	s.Terms = terms[:0]
	for _, t := range terms {
		if k := len(s.Terms) - 1; k >= 0 && s.Terms[k].Ingredient == t.Ingredient {
			s.Terms[k].PerUnit += t.PerUnit
			s.Terms[k].Whole += t.Whole
		} else {
			s.Terms = append(s.Terms, t)
		}
	}
	return s
}

// valueRange returns numbers between which the sum lies for each composition of a
// total among so many ingredients.
func (s *Sum) valueRange(ingredients, total int) (lo, hi int64) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64) // of a unit
	if len(s.Terms) < ingredients {
		least, most = 0, 0
	}
	for _, t := range s.Terms {
		least, most = min(least, t.PerUnit), max(most, t.PerUnit)
		if t.Cap > 0 {
			least = min(least, 0)
		}
		lo += min(t.Whole, 0) + min(t.Off, 0)
		hi += max(t.Whole, 0) + max(t.Off, 0)
	}
	return lo + least*int64(total), hi + most*int64(total)
}

// A guard is a condition under which what is written out holds: that one of some
// ingredients is used, or that none of them is.
type guard struct {
	of     []int
	unused bool
}

// addSum adds a sum, which need hold only if all guards do. Each guard is written
// into the sum: where it does not hold, the sum is given as much room as it can
// want. For s ≤ Max and the room r by which s can pass Max, "if i is used" is
// s + r·[i used] ≤ Max + r, and "if none of J is used" is s − r·Σ_J [j used] ≤
// Max. "If one of J is used" is a sum for each.
func (c *Conditions) addSum(s Sum) {
	if len(c.guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.rule)
		return
	}
	lo, hi := s.valueRange(len(c.Amounts), c.Total)
	room := 1.0 // more than any guard wants
	for _, g := range c.guards {
		room += float64(len(g.of)) + 1
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

// slacken writes guards into a sum with a Max, sign 1, or a Min, sign −1.
func (c *Conditions) slacken(s Sum, sign, room int64, guards []guard) {
	if len(guards) == 0 {
		c.Sums, c.SumRules = append(c.Sums, s), append(c.SumRules, c.rule)
		return
	}
	g, guards := guards[0], guards[1:]
	if g.unused {
		c.slacken(s.add(uniformSum(g.of, Term{Whole: -sign * room}).Terms...), sign, room, guards)
		return
	}
	if sign > 0 {
		s.Max += room
	} else {
		s.Min -= room
	}
	for _, i := range g.of {
		c.slacken(s.add(Term{Ingredient: i, Whole: sign * room}), sign, room, guards)
	}
}
