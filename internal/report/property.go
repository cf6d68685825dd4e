package report

import (
	"fmt"

	"kir/internal/number"
	"kir/model"
)

// A Property is a property of compositions that the problem defines, as an objective or for
// information, with the quality of its model if it has one.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`            // description of the property
	Weight float64 `json:"weight"`           // weight of the property's score in the total score
	Forest *Forest `json:"forest,omitempty"` // model that the property was trained as; absent if there is none

	// Values lists names of quantities in the field Values of [Best]: those that this property
	// computes, without predictions.
	Values []string `json:"values,omitempty"`
}

// A Value is a quantity of a composition in its own unit, such as a cost or a prediction. A
// prediction may have an interval from Low to High that is made to hold 90 % of new recipes.
type Value struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit"`
}

// A Forest describes a model trained on recipes, mostly a random forest, and how well it predicts
// recipes that it was not trained on.
type Forest struct {
	Label   string        `json:"label"`             // name of the label that the model predicts
	Trees   int           `json:"trees"`             // number of trees; 0 if the model has no forest
	Rows    int           `json:"rows"`              // number of recipes that the model was trained on
	Classes []string      `json:"classes,omitempty"` // names of the classes; absent for a numeric label
	Quality model.Quality `json:"out_of_bag"`        // errors of predictions for recipes that the model was not trained on (of a forest, out of bag), and errors of guessing

	// Importances lists the features that the forest needs most, at most 15: a random permutation
	// of their values increases the error most. It is empty if the forest was trained without
	// importances.
	Importances []Importance `json:"importances,omitempty"`

	Learnt *Learnt `json:"learnt,omitempty"` // further details of a model that may be more than a forest

	// Responses lists how the prediction changes with the amount of one ingredient at a time, the
	// largest change first. All changes start from one recipe, which At describes.
	Responses []Response `json:"responses,omitempty"`
	// ConditionResponses lists how the prediction changes with the value of one condition at a
	// time, starting from the same recipe.
	ConditionResponses []ConditionResponse `json:"condition_responses,omitempty"`
	At                 string              `json:"at,omitempty"`    // description of the recipe from which the changes start
	Unit               string              `json:"unit,omitempty"`  // unit of the predictions in Responses, ConditionResponses and HeldOut
	Total              int                 `json:"total,omitempty"` // number of units in the recipe from which the changes start

	// HeldOut lists training recipes, each with a prediction by a model that was trained without
	// the recipe; a run has at most 500. It is empty for classes, and if a plain forest was trained
	// outside of a run.
	HeldOut []HeldOut `json:"held_out,omitempty"`
}

// A Response shows how a prediction changes with the amount of one ingredient. The other
// ingredients share the remaining amount in unchanged proportions.
type Response struct {
	Ingredient string          `json:"ingredient"`
	Amount     int             `json:"amount"` // amount of the ingredient, in units, in the recipe from which the change starts
	Sign       int             `json:"sign"`   // 1: the prediction mostly rises with the amount; −1: it mostly falls; 0: neither
	Swing      Number          `json:"swing"`  // largest minus smallest prediction
	Points     []ResponsePoint `json:"points"`
}

// A ResponsePoint is the prediction for one amount of an ingredient, with a 90 % interval if the
// model gives one.
type ResponsePoint struct {
	Amount int    `json:"amount"` // amount of the ingredient in units
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
}

// A ConditionResponse shows how a prediction changes with the value of one condition, while
// everything else stays the same.
type ConditionResponse struct {
	Condition string                   `json:"condition"`
	Unit      string                   `json:"unit,omitempty"`
	At        any                      `json:"at"`    // value of the condition in the recipe from which the change starts
	Swing     Number                   `json:"swing"` // largest minus smallest prediction
	Points    []ConditionResponsePoint `json:"points"`
}

// A ConditionResponsePoint is the prediction for one value of a condition, with a 90 % interval if
// the model gives one.
type ConditionResponsePoint struct {
	At    any    `json:"at"` // value of the condition: a number or a text
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
}

// DescribeDirection says whether a larger amount of the ingredient raises or lowers the prediction,
// for example "raises it".
func (r *Response) DescribeDirection() string {
	return map[int]string{1: "raises it", -1: "lowers it", 0: "raises and lowers it"}[r.Sign]
}

// Describe describes the kind of the model, such as "A forest of 100 trees".
func (f *Forest) Describe() string {
	forest := fmt.Sprintf("random forest (%s)", number.CountWithNoun(f.Trees, "decision tree"))
	switch {
	case f.Learnt == nil || !f.Learnt.Process:
		return "A " + forest
	case f.Trees == 0:
		return "A smooth curve fit (Gaussian process)"
	}
	return "The average of a " + forest + " and a smooth curve fit (Gaussian process)"
}

// A Learnt describes a model that was trained as a random forest, as a Gaussian process, or as the
// average of both; see [model.LearnedModel].
type Learnt struct {
	Process  bool                    `json:"process"`            // whether the model uses a Gaussian process
	Log      bool                    `json:"log,omitempty"`      // whether the model was trained on the logarithm of the label
	Features string                  `json:"features,omitempty"` // name of the features that were chosen instead of the amounts alone; empty if the amounts alone were chosen
	Failures int                     `json:"failures,omitempty"` // number of training recipes whose label could not be measured
	Brings   []model.CandidateResult `json:"brings,omitempty"`   // how well the forest, the Gaussian process and their average each predict recipes that they were not trained on

	// number of recipes that were measured more than once
	Replicates int `json:"replicates,omitempty"`
	// ReplicateSD is the standard deviation between measurements of the same recipe, in the unit of
	// the label.
	ReplicateSD Number `json:"replicate_sd,omitempty"`
	// Noise is the standard deviation of a measurement that the Gaussian process has estimated, in
	// the unit of the label.
	Noise Number `json:"noise,omitempty"`
}

// An Importance is a feature with its permutation importance; see [model.Importance].
type Importance struct {
	Feature string `json:"feature"`
	model.Importance
}

// Training is the report on a trained model.
type Training struct {
	Forest
	Seed     uint64 `json:"seed"`               // seed of the forest's random numbers
	Features int    `json:"features_per_split"` // number of features that the forest tries for each split of a tree
	Leaf     int    `json:"smallest_leaf"`      // least number of recipes in a leaf of a tree
	Deepest  int    `json:"deepest_tree"`       // depth of the deepest tree
	File     string `json:"file,omitempty"`     // file that the model was saved in; empty if it was not saved

	Choice *model.CandidateChoice `json:"choice,omitempty"` // how the kind of model or its features were chosen; absent if there was no choice
}

// A HeldOut is the measured label of a recipe, and the prediction by a model that was trained
// without the recipe, with a 90 % interval.
type HeldOut struct {
	Recipe   string `json:"recipe,omitempty"` // name of the recipe; empty if it is unknown
	Measured Number `json:"measured"`
	Value    Number `json:"value"` // predicted label
	Low      Number `json:"low"`   // lower end of the 90 % interval
	High     Number `json:"high"`  // upper end of the 90 % interval
}
