package volume

// A measurement is the internal state of [Measure].
type measurement struct {
	problem Problem
	options Options
	rules   *rules
	sizes   []*sizeState // state of each size, in the order of Options.Sizes
}

// areNeighbours reports whether the sizes at indices k and k+1 are n and n+1 ingredients for some n, and both
// sizes have populations that keep all rules.
func (m *measurement) areNeighbours(k int) bool {
	return k+1 < len(m.sizes) && m.sizes[k].usedCount+1 == m.sizes[k+1].usedCount && m.sizes[k].hasMembers() && m.sizes[k+1].hasMembers()
}

// isRelevant reports whether the probability of the size at index k is more than the fraction minRelevantProbability of
// the total probability of all sizes.
func (m *measurement) isRelevant(k int) bool {
	sum := 0.0
	for _, w := range m.sizes {
		sum += w.relativeProbability
	}
	return m.sizes[k].relativeProbability > minRelevantProbability*sum
}
