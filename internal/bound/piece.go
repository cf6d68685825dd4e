package bound

// A piece is a piece of a factor with its cached bounds.
type piece struct {
	part int
	of   Piece

	steps int64
	gain  float64 // by how much it has lowered bounds
}

// boxPieces returns the pieces of a factor that can bound itself in boxes.
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

// boundFactors computes an upper bound of each factor in the box of all compositions, and the range
// of each linear form there.
func (b *Bounder) boundFactors(n *box) {
	n.pieces, n.age = make([]float64, len(b.pieces)), make([]uint8, len(b.pieces))
	b.setAmountBounds(n)
	for k := range b.pieces {
		p := &b.pieces[k]
		n.pieces[k], p.steps, _, _ = p.of(b.least, b.greatest, b.maxUsed())
		b.work += p.steps
	}
	for k := range b.p.Factors {
		p := &b.p.Factors[k]
		most, ends := p.Most, [2]float64{}
		if p.Linear != nil {
			ends[0], ends[1] = b.linearRange(n, p.Linear)
		}
		if p.hasColumn() {
			most = min(most, b.single(n, p))
		}
		b.most, b.ranges = append(b.most, most), append(b.ranges, ends)
		if p.isBoxed() {
			b.most[k] = b.boundFactor(n, k)
		}
	}
}

// joinPieces returns the bound of a factor from those of its pieces.
func (b *Bounder) joinPieces(part int, pieces []float64) float64 {
	of := pieces[b.from[part]:b.from[part+1]]
	if join := b.p.Factors[part].JoinPieces; join != nil {
		return min(b.most[part], join(of))
	}
	return min(b.most[part], of[0])
}

// sumOfPieces returns a box's bound from the known bounds of its pieces.
func (b *Bounder) sumOfPieces(n *box) float64 {
	sum := n.rest
	for k := range b.p.Factors {
		if b.from[k+1] > b.from[k] {
			sum = addLogs(sum, b.joinPieces(k, n.pieces))
		}
	}
	return sum
}

// maxPieceAge is the number of divisions after which each piece is computed again.
const maxPieceAge = 6

// refinePiece computes the outdated piece of a box that has lowered bounds most for its cost. It
// returns false if there is none.
func (b *Bounder) refinePiece(n *box) bool {
	best := b.outdatedPiece(n)
	if best < 0 {
		return false
	}
	p := &b.pieces[best]
	b.setAmountBounds(n)
	above, steps, along, by := p.of(b.least, b.greatest, b.maxUsed())
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

// outdatedPiece returns the outdated piece of a box that has lowered bounds most for its cost. It
// returns −1 if there is none, or if pieces that are not outdated are so much better that this one
// can wait.
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

// proposeBranch records the ingredient along which to divide a box if the piece would lower its
// factor's bound more without it than any piece so far. The ingredient adds by to the piece; is is
// the factor's bound with it.
func (b *Bounder) proposeBranch(n *box, piece, along int, by, is float64) {
	above := n.pieces[piece]
	n.pieces[piece] = above - by
	if less := min(is-b.joinPieces(b.pieces[piece].part, n.pieces), 10); less > n.branchGain {
		n.branchIngredient, n.branchGain = along, less
	}
	n.pieces[piece] = above
}
