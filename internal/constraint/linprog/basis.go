package linprog

// A basis is the state of a simplex method for variables with bounds. The variables are the columns of a program and,
// for each row, its activity. There is one basic variable for each row, at first the activity. Basic variables are
// linear functions of the nonbasic ones.
type basis struct {
	rows     [][]float64 // for each basic variable: coefficients of the nonbasic ones; a method may append further rows
	basic    []int32     // basic variable of each row; columns are numbered first, then activities
	nonbasic []int32     // nonbasic variable in the place of each column
	lo, hi   []float64   // bounds of each variable
	Value    []float64   // value of each variable
}

const (
	outOfBounds = 1e-9 // greatest violation of a bound that counts as rounding
	smallPivot  = 1e-9 // least magnitude of a coefficient to pivot on
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

// exchange makes the nonbasic variable in column j basic, and the basic variable of the row nonbasic.
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
