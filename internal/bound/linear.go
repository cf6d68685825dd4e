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
	order := b.formOrders[l]
	if order == nil {
		order = b.newFormOrder(l)
	}
	sum, size := float64(sign*l.Constant), math.Abs(l.Constant)
	add := func(v float64) {
		sum += v
		size += math.Abs(v)
	}
	left := b.problem.Conditions.Total
	for k, i := range b.usableIngredients {
		lo := n.Lo[2*k]
		add(float64(float64(sign*l.PerUnit[i]) * float64(lo)))
		left -= int(lo)
		if l.PerUse != nil {
			f := float64(sign * l.PerUse[i])
			add(max(float64(f*float64(n.Lo[2*k+1])), float64(f*float64(n.Hi[2*k+1]))))
		}
	}
	for q := range order {
		if left <= 0 {
			break
		}
		k := order[q]
		if sign < 0 {
			k = order[len(order)-1-q]
		}
		take := min(int(n.Hi[2*k]-n.Lo[2*k]), left)
		add(float64(float64(sign*l.PerUnit[b.usableIngredients[k]]) * float64(take)))
		left -= take
	}
	b.work += int64(5 * len(order))
	return sum + float64(size*float64(len(order)+8)*0x1p-51)
}

// newFormOrder returns the indices of the usable ingredients in descending order of their coefficients in the linear
// form l.
func (b *Bounder) newFormOrder(l *Linear) []int32 {
	order := make([]int32, len(b.usableIngredients))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(j, k int32) int {
		return cmp.Compare(l.PerUnit[b.usableIngredients[k]], l.PerUnit[b.usableIngredients[j]])
	})
	b.work += int64(15 * len(order))
	return order
}
