package search

import (
	"math"

	"kir/mcmc"
)

// Doses returns, for each of n ingredients, the least and the greatest amount in the known
// compositions that use it, and 0 where none does. In [Options], 0 as Least allows any amount, and
// 0 as Most allows none.
func Doses(n int, known []*mcmc.Composition) (least, most []int) {
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

// doses are the allowed amounts of each used ingredient, and the sizes that the target allows.
type doses struct {
	least, most []int32
	total       int
	pool        []int32 // ingredients that may be used
	sizes       []bool  // by n: whether the target gives it density
}

// newDoses returns doses that least and most, which may be nil, limit.
func newDoses(t *mcmc.Target, least, most []int) *doses {
	n, total := t.Space().N(), t.Space().Total()
	d := &doses{least: make([]int32, n), most: make([]int32, n), total: total}
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

// allowsSize reports whether the target allows n ingredients.
func (d *doses) allowsSize(n int) bool { return n < len(d.sizes) && d.sizes[n] }

// allows reports whether ingredient i may have that amount. The amount may be 0.
func (d *doses) allows(i int, amount int32) bool {
	return amount == 0 || d.least[i] <= amount && amount <= d.most[i]
}

// allowsAll reports whether every amount is allowed.
func (d *doses) allowsAll(x *mcmc.Composition) bool {
	for _, i := range x.Ingredients() {
		if !d.allows(int(i), int32(x.Amount(int(i)))) {
			return false
		}
	}
	return true
}

// splitRange returns the splits from ≤ k < to of a line of sum s that give both i and j an allowed
// positive amount.
func (d *doses) splitRange(i, j, s int) (from, to int) {
	from = max(int(d.least[i]), s-int(d.most[j]))
	to = min(int(d.most[i]), s-int(d.least[j])) + 1
	return from, to
}

// repair returns x with each amount moved into its allowed range and forbidden ingredients removed.
// It restores the sum by changing the others in proportion to their room. It reports failure where
// there is no room.
func (d *doses) repair(x *mcmc.Composition) (*mcmc.Composition, bool) {
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
	// room is the distance of each amount from the bound on the side of the gap.
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
		// Units left after rounding go to the ingredients that follow.
		share := int((int64(missing)*int64(free) + int64(all) - 1) / int64(all))
		parts[k].Amount += sign * share
		missing -= share
		all -= free
	}
	y := x.Clone() // with its conditions
	return y, y.SetParts(parts...) == nil
}
