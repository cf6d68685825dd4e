package volume

// A measurement is the internal state of [Measure].
type measurement struct {
	problem Problem
	options Options
	rules   *rules
	sizes   []*sizeWork
}

// areNeighbours reports whether the sizes at indices k and k+1 are n and n+1 and both have populations.
func (m *measurement) areNeighbours(k int) bool {
	return k+1 < len(m.sizes) && m.sizes[k].n+1 == m.sizes[k+1].n && m.sizes[k].sampled() && m.sizes[k+1].sampled()
}

// isRelevant reports whether the size at index k has at least the fraction relevantMass of the law's probability.
func (m *measurement) isRelevant(k int) bool {
	sum := 0.0
	for _, w := range m.sizes {
		sum += w.mass
	}
	return m.sizes[k].mass > relevantMass*sum
}
