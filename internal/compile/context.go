package compile

import (
	"fmt"

	"kir/internal/config"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// A readContext has what the functions that compile rules and properties need: the ingredients, the total, the
// known recipes, and access to the files that the problem names.
type readContext struct {
	config.Data
	kinds          *kinds        // kinds of rules and properties that the file may have
	defersLearning bool          // whether models are learnt later by a campaign, so that labels need not have values yet
	space          *mcmc.Space   // compositions that the rules allow; nil before the compositions are counted
	sparsityLaw    mcmc.Sparsity // distribution of the number of ingredients (sparsity law)

	offeredConditions []Condition      // conditions with the values that may be offered
	conditionColumns  []*dataset.Label // item k has the values of condition k in the known recipes; nil if no table has a column for it
	conditionTable    *conditionTable  // values of the conditions in the known recipes; nil if the problem has no conditions

	tableReaders map[string]tableReader // by the file of a table of recipes: how to read it again

	modelCache  *ModelCache  // models that were learnt before; may be nil
	workerCount int          // number of goroutines that grow forests; 0 means all cores
	notify      func(string) // receives messages while the problem is sampled; may be nil
	progress    func(string) // receives a description of each step of loading when the step begins; may be nil
}

// A tableReader reads a table of recipes again, with other options than those with which it was read.
type tableReader struct {
	options dataset.Options
	read    func(dataset.Options) (*dataset.Book, error)
}

// tryNumberFixes adds to an error about the numbers of a label the settings that get past it; see [dataset.TryFixes].
// failureWords are the values of the label that mean failure.
func (s *readContext) tryNumberFixes(err error, label string, failureWords []string) error {
	all := inputerr.All(err)
	if len(all) == 0 {
		return err
	}
	table, ok := s.tableReaders[all[0].File]
	if !ok {
		return err
	}
	return dataset.TryFixes(err, table.options, func(o dataset.Options) (*dataset.Book, error) {
		b, failed := table.read(o)
		if failed != nil {
			return nil, failed
		}
		l, ok := b.Label(label)
		if !ok {
			return nil, err // a setting that leaves out the label is no fix
		}
		return b, l.CheckNumbers(failureWords...)
	})
}

// recipesForRules returns the known recipes from which rules are derived. These do not include recorded results
// if there are other recipes. It returns nil if there are no known recipes.
func (s *loader) recipesForRules() *dataset.Book {
	if s.Book == nil || s.RuleRecipes == len(s.Book.Recipes) {
		return s.Book
	}
	return &dataset.Book{File: s.Book.File, Ingredients: s.Book.Ingredients, Recipes: s.Book.Recipes[:s.RuleRecipes]}
}

// reportProgress describes the step of loading that now begins, to the function progress if there is one.
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
