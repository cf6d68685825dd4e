package assemble

import (
	"math"
	"math/bits"
	"slices"

	"kir/internal/diagnose"
)

// A drawBatch counts how often ingredients are used in a batch, that is, in consecutive draws of
// one chain. If there are very many chains, a batch holds draws of a few chains. Only the most
// frequent ingredients are counted; slot k belongs to the k-th most frequent ingredient.
type drawBatch struct {
	draws      int          // number of draws in the batch
	drawsUsing []int64      // item k is the number of draws that use the k-th most frequent ingredient
	unitSums   []int64      // item k is the number of units of the k-th most frequent ingredient in all draws together
	presence   []drawBitset // item k shows which draws use the k-th most frequent ingredient
}

// drawBitset has one bit for each draw of a batch. The bit is 1 if the draw uses a certain
// ingredient.
type drawBitset []uint64

// newDrawBatch returns an empty batch with room for maxDraws draws. Slot k belongs to the k-th most
// frequent ingredient; the parameter slots is the number of slots. For the ingredients in the first
// pairedSlots slots the batch also records which draws use them, so that pairs can be counted.
func newDrawBatch(maxDraws, slots, pairedSlots int) *drawBatch {
	b := &drawBatch{drawsUsing: make([]int64, slots), unitSums: make([]int64, slots), presence: make([]drawBitset, pairedSlots)}
	for k := range b.presence {
		b.presence[k] = make(drawBitset, (maxDraws+63)/64)
	}
	return b
}

// countDrawsUsingBoth returns the number of draws of the batch that use both the i-th and the j-th
// most frequent ingredient.
func (b *drawBatch) countDrawsUsingBoth(i, j int) int {
	n := 0
	for k, word := range b.presence[i] {
		n += bits.OnesCount64(word & b.presence[j][k])
	}
	return n
}

// jackknifeError returns the standard error of a statistic that is computed from several batches of
// draws (Quenouille 1949; Tukey 1958). The function without returns the statistic computed without
// batch g. With G batches and θ_g = without(g), the standard error is
//
// √((G−1)/G · Σ_g (θ_g − θ̄)²).
//
// Draws within a batch may depend on each other; batches should be longer than the integrated
// autocorrelation time. The result is NaN if there are fewer than 8 batches, or if the statistic
// cannot be computed without some batch. The result is 0 if all θ_g are equal, which does not mean
// that the statistic has no error.
func jackknifeError(batches int, without func(g int) float64) float64 {
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

// minBatchesWithEvent is the least number of batches in which an event must occur for its frequency
// to have a standard error.
const minBatchesWithEvent = 3
