package bound

import (
	"math"
	"slices"

	"kir/rule"
)

// A box is a subset of the compositions. It has bounds for each column, of amounts in units and of
// uses: see [relaxation]. Without a relaxation the columns are the same.
type box struct {
	above  float64
	lo, hi []int32
	depth  int

	rest             float64   // what the parts have at most that are not of pieces, but for programs
	pieces           []float64 // what each piece is at most, here or in a box about it
	age              []uint8   // how many boxes about it ago that was, from 1; 0: here
	bounded          bool      // and all else
	branchIngredient int       // the ingredient whose amount makes most of a part, −1 if that is not known
	branchGain       float64   // and how much

	column int   // that it is to be divided along
	cut    int32 // the greatest of the lower one
	upper  bool  // the upper one is the more likely
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

// rootBox returns the box of all compositions, nil if there are none.
func (b *Bounder) rootBox() *box {
	b.x = newRelaxation(b)
	n := &box{above: math.Inf(1)}
	for i, d := range b.doses {
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

// columnBounds returns the bounds of a column in a box.
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

// setAmountBounds sets the bounds of each ingredient's amount in a box.
func (b *Bounder) setAmountBounds(n *box) {
	k := 0
	for i, d := range b.doses {
		if d.N > 0 {
			b.least[i], b.greatest[i] = n.lo[2*k], n.hi[2*k]
			k++
		}
	}
}

// setColumnBounds sets the bounds of the columns to those of a box. The logs are bounded below by least.
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

// snapBounds moves the bounds of an ingredient to allowed amounts.
func (b *Bounder) snapBounds(n *box, k int) (ok bool) {
	lo, hi, used := &n.lo[2*k], &n.hi[2*k], 2*k+1
	d := b.doses[b.usable[k]]
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

// offerOnly scores the only composition of a box.
func (b *Bounder) offerOnly(n *box) error {
	var parts []rule.Part
	total, k := 0, 0
	for i, d := range b.doses {
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
