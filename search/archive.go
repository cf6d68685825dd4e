package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"kir"
)

// A Kind tells compositions apart: by the number of ingredients, by the main
// ingredient or group, the one of the largest amount, and by the band of the
// mean of an attribute.
type Kind struct {
	Group     []int     // of each ingredient, from 0; nil: each is its own
	Attribute []float64 // of each ingredient, such as its cost; nil: no bands
	Bands     []float64 // where the next band of Σ attribute·amount / total begins, ascending
}

// Bands returns two bounds that divide known compositions into thirds by the mean
// of an attribute, for [Kind]; none where they do not differ.
func Bands(attribute []float64, known []*kir.Composition) []float64 {
	means := make([]float64, len(known))
	for k, x := range known {
		means[k] = meanOf(attribute, x.Parts())
	}
	slices.Sort(means)
	if len(means) < 3 || means[0] == means[len(means)-1] {
		return nil
	}
	return []float64{means[len(means)/3], means[2*len(means)/3]}
}

// meanOf returns Σ attribute·amount / total.
func meanOf(attribute []float64, parts []kir.Part) float64 {
	sum, total := 0.0, 0
	for _, p := range parts {
		sum += attribute[p.Ingredient] * float64(p.Amount)
		total += p.Amount
	}
	return sum / float64(total)
}

func (k *Kind) check(n int) error {
	if k.Group != nil && len(k.Group) != n || k.Attribute != nil && len(k.Attribute) != n {
		return fmt.Errorf("search: groups of %d and an attribute of %d ingredients, and there are %d", len(k.Group), len(k.Attribute), n)
	}
	for i, g := range k.Group {
		if g < 0 || g > math.MaxInt32 {
			return fmt.Errorf("search: ingredient %d is of the group %d", i, g)
		}
	}
	if !sort.Float64sAreSorted(k.Bands) {
		return fmt.Errorf("search: the bands do not rise: %v", k.Bands)
	}
	return nil
}

// mostKinds is how many compositions an archive keeps.
const mostKinds = 4000

// An Archive keeps the best composition of each kind, as many as it has room
// for. Of two with the same score it keeps what came first.
type Archive struct {
	kind Kind
	most int
	of   map[kindKey]int // into list
	list []Found         // in no order
	bar  float64         // at and below which nothing new is kept

	amount map[int]int // scratch: by group
}

type kindKey struct{ size, main, band int32 }

func newArchive(kind Kind, most int) *Archive {
	return &Archive{kind: kind, most: most, of: make(map[kindKey]int), bar: math.Inf(-1), amount: make(map[int]int)}
}

// key returns the kind of a composition.
func (a *Archive) key(parts []kir.Part) kindKey {
	main, most := 0, -1
	if a.kind.Group == nil {
		for _, p := range parts {
			if p.Amount > most || p.Amount == most && p.Ingredient < main {
				main, most = p.Ingredient, p.Amount
			}
		}
	} else {
		clear(a.amount)
		for _, p := range parts {
			g := a.kind.Group[p.Ingredient]
			a.amount[g] += p.Amount
		}
		for g, amount := range a.amount {
			if amount > most || amount == most && g < main {
				main, most = g, amount
			}
		}
	}
	k := kindKey{size: int32(len(parts)), main: int32(main)}
	if a.kind.Attribute != nil {
		band, found := slices.BinarySearch(a.kind.Bands, meanOf(a.kind.Attribute, parts))
		if found {
			band++
		}
		k.band = int32(band)
	}
	return k
}

// Offer keeps a copy of a composition, given by its parts in any order, if it is
// the best of its kind so far. Rules and doses are the caller's.
func (a *Archive) Offer(parts []kir.Part, logScore float64) {
	if !(logScore > a.bar) {
		return
	}
	key := a.key(parts)
	at, known := a.of[key]
	if known {
		if f := &a.list[at]; logScore > f.LogScore {
			f.Parts, f.LogScore = append(f.Parts[:0], parts...), logScore
		}
		return
	}
	a.of[key] = len(a.list)
	a.list = append(a.list, Found{slices.Clone(parts), logScore})
	if len(a.list) >= 2*a.most {
		a.prune()
	}
}

// prune keeps the best, as many as there is room for.
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
	clear(a.of)
	for at := range a.list {
		a.of[a.key(a.list[at].Parts)] = at
	}
}

// merge offers all that b has.
func (a *Archive) merge(b *Archive) {
	for _, f := range b.list {
		a.Offer(f.Parts, f.LogScore)
	}
}

// Best returns what the archive keeps, the best first.
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

func sortParts(parts []kir.Part) {
	slices.SortFunc(parts, func(p, q kir.Part) int { return cmp.Compare(p.Ingredient, q.Ingredient) })
}

// sortFound sorts by score, the best first, and equals by what they are made of,
// so that the order does not depend on how they were found.
func sortFound(list []Found) {
	slices.SortFunc(list, func(f, g Found) int {
		return cmp.Or(cmp.Compare(g.LogScore, f.LogScore), slices.CompareFunc(f.Parts, g.Parts, func(p, q kir.Part) int {
			return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
		}))
	})
}
