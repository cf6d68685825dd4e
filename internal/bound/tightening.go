package bound

import "math"

// tighten narrows the bounds of a box as far as single rows allow. ok is false if the box is empty.
func (b *Bounder) tighten(n *box) (ok bool) {
	x := b.x
	if x == nil {
		return true
	}
	for range 4 {
		changed := false
		for r := range x.firstTangent {
			b.work += int64(2 * len(x.rows[r]))
			c, ok := b.tightenRow(n, x.rows[r], x.rowLo[r], x.rowHi[r])
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

// slip is the largest error of a derived bound, in units.
const slip = 1e-6

// tightenRow narrows the bounds of the columns in one row.
func (b *Bounder) tightenRow(n *box, of []entry, from, to float64) (changed, ok bool) {
	least, most, top := 0.0, 0.0, 0.0
	for _, e := range of {
		lo, hi := b.columnBounds(n, e.column)
		least += min(float64(e.factor*lo), float64(e.factor*hi))
		most += max(float64(e.factor*lo), float64(e.factor*hi))
		top = max(top, math.Abs(e.factor))
	}
	room := float64(slip * b.x.unit * top)
	if least > to+room || most < from-room {
		return false, false
	}
	for _, e := range of {
		if e.column >= b.x.first || math.Abs(e.factor) < 1e-6*top || n.lo[e.column] == n.hi[e.column] {
			continue
		}
		lo, hi := b.columnBounds(n, e.column)
		unit := 1.0
		if e.column%2 == 0 {
			unit = b.x.unit
		}
		down, up := (from-(most-max(float64(e.factor*lo), float64(e.factor*hi))))/e.factor, (to-(least-min(float64(e.factor*lo), float64(e.factor*hi))))/e.factor
		if e.factor < 0 {
			down, up = up, down
		}
		if down = math.Ceil(down/unit - slip); down > float64(n.lo[e.column]) {
			if down > float64(n.hi[e.column]) {
				return false, false
			}
			n.lo[e.column], changed = int32(down), true
		}
		if up = math.Floor(up/unit + slip); up < float64(n.hi[e.column]) {
			if up < float64(n.lo[e.column]) {
				return false, false
			}
			n.hi[e.column], changed = int32(up), true
		}
		if changed && !b.snapBounds(n, e.column/2) {
			return false, false
		}
	}
	return changed, true
}
