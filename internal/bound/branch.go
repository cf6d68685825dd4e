package bound

import (
	"cmp"
	"math"
	"slices"
)

// divideBox divides a box in two at the cut of the box, and computes a cheap bound of each half.
func (b *Bounder) divideBox(n *box) {
	low, high := n.clone(), n.clone()
	low.Hi[n.CutColumn], high.Lo[n.CutColumn] = n.CutValue, n.CutValue+1
	halves := [2]*box{low, high}
	if n.SearchUpperFirst {
		halves = [2]*box{high, low}
	}
	for _, h := range halves {
		if !b.snapBounds(h, n.CutColumn/2) || !b.tightenBox(h) {
			continue
		}
		b.addBox(h)
	}
}

// integralityTolerance is the least distance from a whole number at which a use or an amount in a program's
// solution counts as fractional.
const integralityTolerance = 1e-6

// chooseCut decides where to divide a box: along which column and at which value. The result is false if the box
// contains a single composition.
func (b *Bounder) chooseCut(n *box, amounts, uses []float64) bool {
	if b.hasFactorWithBoxBound() {
		return b.chooseProposedCut(n) || b.chooseComparedCut(n, uses)
	}
	return b.chooseUseCut(n, amounts, uses) || b.chooseAmountCut(n, amounts) || b.chooseWidestCut(n, amounts)
}

// chooseUseCut decides to divide a box into compositions without and with an ingredient. The ingredient is the
// one whose use, in the solution of the linear program, is furthest from 0 and 1. The result is false if all uses
// are 0 or 1.
func (b *Bounder) chooseUseCut(n *box, amounts, uses []float64) bool {
	column, most := -1, integralityTolerance
	for k := range len(uses) {
		if off := min(uses[k], 1-uses[k]); n.Lo[2*k+1] < n.Hi[2*k+1] && off > most {
			column, most = 2*k+1, off
		}
	}
	if column < 0 {
		return false
	}
	n.CutColumn, n.CutValue, n.SearchUpperFirst = column, 0, uses[column/2] > 0.5 || amounts[column/2] > 1
	return true
}

// chooseAmountCut decides to divide a box at the amount of an ingredient in the solution of the linear program.
// The ingredient is the one whose amount is furthest from an allowed amount. The result is false if all amounts
// are allowed.
func (b *Bounder) chooseAmountCut(n *box, amounts []float64) bool {
	column, most := -1, integralityTolerance
	for k := range len(amounts) {
		if n.Lo[2*k+1] == 0 || n.Lo[2*k] == n.Hi[2*k] {
			continue
		}
		step := float64(b.amountSets[b.relaxation.ingredients[k]].Step)
		over := (amounts[k] - float64(n.Lo[2*k])) / step
		if off := math.Abs(over - math.Round(over)); off > most {
			column, most = 2*k, off
		}
	}
	if column < 0 {
		return false
	}
	d := b.amountSets[b.relaxation.ingredients[column/2]]
	over := (amounts[column/2] - float64(n.Lo[column])) / float64(d.Step)
	n.CutValue = n.Lo[column] + int32(math.Floor(over))*int32(d.Step)
	n.CutColumn, n.CutValue = column, min(max(n.CutValue, n.Lo[column]), n.Hi[column]-1)
	n.SearchUpperFirst = over-math.Floor(over) > 0.5
	return true
}

// chooseWidestCut decides to divide a box along the ingredient whose amounts have the widest range in the box.
// The result is false if no range can be divided.
func (b *Bounder) chooseWidestCut(n *box, amounts []float64) bool {
	column, most := -1, int32(0)
	for k := range len(n.Lo) / 2 {
		wide := n.Hi[2*k] - n.Lo[2*k]
		if n.Lo[2*k+1] < n.Hi[2*k+1] {
			wide += int32(b.problem.Conditions.Total) // ingredients that may be used or unused come first
		}
		if wide > most {
			column, most = 2*k, wide
		}
	}
	if column < 0 {
		return false
	}
	if n.Lo[column+1] < n.Hi[column+1] {
		n.CutColumn, n.CutValue, n.SearchUpperFirst = column+1, 0, true
		return true
	}
	n.CutColumn, n.CutValue = column, n.Lo[column]+(n.Hi[column]-n.Lo[column])/2
	if amounts != nil {
		if at := int32(math.Round(amounts[column/2])); n.Lo[column] < at && at < n.Hi[column] {
			n.CutValue = at
		}
	}
	n.SearchUpperFirst = false
	return true
}

// hasFactorWithBoxBound reports whether some factor has a function that computes a bound for a box, without the linear
// program.
func (b *Bounder) hasFactorWithBoxBound() bool {
	return slices.ContainsFunc(b.problem.Factors, Factor.hasBoxBound)
}

// hasBoxBound reports whether the factor has a function that computes a bound for a box, without the linear
// program.
func (p Factor) hasBoxBound() bool {
	return !p.hasLogColumn() && (p.Box != nil || p.Pieces != nil || p.MaxOverForms != nil)
}

