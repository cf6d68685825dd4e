package problem

import (
	"fmt"
	"slices"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/mcmc"
)

// A readContext is what rules and properties are made from: the ingredients to choose
// from, how much of them, the known recipes, and the files that are named. It is
// what their readers are given.
type readContext struct {
	kinds       *kinds            // of rules and properties that there are
	names       []string          // of the ingredients
	attributes  *book.Ingredients // nil if the ingredients are only counted
	total       int               // M, in units; while the rules of a block are read, its total
	whole       int               // M
	book        *book.Book        // nil if there are no recipes
	learnsLater bool              // what has to be learnt need not be known yet
	recipes     [][]mcmc.Part     // those of the book, closed to the total
	ruleRecipes int               // how many of them rules follow from: not the results, where there are others
	space       *mcmc.Space       // what the rules allow; nil while it is not known
	law         mcmc.Sparsity     // of how many ingredients are used
	units       *book.Units       // of the recipes; nil: the usual ones
	files       *yaml.Files

	constituents map[string][]float64 // by name: the shares, by ingredient
	block        *block               // whose rules are read; nil outside of blocks
	inRule       bool                 // rules within others are read

	table      string       // the file of the ingredients as the problem names it, or empty
	modelCache *ModelCache  // forests that were grown before, or nil
	workers    int          // that grow forests, 0 for all cores
	notify     func(string) // what happens while the problem is sampled; may be nil
	progress   func(string) // what is being done; may be nil

	warnings []string
}

// ruleBook returns the recipes that rules follow from; nil if there are none.
func (s *loader) ruleBook() *book.Book {
	if s.book == nil || s.ruleRecipes == len(s.book.Recipes) {
		return s.book
	}
	return &book.Book{File: s.book.File, Ingredients: s.book.Ingredients, Recipes: s.book.Recipes[:s.ruleRecipes]}
}

// warn keeps what is allowed and yet worth knowing.
func (s *readContext) warn(message string) { s.warnings = append(s.warnings, message) }

// reportProgress says what is being done from here on.
func (s *readContext) reportProgress(format string, args ...any) {
	if s.progress != nil {
		s.progress(fmt.Sprintf(format, args...))
	}
}

// maxSplits bounds the total where each split of a line has a weight of its own,
// of which there are as many as units: chains keep them all.
const maxSplits = 1 << 22

// ingredientsUsed returns the ingredients of a recipe.
func ingredientsUsed(parts []mcmc.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}

// A block is ingredients that add up to a total of their own.
type block struct {
	members []int
	text    string
}

// memberIndexes returns the members, nil outside of blocks.
func (b *block) memberIndexes() []int {
	if b == nil {
		return nil
	}
	return b.members
}

// withoutBlock returns the shelf with all ingredients.
func (s *readContext) withoutBlock() *readContext {
	all := *s
	all.block = nil
	return &all
}

// restrictToBlock returns those of some ingredients that the rules of a block know.
func (s *readContext) restrictToBlock(n *yaml.Node, of []int, text string) ([]int, error) {
	if s.block == nil {
		return of, nil
	}
	in := slices.DeleteFunc(slices.Clone(of), func(i int) bool { return !slices.Contains(s.block.members, i) })
	if len(in) == 0 {
		return nil, yaml.Hint(n.Errorf("%s is no part of the block %s", fault.Quote(text), s.block.text), "rules within a block are about its own ingredients: write it outside")
	}
	return in, nil
}

// refuseInBlock says of what concerns whole compositions that it cannot stand in a block.
func (s *readContext) refuseInBlock(n *yaml.Node, what string) error {
	if s.block == nil {
		return nil
	}
	return yaml.Hint(n.Errorf("%s of the whole composition, and this stands within the block %s", what, s.block.text), "write it outside of the block")
}
