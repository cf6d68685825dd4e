package count

import (
	"fmt"
	"math"
	"slices"
)

// A Sum bounds Σ_i (a_i·x_i + u_i·[x_i > 0]) over a composition x, in whole
// numbers: Min ≤ sum ≤ Max. Limits are sums of amounts, "i needs one of J" is
// [x_i > 0] − Σ_{j∈J} [x_j > 0] ≤ 0.
type Sum struct {
	Terms    []Term
	Min, Max int64 // math.MinInt64 and math.MaxInt64 where there is no bound
}

// A Term is what one ingredient adds to a sum.
type Term struct {
	Ingredient     int
	PerUnit, Whole int64 // a_i and u_i
}

// span bounds the numbers that a sum can be, those without bound as far as they
// fit.
type span struct{ lo, hi int64 }

// maxSum bounds what terms can add up to, with room for sums of a few of them.
const maxSum = 1 << 58

// of returns the sum of a composition.
func (s *Sum) of(amount []int) int64 {
	v := int64(0)
	for _, t := range s.Terms {
		if x := amount[t.Ingredient]; x > 0 {
			v += t.PerUnit*int64(x) + t.Whole
		}
	}
	return v
}

// validateSums returns an [ErrInvalid] for sums of what is not there, and a
// [SizeError] for those that could leave the whole numbers.
func (s Space) validateSums() error {
	for k, sum := range s.Sums {
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return fmt.Errorf("%w: sum %d has a term of ingredient %d and ingredients go from 0 to %d", ErrInvalid, k, t.Ingredient, len(s.Ingredients)-1)
			}
			per, whole := math.Abs(float64(t.PerUnit)), math.Abs(float64(t.Whole))
			if need := per*float64(s.Total) + whole*float64(min(s.Total, len(s.Ingredients))); need > maxSum/4 {
				return &SizeError{need, maxSum / 4, "values of a sum"}
			}
		}
	}
	return nil
}

// sumsOf writes a group as sums.
func (g *Group) sumsOf() (sums []Sum) {
	add := func(r *Range, t Term) {
		if r == nil {
			return
		}
		s := Sum{Min: int64(r.Min), Max: int64(r.Max)}
		for _, i := range g.Members {
			t.Ingredient = i
			s.Terms = append(s.Terms, t)
		}
		sums = append(sums, s)
	}
	add(g.Used, Term{Whole: 1})
	add(g.Total, Term{PerUnit: 1})
	return sums
}

// together splits a space's rules into groups that are disjoint or nested, and
// sums that hold all else: those of the space, those of groups that cross, and
// those of groups with a member that these hold. ok is false if none can keep them.
func (s Space) together(kinds []kind, p *plan) (groups []Group, sums []Sum, ok bool) {
	r := &reducer{kinds: kinds, required: make([]bool, len(kinds)), total: p.total, unit: p.unit, most: p.maxUsed}
	for i, k := range kinds {
		r.required[i] = s.Ingredients[i].Required
		if k.n > 0 {
			r.usable++
		}
	}
	held := make([]bool, len(kinds))
	ok = true
	add := func(more ...Sum) {
		for _, sum := range more {
			sum, can := r.reduce(sum)
			if ok = ok && can; len(sum.Terms) > 0 {
				sums = append(sums, sum)
			}
			for _, t := range sum.Terms {
				held[t.Ingredient] = true
			}
		}
	}
	add(s.Sums...)
	kept, rest := s.Disjoint()
	for _, g := range rest {
		add(s.Groups[g].sumsOf()...)
	}
	for _, g := range kept {
		groups = append(groups, s.Groups[g])
	}
	for before := -1; len(groups) != before && len(sums) > 0; {
		before = len(groups)
		groups = slices.DeleteFunc(groups, func(g Group) bool {
			touched := slices.ContainsFunc(g.Members, func(i int) bool { return held[i] && kinds[i].n > 0 })
			if touched {
				add(g.sumsOf()...)
			}
			return touched
		})
	}
	return groups, sums, ok
}

// A reducer writes sums so that they have few terms and few values.
type reducer struct {
	kinds    []kind
	required []bool
	total    int // in units
	unit     int // the amounts of a unit
	usable   int
	most     int // how many ingredients are used at most
}

