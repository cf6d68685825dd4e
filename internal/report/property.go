package report

import (
	"fmt"

	"kir/internal/number"
	"kir/model"
)

// A Property is one objective and what is known of its quality.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`
	Weight float64 `json:"weight"`
	Forest *Forest `json:"forest,omitempty"`

	// Values are the names of what an entry's values have of it, beside what is predicted.
	Values []string `json:"values,omitempty"`
}

// A Value is what a composition has of a property in a unit of its own: what it costs, or
// what is predicted of it, with the interval that holds 90 % of new recipes where it is known.
type Value struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit"`
}

// Forest is a model that was learnt from recipes, mostly a random forest, and how well it
// predicts recipes that it has not seen (of a forest, out of bag), beside what guessing
// would do.
type Forest struct {
	Label   string        `json:"label"`
	Trees   int           `json:"trees"` // of the forest; 0 if there is none
	Rows    int           `json:"rows"`
	Classes []string      `json:"classes,omitempty"`
	Quality model.Quality `json:"out_of_bag"`

	// Importances are the features whose permutation harms the forest most, at
	// most 15. There are none of a forest that was grown without.
	Importances []Importance `json:"importances,omitempty"`

	Learnt *Learnt `json:"learnt,omitempty"` // of what is more than a forest

	// Responses are how the prediction changes with the amounts of single ingredients, those
	// that change it most first, at the recipe that At names, of Total units; Unit is that of
	// the predictions.
	Responses []Response `json:"responses,omitempty"`
	At        string     `json:"at,omitempty"`
	Unit      string     `json:"unit,omitempty"`
	Total     int        `json:"total,omitempty"`
}

// A Response is how a prediction changes with the amount of an ingredient, the others in
// their proportions.
type Response struct {
	Ingredient string          `json:"ingredient"`
	Amount     int             `json:"amount"` // units in the recipe
	Sign       int             `json:"sign"`   // 1: it rises with the amount, mostly; −1: it falls; 0: both
	Swing      Number          `json:"swing"`  // the largest less the smallest
	Points     []ResponsePoint `json:"points"`
}

// A ResponsePoint is what is predicted at an amount, with an interval of 90 % where there is
// one.
type ResponsePoint struct {
	Amount int    `json:"amount"` // units
	Value  Number `json:"value"`
	Low    Number `json:"low"`
	High   Number `json:"high"`
}

// Words says which way a response goes.
func (r *Response) Words() string {
	return map[int]string{1: "raises it", -1: "lowers it", 0: "raises and lowers it"}[r.Sign]
}

// Words says what the model is, such as "A forest of 100 trees".
func (f *Forest) Words() string {
	forest := fmt.Sprintf("forest of %s", number.Counted(f.Trees, "tree"))
	switch {
	case f.Learnt == nil || !f.Learnt.Process:
		return "A " + forest
	case f.Trees == 0:
		return "A Gaussian process"
	}
	return "The average of a " + forest + " and a Gaussian process"
}

// Learnt is how a model was learnt that need not be a forest alone; see [model.Learned].
type Learnt struct {
	Process  bool          `json:"process"` // a Gaussian process has a part
	Log      bool          `json:"log,omitempty"`
	Features string        `json:"features,omitempty"` // that were chosen beside or instead of the amounts
	Failures int           `json:"failures,omitempty"` // recipes that could not be measured
	Brings   []model.Tried `json:"brings,omitempty"`   // what forest, process and average do on held-out recipes

	// Of a process, in the label's unit: how many recipes are replicates of each other
	// and how they differ, and the noise that it sees.
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

// Training describes a model that was learnt.
type Training struct {
	Forest
	Seed     uint64 `json:"seed"`
	Features int    `json:"features_per_split"`
	Leaf     int    `json:"smallest_leaf"`
	Deepest  int    `json:"deepest_tree"`
	File     string `json:"file,omitempty"` // where it was saved

	Choice *model.Choice `json:"choice,omitempty"` // if it, or what it looks at, was chosen

	// HeldOut are the recipes with a number and what is predicted of them by what has not
	// seen them; none of classes, and of a forest alone.
	HeldOut []HeldOut `json:"held_out,omitempty"`
}

// HeldOut is what was measured of a recipe, and what is predicted of it by what has not
// seen it, with an interval of 90 %.
type HeldOut struct {
	Measured Number `json:"measured"`
	Value    Number `json:"value"`
	Low      Number `json:"low"`
	High     Number `json:"high"`
}
