package count

import (
	"maps"
	"math"
	"slices"

	"kir/internal/portable"
)

// splitRules divides the rules of a space into groups, which are disjoint or nested, and sums. A group becomes
// sums if the group crosses another group or shares an ingredient with a sum. The result ok is false if no
// composition can keep the sums.
func (s Space) splitRules(kinds []amountSet, p *plan) (groups []Group, sums []Sum, ok bool) {
	r := &reducer{amountSets: kinds, required: make([]bool, len(kinds)), total: p.total, unit: p.unit, maxUsed: p.maxUsed}
	for i, k := range kinds {
		r.required[i] = s.Ingredients[i].Required
		if k.n > 0 {
			r.usableCount++
		}
	}
	held := make([]bool, len(kinds))
	ok = true
	add := func(more ...Sum) {
		for _, sum := range more {
			r.dropUnusable(&sum)
			can := r.reduce(&sum)
			if ok = ok && can; len(sum.Terms) > 0 {
				sums = append(sums, sum)
			}
			for _, t := range sum.Terms {
				held[t.Ingredient] = true
			}
		}
	}
	s.Groups = slices.Clone(s.Groups)
	for _, sum := range s.Sums {
		r.dropUnusable(&sum)
		if g := sum.asGroup(); g != nil {
			s.Groups = append(s.Groups, *g)
		} else {
			add(sum)
		}
	}
	kept, rest := s.CompatibleGroups()
	for _, g := range rest {
		add(s.Groups[g].Sums()...)
	}
	for _, g := range kept {
		groups = append(groups, s.Groups[g])
	}
	for before := -1; len(groups) != before && len(sums) > 0; {
		before = len(groups)
		groups = slices.DeleteFunc(groups, func(g Group) bool {
			touched := slices.ContainsFunc(g.Members, func(i int) bool { return held[i] && kinds[i].n > 0 })
			if touched {
				add(g.Sums()...)
			}
			return touched
		})
	}
	return groups, sums, ok
}

// A reducer rewrites weighted sums so that the sums have fewer terms and fewer possible values.
type reducer struct {
	amountSets  []amountSet // item i holds the amounts that ingredient i may have when used
	required    []bool      // item i tells whether every composition uses ingredient i
	total       int         // total of a composition, as a multiple of unit
	unit        int         // common divisor of all amounts
	usableCount int         // number of ingredients that can be used
	maxUsed     int         // maximum number of used ingredients
}

// dropUnusable drops the terms of ingredients that cannot be used. Then dropUnusable subtracts c·Σ x_i from the
// sum, and the constant c·M, which equals c·Σ x_i, from the bounds. The chosen c leaves the fewest terms.
func (r *reducer) dropUnusable(s *Sum) {
	byIngredient := make(map[int]Term)
	for _, t := range s.Terms {
		if r.amountSets[t.Ingredient].n > 0 {
			was := byIngredient[t.Ingredient]
			byIngredient[t.Ingredient] = Term{t.Ingredient, was.PerUnit + t.PerUnit, was.PerUse + t.PerUse}
		}
	}
	count := make(map[int64]int)
	for _, t := range byIngredient {
		count[t.PerUnit]++
	}
	common, most := int64(0), count[0]+r.usableCount-len(byIngredient)
	for per, n := range count {
		if n > most || n == most && per < common {
			common, most = per, n
		}
	}
	if common != 0 {
		for i, k := range r.amountSets {
			if k.n > 0 {
				t := byIngredient[i]
				byIngredient[i] = Term{i, t.PerUnit - common, t.PerUse}
			}
		}
	}
	s.Terms = nil
	for _, i := range slices.Sorted(maps.Keys(byIngredient)) {
		if t := byIngredient[i]; t.PerUnit != 0 || t.PerUse != 0 {
			s.Terms = append(s.Terms, t)
		}
	}
	base := common * int64(r.total) * int64(r.unit)
	s.Min, s.Max = subtractBound(s.Min, base), subtractBound(s.Max, base)
}

// asGroup returns the sum as a [Group] if all terms of the sum are equal and count only units or only used
// ingredients. Otherwise asGroup returns nil.
func (s *Sum) asGroup() *Group {
	if len(s.Terms) == 0 {
		return nil
	}
	first := s.Terms[0]
	if first.PerUnit != 0 && first.PerUse != 0 {
		return nil
	}
	g := &Group{}
	for _, t := range s.Terms {
		if t.PerUnit != first.PerUnit || t.PerUse != first.PerUse {
			return nil
		}
		g.Members = append(g.Members, t.Ingredient)
	}
	r := &Range{math.MinInt, math.MaxInt}
	times := first.PerUnit + first.PerUse
	lo, hi := s.Min, s.Max
	if times < 0 {
		times, lo, hi = -times, -max(hi, -math.MaxInt64), -max(lo, -math.MaxInt64)
	}
	if lo > -math.MaxInt64 {
		r.Min = int(-floorDiv(-lo, times))
	}
	if hi < math.MaxInt64 {
		r.Max = int(floorDiv(hi, times))
	}
	if g.Used = r; first.PerUse == 0 {
		g.Used, g.Total = nil, r
	}
	return g
}

// reduce rewrites a sum for amounts in multiples of the unit, and divides the sum by the greatest common divisor
// of the coefficients. If every composition keeps the sum, reduce drops all terms. The result ok is false if no
// composition can keep the sum.
func (r *reducer) reduce(s *Sum) (ok bool) {
	base := int64(0)
	terms := s.Terms
	s.Terms = nil
	divisor := int64(0)
	for _, t := range terms {
		i := t.Ingredient
		if r.amountSets[i].n == 0 {
			continue
		}
		t.PerUnit *= int64(r.unit)
		if r.amountSets[i].n == 1 {
			t.PerUse += t.PerUnit * int64(r.amountSets[i].lo)
			t.PerUnit = 0
		}
		if r.required[i] {
			base += t.PerUse
			t.PerUse = 0
		}
		if t.PerUnit == 0 && t.PerUse == 0 {
			continue
		}
		divisor = portable.GCD(portable.GCD(divisor, t.PerUnit), t.PerUse)
		s.Terms = append(s.Terms, t)
	}
	s.Min, s.Max = subtractBound(s.Min, base), subtractBound(s.Max, base)
	if divisor > 1 {
		for k := range s.Terms {
			s.Terms[k].PerUnit /= divisor
			s.Terms[k].PerUse /= divisor
		}
		if s.Min != math.MinInt64 {
			s.Min = -floorDiv(-s.Min, divisor)
		}
		if s.Max != math.MaxInt64 {
			s.Max = floorDiv(s.Max, divisor)
		}
	}
	var can termBounds
	for _, t := range s.Terms {
		can.add(r.amountSets[t.Ingredient], r.required[t.Ingredient], 1, t)
	}
	all := can.span(r.total, r.maxUsed)
	if all.lo >= s.Min && all.hi <= s.Max {
		s.Terms = nil
		return true
	}
	return s.Min <= s.Max && all.hi >= s.Min && all.lo <= s.Max
}

// subtractBound returns a−b, where a is a bound of a sum. If a means "no bound", the result is a. Otherwise the
// result is limited to ±maxSum.
func subtractBound(a, b int64) int64 {
	if a == math.MinInt64 || a == math.MaxInt64 {
		return a
	}
	if d := float64(a) - float64(b); math.Abs(d) > maxSum {
		if d < 0 {
			return -maxSum
		}
		return maxSum
	}
	return a - b
}
