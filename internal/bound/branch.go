package bound

import (
	"cmp"
	"math"
	"slices"
)

// divide divides a box in two at its cut, and computes a cheap bound of each half.
func (b *Bounder) divide(n *box) {
	low, high := n.clone(), n.clone()
	low.hi[n.column], high.lo[n.column] = n.cut, n.cut+1
	halves := [2]*box{low, high}
	if n.upper {
		halves = [2]*box{high, low}
	}
	for _, h := range halves {
		if !b.snapBounds(h, n.column/2) || !b.tighten(h) {
			continue
		}
		b.addBox(h)
	}
}

// integralityTolerance is the distance from a whole number at which a use or an amount counts as
// fractional.
const integralityTolerance = 1e-6

// choose decides where to divide a box. It returns false if the box contains a single composition.
func (b *Bounder) choose(n *box, amounts, uses []float64) bool {
	if b.hasBoxedFactor() {
		return b.chooseAlong(n) || b.chooseBoxed(n, uses)
	}
	return b.chooseUse(n, amounts, uses) || b.chooseAmount(n, amounts) || b.chooseWide(n, amounts)
}

// chooseUse divides a box between unused and used, for the ingredient whose use in the program's solution is furthest
// from 0 and 1. It returns false if all uses are 0 or 1.
func (b *Bounder) chooseUse(n *box, amounts, uses []float64) bool {
	column, most := -1, integralityTolerance
	for k := range len(uses) {
		if off := min(uses[k], 1-uses[k]); n.lo[2*k+1] < n.hi[2*k+1] && off > most {
			column, most = 2*k+1, off
		}
	}
	if column < 0 {
		return false
	}
	n.column, n.cut, n.upper = column, 0, uses[column/2] > 0.5 || amounts[column/2] > 1
	return true
}

// chooseAmount divides a box at the amount in the program's solution that is furthest from an allowed one. It returns
// false if all amounts are allowed.
func (b *Bounder) chooseAmount(n *box, amounts []float64) bool {
	column, most := -1, integralityTolerance
	for k := range len(amounts) {
		if n.lo[2*k+1] == 0 || n.lo[2*k] == n.hi[2*k] {
			continue
		}
		step := float64(b.amounts[b.x.ingredients[k]].Step)
		over := (amounts[k] - float64(n.lo[2*k])) / step
		if off := math.Abs(over - math.Round(over)); off > most {
			column, most = 2*k, off
		}
	}
	if column < 0 {
		return false
	}
	d := b.amounts[b.x.ingredients[column/2]]
	over := (amounts[column/2] - float64(n.lo[column])) / float64(d.Step)
	n.cut = n.lo[column] + int32(math.Floor(over))*int32(d.Step)
	n.column, n.cut = column, min(max(n.cut, n.lo[column]), n.hi[column]-1)
	n.upper = over-math.Floor(over) > 0.5
	return true
}

// chooseWide divides a box along the ingredient with the widest interval of amounts. It returns false if no interval
// can be divided.
func (b *Bounder) chooseWide(n *box, amounts []float64) bool {
	column, most := -1, int32(0)
	for k := range len(n.lo) / 2 {
		wide := n.hi[2*k] - n.lo[2*k]
		if n.lo[2*k+1] < n.hi[2*k+1] {
			wide += int32(b.p.Conditions.Total) // ingredients that may be used or unused come first
		}
		if wide > most {
			column, most = 2*k, wide
		}
	}
	if column < 0 {
		return false
	}
	if n.lo[column+1] < n.hi[column+1] {
		n.column, n.cut, n.upper = column+1, 0, true
		return true
	}
	n.column, n.cut = column, n.lo[column]+(n.hi[column]-n.lo[column])/2
	if amounts != nil {
		if at := int32(math.Round(amounts[column/2])); n.lo[column] < at && at < n.hi[column] {
			n.cut = at
		}
	}
	n.upper = false
	return true
}

// hasBoxedFactor reports whether some factor computes its own bound over a box, outside the linear program.
func (b *Bounder) hasBoxedFactor() bool {
	return slices.ContainsFunc(b.p.Factors, Factor.isBoxed)
}

func (p Factor) isBoxed() bool {
	return !p.hasColumn() && (p.Box != nil || p.Pieces != nil || p.MaxOverForms != nil)
}

