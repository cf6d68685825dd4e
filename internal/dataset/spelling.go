package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// Misspellings returns pairs of names of ingredients that differ in one letter or in two swapped
// letters and that no recipe uses together. The second name of a pair is used less often and may be
// a misspelling of the first. Names that are short or have digits are ignored. If many names differ
// in the same letter, only the first ones are compared. There are at most 20 pairs.
func (b *Book) Misspellings() (pairs [][2]string) {
	const fewestLetters, most = 6, 20
	recipes := b.ingredientIndex().recipesByIngredient
	with := make([]int, len(b.Recipes)) // by recipe, 1 + the last ingredient that was checked
	together := func(i, other int32) bool {
		if len(recipes[i]) > 0 && with[recipes[i][0]] != int(i)+1 {
			for _, r := range recipes[i] {
				with[r] = int(i) + 1
			}
		}
		return slices.ContainsFunc(recipes[other], func(r int32) bool { return with[r] == int(i)+1 })
	}
	// Names that differ so have the same key once a letter is removed, except some whose letters
	// are compared.
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
				if len(recipes[i]) > len(recipes[other]) {
					pair[0], pair[1] = pair[1], pair[0]
				}
				if !together(int32(i), other) && !slices.Contains(pairs, pair) {
					if pairs = append(pairs, pair); len(pairs) == most {
						return pairs
					}
				}
			}
		}
		for key := range seen {
			if len(byKey[key]) < most {
				byKey[key] = append(byKey[key], int32(i))
			}
		}
	}
	return pairs
}
