package bound

// A piece is one piece of a factor, with statistics of its use.
type piece struct {
	part  int
	piece Piece

	steps int64
	gain  float64 // sum of how much it has lowered factors' bounds, discounted
}

// boxPieces returns the factor's pieces, or its Box as the only piece. It returns nil for a factor without either.
func (p Factor) boxPieces() []Piece {
	switch {
	case p.Pieces != nil:
		return p.Pieces
	case p.Box != nil:
		return []Piece{func(lo, hi []int32, used int) (float64, int64, int, float64) {
			return p.Box(lo, hi, used), p.Cost, -1, 0
		}}
	}
	return nil
}

// boundFactors computes, over the box of all compositions, the bound of each piece and factor, and the range of each
// linear form.
func (b *Bounder) boundFactors(n *box) {
	n.pieces, n.age = make([]float64, len(b.pieces)), make([]uint8, len(b.pieces))
	b.setAmountBounds(n)
	for k := range b.pieces {
		p := &b.pieces[k]
		n.pieces[k], p.steps, _, _ = p.piece(b.least, b.greatest, b.maxUsed())
		b.work += p.steps
	}
	for k := range b.p.Factors {
		p := &b.p.Factors[k]
		most, ends := p.Most, [2]float64{}
		if p.Linear != nil {
			ends[0], ends[1] = b.linearRange(n, p.Linear)
		}
		if p.hasColumn() {
			most = min(most, b.separateBound(n, p))
		}
		b.most, b.ranges = append(b.most, most), append(b.ranges, ends)
		if p.isBoxed() {
			b.most[k] = b.boundFactor(n, k)
		}
	}
}

// joinPieces returns the bound of a factor, given the bounds of all pieces.
func (b *Bounder) joinPieces(part int, pieces []float64) float64 {
	of := pieces[b.from[part]:b.from[part+1]]
	if join := b.p.Factors[part].JoinPieces; join != nil {
		return min(b.most[part], join(of))
	}
	return min(b.most[part], of[0])
}

// sumOfPieces returns the bound of a box that follows from the stored bounds of its pieces.
func (b *Bounder) sumOfPieces(n *box) float64 {
	sum := n.restBound
	for k := range b.p.Factors {
		if b.from[k+1] > b.from[k] {
			sum = addLogs(sum, b.joinPieces(k, n.pieces))
		}
	}
	return sum
}

// maxPieceAge is the number of divisions after which the bound of a piece must be recomputed.
const maxPieceAge = 6

// refinePiece recomputes the bound of one outdated piece in a box: the one that has lowered bounds most for its cost.
// It returns false if no piece is worth it.
func (b *Bounder) refinePiece(n *box) bool {
	best := b.outdatedPiece(n)
	if best < 0 {
		return false
	}
	p := &b.pieces[best]
	b.setAmountBounds(n)
	above, steps, along, by := p.piece(b.least, b.greatest, b.maxUsed())
	b.work += steps
	p.steps += steps
	age := n.age[best]
	was := b.joinPieces(p.part, n.pieces)
	n.pieces[best] = min(n.pieces[best], above)
	n.age[best] = 0
	is := b.joinPieces(p.part, n.pieces)
	if gain := was - is; gain > 0 {
		p.gain += min(gain, 1) / float64(age)
	}
	if along >= 0 {
		b.proposeBranch(n, best, along, by, is)
	}
	return true
}

// outdatedPiece returns the outdated piece that has lowered bounds most for its cost. It returns −1 if there is
// none, or if it promises so much less than other pieces that it can wait.
func (b *Bounder) outdatedPiece(n *box) int {
	best, most, top := -1, 0.0, 0.0
	for k := range b.pieces {
		p := &b.pieces[k]
		worth := (p.gain + 1e-3) / float64(p.steps+1000)
		if top = max(top, worth); n.age[k] > 0 && (best < 0 || worth > most) {
			best, most = k, worth
		}
	}
	if best >= 0 && float64(most*float64(n.age[best])*float64(n.age[best])) < top && n.age[best] < maxPieceAge {
		return -1
	}
	return best
}

// proposeBranch considers the ingredient along, which contributes by to the bound of a piece, as the one to divide
// the box by. It records the proposal if the factor's bound would fall more without the contribution than by any
// earlier proposal. is is the factor's bound with the contribution.
func (b *Bounder) proposeBranch(n *box, piece, along int, by, is float64) {
	above := n.pieces[piece]
	n.pieces[piece] = above - by
	if less := min(is-b.joinPieces(b.pieces[piece].part, n.pieces), 10); less > n.branchGain {
		n.branchIngredient, n.branchGain = along, less
	}
	n.pieces[piece] = above
}
