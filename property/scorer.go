package property

import "kir/mcmc"

// A previousAmounts is what a scorer remembers of the composition that it follows: its
// amounts before it moved.
type previousAmounts struct {
	x       *mcmc.Composition
	amounts []int32
}

func (p *previousAmounts) reset() { p.amounts = append(p.amounts[:0], p.x.Amounts()...) }

// changes returns by how much the amounts of i and j have changed.
func (p *previousAmounts) changes(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.amounts[i]), int(b-p.amounts[j])
	p.amounts[i], p.amounts[j] = a, b
	return byI, byJ
}

// A joiner adds the values of a line split by split and makes one piece of
// equal neighbours.
type joiner struct {
	pieces *mcmc.Pieces
	last   float64
}

func (q *joiner) add(k int, value float64) {
	if k == 0 || value != q.last {
		q.pieces.Add(k, value)
		q.last = value
	}
}

// sign is what a sum changes by if something has come, and if it has gone.
func sign(yes bool) int64 {
	if yes {
		return 1
	}
	return -1
}
