package assemble

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/diagnose"
)

// A batch records the ingredients used in some consecutive draws, of one chain or, if there are
// very many, of a few.
type batch struct {
	draws   int
	used    []int64 // by slot: the draws that use it
	amounts []int64 // by slot: the units in these
	present []bits64
}

// bits64 has a bit a draw of a batch, for one ingredient.
type bits64 []uint64

// newBatch returns an empty batch for so many draws, which follows the amounts of
// so many ingredients and the presence of the first of them.
func newBatch(draws, slots, paired int) *batch {
	b := &batch{used: make([]int64, slots), amounts: make([]int64, slots), present: make([]bits64, paired)}
	for k := range b.present {
		b.present[k] = make(bits64, (draws+63)/64)
	}
	return b
}

// countBoth returns in how many draws of the batch both ingredients are used.
func (b *batch) countBoth(i, j int) int {
	n := 0
	for k, word := range b.present[i] {
		n += bits.OnesCount64(word & b.present[j][k])
	}
	return n
}

// jackknife returns the standard error of a figure that depends on several
// batches of draws, by leaving out each of them in turn (Quenouille 1949; Tukey
// 1958): with G batches and θ_g the figure without batch g,
//
//	√((G−1)/G · Σ_g (θ_g − θ̄)²).
//
// Draws within a batch may depend on each other; batches should be longer than
// the integrated autocorrelation time. It is NaN for fewer than 8 batches, and
// if the figure cannot be told without one of them; and 0 if all of them have the same,
// which tells no error.
func jackknife(batches int, without func(g int) float64) float64 {
	if batches < 8 {
		return math.NaN()
	}
	mean := 0.0
	thetas := make([]float64, batches)
	for g := range thetas {
		thetas[g] = without(g)
		mean += thetas[g] / float64(batches)
	}
	if diagnose.IsConstant(slices.Min(thetas), slices.Max(thetas)) { // NaN is no constant
		return 0
	}
	sum := 0.0
	for _, t := range thetas {
		sum += float64((t - mean) * (t - mean))
	}
	return math.Sqrt(sum * float64(batches-1) / float64(batches))
}

// leastBatches is the least number of batches in which an event must occur to have a standard
// error.
const leastBatches = 3
