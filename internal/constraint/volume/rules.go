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
	total          int                      // total of a composition, in multiples of unit
	unit           int                      // number of units of which all amounts and the total are multiples
	allowedAmounts []allowedAmounts         // item i holds the amounts that ingredient i may have
	firstTerms     []int32                  // item kindCount·i+k is the index in terms of the first term of kind k of ingredient i
	terms          []ruleTerm               // all terms, sorted by ingredient, then by kind, then by sum
	sumBounds      []sumBound               // item s is the permitted interval of sum s
	amountSums     []int32                  // indices of the sums that are not countable rules and that have terms with a value for each unit
	bentTerms      []func(amount int) int64 // functions that compute the terms that are not linear in the amount, in units
}

// These constants are the kinds of terms, in the order in which the terms of an ingredient are stored. A use term
// has the same value for every positive amount of an ingredient. An amount term depends on the amount. A ceiling
// is a sum without a lower bound and with positive terms only, so less of an ingredient never breaks a ceiling.
const (
	// use term in a ceiling
	ceilingUse    = iota
	otherUse      // use term in another sum
	ceilingAmount // amount term in a ceiling
	otherAmount   // amount term in another sum
	kindCount     // number of kinds
)

// A ruleTerm is the term of one ingredient in one sum.
type ruleTerm struct {
	sumIndex        int32 // index of the sum
	bentIndex       int32 // 1 + the index in rules.bentTerms of the function that computes the term; 0 if perUnit and perUse define the term
	perUnit, perUse int64 // contribution of each unit, and of the use of the ingredient
}

// bentDelta returns by how much a term that is not linear in the amount changes, when the amount changes from
// oldAmount to newAmount. The parameter bentIndex is that of the [ruleTerm].
func (r *rules) bentDelta(bentIndex, oldAmount, newAmount int32) int64 {
	at := r.bentTerms[bentIndex-1]
	return at(int(newAmount)*r.unit) - at(int(oldAmount)*r.unit)
}

// allowedAmounts are the amounts lo, lo+step, ... up to hi that an ingredient may have when used.
type allowedAmounts struct {
	lo, hi, step int32 // in multiples of rules.unit
	required     bool  // whether every composition uses the ingredient
}

func (a *allowedAmounts) contains(x int32) bool {
	return x >= a.lo && x <= a.hi && (a.step == 1 || (x-a.lo)%a.step == 0)
}

// newRules indexes the rules of a problem by ingredient. All amounts and the total are divided by their greatest
// common divisor, the unit.
func newRules(p Problem) (*rules, error) {
	s := p.Space
	r := &rules{total: s.Total, allowedAmounts: make([]allowedAmounts, len(s.Ingredients))}
	unit := s.Total
	for i, a := range s.Ingredients {
		lo, step, n := a.AllowedAmounts(s.Total)
		if a.Excluded || n == 0 {
			r.allowedAmounts[i] = allowedAmounts{lo: 1, hi: 0, step: 1, required: a.Required}
			continue
		}
		if n == 1 {
			step = lo
		}
		r.allowedAmounts[i] = allowedAmounts{int32(lo), int32(lo + (n-1)*step), int32(step), a.Required}
		unit = portable.GCD(unit, portable.GCD(lo, step))
	}
	r.unit, r.total = unit, s.Total/unit
	for i := range r.allowedAmounts {
		a := &r.allowedAmounts[i]
		if a.hi == 0 {
			continue
		}
		a.lo, a.hi, a.step = a.lo/int32(unit), a.hi/int32(unit), a.step/int32(unit)
	}
	sums := make([]constraint.Sum, 0, len(p.Sums)+2*len(s.Groups))
	for k := range s.Groups {
		for _, sum := range s.Groups[k].Sums() {
			sums = append(sums, constraint.FromCountSum(sum))
		}
	}
	hard := len(sums)
	sums = append(sums, p.Sums...)
	r.firstTerms = make([]int32, kindCount*len(s.Ingredients)+1)
	for k := range sums {
		sum := &sums[k]
		ceiling, linear := isCeiling(sum), false
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return nil, fmt.Errorf("measure: sum %d names ingredient %d of %d", k-hard, t.Ingredient, len(s.Ingredients))
			}
			r.firstTerms[kindCount*t.Ingredient+termKind(&t, ceiling)+1]++
			linear = linear || t.PerUnit != 0
		}
		r.sumBounds = append(r.sumBounds, sumBound{min: sum.Min, max: sum.Max, countable: k < hard, scale: 1})
		if linear && k >= hard {
			r.amountSums = append(r.amountSums, int32(k))
		}
	}
	for at := 1; at < len(r.firstTerms); at++ {
		r.firstTerms[at] += r.firstTerms[at-1]
	}
	next := slices.Clone(r.firstTerms)
	r.terms = make([]ruleTerm, next[len(next)-1])
	for k := range sums {
		sum := &sums[k]
		ceiling := isCeiling(sum)
		for _, t := range sum.Terms {
			one := ruleTerm{sumIndex: int32(k), perUnit: t.PerUnit * int64(unit), perUse: t.PerUse}
			if t.IsBent() {
				r.bentTerms = append(r.bentTerms, t.ValueAt)
				one.bentIndex = int32(len(r.bentTerms))
			}
			at := &next[kindCount*t.Ingredient+termKind(&t, ceiling)]
			r.terms[*at] = one
			*at++
		}
	}
	return r, nil
}

// isCeiling reports whether a sum has no effective lower bound and no negative term, and all terms are linear in
// the amounts.
func isCeiling(s *constraint.Sum) bool {
	return s.Min <= 0 && !slices.ContainsFunc(s.Terms, func(t constraint.Term) bool { return t.IsBent() || t.PerUnit < 0 || t.PerUse < 0 })
}

func termKind(t *constraint.Term, ceiling bool) int {
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

// termsOf returns the terms of ingredient i of the kinds from..to. Terms of the same kind follow the order of
// the sums.
func (r *rules) termsOf(i int32, from, to int) []ruleTerm {
	return r.terms[r.firstTerms[kindCount*int(i)+from]:r.firstTerms[kindCount*int(i)+to+1]]
}

// findTerm returns the term of ingredient i in a sum if the term has the given kind, and nil otherwise.
func (r *rules) findTerm(i, sum int32, kind int) *ruleTerm {
	terms := r.termsOf(i, kind, kind)
	at, ok := slices.BinarySearchFunc(terms, sum, func(t ruleTerm, sum int32) int { return cmp.Compare(t.sumIndex, sum) })
	if !ok {
		return nil
	}
	return &terms[at]
}
