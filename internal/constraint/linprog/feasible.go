package linprog

import (
	"context"
	"math"

	"kir/internal/browsersched"
)

// A feasibilitySimplex looks for values within bounds that satisfy linear constraints, by the simplex method for
// bounded variables. The method reduces the sum by which the basic variables violate their bounds, until the sum
// is 0 or cannot be reduced. This is the composite phase 1 of Maros, Computational Techniques of the Simplex
// Method, 2003, chapter 9.
//
// All arithmetic is in floating point, which proves nothing. A proof of infeasibility needs the weights of the
// constraints, which [WholeProgram.ProvesInfeasible] checks in whole numbers.
type feasibilitySimplex struct {
	basis
	pivotCount int // number of pivots so far
}

const (
	maxPivots        = 5_000 // maximum number of pivots before the search gives up
	maxWork          = 4e9   // maximum number of coefficients to process, which takes some seconds
	blandAfterPivots = 1_000 // number of pivots after which the first improving column is taken, to prevent cycling
)

// newFeasibilitySimplex returns a feasibilitySimplex for the constraint matrix factors, given by rows. The slices
// lo and hi hold the bounds of the columns, which must be finite, followed by the bounds of the rows. Columns
// start at their lower bounds.
func newFeasibilitySimplex(factors [][]float64, lo, hi []float64) *feasibilitySimplex {
	rows, columns := len(factors), len(lo)-len(factors)
	t := &feasibilitySimplex{basis: basis{rows: factors, lo: lo, hi: hi, Value: make([]float64, len(lo))}}
	for j := range columns {
		t.nonbasicVariables = append(t.nonbasicVariables, int32(j))
		t.Value[j] = lo[j]
	}
	for r := range rows {
		t.basicVariables = append(t.basicVariables, int32(columns+r))
	}
	t.setBasicValues()
	return t
}

// violatedBoundSide returns −1 if the value of the variable is below its bounds, 1 if the value is above its bounds, and
// 0 if the value is within its bounds.
func (t *feasibilitySimplex) violatedBoundSide(variable int32) int {
	switch v := t.Value[variable]; {
	case v < t.lo[variable]-boundTolerance:
		return -1
	case v > t.hi[variable]+boundTolerance:
		return 1
	}
	return 0
}

// solve looks for values within all bounds. The result kept reports whether such values were found. If no such
// values exist, weights holds a factor for each row, such that the weighted sum of the rows cannot satisfy the
// bounds. If solve gave up, weights is nil.
func (t *feasibilitySimplex) solve(ctx context.Context) (kept bool, weights []float64) {
	gain := make([]float64, len(t.nonbasicVariables))
	most := min(maxPivots, 1+int(maxWork/float64(1+len(t.basicVariables)*len(t.nonbasicVariables))))
	for t.pivotCount = 0; t.pivotCount < most && browsersched.Err(ctx) == nil; t.pivotCount++ {
		if t.pivotCount%64 == 63 {
			t.setBasicValues()
		}
		clear(gain)
		kept = true
		for r, b := range t.basicVariables {
			if side := t.violatedBoundSide(b); side != 0 {
				kept = false
				for j, f := range t.rows[r] {
					gain[j] -= float64(float64(side) * f)
				}
			}
		}
		if kept {
			return true, nil
		}
		j := t.enteringColumn(gain)
		if j < 0 {
			return false, t.rowWeights(gain)
		}
		t.moveColumn(j, math.Copysign(1, gain[j]))
	}
	return false, nil
}

// enteringColumn returns the index of a column whose change reduces the total violation of bounds, or −1 if no
// column does. Item j of gain is the reduction of the violation when column j grows by one unit.
func (t *feasibilitySimplex) enteringColumn(gain []float64) int {
	best, most := -1, minPivot
	for j, g := range gain {
		v := t.nonbasicVariables[j]
		if t.lo[v] == t.hi[v] || g > 0 && t.Value[v] >= t.hi[v] || g < 0 && t.Value[v] <= t.lo[v] {
			continue
		}
		if g = math.Abs(g); g > most {
			if best, most = j, g; t.pivotCount >= blandAfterPivots {
				break
			}
		}
	}
	return best
}

// moveColumn moves the nonbasic variable of column j up (direction 1) or down (direction −1) until that variable
// or the first basic variable reaches a bound. A basic variable that violates a bound stops at the violated
// bound.
func (t *feasibilitySimplex) moveColumn(j int, direction float64) {
	v := t.nonbasicVariables[j]
	length, row, bound := t.hi[v]-t.lo[v], -1, 0.0
	for r, b := range t.basicVariables {
		rate := float64(t.rows[r][j] * direction)
		if math.Abs(rate) < minPivot {
			continue
		}
		to := t.hi[b]
		side := t.violatedBoundSide(b)
		switch {
		case rate > 0 && side < 0:
			to = t.lo[b]
		case rate < 0 && side <= 0:
			to = t.lo[b]
			if side < 0 {
				continue // this basic variable is out of bounds and moves further out
			}
		case rate > 0 && side > 0:
			continue
		}
		if math.IsInf(to, 0) {
			continue
		}
		d := max((to-t.Value[b])/rate, 0)
		if d < length-1e-12 || row >= 0 && d <= length+1e-12 && math.Abs(t.rows[r][j]) > math.Abs(t.rows[row][j]) {
			length, row, bound = d, r, to
		}
	}
	for r, b := range t.basicVariables {
		t.Value[b] += float64(t.rows[r][j] * direction * length)
	}
	t.Value[v] += float64(direction * length)
	if row < 0 { // no pivot: the column moves from one of its bounds to the other
		t.Value[v] = t.lo[v]
		if direction > 0 {
			t.Value[v] = t.hi[v]
		}
		return
	}
	t.Value[t.basicVariables[row]] = bound
	t.exchange(row, j)
}

// rowWeights returns the weight of each row for a proof of infeasibility. If the activity of the row (the row's
// sum) is basic, the weight follows from the bound that the activity violates. If the activity is nonbasic, the
// weight is taken from gain; for gain see enteringColumn.
func (t *feasibilitySimplex) rowWeights(gain []float64) []float64 {
	columns := int32(len(t.lo) - len(t.rows))
	w := make([]float64, len(t.rows))
	for _, b := range t.basicVariables {
		if b >= columns {
			w[b-columns] = -float64(t.violatedBoundSide(b))
		}
	}
	for j, v := range t.nonbasicVariables {
		if v >= columns {
			w[v-columns] = -gain[j]
		}
	}
	return w
}