// minBranchGain is the least gain (branchGain of a [box]) at which chooseProposedCut divides a box along the
// proposed ingredient.
const minBranchGain = 0.01

// chooseProposedCut decides to divide a box along BranchIngredient, the ingredient that contributes most to the
// bound of a factor. If all compositions in the box use the ingredient, the cut is at the square of the mean of
// √least and √greatest amount. The result is false if no ingredient is proposed.
func (b *Bounder) chooseProposedCut(n *box) bool {
	if n.BranchIngredient < 0 || n.BranchGain < minBranchGain {
		return false
	}
	k, _ := slices.BinarySearch(b.usableIngredients, n.BranchIngredient)
	if n.Lo[2*k] == n.Hi[2*k] {
		return false
	}
	if n.Lo[2*k+1] < n.Hi[2*k+1] {
		n.CutColumn, n.CutValue, n.SearchUpperFirst = 2*k+1, 0, false
		return true
	}
	root := float64((math.Sqrt(float64(n.Lo[2*k])) + math.Sqrt(float64(n.Hi[2*k]))) / 2)
	n.CutColumn, n.CutValue, n.SearchUpperFirst = 2*k, min(max(int32(root*root), n.Lo[2*k]), n.Hi[2*k]-1), false
	if n.Lo[2*k] == 0 && n.CutValue < int32(b.amountSets[n.BranchIngredient].Lo) {
		n.CutValue = 0 // cut between unused and used
	}
	return true
}

// maxCutsTried is the maximum number of cuts that chooseComparedCut compares.
const maxCutsTried = 12

// chooseComparedCut compares several cuts of a box and chooses the cut that lowers the bounds of the factors in both
// halves most. The result is false if there is no cut.
func (b *Bounder) chooseComparedCut(n *box, uses []float64) bool {
	cuts := b.possibleCuts(n, uses)
	if len(cuts) == 0 {
		return false
	}
	best, most := 0, -1.0
	here := b.sumOfBoxBounds(n)
	for k, c := range cuts[:min(len(cuts), maxCutsTried)] {
		if gain := b.cutGain(n, c, here); gain > most {
			best, most = k, gain
		}
	}
	n.CutColumn, n.CutValue = cuts[best].column, cuts[best].maxLowerValue
	n.SearchUpperFirst = uses != nil && n.CutColumn%2 == 1 && uses[n.CutColumn/2] > 0.5
	return true
}

// A cut is a place at which a box can be divided.
type cut struct {
	column        int     // column to divide
	maxLowerValue int32   // greatest value of the column in the lower half
	width         float64 // weighted width of the interval that the cut divides; wider cuts are tried first
}

// possibleCuts returns a cut for each ingredient whose amount is not fixed in a box, the widest cut first. The
// cut separates compositions without the ingredient from compositions with it. If all compositions in the box use
// the ingredient, the cut is in the middle of the range of amounts.
func (b *Bounder) possibleCuts(n *box, uses []float64) []cut {
	var cuts []cut
	for k := range len(n.Lo) / 2 {
		wide := float64(n.Hi[2*k] - n.Lo[2*k])
		switch {
		case wide == 0:
		case n.Lo[2*k+1] < n.Hi[2*k+1]:
			if uses != nil {
				wide += float64(float64(b.problem.Conditions.Total) * min(uses[k], 1-uses[k]))
			}
			cuts = append(cuts, cut{2*k + 1, 0, float64(2 * wide)})
		default:
			cuts = append(cuts, cut{2 * k, n.Lo[2*k] + (n.Hi[2*k]-n.Lo[2*k])/2, wide})
		}
	}
	slices.SortStableFunc(cuts, func(p, q cut) int { return cmp.Compare(q.width, p.width) })
	return cuts
}

// cutGain returns the product of the gains of the two halves of a box that is divided at c. The gain of a half is
// how much lower the sum of the factors' bounds is over the half than over the whole box. The parameter
// wholeBoxBound is the sum over the whole box.
func (b *Bounder) cutGain(n *box, c cut, wholeBoxBound float64) float64 {
	low, high := n.clone(), n.clone()
	low.Hi[c.column], high.Lo[c.column] = c.maxLowerValue, c.maxLowerValue+1
	gain := [2]float64{}
	for k, half := range [...]*box{low, high} {
		if !b.snapBounds(half, c.column/2) {
			gain[k] = 10
			continue
		}
		if gain[k] = min(wholeBoxBound-b.sumOfBoxBounds(half), 10); math.IsNaN(gain[k]) {
			gain[k] = 0 // both bounds are infinite
		}
	}
	return float64(max(gain[0], 1e-6) * max(gain[1], 1e-6))
}

// sumOfBoxBounds returns the sum of the bounds of the factors outside the linear program, for the compositions in a
// box.
func (b *Bounder) sumOfBoxBounds(n *box) (sum float64) {
	for k := range b.problem.Factors {
		if b.problem.Factors[k].hasBoxBound() {
			sum = addLogs(sum, b.boundFactor(n, k))
		}
	}
	return sum
}
