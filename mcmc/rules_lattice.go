package mcmc

import (
	"math"

	"kir/internal/constraint"
	"kir/internal/portable"
)

// A lattice is the set of moves that keep a space's equalities. Where a sum is fixed, hardly any
// split of two ingredients keeps it. Among a few ingredients T, the integer vectors d with Σ_T d_i
// = 0 and Σ_T f_i·d_i = 0 for each equality f form a lattice.
type lattice struct {
	factors [][]int64 // by equality, by ingredient: what a unit adds
}

// newLattice returns the lattice of the equalities among the rules of c, nil if there are none.
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
		l.factors = append(l.factors, f)
	}
	if len(l.factors) == 0 {
		return nil
	}
	return l
}

const (
	// mostTogether is the most ingredients that a move along the lattice changes.
	mostTogether = 6

	// moreTogether is the most ingredients beyond those that the equalities and the total require.
	// More ingredients give shorter steps.
	moreTogether = 3

	// Entries up to tooLong are accepted: products of two, summed over all ingredients, fit an
	// int64. Intermediate entries may be as large as tooLarge.
	tooLong, tooLarge = 1 << 29, 1 << 60
)

// A step is a direction among ingredients: d_i more units of each.
type step struct {
	ingredients [mostTogether]int32
	d           vector
	count       int // how many there are
}

type vector [mostTogether]int64

// basis returns short vectors that span the lattice among some ingredients. They depend only on the
// ingredients and their order. There are none if nothing can move, or if numbers grow too large.
//
// The vectors e_k − e_last span all changes that keep the total. For each equality f, Euclid's
// algorithm on the numbers f·b subtracts multiples of one vector from another, until at most one
// number is not 0. Its vector is left out, and the others span the changes that keep f, too. Pairs
// are then shortened by Lagrange's method.
func (l *lattice) basis(of []int32) (vectors [mostTogether]vector, count int) {
	m := len(of)
	for k := range m - 1 {
		vectors[k][k], vectors[k][m-1] = 1, -1
	}
	count = m - 1
	for _, f := range l.factors {
		var g vector
		common := int64(0)
		for k, i := range of {
			g[k] = f[i] - f[of[m-1]]
			common = portable.GCD(common, g[k])
		}
		if common == 0 {
			continue // it asks nothing of these
		}
		for k := range m {
			if g[k] /= common; abs(g[k]) > tooLong {
				return vectors, 0
			}
		}
		if count = euclid(vectors[:count], &g); count < 0 || !shorten(vectors[:count]) {
			return vectors, 0
		}
	}
	return vectors, count
}

// euclid merges the vectors that are not orthogonal to g into one by Euclid's algorithm, and drops
// that one. It returns the number of vectors left, which come first, or −1 where numbers grow too
// large.
func euclid(vectors []vector, g *vector) int {
	var numbers [mostTogether]int64
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
			if !vectors[k].subtract(by, &vectors[least]) {
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

// shorten subtracts integer multiples of vectors from each other as long as that shortens them. It
// reports whether all entries are small enough to go on.
func shorten(vectors []vector) bool {
	for k := range vectors {
		for _, v := range vectors[k] {
			if abs(v) > tooLong {
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
					vectors[k].subtract(by, &vectors[j])
					again = true
				}
			}
		}
	}
	return true
}

func (v *vector) dot(w *vector) (sum int64) {
	for k := range v {
		sum += v[k] * w[k]
	}
	return sum
}

// subtract subtracts a multiple of w and reports whether all entries stay within bounds.
func (v *vector) subtract(by int64, w *vector) bool {
	for k := range v {
		if math.Abs(float64(by))*math.Abs(float64(w[k])) > tooLarge {
			return false
		}
		if v[k] -= by * w[k]; abs(v[k]) > tooLarge {
			return false
		}
	}
	return true
}

func abs(a int64) int64 { return max(a, -a) }
