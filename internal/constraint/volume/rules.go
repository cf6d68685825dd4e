package volume

import (
	"cmp"
	"fmt"
	"slices"

	"kir/internal/constraint"
	"kir/internal/portable"
)

// rules hold all rules of a problem, indexed by ingredient.
type rules struct {
	total   int // total of a composition, in multiples of unit
	unit    int
	amounts []allowedAmounts
	first   []int32 // first[kinds·i+kind] is where ingredient i's terms of a kind begin in terms
	terms   []ruleTerm
	bounds  []bound
	linear  []int32 // sums other than countable rules with terms that depend on amounts
	bent    []func(amount int) int64
}

// These are the kinds of terms, in the order in which an ingredient's terms are stored.
const (
	// A use term counts an ingredient alike in any amount, so a change of the amount leaves it constant. An amount
	// term depends on the amount. A ceiling is a sum without a lower bound and with positive terms only, so less of
	// an ingredient never breaks it.
	ceilingUse = iota
	otherUse
	ceilingAmount
	otherAmount
	kinds
)

// A ruleTerm is the term of one ingredient in one sum.
type ruleTerm struct {
	sum             int32
	bent            int32 // 0, or 1 + the index in rules.bent of a function that replaces perUnit and whole
	perUnit, perUse int64
}

// bentDelta returns the change of a bent term when an amount changes from was to amount.
func (r *rules) bentDelta(bent, was, amount int32) int64 {
	at := r.bent[bent-1]
	return at(int(amount)*r.unit) - at(int(was)*r.unit)
}

// allowedAmounts are the amounts lo, lo+step, ... up to hi that an ingredient may have when used.
type allowedAmounts struct {
	lo, hi, step int32
	required     bool
}

func (a *allowedAmounts) contains(x int32) bool {
	return x >= a.lo && x <= a.hi && (a.step == 1 || (x-a.lo)%a.step == 0)
}

// newRules indexes the rules of a problem by ingredient, with amounts divided by their greatest common divisor with
// the total.
func newRules(p Problem) (*rules, error) {
	s := p.Space
	r := &rules{total: s.Total, amounts: make([]allowedAmounts, len(s.Ingredients))}
	unit := s.Total
	for i, a := range s.Ingredients {
		lo, step, n := a.AllowedAmounts(s.Total)
		if a.Excluded || n == 0 {
			r.amounts[i] = allowedAmounts{lo: 1, hi: 0, step: 1, required: a.Required}
			continue
		}
		if n == 1 {
			step = lo
		}
		r.amounts[i] = allowedAmounts{int32(lo), int32(lo + (n-1)*step), int32(step), a.Required}
		unit = portable.GCD(unit, portable.GCD(lo, step))
	}
	r.unit, r.total = unit, s.Total/unit
	for i := range r.amounts {
		a := &r.amounts[i]
		if a.hi == 0 {
			continue
		}
		a.lo, a.hi, a.step = a.lo/int32(unit), a.hi/int32(unit), a.step/int32(unit)
	}
	sums := make([]constraint.Sum, 0, len(p.Sums)+2*len(s.Groups))
	for k := range s.Groups {
		for _, sum := range s.Groups[k].Sums() {
			sums = append(sums, constraint.SumOf(sum))
		}
	}
	hard := len(sums)
	sums = append(sums, p.Sums...)
	r.first = make([]int32, kinds*len(s.Ingredients)+1)
	for k := range sums {
		sum := &sums[k]
		ceiling, linear := isCeiling(sum), false
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return nil, fmt.Errorf("measure: sum %d names ingredient %d of %d", k-hard, t.Ingredient, len(s.Ingredients))
			}
			r.first[kinds*t.Ingredient+kindOf(&t, ceiling)+1]++
			linear = linear || t.PerUnit != 0
		}
		r.bounds = append(r.bounds, bound{min: sum.Min, max: sum.Max, hard: k < hard, scale: 1})
		if linear && k >= hard {
			r.linear = append(r.linear, int32(k))
		}
	}
	for at := 1; at < len(r.first); at++ {
		r.first[at] += r.first[at-1]
	}
	next := slices.Clone(r.first)
	r.terms = make([]ruleTerm, next[len(next)-1])
	for k := range sums {
		sum := &sums[k]
		ceiling := isCeiling(sum)
		for _, t := range sum.Terms {
			one := ruleTerm{sum: int32(k), perUnit: t.PerUnit * int64(unit), perUse: t.PerUse}
			if t.IsBent() {
				r.bent = append(r.bent, t.At)
				one.bent = int32(len(r.bent))
			}
			at := &next[kinds*t.Ingredient+kindOf(&t, ceiling)]
			r.terms[*at] = one
			*at++
		}
	}
	return r, nil
}

// isCeiling reports whether a sum has no lower bound and no negative term.
func isCeiling(s *constraint.Sum) bool {
	return s.Min <= 0 && !slices.ContainsFunc(s.Terms, func(t constraint.Term) bool { return t.IsBent() || t.PerUnit < 0 || t.PerUse < 0 })
}

func kindOf(t *constraint.Term, ceiling bool) int {
	switch use := t.PerUnit == 0 && !t.IsBent(); {
	case use && ceiling:
		return ceilingUse
	case use:
		return otherUse
	case ceiling:
		return ceilingAmount
	}
	return otherAmount
}

// termsOf returns the terms of ingredient i of the kinds from..to. Within a kind they follow the order of the sums.
func (r *rules) termsOf(i int32, from, to int) []ruleTerm {
	return r.terms[r.first[kinds*int(i)+from]:r.first[kinds*int(i)+to+1]]
}

// find returns the term of an ingredient in a sum, of the given kind, or nil.
func (r *rules) find(i, sum int32, kind int) *ruleTerm {
	terms := r.termsOf(i, kind, kind)
	at, ok := slices.BinarySearchFunc(terms, sum, func(t ruleTerm, sum int32) int { return cmp.Compare(t.sum, sum) })
	if !ok {
		return nil
	}
	return &terms[at]
}
