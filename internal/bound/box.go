package bound

import (
	"math"
	"slices"

	"kir/rule"
)

// A box is a set of compositions, given by bounds lo..hi of columns. Column 2k is the amount, in units, of the k-th
// usable ingredient; column 2k+1 is 1 if that ingredient is used, else 0.
type box struct {
	upperBound float64
	lo, hi     []int32
	depth      int

	restBound        float64   // sum of the bounds of the factors that have no pieces
	pieces           []float64 // upper bound of each piece, in this box or in one that contains it
	age              []uint8   // how many divisions ago each piece's bound was computed; 0 for this box
	bounded          bool      // whether the programs, too, have been solved for this box
	branchIngredient int       // ingredient whose amount contributes most to a factor's bound; −1 if unknown
	branchGain       float64   // how much lower the factor's bound would be without that contribution

	column int   // column along which the box is to be divided
	cut    int32 // greatest value of the column in the lower half
	upper  bool  // whether the upper half is more likely to contain the best composition
}

func (n *box) clone() *box {
	c := *n
	c.lo, c.hi, c.pieces = slices.Clone(n.lo), slices.Clone(n.hi), slices.Clone(n.pieces)
	c.depth++
	c.age = make([]uint8, len(n.age))
	for k, a := range n.age {
		c.age[k] = min(a+1, math.MaxUint8)
	}
	c.bounded, c.branchIngredient, c.branchGain = false, -1, 0
	return &c
}

// rootBox returns the box of all compositions, or nil if there are none.
func (b *Bounder) rootBox() *box {
	b.x = newRelaxation(b)
	n := &box{upperBound: math.Inf(1)}
	for i, d := range b.amounts {
		if d.N == 0 {
			if b.p.Conditions.Amounts[i].Required || slices.Contains(b.p.Always, i) {
				return nil
			}
			continue
		}
		lo, used := int32(0), int32(0)
		if b.p.Conditions.Amounts[i].Required || slices.Contains(b.p.Always, i) {
			lo, used = int32(d.Lo), 1
		}
		n.lo, n.hi = append(n.lo, lo, used), append(n.hi, int32(d.Hi()), 1)
	}
	if !b.tighten(n) {
		return nil
	}
	return n
}

// columnBounds returns the bounds of a column of the linear program for a box.
func (b *Bounder) columnBounds(n *box, column int) (lo, hi float64) {
	x := b.x
	switch {
	case column >= x.first:
		k := column - x.first - len(x.linear)
		return x.lo[k], x.hi[k]
	case column%2 == 0:
		return float64(float64(n.lo[column]) * x.unit), float64(float64(n.hi[column]) * x.unit)
	}
	return float64(n.lo[column]), float64(n.hi[column])
}

// setAmountBounds sets b.least and b.greatest to the bounds of each ingredient's amount in a box.
func (b *Bounder) setAmountBounds(n *box) {
	k := 0
	for i, d := range b.amounts {
		if d.N > 0 {
			b.least[i], b.greatest[i] = n.lo[2*k], n.hi[2*k]
			k++
		}
	}
}

// setColumnBounds sets b.lo and b.hi, the bounds of the program's columns, to those of a box. Columns of logs are
// bounded below by the constant least.
func (b *Bounder) setColumnBounds(n *box) {
	x := b.x
	for j := range x.first {
		b.lo[j], b.hi[j] = b.columnBounds(n, j)
	}
	for k, part := range x.linear {
		b.hi[x.first+k] = b.most[part]
		b.lo[x.first+k] = min(least, b.most[part])
	}
	for k := range x.lo {
		b.lo[x.first+len(x.linear)+k], b.hi[x.first+len(x.linear)+k] = x.lo[k], x.hi[k]
	}
}

// snapBounds narrows the amount of the k-th usable ingredient to allowed amounts and makes its use agree. ok is false
// if no value is left.
func (b *Bounder) snapBounds(n *box, k int) (ok bool) {
	lo, hi, used := &n.lo[2*k], &n.hi[2*k], 2*k+1
	d := b.amounts[b.usable[k]]
	if *lo > 0 {
		n.lo[used] = 1
	}
	if *hi == 0 || n.hi[used] == 0 || *hi < int32(d.Lo) {
		*hi, n.hi[used] = 0, 0
	}
	if n.lo[used] == 1 {
		*lo = max(*lo, int32(d.Lo))
	}
	if step := int32(d.Step); step > 1 {
		if *lo > int32(d.Lo) {
			*lo = int32(d.Lo) + (*lo-int32(d.Lo)+step-1)/step*step
		}
		if *hi > 0 {
			*hi = int32(d.Lo) + (*hi-int32(d.Lo))/step*step
		}
	}
	return *lo <= *hi && n.lo[used] <= n.hi[used]
}

// offerOnly scores the composition of a box that contains just one.
func (b *Bounder) offerOnly(n *box) error {
	var parts []rule.Part
	total, k := 0, 0
	for i, d := range b.amounts {
		if d.N == 0 {
			continue
		}
		if a := int(n.lo[2*k]); a > 0 {
			parts = append(parts, rule.Part{Ingredient: i, Amount: a})
			total += a
		}
		k++
	}
	if total != b.p.Conditions.Total || len(parts) >= len(b.p.Sizes) || !b.p.Sizes[len(parts)] || !b.p.Conditions.Keeps(parts) {
		return nil
	}
	return b.offer(parts)
}
