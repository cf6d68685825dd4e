package property

import "kir/mcmc"

// A previousAmounts remembers the amounts of a scorer's composition x before the latest move, so that the scorer can
// compute the changes.
type previousAmounts struct {
	x       *mcmc.Composition
	amounts []int32
}

func (p *previousAmounts) reset() { p.amounts = append(p.amounts[:0], p.x.Amounts()...) }

// changes returns by how much the amounts of i and j have changed, and remembers the new amounts.
func (p *previousAmounts) changes(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.amounts[i]), int(b-p.amounts[j])
	p.amounts[i], p.amounts[j] = a, b
	return byI, byJ
}

// A joiner adds the scores of a line, split by split, to pieces. Neighbouring splits with equal scores become one
// piece.
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
