package report

import "kir/model"

// A Property is one wish and what is known of its quality.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`
	Weight float64 `json:"weight"`
	Forest *Forest `json:"forest,omitempty"`
}

// Forest is a random forest and how well it predicts recipes that it has not
// seen (out of bag), beside what guessing would do.
type Forest struct {
	Label   string        `json:"label"`
	Trees   int           `json:"trees"`
	Rows    int           `json:"rows"`
	Classes []string      `json:"classes,omitempty"`
	Quality model.Quality `json:"out_of_bag"`

	// Importances are the features whose permutation harms the forest most, at
	// most 15. There are none of a forest that was grown without.
	Importances []Importance `json:"importances,omitempty"`
}

// An Importance is the permutation importance of a feature, see
// [model.Importance].
type Importance struct {
	Feature string `json:"feature"`
	Mean    Number `json:"mean"`
	SE      Number `json:"se"`
}

// Training is what is said of a forest that was grown.
type Training struct {
	Forest
	Seed     uint64 `json:"seed"`
	Features int    `json:"features_per_split"`
	Leaf     int    `json:"smallest_leaf"`
	Deepest  int    `json:"deepest_tree"`
	File     string `json:"file,omitempty"` // where it was saved

	Choice *model.Choice `json:"choice,omitempty"` // if it was chosen
}
