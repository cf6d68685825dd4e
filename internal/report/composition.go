package report

import (
	"slices"
	"strings"

	"kir/internal/search"
)

// A Best is a composition of the shortlist.
type Best struct {
	Chain      int               `json:"chain"` // chain of the draw; −1 if a search found the composition
	Draw       int               `json:"draw"`  // number of the draw in its chain; −1 if a search found the composition
	Drawn      bool              `json:"drawn"` // whether the composition is a draw; otherwise it was found by a search or visited by a replica of a tempered chain
	Score      Number            `json:"score"` // Π y_k over the objectives with positive weights if a search found the composition; for a draw Π y_k^c_k with the weights c_k
	LogDensity Number            `json:"log_density"`
	Scores     map[string]Number `json:"scores"`               // score y_k of each objective, whatever its weight
	Recipe     map[string]int    `json:"recipe"`               // units by ingredient
	Conditions map[string]any    `json:"conditions,omitempty"` // values of the conditions by name: numbers or texts
	Known      bool              `json:"known"`                // whether a known recipe has the same ingredients
	Nearest    []Nearest         `json:"nearest"`
	Slack      []Slack           `json:"slack"` // how far the composition is from the bounds of the rules

	// Predicted holds the predictions of the models by objective.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values holds, by name, the values of all properties that state values, predictions included.
	Values map[string]Value `json:"values,omitempty"`
	// Sure lists the probabilities that a measurement keeps a limit, for limits that are to be kept
	// with a given probability.
	Sure []LimitProbability `json:"sure,omitempty"`
	// Ranges holds, by ingredient, the units that the ingredient may have in exchange with one
	// other ingredient without a difference that the models resolve. Ingredients without such a
	// range are absent.
	Ranges map[string]search.Range `json:"ranges,omitempty"`
	// ConditionRanges holds, by condition, the values that make no difference that the models
	// resolve. It has only conditions whose values are numbers.
	ConditionRanges map[string]ConditionRange `json:"condition_ranges,omitempty"`
	Variants        []Variant                 `json:"variants,omitempty"` // nearly equal compositions with some other ingredients

	Apart Number `json:"apart"` // distance from the nearest of the earlier entries of the shortlist
	// Extrapolates reports whether the composition lies further from all known recipes than the
	// known recipes lie from each other. The models were trained on nothing similar.
	Extrapolates bool `json:"extrapolates"`
}

// A Prediction is a model's prediction of a label. For a numeric label, Value is the predicted
// number, and the interval holds the labels of 90 % of new recipes of this composition. For a
// class, Value is a calibrated probability: the share of held-out recipes in the class, among
// recipes to which the model gives the same probability. The interval then holds this share with
// probability 0.9, and the score is the model's own probability. Models of other programs give no
// interval.
type Prediction struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit,omitempty"` // unit of Value, Low and High, where it is known

	Class string `json:"class,omitempty"` // class whose probability is predicted; empty for a numeric label
	// Unchecked reports, for a class, that the training recipes of the model are unknown. Value is
	// then the model's own probability, which is not calibrated.
	Unchecked bool `json:"unchecked,omitempty"`
	Weak      bool `json:"weak,omitempty"` // whether the model is weak; see [ObjectiveSummary]

	// Expected is the value after correction for the selection by the search, with Low and High
	// around it. A search also finds compositions that are best by luck. See
	// [search.OptimismCheck]. Expected is absent where there was no check.
	Expected *Number `json:"expected,omitempty"`
	// Limited reports whether the problem limits the value. Reports then show Value next to
	// Expected.
	Limited bool `json:"limited,omitempty"`
}

// A LimitProbability is the probability that a measurement keeps a limit of the problem.
type LimitProbability struct {
	Limit       string `json:"limit"`
	Probability Number `json:"probability"`
}

// Shown returns the number to display: Expected, or Value if the value is limited or Expected is
// absent.
func (p Prediction) Shown() Number {
	if p.Expected != nil && !p.Limited {
		return *p.Expected
	}
	return p.Value
}

// A Variant is a nearly equal composition that is nearly as good as an entry of the shortlist. It
// is given by the ingredients that it lacks, and by those that it has instead.
type Variant struct {
	Score   Number         `json:"score"`
	Without []string       `json:"without"`
	With    map[string]int `json:"with"` // units of the ingredients that the entry lacks
}

// A Part is an ingredient of a recipe with its number of units.
type Part struct {
	Ingredient string
	Amount     int
}

// Parts returns the recipe's ingredients with their amounts, the largest amounts first, and equal
// amounts by name.
func (b Best) Parts() []Part {
	parts := make([]Part, 0, len(b.Recipe))
	for name, amount := range b.Recipe {
		parts = append(parts, Part{name, amount})
	}
	slices.SortFunc(parts, func(a, b Part) int {
		if a.Amount != b.Amount {
			return b.Amount - a.Amount
		}
		return strings.Compare(a.Ingredient, b.Ingredient)
	})
	return parts
}

// A Slack compares a quantity of a composition with the bounds of a constraint.
type Slack struct {
	Rule       int    `json:"rule"` // index of the constraint in [Problem].Rules
	Value      Number `json:"value"`
	Min        Number `json:"min"`  // lower bound; null where there is none
	Max        Number `json:"max"`  // upper bound; null where there is none
	Unit       string `json:"unit"` // unit of the quantity: "units", "ingredients", or the name of an attribute
	Ingredient string `json:"ingredient,omitempty"`
	Room       Number `json:"room"` // distance to the nearer bound; null without bounds
}

// A Nearest is a known recipe that is similar to a composition.
type Nearest struct {
	Recipe  string   `json:"recipe"`
	Overlap Number   `json:"overlap"` // |A∩B| / min(|A|, |B|) for the two sets of ingredients
	Shared  []string `json:"shared"`
	// Distance is Hellinger's distance between the shares of the ingredients, without ingredients
	// that all known recipes have. Overlap leaves these ingredients out too. Distance is null where
	// there was no search.
	Distance Number `json:"distance"`
}
