package search

import (
	"cmp"
	"math"
	"slices"

	"kir/mcmc"
)

// A Found is a composition found by a search, with its log score.
type Found struct {
	Parts      []mcmc.Part // used ingredients and their amounts, in ascending order of ingredients
	Conditions []int32     // item c is the index of the value of condition c; nil without conditions
	LogScore   float64     // weighted log score: Σ_k c_k·log y_k, with the weights c_k and the scores y_k of the objectives
}

// maxNiches is the greatest number of compositions that an archive keeps.
const maxNiches = 4000

// An Archive keeps the best composition found in each [Niche], up to a maximum number of compositions. A niche
// is a class of similar compositions. Among compositions of a niche with equal scores the archive keeps the
// first that was offered.
type Archive struct {
	nicheDefinition Niche
	maxCompositions int
	indexByNiche    map[nicheKey]int // maps a niche to the index of its composition in compositions
	compositions    []Found          // best composition of each niche, in no particular order
	scoreToExceed   float64          // log score that a composition must exceed to be kept

	groupAmounts map[int]int // scratch of nicheOf: maps a group to the units of its ingredients
}

// A nicheKey identifies a niche, a class of similar compositions. It consists of the number of ingredients, the
// index of the main ingredient or group, and the index of the band of the attribute; see [Niche].
type nicheKey struct{ ingredientCount, mainGroup, attributeBand int32 }

func newArchive(kind Niche, most int) *Archive {
	return &Archive{nicheDefinition: kind, maxCompositions: most, indexByNiche: make(map[nicheKey]int), scoreToExceed: math.Inf(-1), groupAmounts: make(map[int]int)}
}

// nicheOf returns the niche of a composition, given its ingredients and amounts.
func (a *Archive) nicheOf(parts []mcmc.Part) nicheKey {
	main, most := 0, -1
	if a.nicheDefinition.Group == nil {
		for _, p := range parts {
			if a.nicheDefinition.Common != nil && a.nicheDefinition.Common[p.Ingredient] {
				continue
			}
			if p.Amount > most || p.Amount == most && p.Ingredient < main {
				main, most = p.Ingredient, p.Amount
			}
		}
	} else {
		clear(a.groupAmounts)
		for _, p := range parts {
			g := a.nicheDefinition.Group[p.Ingredient]
			a.groupAmounts[g] += p.Amount
		}
		for g, amount := range a.groupAmounts {
			if amount > most || amount == most && g < main {
				main, most = g, amount
			}
		}
	}
	k := nicheKey{ingredientCount: int32(len(parts)), mainGroup: int32(main)}
	if a.nicheDefinition.Attribute != nil {
		band, found := slices.BinarySearch(a.nicheDefinition.Bands, attributeMean(a.nicheDefinition.Attribute, parts))
		if found {
			band++
		}
		k.attributeBand = int32(band)
	}
	return k
}

// Offer keeps a copy of a composition if it is the best of its niche so far. parts holds its ingredients and
// amounts in any order, and conditions[c] is the index of the value of condition c. The caller must check that
// the composition satisfies all rules and limits of amounts.
func (a *Archive) Offer(parts []mcmc.Part, conditions []int32, logScore float64) {
	if !(logScore > a.scoreToExceed) {
		return
	}
	key := a.nicheOf(parts)
	at, known := a.indexByNiche[key]
	if known {
		if f := &a.compositions[at]; logScore > f.LogScore {
			f.Parts, f.Conditions, f.LogScore = append(f.Parts[:0], parts...), slices.Clone(conditions), logScore
		}
		return
	}
	a.indexByNiche[key] = len(a.compositions)
	a.compositions = append(a.compositions, Found{slices.Clone(parts), slices.Clone(conditions), logScore})
	if len(a.compositions) >= 2*a.maxCompositions {
		a.prune()
	}
}

// prune drops the worst compositions until at most maxCompositions are left.
func (a *Archive) prune() {
	if len(a.compositions) <= a.maxCompositions {
		return
	}
	for k := range a.compositions {
		sortByIngredient(a.compositions[k].Parts)
	}
	sortByScore(a.compositions)
	a.compositions = slices.Clone(a.compositions[:a.maxCompositions])
	a.scoreToExceed = a.compositions[a.maxCompositions-1].LogScore
	clear(a.indexByNiche)
	for at := range a.compositions {
		a.indexByNiche[a.nicheOf(a.compositions[at].Parts)] = at
	}
}

// replace sets the compositions of the archive, which are those of another archive in its order.
func (a *Archive) replace(compositions []Found) {
	a.compositions = compositions
	clear(a.indexByNiche)
	for at := range compositions {
		a.indexByNiche[a.nicheOf(compositions[at].Parts)] = at
	}
}

// Best returns the compositions of the archive, from best to worst.
func (a *Archive) Best() []Found {
	a.prune()
	list := slices.Clone(a.compositions)
	for k := range list {
		list[k].Parts = slices.Clone(list[k].Parts)
		sortByIngredient(list[k].Parts)
	}
	sortByScore(list)
	return list
}

func sortByIngredient(parts []mcmc.Part) {
	slices.SortFunc(parts, func(p, q mcmc.Part) int { return cmp.Compare(p.Ingredient, q.Ingredient) })
}

// sortByScore sorts compositions by descending score. It sorts compositions of equal score by their ingredients
// and amounts, so that the order does not depend on how they were found.
func sortByScore(list []Found) {
	slices.SortFunc(list, func(f, g Found) int {
		return cmp.Or(cmp.Compare(g.LogScore, f.LogScore), slices.CompareFunc(f.Parts, g.Parts, func(p, q mcmc.Part) int {
			return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
		}), slices.Compare(f.Conditions, g.Conditions))
	})
}
