package report

// A Scorecard holds the scores of given recipes for a problem.
type Scorecard struct {
	Problem    Problem    `json:"problem"`
	Properties []Property `json:"properties"`
	Recipes    []Scored   `json:"recipes"` // in the order of the table
	Warnings   []string   `json:"warnings"`
}

// A Scored is a given recipe with its scores and the constraints it breaks.
type Scored struct {
	Recipe     string            `json:"recipe"`
	Used       int               `json:"used"`
	Conditions map[string]any    `json:"conditions,omitempty"` // under which it is scored: the offered values that are nearest
	Score      Number            `json:"score"`                // Π y_k of the objectives that count, each once
	Scores     map[string]Number `json:"scores"`               // y_k; null where it cannot be told fairly
	Book       string            `json:"book"`                 // the known recipe of the same amounts; empty if there is none
	// OutOfBag reports whether the scores come from models that were not trained on the recipe.
	OutOfBag bool `json:"out_of_bag"`
	// Predicted are the predicted labels, numbers and classes, by objective, of recipes that are
	// not known.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values are the values of all properties that have any, including predictions.
	Values map[string]Value `json:"values,omitempty"`
	Broken []Breach         `json:"broken"`
}

// A Breach is a broken constraint, with the amount by which it is broken.
type Breach struct {
	Rule       string `json:"rule"`
	Ingredient string `json:"ingredient,omitempty"`
	What       string `json:"what,omitempty"` // of a limit of a property, what the figures are of
	Unit       string `json:"unit,omitempty"` // of the figures; empty if there are none
	Value      Number `json:"value"`
	Bound      Number `json:"bound"` // that it passes
}
