package volume

// A measurement is the internal state of [Measure].
type measurement struct {
	problem Problem
	options Options
	rules   *rules
	sizes   []*sizeState // in the order of Options.Sizes
}

// areNeighbours reports whether the sizes at indices k and k+1 are n and n+1 ingredients, and both sizes have
// populations that keep all rules.
func (m *measurement) areNeighbours(k int) bool {
	return k+1 < len(m.sizes) && m.sizes[k].n+1 == m.sizes[k+1].n && m.sizes[k].hasMembers() && m.sizes[k+1].hasMembers()
}

// isRelevant reports whether the size at index k has more than the fraction minRelevantMass of the total mass.
func (m *measurement) isRelevant(k int) bool {
	sum := 0.0
	for _, w := range m.sizes {
		sum += w.mass
	}
	return m.sizes[k].mass > minRelevantMass*sum
}
