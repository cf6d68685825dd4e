package count

import (
	"encoding/binary"
	"math"
	"slices"

	"kir/internal/portable"
)

// orderStages sorts the stages of a [frontier] so that few sums are open at any time, that is, have terms both
// in earlier and in later stages. Each time, orderStages takes as the next stage the one after which the open
// sums have the fewest combinations of values. Item s of spans is the range of values of sum s. Ties go to the
// stage with the most terms.
func orderStages(stages []stage, spans []span) {
	type pattern struct {
		sums   []int
		stages []stage
	}
	var patterns []*pattern
	at := make(map[string]*pattern)
	left := make([]int, len(spans)) // for each sum: the number of patterns not yet ordered that have a term in the sum
	for _, st := range stages {
		var key []byte
		for _, t := range st.terms {
			key = binary.AppendUvarint(key, uint64(t.Ingredient))
		}
		q := at[string(key)]
		if q == nil {
			q = &pattern{}
			for _, t := range st.terms {
				q.sums = append(q.sums, t.Ingredient)
				left[t.Ingredient]++
			}
			at[string(key)] = q
			patterns = append(patterns, q)
		}
		q.stages = append(q.stages, st)
	}
	const manyPatterns = 1500             // stages with more different patterns of terms keep their order
	values := make([]float64, len(spans)) // for each sum: log of the number of values that the sum can have
	for s := range values {
		values[s] = portable.Log(float64(spans[s].hi-spans[s].lo) + 1)
	}
	open := make([]bool, len(spans))
	for done := stages[:0]; len(patterns) > 0; {
		best, least, most := 0, math.Inf(1), 0
		for k, q := range patterns {
			weight := 0.0
			for _, s := range q.sums {
				switch {
				case open[s] && left[s] == 1:
					weight -= values[s]
				case !open[s] && left[s] > 1:
					weight += values[s]
				}
			}
			if weight < least || weight == least && len(q.sums) > most {
				best, least, most = k, weight, len(q.sums)
			}
			if len(patterns) > manyPatterns {
				break
			}
		}
		q := patterns[best]
		patterns = slices.Delete(patterns, best, best+1)
		for _, s := range q.sums {
			left[s]--
			open[s] = left[s] > 0
		}
		done = append(done, q.stages...)
	}
}
