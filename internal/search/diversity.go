package search

import "kir/mcmc"

// diversityFilter is what a walk must stay apart from, and the best that it has found.
type diversityFilter struct {
	distance *Distance
	from     []Found
	least    float64
	best     Found // LogScore −Inf: none
}

// allows reports whether parts are far enough from everything.
func (a *diversityFilter) allows(parts []mcmc.Part) bool {
	for k := range a.from {
		if a.distance.Between(a.from[k].Parts, parts) < a.least {
			return false
		}
	}
	return true
}

// offer keeps a copy of parts if they are the best that is far enough.
func (a *diversityFilter) offer(parts []mcmc.Part, logScore float64) {
	if logScore > a.best.LogScore && a.allows(parts) {
		a.best.Parts, a.best.LogScore = append(a.best.Parts[:0], parts...), logScore
	}
}
