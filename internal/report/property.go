package report

import (
	"fmt"

	"kir/internal/number"
	"kir/model"
)

// A Property is one objective and the quality of its model.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`
	Weight float64 `json:"weight"`
	Forest *Forest `json:"forest,omitempty"`

	// Values are the names of an entry's values for this property, besides predictions.
	Values []string `json:"values,omitempty"`
}

// A Value is a figure of a composition in its own unit, such as a cost or a prediction. A
// prediction may have an interval that holds 90 % of new recipes.
type Value struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit"`
}

// Forest is a model trained on recipes, mostly a random forest. It includes the error of held-out
// predictions (of a forest, out of bag) and the error of guessing.
type Forest struct {
	Label   string        `json:"label"`
	Trees   int           `json:"trees"` // of the forest; 0 if there is none
	Rows    int           `json:"rows"`
	Classes []string      `json:"classes,omitempty"`
	Quality model.Quality `json:"out_of_bag"`

	// Importances are the features whose permutation harms the forest most, at most 15. A forest
	// trained without importances has none.
	Importances []Importance `json:"importances,omitempty"`

	Learnt *Learnt `json:"learnt,omitempty"` // of what is more than a forest

	// Responses are the changes of the prediction with the amounts of single ingredients, the
	// largest change first. At names the recipe, of Total units. Unit is that of the predictions.
	Responses []Response `json:"responses,omitempty"`
	// ConditionResponses are those with the value of one condition, at the same recipe.
	ConditionResponses []ConditionResponse `json:"condition_responses,omitempty"`
	At                 string              `json:"at,omitempty"`
	Unit               string              `json:"unit,omitempty"`
	Total              int                 `json:"total,omitempty"`
}

// A Response is the change of a prediction with the amount of one ingredient, with the others in
// constant proportions.
type Response struct {
	Ingredient string          `json:"ingredient"`
	Amount     int             `json:"amount"` // units in the recipe
	Sign       int             `json:"sign"`   // 1: it rises with the amount, mostly; −1: it falls; 0: both
	Swing      Number          `json:"swing"`  // the largest less the smallest
	Points     []ResponsePoint `json:"points"`
}

// A ResponsePoint is the prediction at an amount, with a 90 % interval where there is one.
type ResponsePoint struct {
	Amount int    `json:"amount"` // units
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
}

// A ConditionResponse is the change of a prediction with the value of one condition, with all else as it is.
type ConditionResponse struct {
	Condition string                   `json:"condition"`
	Unit      string                   `json:"unit,omitempty"`
	At        any                      `json:"at"`    // the value at the recipe
	Swing     Number                   `json:"swing"` // the largest less the smallest
	Points    []ConditionResponsePoint `json:"points"`
}

// A ConditionResponsePoint is the prediction at a value of a condition, with a 90 % interval where there is one.
type ConditionResponsePoint struct {
	At    any    `json:"at"` // a number or a text
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
}

// DescribeDirection describes the direction of a response.
func (r *Response) DescribeDirection() string {
	return map[int]string{1: "raises it", -1: "lowers it", 0: "raises and lowers it"}[r.Sign]
}

// Describe describes the model, such as "A forest of 100 trees".
func (f *Forest) Describe() string {
	forest := fmt.Sprintf("forest of %s", number.Counted(f.Trees, "tree"))
	switch {
	case f.Learnt == nil || !f.Learnt.Process:
		return "A " + forest
	case f.Trees == 0:
		return "A Gaussian process"
	}
	return "The average of a " + forest + " and a Gaussian process"
}

// Learnt describes the training of a model that may be more than a forest; see [model.Learned].
type Learnt struct {
	Process  bool          `json:"process"` // a Gaussian process has a part
	Log      bool          `json:"log,omitempty"`
	Features string        `json:"features,omitempty"` // that were chosen beside or instead of the amounts
	Failures int           `json:"failures,omitempty"` // recipes that could not be measured
	Brings   []model.Tried `json:"brings,omitempty"`   // what forest, process and average do on held-out recipes

	// For a process, in the label's unit: the number of replicate recipes, their spread, and the
	// noise of the model.
	Replicates  int    `json:"replicates,omitempty"`
	ReplicateSD Number `json:"replicate_sd,omitempty"`
	Noise       Number `json:"noise,omitempty"`
}

// An Importance is the permutation importance of a feature, see
// [model.Importance].
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
	File     string `json:"file,omitempty"` // where it was saved

	Choice *model.Choice `json:"choice,omitempty"` // if it, or what it looks at, was chosen

	// HeldOut are the recipes with a numeric label and their held-out predictions. It is empty for
	// classes and for a plain forest.
	HeldOut []HeldOut `json:"held_out,omitempty"`
}

// HeldOut is a recipe's measurement and its held-out prediction, with a 90 % interval.
type HeldOut struct {
	Measured Number `json:"measured"`
	Value    Number `json:"value"`
	Low      Number `json:"low"`
	High     Number `json:"high"`
}
