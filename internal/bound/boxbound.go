package bound

import "math"

// addBox computes a cheap bound of a new box. addBox adds the box to the open boxes unless the bound proves that
// no composition in the box is better than the incumbent.
func (b *Bounder) addBox(n *box) {
	b.boxCount++
	n.restBound = 0
	for k := range b.problem.Factors {
		switch p := &b.problem.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			n.restBound = addLogs(n.restBound, b.separateBound(n, p))
		case p.isBoundedByForms():
			n.restBound = addLogs(n.restBound, b.boundFactor(n, k))
		case b.firstPiece[k+1] == b.firstPiece[k]:
			n.restBound = addLogs(n.restBound, b.maxFactorLogs[k])
		}
	}
	n.restBound = addLogs(n.restBound, b.sumOfLinear(n))
	if n.upperBound = min(n.upperBound, b.sumOfPieces(n)); !b.pruneBox(n) {
		b.open.add(n)
	}
}

// tightenBound computes a tighter bound of a box and chooses where to divide the box. tightenBound stops early
// if another open box then has a higher bound. The box stays open unless the box is pruned.
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
		return b.offerOnly(n)
	}
	n.bounded = true
	b.open.add(n)
	return nil
}

// refinePieces recomputes outdated bounds of pieces in a box. The result done means that the box needs no more
// work at present: the box is pruned, or another open box has a higher bound.
func (b *Bounder) refinePieces(n *box) (done bool) {
	for b.refinePiece(n) {
		if n.upperBound = min(n.upperBound, b.sumOfPieces(n)); b.pruneBox(n) {
			return true
		}
		if len(b.open) > 0 && b.open[0].upperBound > n.upperBound {
			b.open.add(n)
			return true
		}
	}
	return false
}

// boundByPrograms lowers the bound of a box by linear programs. boundByPrograms returns the solution of the last
// program, or nil if there is no program. The result pruned means that no composition in the box can be better
// than the incumbent.
func (b *Bounder) boundByPrograms(n *box) (amounts, uses []float64, pruned bool) {
	rest, formed := b.boundOutsideProgram(n)
	linear := b.sumOfLinear(n)
	if b.formProgram != nil {
		if amounts, uses, formed, pruned = b.boundByForms(n); pruned {
			return nil, nil, true
		}
		if n.upperBound = min(n.upperBound, addLogs(addLogs(rest, formed), linear)); b.pruneBox(n) {
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

// boundOutsideProgram sums the bounds of the factors without a column in the program. The result formed is the
// sum for the factors that compute their bounds from maxima of linear forms, and rest is the sum for all other
// factors.
func (b *Bounder) boundOutsideProgram(n *box) (rest, formed float64) {
	for k := range b.problem.Factors {
		switch p := &b.problem.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			rest = addLogs(rest, b.separateBound(n, p))
		case p.isBoundedByForms():
			formed = addLogs(formed, b.boundFactor(n, k))
		case b.firstPiece[k+1] == b.firstPiece[k]:
			rest = addLogs(rest, b.maxFactorLogs[k])
		default:
			rest = addLogs(rest, b.joinPieceBounds(k, n.pieceBounds))
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

// sumOfLinear returns the sum of the separate bounds of the factors that have a column in the program.
func (b *Bounder) sumOfLinear(n *box) (sum float64) {
	if b.tableau != nil {
		for _, k := range b.relaxation.logFactors {
			sum = addLogs(sum, min(b.maxFactorLogs[k], b.separateBound(n, &b.problem.Factors[k])))
		}
	}
	return sum
}

// boundFactor returns the bound over a box of the factor with the given index, without a linear program.
func (b *Bounder) boundFactor(n *box, part int) float64 {
	p := &b.problem.Factors[part]
	switch {
	case p.MaxOverForms != nil:
		return min(b.maxFactorLogs[part], p.MaxOverForms(func(perUnit, perUse []float64) float64 {
			return b.maximumOf(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1)
		}))
	case b.firstPiece[part+1] == b.firstPiece[part]:
		return b.maxFactorLogs[part]
	}
	b.setAmountBounds(n)
	of := make([]float64, len(b.pieces))
	for k := b.firstPiece[part]; k < b.firstPiece[part+1]; k++ {
		above, steps, _, _ := b.pieces[k].bound(b.minAmounts, b.maxAmounts, b.maxUsed())
		of[k] = above
		b.work += steps
	}
	return b.joinPieceBounds(part, of)
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

// pruneBox reports whether a box can be dropped because no composition in the box is better than the incumbent.
// If so, pruneBox includes the bound of the box in prunedBound.
func (b *Bounder) pruneBox(n *box) bool {
	if n.upperBound > b.incumbent+scoreTolerance {
		return false
	}
	b.prunedBound = max(b.prunedBound, n.upperBound)
	return true
}
