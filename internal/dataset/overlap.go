package dataset

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Overlap returns the overlap coefficient (Szymkiewicz and Simpson) of two sets of ingredients, |A
// ∩ B| / min(|A|, |B|). The coefficient is in [0, 1]: 1 if one set contains the other, and 0 if a
// set is empty. Each set is a list of distinct indices of ingredients in ascending order.
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
	return overlapCoefficient(shared, len(a), len(b))
}

// overlapCoefficient returns the overlap coefficient of two sets, given the number of shared
// ingredients and the sizes a and b of the sets.
func overlapCoefficient(shared, a, b int) float64 {
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(min(a, b))
}

// A Neighbour is a recipe of a book that shares ingredients with a given set.
type Neighbour struct {
	Recipe  int     // index into Book.Recipes
	Overlap float64 // overlap coefficient with the set, above 0 and at most 1; see the function [Overlap]
	Shared  []int   // indices of the ingredients in both the recipe and the set, in ascending order
}

// A recipeIndex finds the recipes that use a given ingredient, and the first recipe that uses
// exactly a given set of ingredients.
type recipeIndex struct {
	recipesByIngredient [][]int32        // by ingredient: indices of the recipes that use it, in ascending order
	firstRecipeBySet    map[string]int32 // by appendSetKey of a set: index of the first recipe that uses exactly the set
}

// appendSetKey appends the key of a set of ingredients to key and returns the result. The set must
// be in ascending order.
func appendSetKey(key []byte, set []int) []byte {
	for _, i := range set {
		key = binary.AppendUvarint(key, uint64(i))
	}
	return key
}

// ingredientIndex returns the index of the book's recipes by ingredients. The first call creates
// the index.
func (b *Book) ingredientIndex() *recipeIndex {
	x := &b.cachedIndex
	b.indexOnce.Do(func() {
		uses := make([]int, b.Ingredients.Len())
		for i := range b.Recipes {
			for _, p := range b.Recipes[i].Parts {
				uses[p.Ingredient]++
			}
		}
		x.recipesByIngredient = make([][]int32, len(uses))
		for i, n := range uses {
			x.recipesByIngredient[i] = make([]int32, 0, n)
		}
		x.firstRecipeBySet = make(map[string]int32, len(b.Recipes))
		var set []int
		var key []byte
		for r := range b.Recipes {
			set = set[:0]
			for _, p := range b.Recipes[r].Parts {
				set = append(set, int(p.Ingredient))
				x.recipesByIngredient[p.Ingredient] = append(x.recipesByIngredient[p.Ingredient], int32(r))
			}
			slices.Sort(set)
			key = appendSetKey(key[:0], set)
			if _, ok := x.firstRecipeBySet[string(key)]; !ok {
				x.firstRecipeBySet[string(key)] = int32(r)
			}
		}
	})
	return x
}

// sortedSet returns the distinct elements of a list of ingredients in ascending order.
func sortedSet(set []int) []int {
	set = slices.Clone(set)
	slices.Sort(set)
	return slices.Compact(set)
}

// RecipeWithSet returns the index of the first recipe that uses exactly the ingredients in set, in
// any amounts. ok is false if there is none. set holds indices of ingredients in any order.
func (b *Book) RecipeWithSet(set []int) (recipe int, ok bool) {
	if len(set) == 0 || slices.Min(set) < 0 {
		return 0, false
	}
	var room [64]byte
	r, ok := b.ingredientIndex().firstRecipeBySet[string(appendSetKey(room[:0], sortedSet(set)))]
	return int(r), ok
}

// NearestRecipes returns the k recipes that are nearest to a set of ingredients, the nearest first.
// Recipes that share no ingredient with the set are left out. A recipe is nearer if its [Overlap]
// with the set is larger; ties go to more shared ingredients, then to fewer other ingredients, then
// to the earlier recipe. set holds indices of ingredients; an index that the book does not have
// still counts for the size of the set.
//
// The running time is proportional to the sum, over the ingredients of the set, of the number of
// recipes that use the ingredient.
func (b *Book) NearestRecipes(set []int, k int) []Neighbour {
	set = sortedSet(set)
	if k <= 0 || len(set) == 0 {
		return nil
	}
	x := b.ingredientIndex()
	shared := make([]int32, len(b.Recipes))
	var touched []int32
	for _, i := range set {
		if i < 0 || i >= len(x.recipesByIngredient) {
			continue
		}
		for _, r := range x.recipesByIngredient[i] {
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
		n := Neighbour{Recipe: int(r), Overlap: overlapCoefficient(int(shared[r]), len(set), len(parts))}
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
