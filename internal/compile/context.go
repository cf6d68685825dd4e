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
	kinds          *kinds        // kinds of rules and properties that the file may have
	defersLearning bool          // whether the models are learnt later, so that labels need not have values yet
	space          *mcmc.Space   // compositions that the rules allow; nil before the compositions are counted
	sparsityLaw    mcmc.Sparsity // sparsity law: the distribution of the number of used ingredients

	offeredConditions []Condition      // conditions with the values that may be offered
	conditionColumns  []*dataset.Label // by condition: its values in the known recipes; nil if no table has its column
	conditionTable    *conditionTable  // nil if the problem has no conditions

	modelCache *ModelCache  // models learnt before; may be nil
	workers    int          // number of goroutines that grow forests; 0 means all cores
	notify     func(string) // receives messages while the problem is sampled; may be nil
	progress   func(string) // receives a description of each step of reading that begins; may be nil
}

// ruleBook returns the known recipes from which rules are derived, without recorded results if there are
// other recipes. It returns nil if there are no known recipes.
func (s *loader) ruleBook() *dataset.Book {
	if s.Book == nil || s.RuleRecipes == len(s.Book.Recipes) {
		return s.Book
	}
	return &dataset.Book{File: s.Book.File, Ingredients: s.Book.Ingredients, Recipes: s.Book.Recipes[:s.RuleRecipes]}
}

// reportProgress calls the function progress with a description of the step that begins.
func (s *readContext) reportProgress(format string, args ...any) {
	if s.progress != nil {
		s.progress(fmt.Sprintf(format, args...))
	}
}

// usedIngredients returns the indices of the ingredients of a recipe.
func usedIngredients(parts []mcmc.Part) []int32 {
	of := make([]int32, len(parts))
	for k, p := range parts {
		of[k] = int32(p.Ingredient)
	}
	return of
}
