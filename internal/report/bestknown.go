package report

// A BestKnown is the known recipe that a shortlist is compared with: the one with the largest score
// by its measured labels, among those that keep the constraints.
type BestKnown struct {
	Name       string         `json:"name"`
	Recipe     map[string]int `json:"recipe"`               // maps the name of an ingredient to its amount in units
	Conditions map[string]any `json:"conditions,omitempty"` // maps the name of a condition to its value, or to the nearest that may be proposed

	// Score is Π y_k over the objectives with positive weights. A score y_k comes from the measured
	// label: 1 for a wanted class or a number within wanted bounds and 0 for others, and for a number
	// to be maximised or minimised its place between the least and the greatest label. An objective
	// without a label, or whose label was not measured, is scored as in [ScoredRecipe].
	Score  Number            `json:"score"`
	Scores map[string]Number `json:"scores"` // maps the name of an objective to the score y_k

	Measured  map[string]Measurement `json:"measured"`            // maps the name of an objective to the measured label; objectives without one are absent
	Predicted map[string]Prediction  `json:"predicted,omitempty"` // values of objectives without a measured label: computed, or predicted by models that were trained without the recipe
	Values    map[string]Value       `json:"values,omitempty"`    // maps names to further quantities that properties compute

	Broken int `json:"broken"` // number of constraints that the recipe breaks; positive only if every known recipe breaks one
	Ties   int `json:"ties"`   // number of other known recipes with the same score that break no more constraints
}

// A Measurement is the measured label of a recipe: a number, or a class.
type Measurement struct {
	Value Number `json:"value"`           // measured number; null for a class
	Class string `json:"class,omitempty"` // measured class; empty for a number
}

// NoneBetter reports whether the best known recipe scores at least as much as every suggestion is
// predicted to score.
func (m *Model) NoneBetter() bool {
	if m.BestKnown == nil || len(m.Best) == 0 {
		return false
	}
	for _, b := range m.Best {
		if !b.NotBetter {
			return false
		}
	}
	return true
}
