package mcmc

import (
	"math"

	"kir/internal/constraint"
	"kir/internal/portable"
)

// A lattice describes the changes of amounts that keep the equalities of a space, which are sums
// that rules fix. If rules fix a sum, hardly any change of only two ingredients keeps it. For a few
// ingredients T, the integer vectors d with Σ_T d_i = 0 and with Σ_T f_i·d_i = 0 for each equality
// f form a lattice in the mathematical sense.
type lattice struct {
	equalityFactors [][]int64 // equalityFactors[e][i] is what each unit of ingredient i adds to the fixed sum e
}

// newLattice returns the lattice of the rules in c, or nil if these rules fix no sum.
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
	// maxStepIngredients is the greatest number of ingredients that a change along the lattice
	// concerns.
	maxStepIngredients = 6

	// maxExtraIngredients is how many more ingredients a change along the lattice may concern than
	// the equalities and the total require. More ingredients allow smaller changes.
	maxExtraIngredients = 3

	// Entries of vectors up to maxVectorEntry are accepted: a product of two such entries, summed over
	// all ingredients of a step, fits an int64. Intermediate entries may reach
	// maxIntermediateEntry.
	maxVectorEntry, maxIntermediateEntry = 1 << 29, 1 << 60
)

// An ingredientStep is a change of the amounts of a few ingredients.
type ingredientStep struct {
	ingredients [maxStepIngredients]int32 // the ingredients whose amounts change; only the first size elements are valid
	changes     latticeVector             // changes[k] is the number of units that the step adds to ingredients[k]
	size        int                       // number of ingredients of the step
}

// A latticeVector holds the changes of the amounts of a few ingredients: element k belongs to
// ingredient k of an [ingredientStep].
type latticeVector [maxStepIngredients]int64

// changeBasis returns short integer vectors that span the changes of the amounts of the given ingredients
// that keep the total and all equalities. It also returns the number of these vectors. They depend
// only on the ingredients and their order. The number is 0 if nothing can change, or if elements of
// a vector become too large.
//
// The vectors e_k − e_last span all changes that keep the total. For each equality f, Euclid's
// algorithm on the numbers f·b of the vectors b subtracts multiples of one vector from another,
// until at most one number is not 0. The vector of that number is left out, and the others span the
// changes that also keep f. Then Lagrange's method shortens the vectors in pairs.
func (l *lattice) changeBasis(ingredients []int32) (vectors [maxStepIngredients]latticeVector, count int) {
	m := len(ingredients)
	for k := range m - 1 {
		vectors[k][k], vectors[k][m-1] = 1, -1
	}
	count = m - 1
	for _, f := range l.equalityFactors {
		var g latticeVector
		common := int64(0)
		for k, i := range ingredients {
			g[k] = f[i] - f[ingredients[m-1]]
			common = portable.GCD(common, g[k])
		}
		if common == 0 {
			continue // it asks nothing of these
		}
		for k := range m {
			if g[k] /= common; abs(g[k]) > maxVectorEntry {
				return vectors, 0
			}
		}
		if count = makeOrthogonal(vectors[:count], &g); count < 0 || !shortenVectors(vectors[:count]) {
			return vectors, 0
		}
	}
	return vectors, count
}

// makeOrthogonal replaces the vectors by a basis of those vectors of their lattice that are
// orthogonal to g. By Euclid's algorithm it merges all vectors not orthogonal to g into one, and
// drops that one. It returns the number of vectors left, which come first in the slice. It returns
// −1 if elements of a vector become too large.
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

// shortenVectors subtracts integer multiples of vectors from each other as long as this makes a
// vector shorter. It returns false if an element of a vector exceeds maxVectorEntry before this
// begins.
func shortenVectors(vectors []latticeVector) bool {
	for k := range vectors {
		for _, v := range vectors[k] {
			if abs(v) > maxVectorEntry {
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

// subtractMultiple subtracts factor·w from v. It returns false if an element of the result exceeds
// maxIntermediateEntry.
func (v *latticeVector) subtractMultiple(factor int64, w *latticeVector) bool {
	for k := range v {
		if math.Abs(float64(factor))*math.Abs(float64(w[k])) > maxIntermediateEntry {
			return false
		}
		if v[k] -= factor * w[k]; abs(v[k]) > maxIntermediateEntry {
			return false
		}
	}
	return true
}

// abs returns the absolute value of a.
func abs(a int64) int64 { return max(a, -a) }
