package conflict

import (
	"context"
	"kir/internal/browsersched"
	"math"
)

// A tableau looks for values within bounds that satisfy linear constraints, by the simplex method for
// bounded variables. Each constraint has a variable of its own, its activity, which has bounds too. The
// method reduces the sum by which the basic variables violate their bounds, until it is 0 or cannot be
// reduced. This is the composite phase 1 of Maros, Computational Techniques of the Simplex Method, 2003,
// chapter 9.
//
// All arithmetic is in floating point. So infeasibility is not concluded here, but from weights of the
// constraints that are checked in whole numbers.
type tableau struct {
	t        [][]float64 // by basic variable: the factors of the nonbasic ones
	basic    []int       // variable of each row: columns first, then activities
	nonbasic []int       // variable of each column
	lo, hi   []float64   // by variable
	value    []float64
	pivots   int
}

const (
	outOfBounds = 1e-9 // tolerance of bounds, for rows whose greatest factor is 1
	smallPivot  = 1e-9
	maxPivots   = 5_000
	maxWork     = 4e9   // factors processed; takes some seconds
	blandFrom   = 1_000 // number of pivots after which the first improving column is taken, to prevent cycling
)

// newTableau returns a tableau for factors by row and column. lo and hi have the bounds of the columns,
// which are finite, and then of the rows. Columns start at their lower bounds.
func newTableau(factors [][]float64, lo, hi []float64) *tableau {
	rows, columns := len(factors), len(lo)-len(factors)
	t := &tableau{t: factors, lo: lo, hi: hi, value: make([]float64, len(lo))}
	for j := range columns {
		t.nonbasic = append(t.nonbasic, j)
		t.value[j] = lo[j]
	}
	for r := range rows {
		t.basic = append(t.basic, columns+r)
	}
	t.refresh()
	return t
}

// refresh computes the basic variables from the nonbasic ones.
func (t *tableau) refresh() {
	for r, row := range t.t {
		v := 0.0
		for j, f := range row {
			v += float64(f * t.value[t.nonbasic[j]])
		}
		t.value[t.basic[r]] = v
	}
}

// boundSide returns −1 if a variable is below its bounds, 1 if it is above, and 0 if it is within.
func (t *tableau) boundSide(variable int) int {
	switch v := t.value[variable]; {
	case v < t.lo[variable]-outOfBounds:
		return -1
	case v > t.hi[variable]+outOfBounds:
		return 1
	}
	return 0
}

// solve reports whether its final values are within all bounds. If not, weights has a factor for each row
// such that the weighted sum of the rows cannot satisfy their bounds. weights is nil if the method did not
// finish.
func (t *tableau) solve(ctx context.Context) (kept bool, weights []float64) {
	gain := make([]float64, len(t.nonbasic))
	most := min(maxPivots, 1+int(maxWork/float64(1+len(t.basic)*len(t.nonbasic))))
	for t.pivots = 0; t.pivots < most && browsersched.Err(ctx) == nil; t.pivots++ {
		if t.pivots%64 == 63 {
			t.refresh()
		}
		clear(gain)
		kept = true
		for r, b := range t.basic {
			if side := t.boundSide(b); side != 0 {
				kept = false
				for j, f := range t.t[r] {
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

// enteringColumn returns a column whose change reduces the violation, or −1.
func (t *tableau) enteringColumn(gain []float64) int {
	best, most := -1, smallPivot
	for j, g := range gain {
		v := t.nonbasic[j]
		if t.lo[v] == t.hi[v] || g > 0 && t.value[v] >= t.hi[v] || g < 0 && t.value[v] <= t.lo[v] {
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
func (t *tableau) step(j int, direction float64) {
	v := t.nonbasic[j]
	length, row, bound := t.hi[v]-t.lo[v], -1, 0.0
	for r, b := range t.basic {
		rate := float64(t.t[r][j] * direction)
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
				continue // moves further out of bounds
			}
		case rate > 0 && side > 0:
			continue
		}
		if math.IsInf(to, 0) {
			continue
		}
		d := max((to-t.value[b])/rate, 0)
		if d < length-1e-12 || row >= 0 && d <= length+1e-12 && math.Abs(t.t[r][j]) > math.Abs(t.t[row][j]) {
			length, row, bound = d, r, to
		}
	}
	for r, b := range t.basic {
		t.value[b] += float64(t.t[r][j] * direction * length)
	}
	t.value[v] += float64(direction * length)
	if row < 0 { // the column moves from one bound to the other
		t.value[v] = t.lo[v]
		if direction > 0 {
			t.value[v] = t.hi[v]
		}
		return
	}
	t.value[t.basic[row]] = bound
	t.pivot(row, j)
}

// pivot exchanges the basic variable of a row with the nonbasic one of a column.
func (t *tableau) pivot(row, j int) {
	p := t.t[row]
	by := p[j]
	for k := range p {
		p[k] /= -by
	}
	p[j] = 1 / by
	for r, other := range t.t {
		f := other[j]
		if r == row || f == 0 {
			continue
		}
		other[j] = 0
		for k, x := range p {
			other[k] += float64(f * x)
		}
	}
	t.basic[row], t.nonbasic[j] = t.nonbasic[j], t.basic[row]
}

// weights returns the factor of each row in the sum of violations, reduced by what the nonbasic variables
// determine.
func (t *tableau) weights(gain []float64) []float64 {
	columns := len(t.lo) - len(t.t)
	w := make([]float64, len(t.t))
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
