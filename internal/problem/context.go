package problem

import (
	"fmt"
	"slices"

	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// A readContext has what the readers of rules and properties need: the ingredients, the total, the known
// recipes, and access to the files that the problem names.
type readContext struct {
	kinds       *kinds               // kinds of rules and properties
	names       []string             // names of the ingredients
	attributes  *dataset.Ingredients // nil if the ingredients are only counted
	total       int                  // M, in units; within a block, the block's total
	whole       int                  // M, within blocks too
	book        *dataset.Book        // nil if there are no recipes
	learnsLater bool                 // labels to learn need not have values yet
	recipes     [][]mcmc.Part        // recipes of the book, closed to the total
	ruleRecipes int                  // number of recipes from which rules are derived; excludes results if there are other recipes
	space       *mcmc.Space          // compositions that the rules allow; nil until known
	law         mcmc.Sparsity        // law of the number of used ingredients
	units       *dataset.Units       // units of the recipes; nil: default units
	files       *yaml.Files

	constituents map[string][]float64 // by name: share of the constituent in each ingredient
	block        *block               // the block whose rules are read; nil outside of blocks
	inRule       bool                 // inner rules of another rule are being read

	table      string       // ingredients file as the problem names it, or empty
	modelCache *ModelCache  // forests learnt before, or nil
	workers    int          // goroutines that grow forests; 0: all cores
	notify     func(string) // receives messages while the problem is sampled; may be nil
	progress   func(string) // receives the current step of reading; may be nil

	warnings []string
}

// ruleBook returns the recipes from which rules are derived, or nil.
func (s *loader) ruleBook() *dataset.Book {
	if s.book == nil || s.ruleRecipes == len(s.book.Recipes) {
		return s.book
	}
	return &dataset.Book{File: s.book.File, Ingredients: s.book.Ingredients, Recipes: s.book.Recipes[:s.ruleRecipes]}
}

// warn records a warning.
func (s *readContext) warn(message string) { s.warnings = append(s.warnings, message) }

// reportProgress reports the step that begins.
func (s *readContext) reportProgress(format string, args ...any) {
	if s.progress != nil {
		s.progress(fmt.Sprintf(format, args...))
	}
}

// maxSplits bounds the total if a property is scored split by split. A line has as many splits as units,
// and chains store a weight for each.
const maxSplits = 1 << 22

// ingredientsUsed returns the ingredients of a recipe.
func ingredientsUsed(parts []mcmc.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}

// A block is a set of ingredients with a total of its own.
type block struct {
	members []int
	text    string
}

// memberIndexes returns the members, or nil for a nil block.
func (b *block) memberIndexes() []int {
	if b == nil {
		return nil
	}
	return b.members
}

// withoutBlock returns a copy of the context for all ingredients.
func (s *readContext) withoutBlock() *readContext {
	all := *s
	all.block = nil
	return &all
}

// restrictToBlock returns the ingredients of that are in the current block. It returns an error if none is.
func (s *readContext) restrictToBlock(n *yaml.Node, of []int, text string) ([]int, error) {
	if s.block == nil {
		return of, nil
	}
	in := slices.DeleteFunc(slices.Clone(of), func(i int) bool { return !slices.Contains(s.block.members, i) })
	if len(in) == 0 {
		return nil, yaml.Hint(n.Errorf("%s is no part of the block %s", inputerr.Quote(text), s.block.text), "rules within a block are about its own ingredients: write it outside")
	}
	return in, nil
}

// refuseInBlock returns an error within a block, for rules that concern whole compositions.
func (s *readContext) refuseInBlock(n *yaml.Node, what string) error {
	if s.block == nil {
		return nil
	}
	return yaml.Hint(n.Errorf("%s of the whole composition, and this stands within the block %s", what, s.block.text), "write it outside of the block")
}
