package report

// A Placed composition is one of a list, with its place there.
type Placed struct {
	Best
	Place int
}

// Shortlists returns so many of the best compositions, and so many of the diverse
// ones that are not among these. Without properties no composition is better
// than another.
func (m *Model) Shortlists(mostBest, mostDiverse int) (best, various []Placed) {
	type draw struct{ chain, draw int }
	shown := make(map[draw]bool)
	if m.Weighs() {
		for k, b := range m.Best[:min(len(m.Best), mostBest)] {
			best = append(best, Placed{b, k})
			shown[draw{b.Chain, b.Draw}] = true
		}
	}
	for k, b := range m.Diverse {
		if len(various) < mostDiverse && !shown[draw{b.Chain, b.Draw}] {
			various = append(various, Placed{b, k})
		}
	}
	return best, various
}

// A Shortlist is the beginnings of the lists of compositions that are worth a
// look; a list that was not asked for is nil.
type Shortlist struct {
	Best    []Best `json:"best,omitzero"`
	Diverse []Best `json:"diverse,omitzero"`
}

// Shortlist returns the first compositions of each list, as many as there are
// and 0 for none.
func (m *Model) Shortlist(best, diverse int) Shortlist {
	first := func(list []Best, most int) []Best {
		if most == 0 {
			return nil
		}
		return append([]Best{}, list[:min(len(list), most)]...)
	}
	return Shortlist{first(m.Best, best), first(m.Diverse, diverse)}
}
