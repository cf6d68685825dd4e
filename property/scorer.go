package property

import "kir/mcmc"

// A previousAmounts stores the amounts that a scorer's composition x had when the scorer was last updated. The
// scorer uses them to compute which amounts have changed.
type previousAmounts struct {
	x       *mcmc.Composition
	amounts []int32
}

func (p *previousAmounts) reset() { p.amounts = append(p.amounts[:0], p.x.Amounts()...) }

// updateAndReturnChanges returns by how many units ingredients i and j of the composition have changed, and stores their
// new amounts.
func (p *previousAmounts) updateAndReturnChanges(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.amounts[i]), int(b-p.amounts[j])
	p.amounts[i], p.amounts[j] = a, b
	return byI, byJ
}

// A pieceJoiner collects scores for the successive divisions (splits) of two ingredients' joint amount as a
// piecewise constant function. Neighbouring splits with equal scores become one piece.
type pieceJoiner struct {
	pieces    *mcmc.PiecewiseConstant
	lastValue float64 // score of the latest piece
}

func (q *pieceJoiner) add(k int, value float64) {
	if k == 0 || value != q.lastValue {
		q.pieces.Add(k, value)
		q.lastValue = value
	}
}

// plusOrMinusOne returns 1 if yes is true, and −1 otherwise.
func plusOrMinusOne(yes bool) int64 {
	if yes {
		return 1
	}
	return -1
}
