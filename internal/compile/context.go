package compile

import (
	"fmt"

	"kir/internal/config"
	"kir/internal/dataset"
	"kir/mcmc"
)

// A readContext has what the readers of rules and properties need: the ingredients, the total, the known
// recipes, and access to the files that the problem names.
type readContext struct {
	config.Data
	kinds       *kinds        // kinds of rules and properties
	learnsLater bool          // labels to learn need not have values yet
	space       *mcmc.Space   // compositions that the rules allow; nil until known
	law         mcmc.Sparsity // law of the number of used ingredients

	offered          []Condition      // the conditions, with the values that may be offered
	conditionColumns []*dataset.Label // by condition: what the recipes had; nil where no table has the column
	conditionTable   *conditionTable  // nil without conditions

	modelCache *ModelCache  // forests learnt before, or nil
	workers    int          // goroutines that grow forests; 0: all cores
	notify     func(string) // receives messages while the problem is sampled; may be nil
	progress   func(string) // receives the current step of reading; may be nil
}

// ruleBook returns the recipes from which rules are derived, or nil.
func (s *loader) ruleBook() *dataset.Book {
	if s.Book == nil || s.RuleRecipes == len(s.Book.Recipes) {
		return s.Book
	}
	return &dataset.Book{File: s.Book.File, Ingredients: s.Book.Ingredients, Recipes: s.Book.Recipes[:s.RuleRecipes]}
}

// reportProgress reports the step that begins.
func (s *readContext) reportProgress(format string, args ...any) {
	if s.progress != nil {
		s.progress(fmt.Sprintf(format, args...))
	}
}

// ingredientsUsed returns the ingredients of a recipe.
func ingredientsUsed(parts []mcmc.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}
