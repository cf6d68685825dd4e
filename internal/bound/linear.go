package bound

import (
	"cmp"
	"math"
	"slices"
)

// boundLog returns an upper bound of the log of the factor if the value of the linear form is between from and
// to.
func (l *Linear) boundLog(from, to float64) float64 {
	v := l.Log(min(max(from, l.LogMaximizer), to))
	return v + float64(math.Abs(v)*0x1p-50)
}

// linearRange returns a lower and an upper bound of a linear form for the compositions in a box. For each bound,
// every ingredient gets its least amount, and the remaining units go to the ingredients for which a unit adds
// least or most.
func (b *Bounder) linearRange(n *box, l *Linear) (from, to float64) {
	return -b.maxSignedForm(n, l, -1), b.maxSignedForm(n, l, 1)
}

// maxSignedForm returns an upper bound of sign times the linear form l, for the compositions in a box.
func (b *Bounder) maxSignedForm(n *box, l *Linear, sign float64) float64 {
	type share struct {
		by   float64
		room int32
	}
	var shares []share
	left := b.problem.Conditions.Total
	sum, size := float64(sign*l.Constant), math.Abs(l.Constant)
	add := func(v float64) {
		sum += v
		size += math.Abs(v)
	}
	k := 0
	for i, d := range b.amountSets {
		if d.Count == 0 {
			continue
		}
		lo, hi := n.Lo[2*k], n.Hi[2*k]
		f := float64(sign * l.PerUnit[i])
		add(float64(f * float64(lo)))
		left -= int(lo)
		shares = append(shares, share{f, hi - lo})
		if l.PerUse != nil {
			f := float64(sign * l.PerUse[i])
			add(max(float64(f*float64(n.Lo[2*k+1])), float64(f*float64(n.Hi[2*k+1]))))
		}
		k++
	}
	slices.SortStableFunc(shares, func(s, t share) int { return cmp.Compare(t.by, s.by) })
	for _, s := range shares {
		take := min(int(s.room), max(left, 0))
		add(float64(s.by * float64(take)))
		left -= take
	}
	b.work += int64(20 * len(shares))
	return sum + float64(size*float64(len(shares)+8)*0x1p-51)
}