// littleBy is the least effect on a factor's log for which chooseAlong divides along the ingredient that the factor
// proposes.
const littleBy = 0.01

// chooseAlong divides a box along the ingredient proposed by the piece that contributes most. The cut is at the
// square of the mean of the roots of least and greatest amount. It returns false if there is no proposal.
func (b *Bounder) chooseAlong(n *box) bool {
	if n.branchIngredient < 0 || n.branchGain < littleBy {
		return false
	}
	k, _ := slices.BinarySearch(b.usable, n.branchIngredient)
	if n.lo[2*k] == n.hi[2*k] {
		return false
	}
	if n.lo[2*k+1] < n.hi[2*k+1] {
		n.column, n.cut, n.upper = 2*k+1, 0, false
		return true
	}
	root := float64((math.Sqrt(float64(n.lo[2*k])) + math.Sqrt(float64(n.hi[2*k]))) / 2)
	n.column, n.cut, n.upper = 2*k, min(max(int32(root*root), n.lo[2*k]), n.hi[2*k]-1), false
	if n.lo[2*k] == 0 && n.cut < int32(b.amounts[n.branchIngredient].Lo) {
		n.cut = 0 // cut between unused and used
	}
	return true
}

// mostTried is the greatest number of cuts that chooseBoxed compares.
const mostTried = 12

// chooseBoxed divides a box at the cut that lowers the factors' bounds most in both halves. It returns false if there
// is no cut.
func (b *Bounder) chooseBoxed(n *box, uses []float64) bool {
	cuts := b.possibleCuts(n, uses)
	if len(cuts) == 0 {
		return false
	}
	best, most := 0, -1.0
	here := b.allBoxed(n)
	for k, c := range cuts[:min(len(cuts), mostTried)] {
		if gain := b.cutGain(n, c, here); gain > most {
			best, most = k, gain
		}
	}
	n.column, n.cut = cuts[best].column, cuts[best].at
	n.upper = uses != nil && n.column%2 == 1 && uses[n.column/2] > 0.5
	return true
}

// A cut is a place at which a box can be divided.
type cut struct {
	column int
	at     int32   // greatest value of the column in the lower half
	wide   float64 // width of the interval that the cut divides, weighted
}

// possibleCuts returns a cut for each ingredient that can vary in a box, the widest first. A cut is between unused
// and used, or in the middle of the amounts of an ingredient that is always used.
func (b *Bounder) possibleCuts(n *box, uses []float64) []cut {
	var cuts []cut
	for k := range len(n.lo) / 2 {
		wide := float64(n.hi[2*k] - n.lo[2*k])
		switch {
		case wide == 0:
		case n.lo[2*k+1] < n.hi[2*k+1]:
			if uses != nil {
				wide += float64(float64(b.p.Conditions.Total) * min(uses[k], 1-uses[k]))
			}
			cuts = append(cuts, cut{2*k + 1, 0, float64(2 * wide)})
		default:
			cuts = append(cuts, cut{2 * k, n.lo[2*k] + (n.hi[2*k]-n.lo[2*k])/2, wide})
		}
	}
	slices.SortStableFunc(cuts, func(p, q cut) int { return cmp.Compare(q.wide, p.wide) })
	return cuts
}

// cutGain returns the product, over the two halves, of how much lower the factors' bounds are than here, their sum
// over the undivided box.
func (b *Bounder) cutGain(n *box, c cut, here float64) float64 {
	low, high := n.clone(), n.clone()
	low.hi[c.column], high.lo[c.column] = c.at, c.at+1
	gain := [2]float64{}
	for k, half := range [...]*box{low, high} {
		if !b.snapBounds(half, c.column/2) {
			gain[k] = 10
			continue
		}
		if gain[k] = min(here-b.allBoxed(half), 10); math.IsNaN(gain[k]) {
			gain[k] = 0 // both bounds are infinite
		}
	}
	return float64(max(gain[0], 1e-6) * max(gain[1], 1e-6))
}

// allBoxed returns the sum over a box of the bounds of the factors outside the linear program.
func (b *Bounder) allBoxed(n *box) (sum float64) {
	for k := range b.p.Factors {
		if b.p.Factors[k].isBoxed() {
			sum = addLogs(sum, b.boundFactor(n, k))
		}
	}
	return sum
}
