package report

// A Scorecard says how well given recipes fit a problem.
type Scorecard struct {
	Problem    Problem    `json:"problem"`
	Properties []Property `json:"properties"`
	Recipes    []Scored   `json:"recipes"` // in the order of the table
}

// A Scored is a given recipe: what it scores, and which rules it breaks.
type Scored struct {
	Recipe string            `json:"recipe"`
	Used   int               `json:"used"`
	Score  Number            `json:"score"`  // Π y_k of the objectives that count, each once
	Scores map[string]Number `json:"scores"` // y_k; null where it cannot be told fairly
	Book   string            `json:"book"`   // the known recipe of the same amounts; empty if there is none
	// OutOfBag says that it was scored by models that have not seen it.
	OutOfBag bool `json:"out_of_bag"`
	// Predicted are the labels, numbers and classes, by objective, of recipes that are not
	// in the book.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values are those of all properties that have any, what is predicted among them.
	Values map[string]Value `json:"values,omitempty"`
	Broken []Breach         `json:"broken"`
}

// A Breach is a rule that a recipe breaks, and by how much.
type Breach struct {
	Rule       string `json:"rule"`
	Ingredient string `json:"ingredient,omitempty"`
	What       string `json:"what,omitempty"` // of a limit of a property, what the figures are of
	Unit       string `json:"unit,omitempty"` // of the figures; empty if there are none
	Value      Number `json:"value"`
	Bound      Number `json:"bound"` // that it passes
}
