package bound

import "math"

// addBox computes a cheap upper bound for a new box, and adds the box to the open boxes. The box is dropped
// instead if the bound proves that no composition in the box is better than the incumbent, the best known
// composition.
func (b *Bounder) addBox(n *box) {
	b.boxCount++
	n.PiecelessBound = 0
	for k := range b.problem.Factors {
		switch p := &b.problem.Factors[k]; {
		case p.hasLogColumn() && b.tableau != nil:
		case p.hasLogColumn():
			n.PiecelessBound = addLogs(n.PiecelessBound, b.columnFactorBound(n, p))
		case p.isBoundedByForms():
			n.PiecelessBound = addLogs(n.PiecelessBound, b.boundFactor(n, k))
		case b.firstPiece[k+1] == b.firstPiece[k]:
			n.PiecelessBound = addLogs(n.PiecelessBound, b.maxFactorLogs[k])
		}
	}
	n.PiecelessBound = addLogs(n.PiecelessBound, b.sumOfColumnBounds(n))
	if n.UpperBound = min(n.UpperBound, b.sumOfPieces(n)); !b.pruneBox(n) {
		b.openBoxHeap.add(n)
	}
}

// tightenBound lowers the upper bound of a box and chooses where to divide the box. As soon as another open box
// has a higher bound, tightenBound stops early. The box stays open unless its bound proves that no composition in
// the box is better than the best known.
func (b *Bounder) tightenBound(n *box) error {
	if done := b.refinePieces(n); done {
		return nil
	}
	amounts, uses, pruned := b.boundByPrograms(n)
	if pruned {
		return nil
	}
	if err := b.roundSolution(n, amounts, uses); err != nil {
		return err
	}
	if b.pruneBox(n) {
		return nil
	}
	if !b.chooseCut(n, amounts, uses) {
		return b.offerOnlyComposition(n)
	}
	n.ProgramsSolved = true
	b.openBoxHeap.add(n)
	return nil
}

// refinePieces recomputes bounds of pieces that were computed for a larger box. The result done tells that the
// box needs no more work at present: the box was dropped, or another open box has a higher bound.
func (b *Bounder) refinePieces(n *box) (done bool) {
	for b.refinePiece(n) {
		if n.UpperBound = min(n.UpperBound, b.sumOfPieces(n)); b.pruneBox(n) {
			return true
		}
		if len(b.openBoxHeap) > 0 && b.openBoxHeap[0].UpperBound > n.UpperBound {
			b.openBoxHeap.add(n)
			return true
		}
	}
	return false
}

// boundByPrograms lowers the upper bound of a box by solving linear programs. boundByPrograms returns the amounts
// and uses in the solution of the last program, or nil if there is no program. The result pruned means that no
// composition in the box can be better than the incumbent, the best known composition.
func (b *Bounder) boundByPrograms(n *box) (amounts, uses []float64, pruned bool) {
	rest, formed := b.boundOutsideProgram(n)
	linear := b.sumOfColumnBounds(n)
	if b.formProgram != nil {
		if amounts, uses, formed, pruned = b.boundByForms(n); pruned {
			return nil, nil, true
		}
		if n.UpperBound = min(n.UpperBound, addLogs(addLogs(rest, formed), linear)); b.pruneBox(n) {
			return nil, nil, true
		}
	}
	if b.tableau != nil {
		if amounts, uses, pruned = b.solveProgram(n, addLogs(rest, formed)); pruned || b.pruneBox(n) {
			return nil, nil, true
		}
	}
	return amounts, uses, false
}

// boundOutsideProgram sums the bounds of the factors that have no column in the linear program. The result formed
// is the sum for the factors with MaxOverForms (see [Factor]), and rest is the sum for all other factors.
func (b *Bounder) boundOutsideProgram(n *box) (rest, formed float64) {
	for k := range b.problem.Factors {
		switch p := &b.problem.Factors[k]; {
		case p.hasLogColumn() && b.tableau != nil:
		case p.hasLogColumn():
			rest = addLogs(rest, b.columnFactorBound(n, p))
		case p.isBoundedByForms():
			formed = addLogs(formed, b.boundFactor(n, k))
		case b.firstPiece[k+1] == b.firstPiece[k]:
			rest = addLogs(rest, b.maxFactorLogs[k])
		default:
			rest = addLogs(rest, b.combinePieceBounds(k, n.PieceBounds))
		}
	}
	return rest, formed
}

// addLogs returns a + b. If one of the logs is −Inf, the sum is −Inf, even if the other log is +Inf.
func addLogs(a, b float64) float64 {
	if math.IsInf(a, -1) || math.IsInf(b, -1) {
		return math.Inf(-1)
	}
	return a + b
}

// sumOfColumnBounds returns the sum of the bounds of the factors that have a column in the linear program. Each bound
// is computed for the factor alone.
func (b *Bounder) sumOfColumnBounds(n *box) (sum float64) {
	if b.tableau != nil {
		for _, k := range b.relaxation.logFactors {
			sum = addLogs(sum, min(b.maxFactorLogs[k], b.columnFactorBound(n, &b.problem.Factors[k])))
		}
	}
	return sum
}

// boundFactor returns an upper bound, for the compositions in a box, of the factor with the given index. No
// linear program is solved.
func (b *Bounder) boundFactor(n *box, factorIndex int) float64 {
	p := &b.problem.Factors[factorIndex]
	switch {
	case p.MaxOverForms != nil:
		return min(b.maxFactorLogs[factorIndex], p.MaxOverForms(func(perUnit, perUse []float64) float64 {
			return b.maxSignedForm(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1)
		}))
	case b.firstPiece[factorIndex+1] == b.firstPiece[factorIndex]:
		return b.maxFactorLogs[factorIndex]
	}
	b.setAmountBounds(n)
	of := make([]float64, len(b.pieces))
	for k := b.firstPiece[factorIndex]; k < b.firstPiece[factorIndex+1]; k++ {
		above, steps, _, _ := b.pieces[k].bound(b.minAmounts, b.maxAmounts, b.maxUsed())
		of[k] = above
		b.work += steps
	}
	return b.combinePieceBounds(factorIndex, of)
}

// maxUsed returns the maximum number of ingredients that a composition may use.
func (b *Bounder) maxUsed() int {
	for n := len(b.problem.AllowedUsedCounts) - 1; n > 0; n-- {
		if b.problem.AllowedUsedCounts[n] {
			return n
		}
	}
	return 0
}

// pruneBox reports whether a box can be dropped, because no composition in the box is better than the incumbent,
// the best known composition. If the box can be dropped, pruneBox raises prunedBound to at least the bound of the
// box.
func (b *Bounder) pruneBox(n *box) bool {
	if n.UpperBound > b.incumbent+scoreTolerance {
		return false
	}
	b.prunedBound = max(b.prunedBound, n.UpperBound)
	return true
}
