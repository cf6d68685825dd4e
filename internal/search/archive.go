package search

import (
	"cmp"
	"math"
	"slices"

	"kir/mcmc"
)

// A Found is a composition found by a search, with its log score.
type Found struct {
	Parts      []mcmc.Part // amounts, in increasing order of ingredients
	Conditions []int32     // index of the value of each condition; nil without conditions
	LogScore   float64     // Σ_k c_k·log y_k of the target that was searched
}

// maxNiches is the greatest number of compositions that an archive keeps.
const maxNiches = 4000

// An Archive keeps the best composition found in each [Niche], up to a maximum number. Of two with equal scores it
// keeps the first.
type Archive struct {
	niche Niche
	most  int
	index map[nicheKey]int // index in list of each niche's composition
	list  []Found          // compositions in no particular order
	bar   float64          // log score that a composition must exceed to be kept

	amount map[int]int // scratch of key: units of each group
}

type nicheKey struct{ size, main, band int32 }

func newArchive(kind Niche, most int) *Archive {
	return &Archive{niche: kind, most: most, index: make(map[nicheKey]int), bar: math.Inf(-1), amount: make(map[int]int)}
}

// key returns the niche of a composition.
func (a *Archive) key(parts []mcmc.Part) nicheKey {
	main, most := 0, -1
	if a.niche.Group == nil {
		for _, p := range parts {
			if a.niche.Common != nil && a.niche.Common[p.Ingredient] {
				continue
			}
			if p.Amount > most || p.Amount == most && p.Ingredient < main {
				main, most = p.Ingredient, p.Amount
			}
		}
	} else {
		clear(a.amount)
		for _, p := range parts {
			g := a.niche.Group[p.Ingredient]
			a.amount[g] += p.Amount
		}
		for g, amount := range a.amount {
			if amount > most || amount == most && g < main {
				main, most = g, amount
			}
		}
	}
	k := nicheKey{size: int32(len(parts)), main: int32(main)}
	if a.niche.Attribute != nil {
		band, found := slices.BinarySearch(a.niche.Bands, meanOf(a.niche.Attribute, parts))
		if found {
			band++
		}
		k.band = int32(band)
	}
	return k
}

// Offer keeps a copy of a composition if it is the best of its niche so far. parts may be in any order; conditions
// holds the index of each condition's value. The caller must check rules and limits of amounts.
func (a *Archive) Offer(parts []mcmc.Part, conditions []int32, logScore float64) {
	if !(logScore > a.bar) {
		return
	}
	key := a.key(parts)
	at, known := a.index[key]
	if known {
		if f := &a.list[at]; logScore > f.LogScore {
			f.Parts, f.Conditions, f.LogScore = append(f.Parts[:0], parts...), slices.Clone(conditions), logScore
		}
		return
	}
	a.index[key] = len(a.list)
	a.list = append(a.list, Found{slices.Clone(parts), slices.Clone(conditions), logScore})
	if len(a.list) >= 2*a.most {
		a.prune()
	}
}

// prune drops the worst compositions until at most the maximum number are left.
func (a *Archive) prune() {
	if len(a.list) <= a.most {
		return
	}
	for k := range a.list {
		sortParts(a.list[k].Parts)
	}
	sortFound(a.list)
	a.list = slices.Clone(a.list[:a.most])
	a.bar = a.list[a.most-1].LogScore
	clear(a.index)
	for at := range a.list {
		a.index[a.key(a.list[at].Parts)] = at
	}
}

// merge offers each composition of b to a.
func (a *Archive) merge(b *Archive) {
	for _, f := range b.list {
		a.Offer(f.Parts, f.Conditions, f.LogScore)
	}
}

// Best returns the archive's compositions, the best first.
func (a *Archive) Best() []Found {
	a.prune()
	list := slices.Clone(a.list)
	for k := range list {
		list[k].Parts = slices.Clone(list[k].Parts)
		sortParts(list[k].Parts)
	}
	sortFound(list)
	return list
}

func sortParts(parts []mcmc.Part) {
	slices.SortFunc(parts, func(p, q mcmc.Part) int { return cmp.Compare(p.Ingredient, q.Ingredient) })
}

// sortFound sorts by decreasing score, and equal scores by their parts. The order thus does not depend on the order
// of discovery.
func sortFound(list []Found) {
	slices.SortFunc(list, func(f, g Found) int {
		return cmp.Or(cmp.Compare(g.LogScore, f.LogScore), slices.CompareFunc(f.Parts, g.Parts, func(p, q mcmc.Part) int {
			return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
		}), slices.Compare(f.Conditions, g.Conditions))
	})
}
