package count

import (
	"errors"
	"fmt"
	"math"
)

// A Space is the set of compositions that keep certain rules. A composition divides Total units among the
// ingredients in whole numbers.
type Space struct {
	// Total is M, the number of units that every composition divides.
	Total int

	// Ingredients are the allowed amounts of each ingredient.
	Ingredients []Ingredient

	// Groups limit several ingredients together. Groups that are disjoint or nested add little work. Groups that
	// cross are counted by the frontier method of the package comment.
	Groups []Group

	// Sums are weighted sums with bounds, such as "one ingredient needs another". The tables are small if the
	// sums have few possible values.
	Sums []Sum
}

// An Ingredient holds the amounts allowed when the ingredient is used: Min, Min+Step, Min+2·Step and so on, up
// to Max. The zero value allows every amount.
type Ingredient struct {
	// Min is the least positive amount. 0 means Step, so that a Step alone allows the multiples of Step.
	Min int

	// Max is the greatest amount. 0 means the total.
	Max int

	// Step is the difference between successive amounts. 0 means 1.
	Step int

	// Required means that every composition uses the ingredient. Excluded means that no composition uses the
	// ingredient.
	Required, Excluded bool
}

// A Group limits how many of its members are used, and how many units the members take together. A nil range is
// no limit.
type Group struct {
	Members []int  // indices of the ingredients in the group, each at most once
	Used    *Range // limits of the number of used members, or nil
	Total   *Range // limits of the units that the members take together, or nil
}

// A Range is the whole numbers from Min to Max, both included. If Min is above Max, the range is empty.
type Range struct{ Min, Max int }

func (r Range) contains(v int) bool { return r.Min <= v && v <= r.Max }

// ErrInvalid is returned for an invalid space: an index is out of range, a bound is negative, or a member is
// named twice.
var ErrInvalid = errors.New("count: invalid space")

// A SizeError is returned for a space whose tables would take more memory or time than the [Options] allow.
type SizeError struct {
	Needed, Limit float64 // required size, and allowed size, of Resource
	Resource      string  // the limited resource: "bytes of memory", "steps", ...
}

// Error states the required and the allowed size, and ways to need less.
func (e *SizeError) Error() string {
	return fmt.Sprintf("count: the tables need %.3g %s and the limit is %.3g: "+
		"count up to fewer used ingredients, or measure in coarser units", e.Needed, e.Resource, e.Limit)
}

// Contains reports whether a composition lies in the space. The composition is given by the ingredients used and
// their amounts, in any order.
func (s Space) Contains(ingredients, amounts []int32) bool {
	if len(ingredients) != len(amounts) {
		return false
	}
	amount := make([]int, len(s.Ingredients))
	sum := 0
	for t, i := range ingredients {
		if i < 0 || int(i) >= len(amount) || amount[i] != 0 || amounts[t] <= 0 {
			return false
		}
		amount[i] = int(amounts[t])
		sum += amount[i]
	}
	if sum != s.Total {
		return false
	}
	for i, ing := range s.Ingredients {
		if !ing.Allows(amount[i], s.Total) {
			return false
		}
	}
	for _, g := range s.Groups {
		used, units := 0, 0
		for _, i := range g.Members {
			if i < 0 || i >= len(amount) {
				return false
			}
			units += amount[i]
			if amount[i] > 0 {
				used++
			}
		}
		if g.Used != nil && !g.Used.contains(used) || g.Total != nil && !g.Total.contains(units) {
			return false
		}
	}
	for k := range s.Sums {
		if v := s.Sums[k].value(amount); v < s.Sums[k].Min || v > s.Sums[k].Max {
			return false
		}
	}
	return true
}

// Allows reports whether the ingredient may have the given amount in a composition of total units. An amount of
// 0 means that the ingredient is not used.
func (ing Ingredient) Allows(amount, total int) bool {
	if amount == 0 {
		return !ing.Required
	}
	k := ing.amountSet(total)
	return !ing.Excluded && k.n > 0 && amount >= k.lo && amount <= k.hi() && (amount-k.lo)%k.step == 0
}

// AllowedAmounts returns the n amounts lo, lo+step, lo+2·step, ... that the ingredient may have when used in a
// composition of total units. If there are no such amounts, n is 0. AllowedAmounts ignores Excluded.
func (ing Ingredient) AllowedAmounts(total int) (lo, step, n int) {
	k := ing.amountSet(total)
	return k.lo, k.step, k.n
}

// amountSet returns the amounts that the ingredient may have when used, possibly none. amountSet ignores
// Excluded.
func (ing Ingredient) amountSet(total int) amountSet {
	k := amountSet{lo: ing.Min, step: max(ing.Step, 1)}
	if k.lo == 0 {
		k.lo = k.step
	}
	hi := ing.Max
	if hi == 0 || hi > total {
		hi = total
	}
	if k.lo > hi {
		return amountSet{}
	}
	k.n = (hi-k.lo)/k.step + 1
	if k.n == 1 {
		k.step = 1
	}
	return k
}

// maxSize is the maximum number of ingredients and the maximum total, so that indices and amounts fit in int32.
const maxSize = math.MaxInt32

func (s Space) validate() error {
	if s.Total < 1 || s.Total > maxSize {
		return fmt.Errorf("%w: the total is %d and must be from 1 to %d", ErrInvalid, s.Total, maxSize)
	}
	if len(s.Ingredients) < 1 || len(s.Ingredients) > maxSize {
		return fmt.Errorf("%w: there are %d ingredients and must be from 1 to %d", ErrInvalid, len(s.Ingredients), maxSize)
	}
	for i, ing := range s.Ingredients {
		if ing.Min < 0 || ing.Max < 0 || ing.Step < 0 {
			return fmt.Errorf("%w: ingredient %d has a negative bound or step", ErrInvalid, i)
		}
	}
	seen := make([]int, len(s.Ingredients))
	for g, group := range s.Groups {
		for _, i := range group.Members {
			if i < 0 || i >= len(s.Ingredients) {
				return fmt.Errorf("%w: group %d has member %d and ingredients go from 0 to %d", ErrInvalid, g, i, len(s.Ingredients)-1)
			}
			if seen[i] == g+1 {
				return fmt.Errorf("%w: group %d has member %d twice", ErrInvalid, g, i)
			}
			seen[i] = g + 1
		}
	}
	return s.validateSums()
}
