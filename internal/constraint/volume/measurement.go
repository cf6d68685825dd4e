package volume

// A measurement is the state of [Measure] while it works.
type measurement struct {
	problem Problem
	options Options
	rules   *rules
	sizes   []*sizeWork
}

// areNeighbours reports whether the size at index k and the next one are neighbours with
// populations.
func (m *measurement) areNeighbours(k int) bool {
	return k+1 < len(m.sizes) && m.sizes[k].n+1 == m.sizes[k+1].n && m.sizes[k].sampled() && m.sizes[k+1].sampled()
}

// isRelevant reports whether a size has a non-negligible share of the mass.
func (m *measurement) isRelevant(k int) bool {
	sum := 0.0
	for _, w := range m.sizes {
		sum += w.mass
	}
	return m.sizes[k].mass > relevantMass*sum
}
