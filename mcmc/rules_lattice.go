package mcmc

import (
	"math"

	"kir/internal/constraint"
	"kir/internal/portable"
)

// A lattice describes the changes of amounts that keep the equalities of a space. If rules fix a
// sum, hardly any change of two ingredients keeps it. For a few ingredients T, the integer vectors
// d with Σ_T d_i = 0 and with Σ_T f_i·d_i = 0 for each equality f form a lattice.
type lattice struct {
	equalityFactors [][]int64 // by equality and ingredient: what a unit of the ingredient adds to the sum
}

// newLattice returns the lattice of the equalities among the rules of c, or nil if there are no
// equalities.
func newLattice(c *constraint.Conditions) *lattice {
	l := &lattice{}
	for _, sum := range c.Sums {
		if sum.Min != sum.Max {
			continue
		}
		f := make([]int64, len(c.Amounts))
		for _, t := range sum.Terms {
			f[t.Ingredient] = t.PerUnit
		}
		l.equalityFactors = append(l.equalityFactors, f)
	}
	if len(l.equalityFactors) == 0 {
		return nil
	}
	return l
}

const (
	// maxStepIngredients is the greatest number of ingredients that a step along the lattice
	// changes.
	maxStepIngredients = 6

	// maxExtraIngredients is the greatest number of ingredients of a step beyond the number that
	// the equalities and the total require. More ingredients allow shorter steps.
	maxExtraIngredients = 3

	// Entries of vectors up to maxEntry are accepted: a product of two such entries, summed over
	// all ingredients of a step, fits an int64. Intermediate entries may reach
	// maxIntermediateEntry.
	maxEntry, maxIntermediateEntry = 1 << 29, 1 << 60
)

// An ingredientStep is a change of the amounts of a few ingredients.
type ingredientStep struct {
	ingredients [maxStepIngredients]int32 // the ingredients that change; only the first size entries are valid
	changes     latticeVector             // by index in ingredients: number of units that a step adds
	size        int                       // number of ingredients of the step
}

// A latticeVector holds the change of the amount of each ingredient of a step.
type latticeVector [maxStepIngredients]int64

// basis returns short integer vectors that span the changes of the ingredients in of that keep the
// total and all equalities. It also returns the number of these vectors. They depend only on the
// ingredients and their order. The number is 0 if nothing can change, or if entries become too
// large.
//
// The vectors e_k − e_last span all changes that keep the total. For each equality f, Euclid's
// algorithm on the numbers f·b of the vectors b subtracts multiples of one vector from another,
// until at most one number is not 0. The vector of that number is left out, and the others span the
// changes that also keep f. Then Lagrange's method shortens the vectors in pairs.
func (l *lattice) basis(of []int32) (vectors [maxStepIngredients]latticeVector, count int) {
	m := len(of)
	for k := range m - 1 {
		vectors[k][k], vectors[k][m-1] = 1, -1
	}
	count = m - 1
	for _, f := range l.equalityFactors {
		var g latticeVector
		common := int64(0)
		for k, i := range of {
			g[k] = f[i] - f[of[m-1]]
			common = portable.GCD(common, g[k])
		}
		if common == 0 {
			continue // it asks nothing of these
		}
		for k := range m {
			if g[k] /= common; abs(g[k]) > maxEntry {
				return vectors, 0
			}
		}
		if count = makeOrthogonal(vectors[:count], &g); count < 0 || !shortenVectors(vectors[:count]) {
			return vectors, 0
		}
	}
	return vectors, count
}

// makeOrthogonal changes the vectors so that they span only those vectors of their lattice that are
// orthogonal to g. By Euclid's algorithm it merges all vectors not orthogonal to g into one, and
// drops that one. It returns the number of vectors left, which come first, or −1 if entries become
// too large.
func makeOrthogonal(vectors []latticeVector, g *latticeVector) int {
	var numbers [maxStepIngredients]int64
	for k := range vectors {
		numbers[k] = vectors[k].dot(g)
	}
	for {
		least, others := -1, false
		for k := range vectors {
			if numbers[k] != 0 && (least < 0 || abs(numbers[k]) < abs(numbers[least])) {
				least = k
			}
		}
		if least < 0 {
			return len(vectors)
		}
		for k := range vectors {
			if k == least || numbers[k] == 0 {
				continue
			}
			by := numbers[k] / numbers[least]
			if !vectors[k].subtractMultiple(by, &vectors[least]) {
				return -1
			}
			numbers[k] -= by * numbers[least]
			others = others || numbers[k] != 0
		}
		if !others {
			last := len(vectors) - 1
			vectors[least] = vectors[last]
			return last
		}
	}
}

// shortenVectors subtracts integer multiples of vectors from each other as long as this makes vectors
// shorter. It returns false if an entry exceeds maxEntry from the start.
func shortenVectors(vectors []latticeVector) bool {
	for k := range vectors {
		for _, v := range vectors[k] {
			if abs(v) > maxEntry {
				return false
			}
		}
	}
	for again := true; again; {
		again = false
		for k := range vectors {
			for j := range vectors {
				if j == k {
					continue
				}
				dot, square := vectors[k].dot(&vectors[j]), vectors[j].dot(&vectors[j])
				if by := (2*abs(dot) - 1) / square; dot != 0 && by > 0 { // |dot|/square > 1/2
					by = (by + 1) / 2
					if dot < 0 {
						by = -by
					}
					vectors[k].subtractMultiple(by, &vectors[j])
					again = true
				}
			}
		}
	}
	return true
}

// dot returns the scalar product of v and w.
func (v *latticeVector) dot(w *latticeVector) (sum int64) {
	for k := range v {
		sum += v[k] * w[k]
	}
	return sum
}

// subtractMultiple subtracts by·w from v. It returns false if an entry exceeds
// maxIntermediateEntry.
func (v *latticeVector) subtractMultiple(by int64, w *latticeVector) bool {
	for k := range v {
		if math.Abs(float64(by))*math.Abs(float64(w[k])) > maxIntermediateEntry {
			return false
		}
		if v[k] -= by * w[k]; abs(v[k]) > maxIntermediateEntry {
			return false
		}
	}
	return true
}

// abs returns the absolute value of a.
func abs(a int64) int64 { return max(a, -a) }
