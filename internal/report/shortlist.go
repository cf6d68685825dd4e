package report

// A Shortlist is the beginning of the list of compositions that are worth a look;
// one that was not asked for is nil.
type Shortlist struct {
	Best    []Best `json:"best,omitzero"`
	Diverse []Best `json:"diverse,omitzero"`
}

// Shortlist returns the first compositions, as many as there are and 0 for none,
// under the names by which they are asked for.
func (m *Model) Shortlist(best, diverse int) Shortlist {
	first := func(list []Best, most int) []Best {
		if most == 0 {
			return nil
		}
		return append([]Best{}, list[:min(len(list), most)]...)
	}
	return Shortlist{first(m.Best, best), first(m.Diverse, diverse)}
}
