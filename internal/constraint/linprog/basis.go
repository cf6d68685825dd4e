package linprog

// A basis is the state of a simplex method for bounded variables. Each row of a program has a variable
// of its own, its activity, which has bounds as the columns have. The basic variables, at first the
// activities, are linear in the others.
type basis struct {
	rows     [][]float64 // by basic variable: the factors of the nonbasic ones; a method may have more rows
	basic    []int32     // variable of each row: columns first, then activities
	nonbasic []int32     // variable of each column
	lo, hi   []float64   // by variable
	Value    []float64   // by variable
}

const (
	outOfBounds = 1e-9 // tolerance of bounds
	smallPivot  = 1e-9 // least factor that a step may divide by
)

// setBasicValues computes the basic variables from the nonbasic ones.
func (t *basis) setBasicValues() {
	for r, b := range t.basic {
		v := 0.0
		for j, f := range t.rows[r] {
			if f != 0 {
				v += float64(f * t.Value[t.nonbasic[j]])
			}
		}
		t.Value[b] = v
	}
}

// exchange makes the nonbasic variable of a column basic, and the basic variable of a row nonbasic.
func (t *basis) exchange(row, j int) {
	p := t.rows[row]
	by := p[j]
	for k, f := range p {
		if f != 0 {
			p[k] = f / -by
		}
	}
	p[j] = 1 / by
	for r, other := range t.rows {
		f := other[j]
		if r == row || f == 0 {
			continue
		}
		other[j] = 0
		for k, x := range p {
			if x != 0 {
				other[k] += float64(f * x)
			}
		}
	}
	t.basic[row], t.nonbasic[j] = t.nonbasic[j], t.basic[row]
}
