package constraint

import (
	"context"

	"kir/internal/portable"
	"kir/rule"
)

// MaxCandidates is the maximum number of compositions for which an [Enumeration] is tried. The number is
// estimated by [Enumeration.CandidateBound].
const MaxCandidates = 1 << 20

// An Enumeration visits, one by one, all compositions that keep a set of conditions. The enumeration chooses the
// amount of one ingredient after the other, and abandons the amounts chosen so far as soon as a group exceeds its
// maximum.
type Enumeration struct {
	conditions       *Conditions
	wantedSizes      []bool // item n tells whether compositions of n ingredients are to be visited
	minUsed, maxUsed int    // least and greatest n for which compositions of n ingredients are to be visited

	maxSumFrom      []int            // item i is the greatest possible sum of the amounts of ingredients i, i+1, ...
	minSumFrom      []int            // item i is the least possible sum of the amounts of the required ingredients among i, i+1, ...
	chosenParts     []rule.Part      // ingredients and amounts chosen so far
	constraintState *ConstraintState // values of groups and sums for chosenParts

	amountsTried    int         // number of amounts tried so far
	maxAmountsTried int         // maximum number of amounts to try
	visitFunc       func() bool // function to call with each composition; false ends the enumeration
	ctx             context.Context
}

// NewEnumeration returns an enumeration of the compositions that keep the conditions c and whose number of used
// ingredients is in sizes. The sizes must be ascending.
func NewEnumeration(c *Conditions, sizes []int) *Enumeration {
	e := &Enumeration{conditions: c, constraintState: NewConstraintState(c), maxSumFrom: make([]int, len(c.Amounts)+1), minSumFrom: make([]int, len(c.Amounts)+1)}
	e.minUsed, e.maxUsed = sizes[0], sizes[len(sizes)-1]
	e.wantedSizes = make([]bool, e.maxUsed+1)
	for _, n := range sizes {
		e.wantedSizes[n] = true
	}
	for i := len(c.Amounts) - 1; i >= 0; i-- {
		d := c.AmountSets[i]
		e.maxSumFrom[i], e.minSumFrom[i] = e.maxSumFrom[i+1], e.minSumFrom[i+1]
		if d.Count > 0 {
			e.maxSumFrom[i] += d.Hi()
		}
		if c.Amounts[i].Required {
			e.minSumFrom[i] += max(d.Lo, 1)
		}
	}
	return e
}

// CountFeasible counts the compositions of n ingredients that keep the conditions, by enumeration, and returns
// the count as kept. The result ok is false if the count is unknown, that is, if there are more than
// [MaxCandidates] candidates, or if the context or the limit on work ended the enumeration.
func (c *Conditions) CountFeasible(ctx context.Context, n int) (kept int, ok bool, err error) {
	e := NewEnumeration(c, []int{n})
	if e.CandidateBound() > MaxCandidates {
		return 0, false, nil
	}
	ok = e.VisitAll(ctx, func() bool { kept++; return true })
	return kept, ok, ctx.Err()
}

// CandidateBound returns an upper bound of the number of compositions to visit: the sum of C(N, n)·C(M−1, n−1)
// over all wanted numbers n of used ingredients. Here N is the number of ingredients that may be used. M is the
// total, measured in the greatest unit of which all allowed amounts are multiples.
func (e *Enumeration) CandidateBound() float64 {
	usable, unit := 0, 0
	for _, d := range e.conditions.AmountSets {
		if d.Count > 0 {
			usable++
			unit = portable.GCD(unit, d.Lo)
		}
		if d.Count > 1 {
			unit = portable.GCD(unit, d.Step)
		}
	}
	if unit == 0 {
		return 0
	}
	total := e.conditions.Total / unit
	sum := 0.0
	for n, wanted := range e.wantedSizes {
		if wanted && n > 0 && n <= usable && n <= total {
			sum += portable.Exp(logBinomial(usable, n) + logBinomial(total-1, n-1))
		}
	}
	return sum
}

func logBinomial(n, k int) float64 {
	factorial := func(n int) float64 { return portable.LogGamma(float64(n + 1)) }
	return factorial(n) - factorial(k) - factorial(n-k)
}

// VisitAll calls visit for every composition until visit returns false. The result done is true if all compositions
// were visited. The result is false if visit returned false, or if the context or the limit on work ended the
// enumeration.
func (e *Enumeration) VisitAll(ctx context.Context, visit func() bool) (done bool) {
	e.ctx, e.amountsTried, e.maxAmountsTried, e.chosenParts, e.visitFunc = ctx, 0, 8*MaxCandidates, e.chosenParts[:0], visit
	return e.enumerate(0, e.conditions.Total)
}

// Parts returns the composition that is being visited. The slice is valid until the function visit returns.
func (e *Enumeration) Parts() []rule.Part { return e.chosenParts }

// Work estimates the work of the enumeration so far, in nanoseconds.
func (e *Enumeration) Work() float64 {
	return float64(50*float64(e.amountsTried)) + float64(10*float64(e.constraintState.checkCount))
}

// enumerate divides left units, the units not yet given to an ingredient, among the ingredients i, i+1, and so
// on, in all possible ways. The result is false if the enumeration must end.
func (e *Enumeration) enumerate(i, left int) bool {
	have := len(e.chosenParts)
	if left == 0 {
		if e.minSumFrom[i] > 0 || have > e.maxUsed || !e.wantedSizes[have] {
			return true
		}
		return !e.constraintState.IsSatisfied(e.chosenParts) || e.visitFunc()
	}
	if have == e.maxUsed {
		return true
	}
	more := max(e.minUsed-have-1, 0) // least number of parts needed after the next one
	for j := i; j+more < len(e.conditions.AmountSets) && e.maxSumFrom[j] >= left; j++ {
		d := e.conditions.AmountSets[j]
		lo, hi := d.Lo, min(d.Hi(), left-max(e.minSumFrom[j+1], more))
		if least := left - e.maxSumFrom[j+1]; d.Count > 0 && lo < least {
			lo += (least - lo + d.Step - 1) / d.Step * d.Step
		}
		if have+1 == e.maxUsed && d.Count > 0 { // the last part takes all remaining units
			if left < lo || left > hi || (left-d.Lo)%d.Step != 0 {
				lo = hi + 1
			} else {
				lo = left
			}
		}
		for a := lo; d.Count > 0 && a <= hi; a += d.Step {
			if e.amountsTried++; e.amountsTried > e.maxAmountsTried || e.amountsTried%(1<<12) == 0 && e.ctx.Err() != nil {
				return false
			}
			p := rule.Part{Ingredient: j, Amount: a}
			e.chosenParts = append(e.chosenParts, p)
			e.constraintState.Add(p)
			on := e.constraintState.exceededGroupCount > 0 || e.enumerate(j+1, left-a)
			e.constraintState.Remove(p)
			e.chosenParts = e.chosenParts[:have]
			if !on {
				return false
			}
		}
		if e.conditions.Amounts[j].Required {
			break
		}
	}
	return true
}
