package measure

import (
	"fmt"

	"kir/rule"
)

// rules are all that a composition must keep, by ingredient.
type rules struct {
	total   int // in units of unit
	unit    int
	amounts []allowed
	first   []int32 // where the terms of an ingredient begin, and end
	terms   []weighted
	bounds  []bound
	linear  []int32 // the soft sums whose terms have amounts
	bent    []func(amount int) int64
}

// A weighted is a term as an ingredient sees it.
type weighted struct {
	sum            int32
	bent           int32 // 0, or 1 + the index of a function that tells what is added instead
	perUnit, whole int64
}

// more is what changing an amount adds of a bent term.
func (r *rules) more(bent, was, amount int32) int64 {
	at := r.bent[bent-1]
	return at(int(amount)*r.unit) - at(int(was)*r.unit)
}

// allowed are the amounts that an ingredient may take when it is used: lo,
// lo+step, … as far as hi.
type allowed struct {
	lo, hi, step int32
	required     bool
}

func (a *allowed) has(x int32) bool {
	return x >= a.lo && x <= a.hi && (a.step == 1 || (x-a.lo)%a.step == 0)
}

// newRules indexes rules by ingredient. Amounts are divided by what divides all
// of them and the total.
func newRules(p Problem) (*rules, error) {
	s := p.Space
	r := &rules{total: s.Total, amounts: make([]allowed, len(s.Ingredients))}
	unit := s.Total
	for i, a := range s.Ingredients {
		lo, step, n := a.Doses(s.Total)
		if a.Excluded || n == 0 {
			r.amounts[i] = allowed{lo: 1, hi: 0, step: 1, required: a.Required}
			continue
		}
		if n == 1 {
			step = lo
		}
		r.amounts[i] = allowed{int32(lo), int32(lo + (n-1)*step), int32(step), a.Required}
		unit = gcd(unit, gcd(lo, step))
	}
	r.unit, r.total = unit, s.Total/unit
	for i := range r.amounts {
		a := &r.amounts[i]
		if a.hi == 0 {
			continue
		}
		a.lo, a.hi, a.step = a.lo/int32(unit), a.hi/int32(unit), a.step/int32(unit)
	}
	sums := make([]rule.Sum, 0, len(p.Sums)+2*len(s.Groups))
	for k := range s.Groups {
		for _, sum := range s.Groups[k].Sums() {
			sums = append(sums, rule.SumOf(sum))
		}
	}
	hard := len(sums)
	sums = append(sums, p.Sums...)
	counts := make([]int32, len(s.Ingredients)+1)
	for k, sum := range sums {
		linear := false
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return nil, fmt.Errorf("measure: sum %d names ingredient %d of %d", k-hard, t.Ingredient, len(s.Ingredients))
			}
			counts[t.Ingredient+1]++
			linear = linear || t.PerUnit != 0
		}
		r.bounds = append(r.bounds, bound{min: sum.Min, max: sum.Max, hard: k < hard, scale: 1})
		if linear && k >= hard {
			r.linear = append(r.linear, int32(k))
		}
	}
	for i := range s.Ingredients {
		counts[i+1] += counts[i]
	}
	r.first = append([]int32(nil), counts...)
	r.terms = make([]weighted, counts[len(s.Ingredients)])
	for k, sum := range sums {
		for _, t := range sum.Terms {
			one := weighted{sum: int32(k), perUnit: t.PerUnit * int64(unit), whole: t.Whole}
			if t.Bent() {
				r.bent = append(r.bent, t.At)
				one.bent = int32(len(r.bent))
			}
			r.terms[counts[t.Ingredient]] = one
			counts[t.Ingredient]++
		}
	}
	return r, nil
}

// of returns the terms of an ingredient.
func (r *rules) of(i int32) []weighted { return r.terms[r.first[i]:r.first[i+1]] }

func gcd[T int | int64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
