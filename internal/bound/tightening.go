package bound

import (
	"math"

	"kir/internal/constraint/linprog"
)

// tightenBox narrows the bounds of a box by looking at each row of the linear program alone. The result ok is
// false if the box is proved to contain no composition.
func (b *Bounder) tightenBox(n *box) (ok bool) {
	x := b.relaxation
	if x == nil {
		return true
	}
	for range 4 {
		changed := false
		for r := range x.firstTangent {
			b.work += int64(2 * len(x.Rows[r]))
			c, ok := b.tightenRow(n, x.Rows[r], x.RowLo[r], x.RowHi[r])
			if !ok {
				return false
			}
			changed = changed || c
		}
		if !changed {
			break
		}
	}
	return true
}

// boundRounding is the maximum rounding error of a bound that tightenRow derives, in units.
const boundRounding = 1e-6

// tightenRow narrows the bounds that a box sets for the columns in one row of the program. The row has the
// entries in of, and its value must be from..to. The result changed reports whether a bound became narrower. The
// result ok is false if no values within the bounds satisfy the row.
func (b *Bounder) tightenRow(n *box, of []linprog.Entry, from, to float64) (changed, ok bool) {
	least, most, top := 0.0, 0.0, 0.0
	for _, e := range of {
		lo, hi := b.productBounds(n, e)
		least += lo
		most += hi
		top = max(top, math.Abs(e.Factor))
	}
	room := float64(boundRounding * b.relaxation.unitValue * top)
	if least > to+room || most < from-room {
		return false, false
	}
	for _, e := range of {
		if e.Column >= b.relaxation.firstLogColumn || math.Abs(e.Factor) < 1e-6*top || n.Lo[e.Column] == n.Hi[e.Column] {
			continue
		}
		lo, hi := b.productBounds(n, e)
		unit := 1.0
		if e.Column%2 == 0 {
			unit = b.relaxation.unitValue
		}
		down, up := (from-(most-hi))/e.Factor, (to-(least-lo))/e.Factor
		if e.Factor < 0 {
			down, up = up, down
		}
		if down = math.Ceil(down/unit - boundRounding); down > float64(n.Lo[e.Column]) {
			if down > float64(n.Hi[e.Column]) {
				return false, false
			}
			n.Lo[e.Column], changed = int32(down), true
		}
		if up = math.Floor(up/unit + boundRounding); up < float64(n.Hi[e.Column]) {
			if up < float64(n.Lo[e.Column]) {
				return false, false
			}
			n.Hi[e.Column], changed = int32(up), true
		}
		if changed && !b.snapBounds(n, e.Column/2) {
			return false, false
		}
	}
	return changed, true
}

// productBounds returns the least and the greatest product of the factor of an entry and the value of its
// column in a box.
func (b *Bounder) productBounds(n *box, e linprog.Entry) (least, most float64) {
	lo, hi := b.columnBounds(n, e.Column)
	if e.Factor < 0 {
		lo, hi = hi, lo
	}
	return float64(e.Factor * lo), float64(e.Factor * hi)
}
