package bound

// A pieceState is one piece of a factor, with statistics of the use of the piece.
type pieceState struct {
	factorIndex int   // index of the factor
	bound       Piece // computes the bound

	work int64   // time spent on the piece so far, in nanoseconds
	gain float64 // discounted sum of how much new bounds of the piece have lowered the bounds of factors
}

// boxPieces returns the pieces of the factor, or Box as the only piece. The slice is nil for a factor with
// neither Pieces nor Box.
func (p Factor) boxPieces() []Piece {
	switch {
	case p.Pieces != nil:
		return p.Pieces
	case p.Box != nil:
		return []Piece{func(lo, hi []int32, used int) (float64, int64, int, float64) {
			return p.Box(lo, hi, used), p.BoxWork, -1, 0
		}}
	}
	return nil
}

// boundFactors computes the bound of each piece, the bound of each factor, and the range of each linear form.
// All bounds and ranges are over the box n of all compositions.
func (b *Bounder) boundFactors(n *box) {
	n.pieceBounds, n.pieceAges = make([]float64, len(b.pieces)), make([]uint8, len(b.pieces))
	b.setAmountBounds(n)
	for k := range b.pieces {
		p := &b.pieces[k]
		n.pieceBounds[k], p.work, _, _ = p.bound(b.minAmounts, b.maxAmounts, b.maxUsed())
		b.work += p.work
	}
	for k := range b.problem.Factors {
		p := &b.problem.Factors[k]
		most, ends := p.UpperBound, [2]float64{}
		if p.Linear != nil {
			ends[0], ends[1] = b.linearRange(n, p.Linear)
		}
		if p.hasColumn() {
			most = min(most, b.separateBound(n, p))
		}
		b.maxFactorLogs, b.formRanges = append(b.maxFactorLogs, most), append(b.formRanges, ends)
		if p.hasBoxBound() {
			b.maxFactorLogs[k] = b.boundFactor(n, k)
		}
	}
}

// joinPieceBounds returns the bound of the factor with the given index, given the bounds of all pieces.
func (b *Bounder) joinPieceBounds(part int, pieces []float64) float64 {
	of := pieces[b.firstPiece[part]:b.firstPiece[part+1]]
	if join := b.problem.Factors[part].CombinePieceBounds; join != nil {
		return min(b.maxFactorLogs[part], join(of))
	}
	return min(b.maxFactorLogs[part], of[0])
}

// sumOfPieces returns the bound of a box that follows from the stored bounds of the pieces.
func (b *Bounder) sumOfPieces(n *box) float64 {
	sum := n.restBound
	for k := range b.problem.Factors {
		if b.firstPiece[k+1] > b.firstPiece[k] {
			sum = addLogs(sum, b.joinPieceBounds(k, n.pieceBounds))
		}
	}
	return sum
}

// maxPieceAge is the number of divisions after which the bound of a piece must be recomputed.
const maxPieceAge = 6

// refinePiece recomputes the bound of one outdated piece in a box: the piece that has lowered bounds most for
// its cost. The result is false if no piece is worth recomputing.
func (b *Bounder) refinePiece(n *box) bool {
	best := b.outdatedPiece(n)
	if best < 0 {
		return false
	}
	p := &b.pieces[best]
	b.setAmountBounds(n)
	above, steps, along, by := p.bound(b.minAmounts, b.maxAmounts, b.maxUsed())
	b.work += steps
	p.work += steps
	age := n.pieceAges[best]
	was := b.joinPieceBounds(p.factorIndex, n.pieceBounds)
	n.pieceBounds[best] = min(n.pieceBounds[best], above)
	n.pieceAges[best] = 0
	is := b.joinPieceBounds(p.factorIndex, n.pieceBounds)
	if gain := was - is; gain > 0 {
		p.gain += min(gain, 1) / float64(age)
	}
	if along >= 0 {
		b.proposeBranch(n, best, along, by, is)
	}
	return true
}

// outdatedPiece returns the index of the outdated piece that has lowered bounds most for its cost. The result is
// −1 if no piece is outdated, or if the piece promises so much less than other pieces that the piece can wait.
func (b *Bounder) outdatedPiece(n *box) int {
	best, most, top := -1, 0.0, 0.0
	for k := range b.pieces {
		p := &b.pieces[k]
		worth := (p.gain + 1e-3) / float64(p.work+1000)
		if top = max(top, worth); n.pieceAges[k] > 0 && (best < 0 || worth > most) {
			best, most = k, worth
		}
	}
	if best >= 0 && float64(most*float64(n.pieceAges[best])*float64(n.pieceAges[best])) < top && n.pieceAges[best] < maxPieceAge {
		return -1
	}
	return best
}

// proposeBranch proposes to divide the box along the given ingredient, which contributes by to the bound of a
// piece. The proposal is recorded if the bound of the factor would fall more without the contribution than for
// any earlier proposal. The parameter is holds the bound of the factor with the contribution.
func (b *Bounder) proposeBranch(n *box, piece, ingredient int, by, is float64) {
	above := n.pieceBounds[piece]
	n.pieceBounds[piece] = above - by
	if less := min(is-b.joinPieceBounds(b.pieces[piece].factorIndex, n.pieceBounds), 10); less > n.branchGain {
		n.branchIngredient, n.branchGain = ingredient, less
	}
	n.pieceBounds[piece] = above
}