// reduce returns a sum that the same compositions keep, without terms if all do.
// Since Σ x_i is the total M, Σ (a_i − c)·x_i is the sum less c·M: c is taken so
// that most ingredients have no part in it. ok is false if none can keep it.
func (r *reducer) reduce(s Sum) (out Sum, ok bool) {
	byIngredient := make(map[int]Term)
	for _, t := range s.Terms {
		if r.kinds[t.Ingredient].n > 0 {
			was := byIngredient[t.Ingredient]
			byIngredient[t.Ingredient] = Term{t.Ingredient, was.PerUnit + t.PerUnit*int64(r.unit), was.Whole + t.Whole}
		}
	}
	count := make(map[int64]int)
	for _, t := range byIngredient {
		count[t.PerUnit]++
	}
	common, most := int64(0), count[0]+r.usable-len(byIngredient)
	for per, n := range count {
		if n > most || n == most && per < common {
			common, most = per, n
		}
	}
	base := common * int64(r.total)
	if common != 0 {
		for i, k := range r.kinds {
			if k.n > 0 {
				t := byIngredient[i]
				byIngredient[i] = Term{i, t.PerUnit - common, t.Whole}
			}
		}
	}
	divisor := int64(0)
	for i, t := range byIngredient {
		if r.kinds[i].n == 1 {
			t.Whole += t.PerUnit * int64(r.kinds[i].lo)
			t.PerUnit = 0
		}
		if r.required[i] {
			base += t.Whole
			t.Whole = 0
		}
		if t.PerUnit == 0 && t.Whole == 0 {
			continue
		}
		divisor = gcd64(gcd64(divisor, t.PerUnit), t.Whole)
		out.Terms = append(out.Terms, t)
	}
	slices.SortFunc(out.Terms, func(a, b Term) int { return a.Ingredient - b.Ingredient })
	out.Min, out.Max = minus(s.Min, base), minus(s.Max, base)
	if divisor > 1 {
		for k := range out.Terms {
			out.Terms[k].PerUnit /= divisor
			out.Terms[k].Whole /= divisor
		}
		if out.Min != math.MinInt64 {
			out.Min = -floorDiv(-out.Min, divisor)
		}
		if out.Max != math.MaxInt64 {
			out.Max = floorDiv(out.Max, divisor)
		}
	}
	var can bounding
	for _, t := range out.Terms {
		can.add(r.kinds[t.Ingredient], r.required[t.Ingredient], 1, t)
	}
	all := can.span(r.total, r.most)
	if all.lo >= out.Min && all.hi <= out.Max {
		return Sum{}, true
	}
	return out, out.Min <= out.Max && all.hi >= out.Min && all.lo <= out.Max
}

// minus returns a−b, where a bound that is none stays so.
func minus(a, b int64) int64 {
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

// bounding bounds what some ingredients can add to a sum: by what each can, and
// by the most for each unit and each ingredient that is used.
type bounding struct {
	lo, hi           float64
	perLo, perHi     int64
	wholeLo, wholeHi int64
}

// add takes up n ingredients with the same term.
func (b *bounding) add(k kind, required bool, n int, t Term) {
	v, w := t.PerUnit*int64(k.lo)+t.Whole, t.PerUnit*int64(k.hi())+t.Whole
	lo, hi := min(v, w), max(v, w)
	if !required {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	// Below 2^53 what is added up is exact; beyond it is given up.
	if b.lo += float64(lo) * float64(n); math.Abs(b.lo) > 1<<53 {
		b.lo = math.Inf(-1)
	}
	if b.hi += float64(hi) * float64(n); math.Abs(b.hi) > 1<<53 {
		b.hi = math.Inf(1)
	}
	b.perLo, b.perHi = min(b.perLo, t.PerUnit), max(b.perHi, t.PerUnit)
	b.wholeLo, b.wholeHi = min(b.wholeLo, t.Whole), max(b.wholeHi, t.Whole)
}

// span returns the bounds for some units and ingredients at most.
func (b *bounding) span(units, most int) span {
	s := span{b.perLo*int64(units) + b.wholeLo*int64(most), b.perHi*int64(units) + b.wholeHi*int64(most)}
	if !math.IsInf(b.lo, 0) {
		s.lo = max(s.lo, int64(b.lo))
	}
	if !math.IsInf(b.hi, 0) {
		s.hi = min(s.hi, int64(b.hi))
	}
	return s
}

func gcd64(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
