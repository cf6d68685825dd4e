package report

import "kir/internal/config"

// A Tradeoff is recipes none of which beats another on all of several objectives.
type Tradeoff struct {
	Objectives []Objective  `json:"objectives"`
	Front      []FrontPoint `json:"front"` // spread evenly, by the first objective, the best first
	Found      int          `json:"found"` // how many recipes were found of which no other beats any

	// Hypervolume is the share of the space between the best of each objective and the
	// references that the front dominates, with the standard error of the mean of
	// independent searches, which are listed; null where all reach the same.
	Hypervolume Hypervolume `json:"hypervolume"`
	// Random is the same of random compositions within the constraints.
	Random Hypervolume `json:"random"`

	Draws [][]Number   `json:"draws"` // values of draws, by objective; none without a run
	Known []KnownPoint `json:"known"` // recipes of the book that keep the constraints

	Lines        int64    `json:"lines"`        // that were scored
	Compositions int64    `json:"compositions"` // and their splits
	Warnings     []string `json:"warnings"`
}

// An Objective is what a trade-off is between.
type Objective struct {
	Name      string           `json:"name"`
	Direction config.Direction `json:"goal"`
	Low       Number           `json:"low"` // of between; null where there is no bound
	High      Number           `json:"high"`
	Unit      string           `json:"unit"`

	Best      Number `json:"best"`  // of all recipes of the front that were found
	Worst     Number `json:"worst"` // and the worst of these
	Reference Number `json:"reference"`
	Strength  string `json:"strength,omitempty"` // of a model: weak, fair or good
}

// Hypervolume is a share of the space of objectives.
type Hypervolume struct {
	Value        Number   `json:"value"`
	SE           Number   `json:"se"`
	Each         []Number `json:"each"`                   // of independent searches or samples
	Compositions int      `json:"compositions,omitempty"` // of a random sample
}

// A FrontPoint is a recipe of a front.
type FrontPoint struct {
	Index      int              `json:"index"` // from 1
	Conditions map[string]any   `json:"conditions,omitempty"`
	Recipe     map[string]int   `json:"recipe"` // units by ingredient
	Values     map[string]Value `json:"values"` // of the objectives, and of all else that has a value
	Knee       bool             `json:"knee"`   // from here on a little more of one objective costs much of another
	Best       []string         `json:"best"`   // objectives of which it has the best

	Known bool `json:"known"` // the book has a recipe of the same ingredients
	// Extrapolates says that it lies further from all known recipes than these lie from each
	// other.
	Extrapolates bool `json:"extrapolates"`
}

// A KnownPoint is a known recipe: what was measured of it, or is worked out.
type KnownPoint struct {
	Recipe string   `json:"recipe"`
	Values []Number `json:"values"` // by objective
}

// Parts returns the recipe's parts, the largest first, then by name.
func (p *FrontPoint) Parts() []Part {
	b := Best{Recipe: p.Recipe}
	return b.Parts()
}

// Knees returns the points of the front that are knees.
func (t *Tradeoff) Knees() (knees []FrontPoint) {
	for _, p := range t.Front {
		if p.Knee {
			knees = append(knees, p)
		}
	}
	return knees
}
