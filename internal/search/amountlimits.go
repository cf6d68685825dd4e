package search

import (
	"math"

	"kir/mcmc"
)

// KnownAmountRanges returns, for each of n ingredients, the least and the greatest amount among the known
// compositions that use it. Both are 0 for an ingredient that none uses. In [Options] a Least of 0 allows any amount,
// and a Most of 0 allows none.
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

// amountLimits hold the limits of the amount of each used ingredient, and the numbers of ingredients to which the target
// gives density.
type amountLimits struct {
	least, most []int32
	total       int
	pool        []int32 // ingredients that may be used
	sizes       []bool  // by number of ingredients: whether the target allows it
}

// newAmountLimits returns the limits of a target, with the amounts further limited by least and most, which may be nil.
func newAmountLimits(t *mcmc.Target, least, most []int) *amountLimits {
	n, total := t.Space().N(), t.Space().Total()
	d := &amountLimits{least: make([]int32, n), most: make([]int32, n), total: total}
	for i := range n {
		d.least[i], d.most[i] = 1, int32(total)
		if least != nil {
			d.least[i] = int32(max(least[i], 1))
		}
		if most != nil {
			d.most[i] = int32(min(max(most[i], 0), total))
		}
		if d.most[i] < d.least[i] {
			d.most[i] = 0
			continue
		}
		d.pool = append(d.pool, int32(i))
	}
	_, hi := t.Law().Support()
	d.sizes = make([]bool, hi+2)
	for k := range d.sizes {
		d.sizes[k] = t.LogLaw(k) > math.Inf(-1)
	}
	return d
}

// allowsSize reports whether the target allows compositions of n ingredients.
func (d *amountLimits) allowsSize(n int) bool { return n < len(d.sizes) && d.sizes[n] }

// allows reports whether ingredient i may have that amount. The amount may be 0.
func (d *amountLimits) allows(i int, amount int32) bool {
	return amount == 0 || d.least[i] <= amount && amount <= d.most[i]
}

// allowsAll reports whether x keeps the limits of all amounts.
func (d *amountLimits) allowsAll(x *mcmc.Composition) bool {
	for _, i := range x.Ingredients() {
		if !d.allows(int(i), int32(x.Amount(int(i)))) {
			return false
		}
	}
	return true
}

// splitRange returns the range from ≤ k < to of splits that give both i and j an allowed positive amount. i has k
// units and j the other s−k.
func (d *amountLimits) splitRange(i, j, s int) (from, to int) {
	from = max(int(d.least[i]), s-int(d.most[j]))
	to = min(int(d.most[i]), s-int(d.least[j])) + 1
	return from, to
}

// repair returns x with each amount moved into its allowed range and without forbidden ingredients. It then restores
// the total by changing the amounts in proportion to their room. ok is false if there is not enough room.
func (d *amountLimits) repair(x *mcmc.Composition) (*mcmc.Composition, bool) {
	if d.allowsAll(x) {
		return x, true
	}
	var parts []mcmc.Part
	sum := 0
	for _, p := range x.Parts() {
		if d.most[p.Ingredient] == 0 {
			continue
		}
		p.Amount = min(max(p.Amount, int(d.least[p.Ingredient])), int(d.most[p.Ingredient]))
		sum += p.Amount
		parts = append(parts, p)
	}
	// room is by how many units an amount can change in the direction that closes the gap to the total.
	gap := d.total - sum
	room := func(p mcmc.Part) int {
		if gap > 0 {
			return int(d.most[p.Ingredient]) - p.Amount
		}
		return p.Amount - int(d.least[p.Ingredient])
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
