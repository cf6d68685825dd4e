package linprog

import (
	"context"
	"math"

	"kir/internal/browsersched"
)

// A feasibility looks for values within bounds that satisfy linear constraints, by the simplex method
// for bounded variables. The method reduces the sum by which the basic variables violate their bounds,
// until it is 0 or cannot be reduced. This is the composite phase 1 of Maros, Computational Techniques
// of the Simplex Method, 2003, chapter 9.
//
// All arithmetic is in floating point. So infeasibility is not concluded here, but from weights of the
// constraints that are checked in whole numbers: see [Whole.ProvesInfeasible].
type feasibility struct {
	basis
	pivots int
}

const (
	maxPivots = 5_000
	maxWork   = 4e9   // greatest number of coefficients to process, some seconds of work
	blandFrom = 1_000 // number of pivots after which the first improving column is taken, to prevent cycling
)

// newFeasibility returns a feasibility for the given matrix of rows and columns. lo and hi hold the bounds of the
// columns, which must be finite, and then of the rows. Columns start at their lower bounds.
func newFeasibility(factors [][]float64, lo, hi []float64) *feasibility {
	rows, columns := len(factors), len(lo)-len(factors)
	t := &feasibility{basis: basis{rows: factors, lo: lo, hi: hi, Value: make([]float64, len(lo))}}
	for j := range columns {
		t.nonbasic = append(t.nonbasic, int32(j))
		t.Value[j] = lo[j]
	}
	for r := range rows {
		t.basic = append(t.basic, int32(columns+r))
	}
	t.setBasicValues()
	return t
}

// boundSide returns −1 if a variable is below its bounds, 1 if it is above, and 0 if it is within.
func (t *feasibility) boundSide(variable int32) int {
	switch v := t.Value[variable]; {
	case v < t.lo[variable]-outOfBounds:
		return -1
	case v > t.hi[variable]+outOfBounds:
		return 1
	}
	return 0
}

// solve looks for values within all bounds. kept reports success. Otherwise weights holds a factor for each row, such
// that the weighted sum of the rows cannot satisfy their bounds. weights is nil if the method did not finish.
func (t *feasibility) solve(ctx context.Context) (kept bool, weights []float64) {
	gain := make([]float64, len(t.nonbasic))
	most := min(maxPivots, 1+int(maxWork/float64(1+len(t.basic)*len(t.nonbasic))))
	for t.pivots = 0; t.pivots < most && browsersched.Err(ctx) == nil; t.pivots++ {
		if t.pivots%64 == 63 {
			t.setBasicValues()
		}
		clear(gain)
		kept = true
		for r, b := range t.basic {
			if side := t.boundSide(b); side != 0 {
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
			return false, t.weights(gain)
		}
		t.step(j, math.Copysign(1, gain[j]))
	}
	return false, nil
}

// enteringColumn returns a column whose change reduces the total violation, or −1. gain holds by how much one unit
// of each column reduces the violation.
func (t *feasibility) enteringColumn(gain []float64) int {
	best, most := -1, smallPivot
	for j, g := range gain {
		v := t.nonbasic[j]
		if t.lo[v] == t.hi[v] || g > 0 && t.Value[v] >= t.hi[v] || g < 0 && t.Value[v] <= t.lo[v] {
			continue
		}
		if g = math.Abs(g); g > most {
			if best, most = j, g; t.pivots >= blandFrom {
				break
			}
		}
	}
	return best
}

// step moves a column up or down until it or the first basic variable reaches a bound. A basic variable
// that violates a bound stops at that bound.
func (t *feasibility) step(j int, direction float64) {
	v := t.nonbasic[j]
	length, row, bound := t.hi[v]-t.lo[v], -1, 0.0
	for r, b := range t.basic {
		rate := float64(t.rows[r][j] * direction)
		if math.Abs(rate) < smallPivot {
			continue
		}
		to := t.hi[b]
		side := t.boundSide(b)
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
	for r, b := range t.basic {
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
	t.Value[t.basic[row]] = bound
	t.exchange(row, j)
}

// weights returns a weight for each row, from the violated bounds of basic activities and from gain for nonbasic
// ones.
func (t *feasibility) weights(gain []float64) []float64 {
	columns := int32(len(t.lo) - len(t.rows))
	w := make([]float64, len(t.rows))
	for _, b := range t.basic {
		if b >= columns {
			w[b-columns] = -float64(t.boundSide(b))
		}
	}
	for j, v := range t.nonbasic {
		if v >= columns {
			w[v-columns] = -gain[j]
		}
	}
	return w
}
