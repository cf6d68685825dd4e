package bound

import "math"

// addBox computes a cheap bound of a new box. It adds the box to the open ones unless the bound proves that it
// contains nothing better than the incumbent.
func (b *Bounder) addBox(n *box) {
	b.nodes++
	n.restBound = 0
	for k := range b.p.Factors {
		switch p := &b.p.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			n.restBound = addLogs(n.restBound, b.separateBound(n, p))
		case p.isBoundedByForms():
			n.restBound = addLogs(n.restBound, b.boundFactor(n, k))
		case b.from[k+1] == b.from[k]:
			n.restBound = addLogs(n.restBound, b.most[k])
		}
	}
	n.restBound = addLogs(n.restBound, b.sumOfLinear(n))
	if n.upperBound = min(n.upperBound, b.sumOfPieces(n)); !b.pruneBox(n) {
		b.open.add(n)
	}
}

// bound computes a tighter bound of a box and chooses where to divide it. It stops early if another open box then has
// a higher bound. The box stays open unless it is pruned.
func (b *Bounder) bound(n *box) error {
	if done := b.refinePieces(n); done {
		return nil
	}
	amounts, uses, pruned := b.boundByPrograms(n)
	if pruned {
		return nil
	}
	if err := b.round(n, amounts, uses); err != nil {
		return err
	}
	if b.pruneBox(n) {
		return nil
	}
	if !b.choose(n, amounts, uses) {
		return b.offerOnly(n)
	}
	n.bounded = true
	b.open.add(n)
	return nil
}

// refinePieces recomputes outdated bounds of pieces in a box. done means that the box needs no more work at present:
// it is pruned, or another open box has a higher bound.
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

// boundByPrograms lowers the bound of a box by linear programs. It returns the solution of the last one, nil if there
// is no program. pruned means that the box can contain nothing better than the incumbent.
func (b *Bounder) boundByPrograms(n *box) (amounts, uses []float64, pruned bool) {
	rest, formed := b.boundOutsideProgram(n)
	linear := b.sumOfLinear(n)
	if b.probe != nil {
		if amounts, uses, formed, pruned = b.boundByForms(n); pruned {
			return nil, nil, true
		}
		if n.upperBound = min(n.upperBound, addLogs(addLogs(rest, formed), linear)); b.pruneBox(n) {
			return nil, nil, true
		}
	}
	if b.tableau != nil {
		if amounts, uses, pruned = b.solve(n, addLogs(rest, formed)); pruned || b.pruneBox(n) {
			return nil, nil, true
		}
	}
	return amounts, uses, false
}

// boundOutsideProgram sums the bounds of the factors without a column in the program: formed for those that linear
// forms bound, rest for all others.
func (b *Bounder) boundOutsideProgram(n *box) (rest, formed float64) {
	for k := range b.p.Factors {
		switch p := &b.p.Factors[k]; {
		case p.hasColumn() && b.tableau != nil:
		case p.hasColumn():
			rest = addLogs(rest, b.separateBound(n, p))
		case p.isBoundedByForms():
			formed = addLogs(formed, b.boundFactor(n, k))
		case b.from[k+1] == b.from[k]:
			rest = addLogs(rest, b.most[k])
		default:
			rest = addLogs(rest, b.joinPieces(k, n.pieces))
		}
	}
	return rest, formed
}

// addLogs returns a + b, but −Inf if either is −Inf, even if the other is +Inf.
func addLogs(a, b float64) float64 {
	if math.IsInf(a, -1) || math.IsInf(b, -1) {
		return math.Inf(-1)
	}
	return a + b
}

// sumOfLinear returns the sum of the separate bounds of the factors that have a column in the program.
func (b *Bounder) sumOfLinear(n *box) (sum float64) {
	if b.tableau != nil {
		for _, k := range b.x.linear {
			sum = addLogs(sum, min(b.most[k], b.separateBound(n, &b.p.Factors[k])))
		}
	}
	return sum
}

// boundFactor returns the bound of one factor over a box, without a linear program.
func (b *Bounder) boundFactor(n *box, part int) float64 {
	p := &b.p.Factors[part]
	switch {
	case p.MaxOverForms != nil:
		return min(b.most[part], p.MaxOverForms(func(perUnit, perUse []float64) float64 {
			return b.greatestOf(n, &Linear{PerUnit: perUnit, PerUse: perUse}, 1)
		}))
	case b.from[part+1] == b.from[part]:
		return b.most[part]
	}
	b.setAmountBounds(n)
	of := make([]float64, len(b.pieces))
	for k := b.from[part]; k < b.from[part+1]; k++ {
		above, steps, _, _ := b.pieces[k].piece(b.least, b.greatest, b.maxUsed())
		of[k] = above
		b.work += steps
	}
	return b.joinPieces(part, of)
}

// maxUsed returns the greatest number of ingredients that a composition may use.
func (b *Bounder) maxUsed() int {
	for n := len(b.p.Sizes) - 1; n > 0; n-- {
		if b.p.Sizes[n] {
			return n
		}
	}
	return 0
}

// pruneBox reports whether a box can be dropped because it contains nothing better than the incumbent. It then
// records the box's bound in prunedBound.
func (b *Bounder) pruneBox(n *box) bool {
	if n.upperBound > b.incumbent+scoreTolerance {
		return false
	}
	b.prunedBound = max(b.prunedBound, n.upperBound)
	return true
}
