package mcmc

// An aliasTable draws index k with probability ∝ weights[k] in constant time, by the alias method
// (Walker 1977, Vose 1991). A draw chooses one column uniformly. Column k contains the index k and
// at most one other index, its alias; a second random choice decides between the two.
type aliasTable struct {
	weights          []float64 // the given weights
	ownProbabilities []float64 // ownProbabilities[k] is the probability that column k gives k and not its alias
	aliases          []int32   // aliases[k] is the other index that column k gives
}

// newAliasTable returns the table of the given weights. At least one weight must be positive.
func newAliasTable(weights []float64) *aliasTable {
	n := len(weights)
	t := &aliasTable{weights: weights, ownProbabilities: make([]float64, n), aliases: make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	// full are the columns whose weight exceeds the average, spare those below it.
	var full, spare []int32
	for k, w := range weights {
		t.ownProbabilities[k] = float64(w / sum * float64(n))
		if t.ownProbabilities[k] < 1 {
			spare = append(spare, int32(k))
		} else {
			full = append(full, int32(k))
		}
	}
	for len(full) > 0 && len(spare) > 0 {
		k, big := spare[len(spare)-1], full[len(full)-1]
		spare = spare[:len(spare)-1]
		t.aliases[k] = big
		t.ownProbabilities[big] -= 1 - t.ownProbabilities[k]
		if t.ownProbabilities[big] < 1 {
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
		if t.ownProbabilities[k] = 1; weights[k] == 0 {
			t.ownProbabilities[k], t.aliases[k] = 0, int32(heaviest)
		}
	}
	return t
}

// draw returns index k with probability proportional to weights[k]. The high bits of one random
// word choose the column, and the low bits choose between the two indices of the column.
func (t *aliasTable) draw(r *Rand) int {
	if r.oracle != nil {
		return r.oracle.Choose(t.weights)
	}
	k, u := r.intnAndFloat(len(t.ownProbabilities))
	if u < t.ownProbabilities[k] {
		return k
	}
	return int(t.aliases[k])
}
