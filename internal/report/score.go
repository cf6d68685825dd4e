package report

// A Scorecard is a report on given recipes: their scores for a problem, and the constraints that
// they break.
type Scorecard struct {
	Problem    Problem        `json:"problem"`
	Properties []Property     `json:"properties"`
	Recipes    []ScoredRecipe `json:"recipes"` // scored recipes, in the order of the recipes' table
	Warnings   []string       `json:"warnings"`
}

// A ScoredRecipe is a given recipe with its scores and the constraints that it breaks.
type ScoredRecipe struct {
	Recipe     string            `json:"recipe"`               // name of the recipe
	Used       int               `json:"used"`                 // number of ingredients
	Conditions map[string]any    `json:"conditions,omitempty"` // maps the name of a condition to the value for which the recipe is scored, the nearest value that may be proposed
	Score      Number            `json:"score"`                // Π y_k over the objectives with positive weights, where y_k are the scores of the recipe
	Scores     map[string]Number `json:"scores"`               // maps the name of an objective to the score y_k; null if the only available score is unfair, since the model was trained on the recipe
	Book       string            `json:"book"`                 // name of the known recipe with the same amounts; empty if there is none
	// OutOfBag reports whether the scores come from models that were not trained on this recipe.
	OutOfBag bool `json:"out_of_bag"`
	// Predicted maps the name of an objective to its model's prediction. For a known recipe it is
	// the prediction by a model that was trained without the recipe.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values maps names to quantities of the recipe in their own units, such as its cost. It has
	// the quantities that properties compute, and the predictions.
	Values map[string]Value `json:"values,omitempty"`
	Broken []Breach         `json:"broken"` // constraints that the recipe breaks
}

// A Breach is a constraint that a recipe breaks, with the recipe's value and the bound.
type Breach struct {
	Rule       string `json:"rule"`                 // constraint as text
	Ingredient string `json:"ingredient,omitempty"` // ingredient that breaks the constraint; empty if it is not a single one
	What       string `json:"what,omitempty"`       // quantity that is limited, for a limit on a property
	Unit       string `json:"unit,omitempty"`       // unit of Value and Bound; empty if there are no numbers
	Value      Number `json:"value"`                // value of the recipe
	Bound      Number `json:"bound"`                // bound that Value does not keep
}
