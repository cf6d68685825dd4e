package assemble

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/diagnose"
)

// A drawBatch records the ingredients used in consecutive draws of one chain, or of a few chains if
// there are very many chains. A slot is the position of an ingredient in the list of the most
// frequent ingredients.
type drawBatch struct {
	draws      int
	drawsUsing []int64 // by slot: number of draws that use the ingredient
	unitSums   []int64 // by slot: sum of the ingredient's units over the draws of the batch
	presence   []drawBits
}

// drawBits has one bit for each draw of a batch, which is set if the draw uses an ingredient.
type drawBits []uint64

// newBatch returns an empty batch for the given number of draws. The batch follows the amounts of
// the ingredients in all slots, and the presence of the ingredients in the first slots, whose
// number is paired.
func newBatch(draws, slots, paired int) *drawBatch {
	b := &drawBatch{drawsUsing: make([]int64, slots), unitSums: make([]int64, slots), presence: make([]drawBits, paired)}
	for k := range b.presence {
		b.presence[k] = make(drawBits, (draws+63)/64)
	}
	return b
}

// countBoth returns the number of draws of the batch that use both the ingredients in slots i and
// j.
func (b *drawBatch) countBoth(i, j int) int {
	n := 0
	for k, word := range b.presence[i] {
		n += bits.OnesCount64(word & b.presence[j][k])
	}
	return n
}

// jackknife returns the standard error of a statistic of several batches of draws, by leaving out
// each batch in turn (Quenouille 1949; Tukey 1958). With G batches and θ_g the statistic without
// batch g, it is
//
//	√((G−1)/G · Σ_g (θ_g − θ̄)²).
//
// Draws within a batch may depend on each other; batches should be longer than the integrated
// autocorrelation time. The result is NaN for fewer than 8 batches, and if the statistic cannot be
// computed without some batch. The result is 0 if all θ_g are equal, which does not mean that the
// statistic has no error.
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

// minBatches is the least number of batches in which an event must occur to have a standard error.
const minBatches = 3
