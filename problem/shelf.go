package problem

import (
	"kir"
	"kir/problem/yaml"
	"kir/recipe"
)

// A shelf is what rules and properties are made from: the ingredients to choose
// from, how much of them, the known recipes, and the files that are named. It is
// what their readers are given.
type shelf struct {
	names      []string            // of the ingredients
	attributes *recipe.Ingredients // nil if the ingredients are only counted
	total      int                 // M, in units
	book       *recipe.Book        // nil if there are no recipes
	recipes    [][]kir.Part        // those of the book, closed to the total
	files      *yaml.Files
	problem    string // SHA-256 of the problem file

	table   string       // the file of the ingredients as the problem names it, or empty
	workers int          // that grow forests, 0 for all cores
	tell    func(string) // what happens while the problem is sampled; may be nil

	warnings []string
}

// warn keeps what is allowed and yet worth knowing.
func (s *shelf) warn(message string) { s.warnings = append(s.warnings, message) }

// maxSplits bounds the total where each split of a line has a weight of its own,
// of which there are as many as units: chains keep them all.
const maxSplits = 1 << 22

// ingredientsUsed returns the ingredients of a recipe.
func ingredientsUsed(parts []kir.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}
