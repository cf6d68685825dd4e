package search

import (
	"math"

	"kir/mcmc"
)

// KnownAmountRanges returns two slices: item i is the least and the greatest amount of ingredient i among the
// known compositions that use i. Both are 0 for an ingredient that no known composition uses. As limits in
// [Options], a least amount of 0 allows any amount, and a greatest amount of 0 allows none.
func KnownAmountRanges(n int, known []*mcmc.Composition) (least, most []int) {
	least, most = make([]int, n), make([]int, n)
	for _, x := range known {
		for _, i := range x.Ingredients() {
			amount := x.Amount(int(i))
			if least[i] == 0 || amount < least[i] {
				least[i] = amount
			}
			most[i] = max(most[i], amount)
		}
	}
	return least, most
}

// An amountLimits holds the limits of the amount of each used ingredient, and the permitted numbers of used
// ingredients.
type amountLimits struct {
	// minAmounts[i] and maxAmounts[i] are the least and the greatest amount of ingredient i if it is used. A
	// greatest amount of 0 means that the ingredient must not be used.
	minAmounts, maxAmounts  []int32
	total                   int
	allowedIngredients      []int32 // ingredients that may be used
	allowedIngredientCounts []bool  // item n tells whether the target allows compositions of n ingredients
}

// newAmountLimits returns the limits of amounts that the target t sets. The slices least and most, which may be
// nil, hold further limits for each ingredient.
func newAmountLimits(t *mcmc.Target, least, most []int) *amountLimits {
	n, total := t.Space().N(), t.Space().Total()
	d := &amountLimits{minAmounts: make([]int32, n), maxAmounts: make([]int32, n), total: total}
	for i := range n {
		d.minAmounts[i], d.maxAmounts[i] = 1, int32(total)
		if least != nil {
			d.minAmounts[i] = int32(max(least[i], 1))
		}
		if most != nil {
			d.maxAmounts[i] = int32(min(max(most[i], 0), total))
		}
		if d.maxAmounts[i] < d.minAmounts[i] {
			d.maxAmounts[i] = 0
			continue
		}
		d.allowedIngredients = append(d.allowedIngredients, int32(i))
	}
	_, hi := t.Law().Support()
	d.allowedIngredientCounts = make([]bool, hi+2)
	for k := range d.allowedIngredientCounts {
		d.allowedIngredientCounts[k] = t.LogLaw(k) > math.Inf(-1)
	}
	return d
}

// allowsIngredientCount reports whether the target allows compositions of n ingredients.
func (d *amountLimits) allowsIngredientCount(n int) bool {
	return n < len(d.allowedIngredientCounts) && d.allowedIngredientCounts[n]
}

// allowsAmount reports whether ingredient i may have the given amount. An amount of 0 is always allowed.
func (d *amountLimits) allowsAmount(i int, amount int32) bool {
	return amount == 0 || d.minAmounts[i] <= amount && amount <= d.maxAmounts[i]
}

// allowsAllAmounts reports whether all amounts of x are within the limits.
func (d *amountLimits) allowsAllAmounts(x *mcmc.Composition) bool {
	for _, i := range x.Ingredients() {
		if !d.allowsAmount(int(i), int32(x.Amount(int(i)))) {
			return false
		}
	}
	return true
}

// splitRange returns the numbers k of units, from ≤ k < to, that ingredient i can have of the joint amount
// jointUnits of i and j, if j has the rest. Both amounts are then allowed and positive.
func (d *amountLimits) splitRange(i, j, jointUnits int) (from, to int) {
	from = max(int(d.minAmounts[i]), jointUnits-int(d.maxAmounts[j]))
	to = min(int(d.maxAmounts[i]), jointUnits-int(d.minAmounts[j])) + 1
	return from, to
}

// repairAmounts returns a composition near x that is within the limits. It removes forbidden ingredients and
// moves each other amount into its allowed range. It then restores the total by changing each amount in
// proportion to how far the amount may still change. ok is false if the amounts cannot change enough.
func (d *amountLimits) repairAmounts(x *mcmc.Composition) (*mcmc.Composition, bool) {
	if d.allowsAllAmounts(x) {
		return x, true
	}
	var parts []mcmc.Part
	sum := 0
	for _, p := range x.Parts() {
		if d.maxAmounts[p.Ingredient] == 0 {
			continue
		}
		p.Amount = min(max(p.Amount, int(d.minAmounts[p.Ingredient])), int(d.maxAmounts[p.Ingredient]))
		sum += p.Amount
		parts = append(parts, p)
	}
	// room is by how many units an amount can change in the direction that closes the gap to the total.
	gap := d.total - sum
	room := func(p mcmc.Part) int {
		if gap > 0 {
			return int(d.maxAmounts[p.Ingredient]) - p.Amount
		}
		return p.Amount - int(d.minAmounts[p.Ingredient])
	}
	all := 0
	for _, p := range parts {
		all += room(p)
	}
	missing := max(gap, -gap)
	if missing > all {
		return nil, false
	}
	sign := 1
	if gap < 0 {
		sign = -1
	}
	for k := range parts {
		free := room(parts[k])
		if free == 0 {
			continue
		}
		// Shares are rounded up, and the ingredients that follow divide what is left.
		share := int((int64(missing)*int64(free) + int64(all) - 1) / int64(all))
		parts[k].Amount += sign * share
		missing -= share
		all -= free
	}
	y := x.Clone() // with its conditions
	return y, y.SetParts(parts...) == nil
}
