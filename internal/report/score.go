package report

// A Scorecard holds the scores of given recipes for a problem.
type Scorecard struct {
	Problem    Problem        `json:"problem"`
	Properties []Property     `json:"properties"`
	Recipes    []ScoredRecipe `json:"recipes"` // scored recipes, in the order of the recipes' table
	Warnings   []string       `json:"warnings"`
}

// A ScoredRecipe is a given recipe with its scores and the constraints that it breaks.
type ScoredRecipe struct {
	Recipe     string            `json:"recipe"`
	Used       int               `json:"used"`
	Conditions map[string]any    `json:"conditions,omitempty"` // conditions for which the recipe is scored: the nearest values that may be proposed
	Score      Number            `json:"score"`                // Π y_k over the objectives with positive weights, each to the power 1
	Scores     map[string]Number `json:"scores"`               // score y_k of each objective; null where no fair score is known
	Book       string            `json:"book"`                 // name of the known recipe with the same amounts; empty if there is none
	// OutOfBag reports whether the scores come from models that were not trained on this recipe.
	OutOfBag bool `json:"out_of_bag"`
	// Predicted holds the predictions of the models by objective. For a known recipe they are
	// held-out predictions.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values holds, by name, the values of all properties that state values, predictions included.
	Values map[string]Value `json:"values,omitempty"`
	Broken []Breach         `json:"broken"`
}

// A Breach is a broken constraint, with the value that breaks the constraint and the bound.
type Breach struct {
	Rule       string `json:"rule"`
	Ingredient string `json:"ingredient,omitempty"`
	What       string `json:"what,omitempty"` // for a limit on a property: the quantity that is limited
	Unit       string `json:"unit,omitempty"` // unit of Value and Bound; empty if there are no numbers
	Value      Number `json:"value"`
	Bound      Number `json:"bound"` // bound that the value passes
}
