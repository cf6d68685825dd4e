package book

import (
	"slices"
	"strings"
	"unicode"
)

// Alike returns pairs of ingredients whose names differ in one letter, or in two that are
// swapped, and that no recipe uses together: the second is used less, and may be the first
// misspelt. Short names and those with digits are left alone.
func (b *Book) Alike() (pairs [][2]string) {
	const fewestLetters, most = 6, 20
	uses := make([]int, b.Ingredients.Len())
	together := make(map[[2]int32]bool)
	for i := range b.Recipes {
		for k, p := range b.Recipes[i].Parts {
			uses[p.Ingredient]++
			for _, q := range b.Recipes[i].Parts[:k] {
				together[[2]int32{p.Ingredient, q.Ingredient}], together[[2]int32{q.Ingredient, p.Ingredient}] = true, true
			}
		}
	}
	// Names that differ so have the same key once a letter is taken away, but for one whose
	// letters are compared.
	byKey := make(map[string][]int32)
	for i, name := range b.Ingredients.Names {
		letters := []rune(strings.ToLower(name))
		if len(letters) < fewestLetters || len(letters) > 60 || slices.ContainsFunc(letters, unicode.IsDigit) {
			continue
		}
		seen := make(map[string]bool)
		for k := -1; k < len(letters); k++ {
			key := string(letters)
			if k >= 0 {
				key = string(letters[:k]) + string(letters[k+1:])
			}
			if seen[key] {
				continue
			}
			seen[key] = true
			for _, other := range byKey[key] {
				pair := [2]string{b.Ingredients.Names[other], name}
				if uses[i] > uses[other] {
					pair[0], pair[1] = pair[1], pair[0]
				}
				if !together[[2]int32{int32(i), other}] && !slices.Contains(pairs, pair) && len(pairs) < most {
					pairs = append(pairs, pair)
				}
			}
		}
		for key := range seen {
			byKey[key] = append(byKey[key], int32(i))
		}
	}
	return pairs
}
