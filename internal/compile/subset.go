package compile

import "kir/model"

// WithKnownRecipes returns a copy of the problem that knows only some of its known recipes, in the given order,
// and no results. The argument recipes has indices into the recipes of the problem's book. The copy has the
// same target, and must not be closed.
func (p *Problem) WithKnownRecipes(recipes []int) *Problem {
	q := *p
	q.Book, q.results, q.scaledRecipes = p.Book.Subset(recipes), nil, nil
	for _, r := range recipes {
		q.scaledRecipes = append(q.scaledRecipes, p.scaledRecipes[r])
	}
	if p.conditionTable != nil {
		q.conditionTable = p.conditionTable.subset(recipes)
	}
	return &q
}

// subset returns the table of the conditions of some known recipes.
func (t *conditionTable) subset(recipes []int) *conditionTable {
	s := *t
	s.codesByRecipe, s.nearestOfferedIndices, s.knownValues = make([][]model.Part, len(recipes)), make([][]int32, len(recipes)), make([][]any, len(recipes))
	for k, r := range recipes {
		s.codesByRecipe[k], s.nearestOfferedIndices[k], s.knownValues[k] = t.codesByRecipe[r], t.nearestOfferedIndices[r], t.knownValues[r]
	}
	return &s
}
