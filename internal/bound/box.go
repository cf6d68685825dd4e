package bound

import (
	"math"
	"slices"

	"kir/rule"
)

// A box is a set of compositions, given by bounds Lo..Hi of columns. Column 2k is the amount, in units, of the
// usable ingredient at index k. Column 2k+1 is 1 if that ingredient is used, and 0 otherwise. The fields are
// exported for encoding/gob; see [LaneResult].
type box struct {
	UpperBound float64 // upper bound of the log scores in the box
	Lo, Hi     []int32 // for each column: bounds
	Depth      int     // number of times that a box was divided on the way to this box

	PiecelessBound   float64   // upper bound of the sum of the logs of the factors that have no pieces (see [Factor])
	PieceBounds      []float64 // item p is an upper bound of the factor's term that piece p bounds (see [Piece]), computed for this box or for a larger box that contains this box
	PieceAges        []uint8   // item p is the number of divisions since item p of PieceBounds was computed; 0 if computed for this box
	ProgramsSolved   bool      // whether UpperBound already includes the bounds from linear programs
	BranchIngredient int       // index of the ingredient whose amount contributes most to the bound of a factor; −1 if unknown
	BranchGain       float64   // how much lower the bound of the factor would be without the contribution of BranchIngredient

	CutColumn        int   // column along which the box is to be divided
	CutValue         int32 // greatest value of the column in the lower half
	SearchUpperFirst bool  // whether the upper half is more likely to contain the best composition
}

func (n *box) clone() *box {
	c := *n
	c.Lo, c.Hi, c.PieceBounds = slices.Clone(n.Lo), slices.Clone(n.Hi), slices.Clone(n.PieceBounds)
	c.Depth++
	c.PieceAges = make([]uint8, len(n.PieceAges))
	for k, a := range n.PieceAges {
		c.PieceAges[k] = min(a+1, math.MaxUint8)
	}
	c.ProgramsSolved, c.BranchIngredient, c.BranchGain = false, -1, 0
	return &c
}

// rootBox returns the box of all compositions, or nil if there are no compositions.
func (b *Bounder) rootBox() *box {
	b.relaxation = newRelaxation(b)
	n := &box{UpperBound: math.Inf(1)}
	for i, d := range b.amountSets {
		if d.Count == 0 {
			if b.problem.Conditions.Amounts[i].Required || slices.Contains(b.problem.RequiredIngredients, i) {
				return nil
			}
			continue
		}
		lo, used := int32(0), int32(0)
		if b.problem.Conditions.Amounts[i].Required || slices.Contains(b.problem.RequiredIngredients, i) {
			lo, used = int32(d.Lo), 1
		}
		n.Lo, n.Hi = append(n.Lo, lo, used), append(n.Hi, int32(d.Hi()), 1)
	}
	if !b.tightenBox(n) {
		return nil
	}
	return n
}

// columnBounds returns the bounds that a box sets for a column of the linear program.
func (b *Bounder) columnBounds(n *box, column int) (lo, hi float64) {
	x := b.relaxation
	switch {
	case column >= x.firstLogColumn:
		k := column - x.firstLogColumn - len(x.logFactors)
		return x.cappedLo[k], x.cappedHi[k]
	case column%2 == 0:
		return float64(float64(n.Lo[column]) * x.unitValue), float64(float64(n.Hi[column]) * x.unitValue)
	}
	return float64(n.Lo[column]), float64(n.Hi[column])
}

// setAmountBounds sets b.minAmounts and b.maxAmounts to the bounds of the amount of each ingredient in the box
// n.
func (b *Bounder) setAmountBounds(n *box) {
	k := 0
	for i, d := range b.amountSets {
		if d.Count > 0 {
			b.minAmounts[i], b.maxAmounts[i] = n.Lo[2*k], n.Hi[2*k]
			k++
		}
	}
}

// setColumnBounds sets b.columnLo and b.columnHi to the bounds that the box n gives the columns of the program.
// Columns of logs are bounded below by minLog.
func (b *Bounder) setColumnBounds(n *box) {
	x := b.relaxation
	for j := range x.firstLogColumn {
		b.columnLo[j], b.columnHi[j] = b.columnBounds(n, j)
	}
	for k, part := range x.logFactors {
		b.columnHi[x.firstLogColumn+k] = b.maxFactorLogs[part]
		b.columnLo[x.firstLogColumn+k] = min(minLog, b.maxFactorLogs[part])
	}
	for k := range x.cappedLo {
		b.columnLo[x.firstLogColumn+len(x.logFactors)+k], b.columnHi[x.firstLogColumn+len(x.logFactors)+k] = x.cappedLo[k], x.cappedHi[k]
	}
}

// snapBounds narrows the bounds of the amount of the usable ingredient at index k to allowed amounts, and makes
// the bounds of the ingredient's use agree with the bounds of the amount. The result ok is false if no allowed
// amount is left.
func (b *Bounder) snapBounds(n *box, k int) (ok bool) {
	lo, hi, used := &n.Lo[2*k], &n.Hi[2*k], 2*k+1
	d := b.amountSets[b.usableIngredients[k]]
	if *lo > 0 {
		n.Lo[used] = 1
	}
	if *hi == 0 || n.Hi[used] == 0 || *hi < int32(d.Lo) {
		*hi, n.Hi[used] = 0, 0
	}
	if n.Lo[used] == 1 {
		*lo = max(*lo, int32(d.Lo))
	}
	if step := int32(d.Step); step > 1 {
		if *lo > int32(d.Lo) {
			*lo = int32(d.Lo) + (*lo-int32(d.Lo)+step-1)/step*step
		}
		if *hi > 0 {
			*hi = int32(d.Lo) + (*hi-int32(d.Lo))/step*step
		}
	}
	return *lo <= *hi && n.Lo[used] <= n.Hi[used]
}

// offerOnlyComposition scores the composition in a box that contains only one composition.
func (b *Bounder) offerOnlyComposition(n *box) error {
	var parts []rule.Part
	total, k := 0, 0
	for i, d := range b.amountSets {
		if d.Count == 0 {
			continue
		}
		if a := int(n.Lo[2*k]); a > 0 {
			parts = append(parts, rule.Part{Ingredient: i, Amount: a})
			total += a
		}
		k++
	}
	if total != b.problem.Conditions.Total || len(parts) >= len(b.problem.AllowedUsedCounts) || !b.problem.AllowedUsedCounts[len(parts)] || !b.problem.Conditions.AreKeptBy(parts) {
		return nil
	}
	return b.offerCandidate(parts)
}
