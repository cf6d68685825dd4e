package report

import "kir/internal/config"

// A Tradeoff is a front: recipes of which none beats another on all of several objectives.
type Tradeoff struct {
	Objectives []Objective  `json:"objectives"`
	Front      []FrontPoint `json:"front"` // listed recipes, spread evenly over the front; the best on the first objective comes first
	Found      int          `json:"found"` // number of recipes on the front that were found

	// Hypervolume is the share of the space between the best values and the reference values of the
	// objectives that the front dominates. Its standard error is that of the mean of independent
	// searches, whose values are listed. The standard error is null where all searches reach the
	// same value.
	Hypervolume Hypervolume `json:"hypervolume"`
	// Random is the hypervolume of random compositions that keep the constraints.
	Random Hypervolume `json:"random"`

	Draws [][]Number   `json:"draws"` // value of each objective in some draws, by draw and objective; empty without a run
	Known []KnownPoint `json:"known"` // known recipes that keep the constraints

	Lines        int64    `json:"lines"`        // number of scored lines; a line is all ways to divide the joint amount of two ingredients
	Compositions int64    `json:"compositions"` // number of compositions on the scored lines
	Warnings     []string `json:"warnings"`
}

// An Objective is one of the objectives of a trade-off.
type Objective struct {
	Name      string           `json:"name"`
	Direction config.Direction `json:"goal"`
	Low       Number           `json:"low"` // lower end of the target range of the direction "between"; null where there is none
	High      Number           `json:"high"`
	Unit      string           `json:"unit"`

	Best      Number `json:"best"`  // best value over all recipes of the front that were found
	Worst     Number `json:"worst"` // worst value over all recipes of the front that were found
	Reference Number `json:"reference"`
	Strength  string `json:"strength,omitempty"` // quality of the objective's model: weak, fair or good
}

// A Hypervolume is the share of the space of objectives that a set of recipes dominates, between 0
// and 1.
type Hypervolume struct {
	Value        Number   `json:"value"`
	SE           Number   `json:"se"`
	Each         []Number `json:"each"`                   // value of each independent search or sample
	Compositions int      `json:"compositions,omitempty"` // size of a random sample
}

// A FrontPoint is a recipe of a front.
type FrontPoint struct {
	Index      int              `json:"index"` // number of the point, from 1
	Conditions map[string]any   `json:"conditions,omitempty"`
	Recipe     map[string]int   `json:"recipe"` // units by ingredient
	Values     map[string]Value `json:"values"` // values of the objectives, and of all other properties that state values
	Knee       bool             `json:"knee"`   // whether the point is a knee: from there on, a little more of one objective costs much of another
	Best       []string         `json:"best"`   // objectives on which the recipe is the best of the front

	Known bool `json:"known"` // whether a known recipe has the same ingredients
	// Extrapolates reports whether the recipe lies further from all known recipes than the known
	// recipes lie from each other.
	Extrapolates bool `json:"extrapolates"`
}

// A KnownPoint is a known recipe with its values for the objectives, measured or computed.
type KnownPoint struct {
	Recipe string   `json:"recipe"`
	Values []Number `json:"values"` // value of each objective
}

// Parts returns the recipe's ingredients with their amounts, the largest amounts first, and equal
// amounts by name.
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
