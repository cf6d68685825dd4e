package forest

import "math/bits"

// At returns the score of the composition in which ingredients i ≠ j share their
// current sum s as (k, s−k), for k in 0..s. The current composition stays.
func (s *Scorer) At(i, j int, k int32) int64 {
	a, b := int32(i), int32(j)
	oldA, oldB := s.x[a], s.x[b]
	if k == oldA {
		return s.sum
	}
	total := oldA + oldB
	if s.vary(a, b) {
		s.Set(i, k, j, total-k)
		sum := s.sum
		s.Set(i, oldA, j, oldB)
		return sum
	}
	sum := s.sum + s.maskChange(a, k, b, total-k)
	if len(s.score.large) > 0 {
		s.x[a], s.x[b] = k, total-k
		sum += s.descentChange(a, b)
		s.x[a], s.x[b] = oldA, oldB
	}
	return sum
}

// maskChange returns by how much the small trees would change if slots i and j
// had the amounts xi and xj.
func (s *Scorer) maskChange(i, xi, j, xj int32) int64 {
	sc := s.score
	testsI, testsJ := &sc.tests[sc.known[i]], &sc.tests[sc.known[j]]
	setI := sc.testing[int(sc.known[i])*sc.treeWords:][:sc.treeWords]
	setJ := sc.testing[int(sc.known[j])*sc.treeWords:][:sc.treeWords]
	change := s.changeAlone(testsI, s.x[i], xi, setJ) + s.changeAlone(testsJ, s.x[j], xj, setI)
	entryI, entryJ := testsI.entry, testsJ.entry
	for w, wordI := range setI {
		wordJ := setJ[w]
		for both := wordI & wordJ; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			i, j := entryI+below(wordI, bit), entryJ+below(wordJ, bit)
			l := &s.leaves[w<<6|bit]
			free := l.without(s.current[i]|s.current[j]) &^
				(sc.blockedBy(&sc.entries[i], xi) | sc.blockedBy(&sc.entries[j], xj))
			change += sc.values[l.base+first(free)] - sc.values[l.base+first(l.free)]
		}
		entryI += int32(bits.OnesCount64(wordI))
		entryJ += int32(bits.OnesCount64(wordJ))
	}
	return change
}

// changeAlone returns by how much the small trees outside a set would change if
// the amount of the slot with these tests went from one value to another.
func (s *Scorer) changeAlone(tests *slotTests, from, to int32, except []uint64) (change int64) {
	sc := s.score
	low, high := sc.levelsBelow(tests, min(from, to)), sc.levelsBelow(tests, max(from, to))
	cells := sc.cells[sc.firstCell[low]:sc.firstCell[high]]
	for n := range cells {
		c := &cells[n]
		l := &s.leaves[c.tree]
		free := l.without(s.current[c.entry])
		rise := sc.values[l.base+first(free&^c.after)] - sc.values[l.base+first(free&^c.before)]
		alone := except[c.tree>>6]>>(c.tree&63)&1 - 1
		change += rise & int64(alone)
	}
	if to < from {
		return -change
	}
	return change
}

// descentChange returns by how much the large trees change now that slots i and
// j, and no others, have new amounts.
func (s *Scorer) descentChange(i, j int32) (change int64) {
	sc := s.score
	for w := range sc.largeWords {
		trees := s.touching[int(sc.known[i])*sc.largeWords+w] | s.touching[int(sc.known[j])*sc.largeWords+w]
		for ; trees != 0; trees &= trees - 1 {
			t := w<<6 | bits.TrailingZeros64(trees)
			at := sc.large[t].root
			n := &sc.nodes[at]
			for n.slot >= 0 {
				if s.x[n.slot] <= n.threshold {
					at++
				} else {
					at = n.right
				}
				n = &sc.nodes[at]
			}
			change += sc.values[n.right] - s.value[t]
		}
	}
	return change
}
