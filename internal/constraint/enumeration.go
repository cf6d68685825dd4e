package constraint

import (
	"context"

	"kir/internal/portable"
	"kir/rule"
)

// MaxCandidates is the greatest number of compositions to enumerate one by one.
const MaxCandidates = 1 << 20

// An Enumeration visits all compositions that keep some conditions. It chooses the amount of one ingredient
// after the other, and abandons a branch as soon as a group exceeds its maximum.
type Enumeration struct {
	c        *Conditions
	wanted   []bool // wanted[n] tells whether compositions of n ingredients are asked for
	least, n int    // least and greatest number of used ingredients asked for

	room  []int // room[i] is the greatest sum of the amounts of ingredients i, i+1, ...
	must  []int // must[i] is the least sum of the required ingredients among i, i+1, ...
	parts []rule.Part
	state *ConstraintState // state of the conditions for the parts chosen so far

	tried int // number of amounts tried so far
	left  int // number of amounts that may still be tried
	visit func() bool
	ctx   context.Context
}

// NewEnumeration returns an enumeration of the compositions whose number of used ingredients is in sizes.
// The sizes are ascending.
func NewEnumeration(c *Conditions, sizes []int) *Enumeration {
	e := &Enumeration{c: c, state: NewConstraintState(c), room: make([]int, len(c.Amounts)+1), must: make([]int, len(c.Amounts)+1)}
	e.least, e.n = sizes[0], sizes[len(sizes)-1]
	e.wanted = make([]bool, e.n+1)
	for _, n := range sizes {
		e.wanted[n] = true
	}
	for i := len(c.Amounts) - 1; i >= 0; i-- {
		d := c.AmountSets[i]
		e.room[i], e.must[i] = e.room[i+1], e.must[i+1]
		if d.N > 0 {
			e.room[i] += d.Hi()
		}
		if c.Amounts[i].Required {
			e.must[i] += max(d.Lo, 1)
		}
	}
	return e
}

// CountFeasible enumerates the compositions of n ingredients that keep the conditions, and returns their
// number. ok is false if there are more than 2²⁰ candidates.
func (c *Conditions) CountFeasible(ctx context.Context, n int) (kept int, ok bool, err error) {
	e := NewEnumeration(c, []int{n})
	if e.Candidates() > MaxCandidates {
		return 0, false, nil
	}
	ok = e.Each(ctx, func() bool { kept++; return true })
	return kept, ok, ctx.Err()
}

// Candidates returns an upper bound of the number of compositions: Σ C(N, n)·C(M−1, n−1). N is the number
// of usable ingredients, and M is the total in units that all amounts are multiples of.
func (e *Enumeration) Candidates() float64 {
	usable, unit := 0, 0
	for _, d := range e.c.AmountSets {
		if d.N > 0 {
			usable++
			unit = portable.GCD(unit, d.Lo)
		}
		if d.N > 1 {
			unit = portable.GCD(unit, d.Step)
		}
	}
	if unit == 0 {
		return 0
	}
	total := e.c.Total / unit
	sum := 0.0
	for n, wanted := range e.wanted {
		if wanted && n > 0 && n <= usable && n <= total {
			sum += portable.Exp(logChoose(usable, n) + logChoose(total-1, n-1))
		}
	}
	return sum
}

func logChoose(n, k int) float64 {
	factorial := func(n int) float64 { return portable.LogGamma(float64(n + 1)) }
	return factorial(n) - factorial(k) - factorial(n-k)
}

// Each calls visit for every composition until visit returns false. done reports whether all compositions
// were visited before the context or the work limit ended.
func (e *Enumeration) Each(ctx context.Context, visit func() bool) (done bool) {
	e.ctx, e.tried, e.left, e.parts, e.visit = ctx, 0, 8*MaxCandidates, e.parts[:0], visit
	return e.enumerate(0, e.c.Total)
}

// Parts returns the composition being visited. It is valid until visit returns.
func (e *Enumeration) Parts() []rule.Part { return e.parts }

// Work estimates the work done so far, in steps of 10⁻⁹ s.
func (e *Enumeration) Work() float64 {
	return float64(50*float64(e.tried)) + float64(10*float64(e.state.work))
}

// enumerate distributes left units among the ingredients from i on.
func (e *Enumeration) enumerate(i, left int) bool {
	have := len(e.parts)
	if left == 0 {
		if e.must[i] > 0 || have > e.n || !e.wanted[have] {
			return true
		}
		return !e.state.IsSatisfied(e.parts) || e.visit()
	}
	if have == e.n {
		return true
	}
	more := max(e.least-have-1, 0) // least number of parts needed after the next one
	for j := i; j+more < len(e.c.AmountSets) && e.room[j] >= left; j++ {
		d := e.c.AmountSets[j]
		lo, hi := d.Lo, min(d.Hi(), left-max(e.must[j+1], more))
		if least := left - e.room[j+1]; d.N > 0 && lo < least {
			lo += (least - lo + d.Step - 1) / d.Step * d.Step
		}
		if have+1 == e.n && d.N > 0 { // the last part takes all remaining units
			if left < lo || left > hi || (left-d.Lo)%d.Step != 0 {
				lo = hi + 1
			} else {
				lo = left
			}
		}
		for a := lo; d.N > 0 && a <= hi; a += d.Step {
			if e.tried++; e.tried > e.left || e.tried%(1<<12) == 0 && e.ctx.Err() != nil {
				return false
			}
			p := rule.Part{Ingredient: j, Amount: a}
			e.parts = append(e.parts, p)
			e.state.Add(p)
			on := e.state.exceeded > 0 || e.enumerate(j+1, left-a)
			e.state.Remove(p)
			e.parts = e.parts[:have]
			if !on {
				return false
			}
		}
		if e.c.Amounts[j].Required {
			break
		}
	}
	return true
}
