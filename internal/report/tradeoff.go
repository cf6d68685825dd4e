package report

import "kir/internal/config"

// A Tradeoff is the report on a Pareto front for several objectives: recipes that no other recipe
// found beats on all objectives.
type Tradeoff struct {
	Objectives []Objective  `json:"objectives"`
	Front      []FrontPoint `json:"front"` // listed recipes of the front, spread evenly over it; the first is best for the first objective
	Found      int          `json:"found"` // number of recipes of the front that were found

	// Hypervolume measures the quality of the front. The reference values and the best values of
	// the objectives span a box; the hypervolume is the share of its volume in which the front has
	// a better recipe. It is the mean over independent searches, with its standard error. The
	// standard error is null if all searches have the same value.
	Hypervolume Hypervolume `json:"hypervolume"`
	// Random is the hypervolume of random compositions that keep the constraints, for comparison.
	Random Hypervolume `json:"random"`

	Draws [][]Number   `json:"draws"` // Draws[d][k] is the value of objective k at draw d, for some draws; empty without a run
	Known []KnownPoint `json:"known"` // known recipes that keep the constraints

	Lines        int64    `json:"lines"`        // number of scored lines; a line is the set of all ways to divide the joint amount of two ingredients
	Compositions int64    `json:"compositions"` // number of compositions on all scored lines
	Warnings     []string `json:"warnings"`
}

// An Objective is one of the objectives of a [Tradeoff], with the range of its values.
type Objective struct {
	Name      string           `json:"name"`
	Direction config.Direction `json:"goal"`
	Low       Number           `json:"low"`  // lower end of the target range, for the direction "between"; null if there is none
	High      Number           `json:"high"` // upper end of the target range, for the direction "between"; null if there is none
	Unit      string           `json:"unit"`

	Best      Number `json:"best"`               // best value of this objective over all recipes of the front that were found
	Worst     Number `json:"worst"`              // worst value of this objective over all recipes of the front that were found
	Reference Number `json:"reference"`          // reference value for the hypervolume
	Strength  string `json:"strength,omitempty"` // quality of the objective's model: weak, fair or good
}

// A Hypervolume measures a set of recipes by several objectives, from 0 to 1. It is the share of a
// box in the space of the objectives in which the set has a better recipe; see [Tradeoff].
type Hypervolume struct {
	Value        Number   `json:"value"`
	SE           Number   `json:"se"`                     // standard error of Value
	Each         []Number `json:"each"`                   // value for each independent search or sample
	Compositions int      `json:"compositions,omitempty"` // number of compositions of each random sample
}

// A FrontPoint is a recipe of the front of a [Tradeoff].
type FrontPoint struct {
	Index      int              `json:"index"`                // number of the point, from 1
	Conditions map[string]any   `json:"conditions,omitempty"` // maps the name of a condition to its value
	Recipe     map[string]int   `json:"recipe"`               // maps the name of an ingredient to its amount in units
	Values     map[string]Value `json:"values"`               // maps names to quantities: the objectives, and other quantities that properties compute
	Knee       bool             `json:"knee"`                 // whether the point is a knee of the front: beyond the point, a small gain in one objective costs much of another
	Best       []string         `json:"best"`                 // names of the objectives for which no recipe of the front is better

	Known bool `json:"known"` // whether a known recipe has the same ingredients
	// Extrapolates reports whether the recipe lies further from all known recipes than the known
	// recipes lie from each other.
	Extrapolates bool `json:"extrapolates"`
}

// A KnownPoint is a known recipe with its values of the objectives, measured or computed.
type KnownPoint struct {
	Recipe string   `json:"recipe"`
	Values []Number `json:"values"` // item k is the value of objective k
}

// Parts returns the ingredients of the recipe with their amounts. The largest amounts come first;
// equal amounts are ordered by name.
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
