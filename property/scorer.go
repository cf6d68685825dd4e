package property

import "kir/mcmc"

// A previousAmounts stores the amounts that the composition x of a scorer had before the latest move. From these
// amounts the scorer computes what the move has changed.
type previousAmounts struct {
	x       *mcmc.Composition
	amounts []int32
}

func (p *previousAmounts) reset() { p.amounts = append(p.amounts[:0], p.x.Amounts()...) }

// takeChanges returns by how much the amounts of i and j have changed, and stores the new amounts.
func (p *previousAmounts) takeChanges(i, j int) (byI, byJ int) {
	a, b := int32(p.x.Amount(i)), int32(p.x.Amount(j))
	byI, byJ = int(a-p.amounts[i]), int(b-p.amounts[j])
	p.amounts[i], p.amounts[j] = a, b
	return byI, byJ
}

// A pieceJoiner collects the scores of a line, split by split, as pieces of constant score. Neighbouring splits
// with equal scores become one piece.
type pieceJoiner struct {
	pieces    *mcmc.PiecewiseConstant
	lastValue float64
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
