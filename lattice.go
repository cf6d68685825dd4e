package kir

import "kir/rule"

// A lattice is what a space's equalities leave to move along: where a sum is fixed,
// hardly any split of two ingredients keeps it. Of ingredients T, h ≥ 1 more than
// there are equalities among them that are independent of each other and of the
// total, the whole numbers d with Σ_T d_i = 0 and Σ_T f_i·d_i = 0 for each
// equality f form a lattice of h dimensions. Where h is 1 it is a line.
type lattice struct {
	factors [][]int64 // by equality, by ingredient: what a unit adds
}

// newLattice returns the equalities of conditions, nil if there are none.
func newLattice(c *rule.Conditions) *lattice {
	l := &lattice{}
	for _, sum := range c.Sums {
		if sum.Min != sum.Max {
			continue
		}
		f := make([]int64, len(c.Amounts))
		for _, t := range sum.Terms {
			f[t.Ingredient] = t.PerUnit
		}
		l.factors = append(l.factors, f)
	}
	if len(l.factors) == 0 {
		return nil
	}
	return l
}

const (
	// mostTogether is how many ingredients a move along the lattice changes at most.
	mostTogether = 6

	// tooLong is above all entries that are reckoned with. Products of two, and
	// differences of those, stay within an int64.
	tooLong = 1 << 30
)

// A step is a direction among ingredients: d_i more of each of.
type step struct {
	of [mostTogether]int32
	d  [mostTogether]int64
	m  int // how many there are
}

// direct finds the shortest d for the ingredients of a step, and says whether there
// is exactly one but for its sign. It depends on which ingredients they are alone.
//
// The last ingredient takes what the others leave, so that an equality is
// Σ_{k<m−1} (f_k − f_last)·d_k = 0. Gauss–Jordan elimination in whole numbers
// leaves each of m−2 columns a row of its own, and one column free.
func (l *lattice) direct(s *step) bool {
	var rows [mostTogether][mostTogether]int64
	var pivots [mostTogether]int
	rank, width := 0, s.m-1
	for _, f := range l.factors {
		row := &rows[rank]
		for k := range width {
			row[k] = f[s.of[k]] - f[s.of[width]]
		}
		if !shorten(row[:width]) {
			return false
		}
		for p := range rank {
			if !eliminate(row[:width], rows[p][:width], pivots[p]) {
				return false
			}
		}
		pivot := 0
		for pivot < width && row[pivot] == 0 {
			pivot++
		}
		if pivot == width {
			continue // it follows from the others
		}
		for p := range rank {
			if !eliminate(rows[p][:width], row[:width], pivot) {
				return false
			}
		}
		pivots[rank] = pivot
		if rank++; rank == width {
			return false // nothing can move
		}
	}
	if rank != width-1 {
		return false // there is more than one way
	}
	free := width * (width - 1) / 2
	for p := range rank {
		free -= pivots[p]
	}
	d := s.d[:s.m]
	clear(d)
	d[free] = 1
	for p := range rank {
		by := rows[p][pivots[p]]
		by /= gcd(by, rows[p][free])
		if d[free] *= abs(by) / gcd(d[free], by); d[free] > tooLong {
			return false
		}
	}
	d[width] = -d[free]
	for p := range rank {
		q := pivots[p]
		d[q] = -rows[p][free] * d[free] / rows[p][q]
		d[width] -= d[q]
	}
	return shorten(d)
}

// eliminate makes row 0 in a column, by a row that is not.
func eliminate(row, by []int64, column int) bool {
	if row[column] == 0 {
		return true
	}
	g := gcd(row[column], by[column])
	a, b := by[column]/g, row[column]/g
	for k := range row {
		row[k] = a*row[k] - b*by[k]
	}
	return shorten(row)
}

// shorten divides a row by what divides all of it, and says whether it is then
// short enough to reckon with.
func shorten(row []int64) bool {
	g := int64(0)
	for _, v := range row {
		g = gcd(g, v)
	}
	if g == 0 {
		return true
	}
	for k := range row {
		if row[k] /= g; abs(row[k]) >= tooLong {
			return false
		}
	}
	return true
}

func abs(a int64) int64 { return max(a, -a) }

// gcd returns the greatest common divisor, at least 0.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return abs(a)
}
