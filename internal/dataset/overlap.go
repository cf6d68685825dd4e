package dataset

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Overlap returns the overlap coefficient of two sets of ingredients (Szymkiewicz and Simpson), |A
// ∩ B| / min(|A|, |B|), in 0..1: 1 if one contains the other. With an empty set it is 0. The sets
// are indices of ingredients in rising order.
func Overlap(a, b []int) float64 {
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			shared++
			i++
			j++
		}
	}
	return overlap(shared, len(a), len(b))
}

// overlap computes the coefficient from the sizes.
func overlap(shared, a, b int) float64 {
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(min(a, b))
}

// A Neighbour is a recipe of the book that shares ingredients with a set.
type Neighbour struct {
	Recipe  int     // index into Book.Recipes
	Overlap float64 // above 0, at most 1
	Shared  []int   // the ingredients in both, in rising order
}

// An index finds the recipes that use an ingredient, and those that use exactly a set.
type index struct {
	recipes [][]int32        // by ingredient, in rising order
	known   map[string]int32 // the first recipe of each set, by setKey
}

// setKey appends a key of a set, given in rising order.
func setKey(key []byte, set []int) []byte {
	for _, i := range set {
		key = binary.AppendUvarint(key, uint64(i))
	}
	return key
}

// index returns the book's index, which it creates at the first call.
func (b *Book) index() *index {
	x := &b.indexed
	b.once.Do(func() {
		uses := make([]int, b.Ingredients.Len())
		for i := range b.Recipes {
			for _, p := range b.Recipes[i].Parts {
				uses[p.Ingredient]++
			}
		}
		x.recipes = make([][]int32, len(uses))
		for i, n := range uses {
			x.recipes[i] = make([]int32, 0, n)
		}
		x.known = make(map[string]int32, len(b.Recipes))
		var set []int
		var key []byte
		for r := range b.Recipes {
			set = set[:0]
			for _, p := range b.Recipes[r].Parts {
				set = append(set, int(p.Ingredient))
				x.recipes[p.Ingredient] = append(x.recipes[p.Ingredient], int32(r))
			}
			slices.Sort(set)
			key = setKey(key[:0], set)
			if _, ok := x.known[string(key)]; !ok {
				x.known[string(key)] = int32(r)
			}
		}
	})
	return x
}

// sortedSet returns the set in rising order, each ingredient once.
func sortedSet(set []int) []int {
	set = slices.Clone(set)
	slices.Sort(set)
	return slices.Compact(set)
}

// RecipeWithSet returns the first recipe of the book that uses exactly the ingredients
// of the set, in any amounts, and whether there is one.
func (b *Book) RecipeWithSet(set []int) (recipe int, ok bool) {
	if len(set) == 0 || slices.Min(set) < 0 {
		return 0, false
	}
	var room [64]byte
	r, ok := b.index().known[string(setKey(room[:0], sortedSet(set)))]
	return int(r), ok
}

// Nearest returns the k recipes of the book that are nearest to a set of ingredients, the nearest
// first. It returns fewer if fewer share an ingredient with the set. A recipe with a larger overlap
// (see [Overlap]) is nearer. Among equals, the order is: more shared ingredients, fewer others,
// earlier in the book. Ingredients that the book does not have count for the size of the set.
//
// The time grows with the number of recipes that use an ingredient of the set, counted once for
// each.
func (b *Book) Nearest(set []int, k int) []Neighbour {
	set = sortedSet(set)
	if k <= 0 || len(set) == 0 {
		return nil
	}
	x := b.index()
	shared := make([]int32, len(b.Recipes))
	var touched []int32
	for _, i := range set {
		if i < 0 || i >= len(x.recipes) {
			continue
		}
		for _, r := range x.recipes[i] {
			if shared[r] == 0 {
				touched = append(touched, r)
			}
			shared[r]++
		}
	}

	compare := func(p, q int32) int {
		sp, sq := int64(shared[p]), int64(shared[q])
		np, nq := int64(len(b.Recipes[p].Parts)), int64(len(b.Recipes[q].Parts))
		mp, mq := min(np, int64(len(set))), min(nq, int64(len(set)))
		return cmp.Or(
			cmp.Compare(sq*mp, sp*mq), // compares sp/mp with sq/mq, without rounding
			cmp.Compare(sq, sp),
			cmp.Compare(np, nq), // with equally many shared: fewer others
			cmp.Compare(p, q),
		)
	}
	// The k nearest so far, in order. Most recipes are further than the last one.
	var best []int32
	for _, r := range touched {
		if len(best) == k && compare(r, best[k-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, compare)
		if len(best) == k {
			best = best[:k-1]
		}
		best = slices.Insert(best, at, r)
	}

	neighbours := make([]Neighbour, len(best))
	for i, r := range best {
		parts := b.Recipes[r].Parts
		n := Neighbour{Recipe: int(r), Overlap: overlap(int(shared[r]), len(set), len(parts))}
		n.Shared = make([]int, 0, shared[r])
		for _, p := range parts {
			if _, ok := slices.BinarySearch(set, int(p.Ingredient)); ok {
				n.Shared = append(n.Shared, int(p.Ingredient))
			}
		}
		slices.Sort(n.Shared)
		neighbours[i] = n
	}
	return neighbours
}
