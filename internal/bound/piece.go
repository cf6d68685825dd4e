package bound

// A pieceState is one piece of a factor (see [Piece]), with a record of how much computing bounds of the piece
// has cost and gained.
type pieceState struct {
	factorIndex int   // index of the factor
	bound       Piece // computes the bound

	work           int64   // time spent on the piece so far, in nanoseconds
	discountedGain float64 // sum of how much new bounds of the piece have lowered bounds of factors; a bound computed after several divisions counts less
}

// boxPieces returns new functions that bound the terms of the factor in a box: Pieces, or Box as the only piece.
// The slice is nil for a factor with neither Pieces nor Box.
func (p Factor) boxPieces() []Piece {
	switch {
	case p.Pieces != nil:
		return p.Pieces()
	case p.Box != nil:
		return []Piece{func(lo, hi []int32, used int) (float64, int64, int, float64) {
			return p.Box(lo, hi, used), p.BoxWork, -1, 0
		}}
	}
	return nil
}

// newPieces returns new functions that bound the terms of all factors. The pieces of factor k have the indices
// first[k]..first[k+1]−1.
func newPieces(factors []Factor) (pieces []pieceState, first []int) {
	for k := range factors {
		first = append(first, len(pieces))
		if part := &factors[k]; part.hasBoxBound() && part.MaxOverForms == nil {
			for _, of := range part.boxPieces() {
				pieces = append(pieces, pieceState{factorIndex: k, bound: of})
			}
		}
	}
	return pieces, append(first, len(pieces))
}

// boundFactors computes the bound of each piece (see [Piece]), the bound of each factor, and the range of each
// linear form. All bounds and ranges hold for the box n of all compositions.
func (b *Bounder) boundFactors(n *box) {
	n.PieceBounds, n.PieceAges = make([]float64, len(b.pieces)), make([]uint8, len(b.pieces))
	b.setAmountBounds(n)
	for k := range b.pieces {
		p := &b.pieces[k]
		n.PieceBounds[k], p.work, _, _ = p.bound(b.minAmounts, b.maxAmounts, b.maxUsed())
		b.work += p.work
	}
	for k := range b.problem.Factors {
		p := &b.problem.Factors[k]
		most, ends := p.UpperBound, [2]float64{}
		if p.Linear != nil {
			ends[0], ends[1] = b.linearRange(n, p.Linear)
		}
		if p.hasLogColumn() {
			most = min(most, b.columnFactorBound(n, p))
		}
		b.maxFactorLogs, b.formRanges = append(b.maxFactorLogs, most), append(b.formRanges, ends)
		if p.hasBoxBound() {
			b.maxFactorLogs[k] = b.boundFactor(n, k)
		}
	}
}

// combinePieceBounds returns the upper bound of the factor with the given index. Item p of pieces is the upper
// bound of piece p; pieces of other factors are ignored.
func (b *Bounder) combinePieceBounds(factorIndex int, pieces []float64) float64 {
	of := pieces[b.firstPiece[factorIndex]:b.firstPiece[factorIndex+1]]
	if join := b.problem.Factors[factorIndex].CombinePieceBounds; join != nil {
		return min(b.maxFactorLogs[factorIndex], join(of))
	}
	return min(b.maxFactorLogs[factorIndex], of[0])
}

// sumOfPieces returns the upper bound of a box that follows from PiecelessBound and PieceBounds, without new
// computations of bounds.
func (b *Bounder) sumOfPieces(n *box) float64 {
	sum := n.PiecelessBound
	for k := range b.problem.Factors {
		if b.firstPiece[k+1] > b.firstPiece[k] {
			sum = addLogs(sum, b.combinePieceBounds(k, n.PieceBounds))
		}
	}
	return sum
}

// maxPieceAge is the maximum number of divisions of a box for which the bound of a [Piece] is kept. After more
// divisions the bound must be recomputed.
const maxPieceAge = 6

// refinePiece recomputes the bound of one piece in a box: the piece whose new bounds have gained most for their
// cost so far. Only pieces whose bound was computed for a larger box are considered. The result is false if no
// piece is worth recomputing.
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
	age := n.PieceAges[best]
	was := b.combinePieceBounds(p.factorIndex, n.PieceBounds)
	n.PieceBounds[best] = min(n.PieceBounds[best], above)
	n.PieceAges[best] = 0
	is := b.combinePieceBounds(p.factorIndex, n.PieceBounds)
	if gain := was - is; gain > 0 {
		p.discountedGain += min(gain, 1) / float64(age)
	}
	if along >= 0 {
		b.proposeBranch(n, best, along, by, is)
	}
	return true
}

// outdatedPiece returns the index of the piece to recompute in a box: among the pieces whose bound was computed
// for a larger box, the piece that has gained most for its cost. The result is −1 if there is no such piece, or
// if the piece promises so much less than other pieces that the piece can wait.
func (b *Bounder) outdatedPiece(n *box) int {
	best, most, top := -1, 0.0, 0.0
	for k := range b.pieces {
		p := &b.pieces[k]
		worth := (p.discountedGain + 1e-3) / float64(p.work+1000)
		if top = max(top, worth); n.PieceAges[k] > 0 && (best < 0 || worth > most) {
			best, most = k, worth
		}
	}
	if best >= 0 && float64(most*float64(n.PieceAges[best])*float64(n.PieceAges[best])) < top && n.PieceAges[best] < maxPieceAge {
		return -1
	}
	return best
}

// proposeBranch notes that the box could be divided along the given ingredient. The parameter contribution is
// what the ingredient contributes to the bound of a piece, and factorBound is the bound of the factor with the
// contribution. The ingredient becomes BranchIngredient if, without the contribution, the bound of the factor
// would fall more than for the ingredient noted before.
func (b *Bounder) proposeBranch(n *box, piece, ingredient int, contribution, factorBound float64) {
	above := n.PieceBounds[piece]
	n.PieceBounds[piece] = above - contribution
	if less := min(factorBound-b.combinePieceBounds(b.pieces[piece].factorIndex, n.PieceBounds), 10); less > n.BranchGain {
		n.BranchIngredient, n.BranchGain = ingredient, less
	}
	n.PieceBounds[piece] = above
}
