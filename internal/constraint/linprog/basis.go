package linprog

import "slices"

// A basis is the state of a simplex method for variables with bounds. The variables are the columns of a linear
// program and, for each row, the row's sum, called the activity of the row. As many variables as there are rows
// are basic, at first the activities. Each basic variable is a linear function of the other variables, which are
// called nonbasic.
type basis struct {
	rows              [][]float64 // item r holds the coefficients of the nonbasic variables in the r-th basic variable; a method may append further rows
	basicVariables    []int32     // item r is the index of the r-th basic variable; columns are numbered first, then activities
	nonbasicVariables []int32     // item j is the index of the nonbasic variable in the place of column j
	lo, hi            []float64   // bounds of each variable
	Value             []float64   // value of each variable
}

const (
	boundTolerance = 1e-9 // maximum violation of a bound that counts as rounding
	minPivot       = 1e-9 // minimum magnitude of a coefficient to pivot on
)

// clone returns a copy that shares no memory with t.
func (t *basis) clone() basis {
	c := basis{
		rows: slices.Clone(t.rows), basicVariables: slices.Clone(t.basicVariables), nonbasicVariables: slices.Clone(t.nonbasicVariables),
		lo: slices.Clone(t.lo), hi: slices.Clone(t.hi), Value: slices.Clone(t.Value),
	}
	for r := range c.rows {
		c.rows[r] = slices.Clone(c.rows[r])
	}
	return c
}

// setBasicValues computes the values of the basic variables from the values of the nonbasic variables.
func (t *basis) setBasicValues() {
	for r, b := range t.basicVariables {
		v := 0.0
		for j, f := range t.rows[r] {
			if f != 0 {
				v += float64(f * t.Value[t.nonbasicVariables[j]])
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
	t.basicVariables[row], t.nonbasicVariables[j] = t.nonbasicVariables[j], t.basicVariables[row]
}
