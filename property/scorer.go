package property

import "kir/mcmc"

// A past is what a scorer remembers of the composition that it follows: its
// amounts before it moved.
type past struct {
	x   *mcmc.Composition
	was []int32
}

func (p *past) reset() { p.was = append(p.was[:0], p.x.Amounts()...) }

// moved returns by how much the amounts of i and j have changed.
func (p *past) moved(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.was[i]), int(b-p.was[j])
	p.was[i], p.was[j] = a, b
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
