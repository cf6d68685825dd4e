package report

import (
	"fmt"

	"kir/internal/number"
	"kir/model"
)

// A Property is one objective of a problem, with the quality of its model.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`
	Weight float64 `json:"weight"`
	Forest *Forest `json:"forest,omitempty"`

	// Values names the values that the property adds to an entry of the shortlist, beside
	// predictions.
	Values []string `json:"values,omitempty"`
}

// A Value is a quantity of a composition in its own unit, such as a cost or a prediction. A
// prediction may have an interval from Low to High that holds 90 % of new recipes.
type Value struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit"`
}

// Forest describes a model trained on recipes, mostly a random forest. The description includes the
// error of held-out predictions (of a forest, out of bag) and the error of guessing.
type Forest struct {
	Label   string        `json:"label"`
	Trees   int           `json:"trees"` // number of trees; 0 if the model has no forest
	Rows    int           `json:"rows"`
	Classes []string      `json:"classes,omitempty"`
	Quality model.Quality `json:"out_of_bag"`

	// Importances lists at most 15 features, those whose permutation harms the forest most. The
	// list is empty if the forest was trained without importances.
	Importances []Importance `json:"importances,omitempty"`

	Learnt *Learnt `json:"learnt,omitempty"` // details of a model that may be more than a forest

	// Responses lists how the prediction changes with the amounts of single ingredients, the
	// largest change first. All changes start from one recipe with Total units, which At describes
	// in words. Unit is the unit of the predictions.
	Responses []Response `json:"responses,omitempty"`
	// ConditionResponses lists how the prediction changes with the values of single conditions, at
	// the same recipe.
	ConditionResponses []ConditionResponse `json:"condition_responses,omitempty"`
	At                 string              `json:"at,omitempty"`
	Unit               string              `json:"unit,omitempty"`
	Total              int                 `json:"total,omitempty"`
}

// A Response is the change of a prediction with the amount of one ingredient, while the other
// ingredients keep their proportions.
type Response struct {
	Ingredient string          `json:"ingredient"`
	Amount     int             `json:"amount"` // units in the recipe from which the change starts
	Sign       int             `json:"sign"`   // 1: the prediction mostly rises with the amount; −1: it mostly falls; 0: neither
	Swing      Number          `json:"swing"`  // largest prediction minus smallest prediction
	Points     []ResponsePoint `json:"points"`
}

// A ResponsePoint is the prediction at an amount, with a 90 % interval where the model gives one.
type ResponsePoint struct {
	Amount int    `json:"amount"` // amount of the ingredient in units
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
}

// A ConditionResponse is the change of a prediction with the value of one condition, while
// everything else stays the same.
type ConditionResponse struct {
	Condition string                   `json:"condition"`
	Unit      string                   `json:"unit,omitempty"`
	At        any                      `json:"at"`    // value of the condition in the recipe from which the change starts
	Swing     Number                   `json:"swing"` // largest prediction minus smallest prediction
	Points    []ConditionResponsePoint `json:"points"`
}

// A ConditionResponsePoint is the prediction at a value of a condition, with a 90 % interval where
// the model gives one.
type ConditionResponsePoint struct {
	At    any    `json:"at"` // value of the condition: a number or a text
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
}

// DescribeDirection says whether the ingredient raises or lowers the prediction, such as "raises
// it".
func (r *Response) DescribeDirection() string {
	return map[int]string{1: "raises it", -1: "lowers it", 0: "raises and lowers it"}[r.Sign]
}

// Describe describes the kind of the model, such as "A forest of 100 trees".
func (f *Forest) Describe() string {
	forest := fmt.Sprintf("forest of %s", number.CountWithNoun(f.Trees, "tree"))
	switch {
	case f.Learnt == nil || !f.Learnt.Process:
		return "A " + forest
	case f.Trees == 0:
		return "A Gaussian process"
	}
	return "The average of a " + forest + " and a Gaussian process"
}

// Learnt describes the training of a model that may be more than a forest; see [model.LearnedModel].
type Learnt struct {
	Process  bool                    `json:"process"` // whether the model uses a Gaussian process
	Log      bool                    `json:"log,omitempty"`
	Features string                  `json:"features,omitempty"` // features chosen in addition to the amounts, or instead of them
	Failures int                     `json:"failures,omitempty"` // number of recipes that could not be measured
	Brings   []model.CandidateResult `json:"brings,omitempty"`   // quality of the forest, the process and their average on held-out recipes

	// Replicates is the number of recipes with replicate measurements, ReplicateSD the standard
	// deviation between replicates, and Noise the standard deviation that a Gaussian process
	// assigns to a measurement. The last two are in the unit of the label.
	Replicates  int    `json:"replicates,omitempty"`
	ReplicateSD Number `json:"replicate_sd,omitempty"`
	Noise       Number `json:"noise,omitempty"`
}

// An Importance is a feature with its permutation importance; see [model.Importance].
type Importance struct {
	Feature string `json:"feature"`
	model.Importance
}

// Training describes a trained model.
type Training struct {
	Forest
	Seed     uint64 `json:"seed"`
	Features int    `json:"features_per_split"`
	Leaf     int    `json:"smallest_leaf"`
	Deepest  int    `json:"deepest_tree"`
	File     string `json:"file,omitempty"` // file that the model was saved in; empty if it was not saved

	Choice *model.CandidateChoice `json:"choice,omitempty"` // how the kind of model or its features were chosen; absent if there was no choice

	// HeldOut lists the recipes with a numeric label and their held-out predictions. It is empty
	// for classes and for a plain forest.
	HeldOut []HeldOut `json:"held_out,omitempty"`
}

// HeldOut is the measured label of a recipe and its held-out prediction, with a 90 % interval.
type HeldOut struct {
	Measured Number `json:"measured"`
	Value    Number `json:"value"`
	Low      Number `json:"low"`
	High     Number `json:"high"`
}
