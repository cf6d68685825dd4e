package property

import "kir/mcmc"

// A previousAmounts holds the amounts that the scorer's composition had before its last move.
type previousAmounts struct {
	x       *mcmc.Composition
	amounts []int32
}

func (p *previousAmounts) reset() { p.amounts = append(p.amounts[:0], p.x.Amounts()...) }

// changes returns the changes of the amounts of i and j.
func (p *previousAmounts) changes(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.amounts[i]), int(b-p.amounts[j])
	p.amounts[i], p.amounts[j] = a, b
	return byI, byJ
}

// A joiner collects the values of a line split by split and joins equal neighbours into one piece.
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

// sign returns 1 if yes, else −1.
func sign(yes bool) int64 {
	if yes {
		return 1
	}
	return -1
}
