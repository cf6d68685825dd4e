package mcmc

// An aliasTable draws k with probability ∝ weights[k] in constant time (Walker 1977, Vose 1991). It
// draws a column uniformly, and then chooses between the column's own number and the one other
// number that shares the column.
type aliasTable struct {
	weights []float64
	own     []float64 // by column: probability of the column's own number
	other   []int32
}

// newAliasTable returns the table of the given weights. At least one must be positive.
func newAliasTable(weights []float64) *aliasTable {
	n := len(weights)
	t := &aliasTable{weights: weights, own: make([]float64, n), other: make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	// full are the columns whose weight exceeds the average, spare those below it.
	var full, spare []int32
	for k, w := range weights {
		t.own[k] = float64(w / sum * float64(n))
		if t.own[k] < 1 {
			spare = append(spare, int32(k))
		} else {
			full = append(full, int32(k))
		}
	}
	for len(full) > 0 && len(spare) > 0 {
		k, big := spare[len(spare)-1], full[len(full)-1]
		spare = spare[:len(spare)-1]
		t.other[k] = big
		t.own[big] -= 1 - t.own[k]
		if t.own[big] < 1 {
			full = full[:len(full)-1]
			spare = append(spare, big)
		}
	}
	// Columns that rounding leaves over count as full. A weight of 0 must never be drawn, so its
	// column goes to the heaviest.
	heaviest := 0
	for k, w := range weights {
		if w > weights[heaviest] {
			heaviest = k
		}
	}
	for _, k := range append(full, spare...) {
		if t.own[k] = 1; weights[k] == 0 {
			t.own[k], t.other[k] = 0, int32(heaviest)
		}
	}
	return t
}

// draw draws from the table. The high bits of one random word choose the column, the low bits the
// number in it.
func (t *aliasTable) draw(r *Rand) int {
	if r.oracle != nil {
		return r.oracle.Choose(t.weights)
	}
	k, u := r.column(len(t.own))
	if u < t.own[k] {
		return k
	}
	return int(t.other[k])
}
