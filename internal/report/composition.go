package report

import (
	"slices"
	"strings"

	"kir/internal/search"
)

// A Best is an entry of the shortlist: a composition of high score.
type Best struct {
	Chain      int               `json:"chain"`                // number of the chain that drew the composition; −1 if a search found the composition
	Draw       int               `json:"draw"`                 // number of the draw in its chain; −1 if a search found the composition
	Drawn      bool              `json:"drawn"`                // whether the composition is a draw of a chain; otherwise a search found it, or a tempered chain visited it between draws
	Score      Number            `json:"score"`                // Π y_k over the objectives with positive weights if a search found the composition; otherwise Π y_k^c_k; y_k are the scores and c_k the weights of the objectives
	LogDensity Number            `json:"log_density"`          // log of the unnormalised target density
	Scores     map[string]Number `json:"scores"`               // maps the name of an objective, whatever its weight, to the score y_k
	Recipe     map[string]int    `json:"recipe"`               // maps the name of an ingredient to its amount in units
	Conditions map[string]any    `json:"conditions,omitempty"` // maps the name of a condition to its value, a number or a text
	Known      bool              `json:"known"`                // whether a known recipe has the same ingredients
	Nearest    []Nearest         `json:"nearest"`              // known recipes that are most similar to the composition
	Slack      []Slack           `json:"slack"`                // how far the composition is from the bounds of each constraint

	// Predicted maps the name of an objective to its model's prediction for the composition.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values maps names to quantities of the composition in their own units, such as its cost. It
	// has the quantities that properties compute, and the predictions.
	Values map[string]Value `json:"values,omitempty"`
	// Sure lists probabilities that a measurement keeps a limit of the problem, such as "cost at
	// most 12". It has the limits that the problem wants kept with a given probability.
	Sure []LimitProbability `json:"sure,omitempty"`
	// Ranges maps the name of an ingredient to a range of its amount in units. If the amount
	// changes within the range in exchange with one other ingredient, the predictions change less
	// than the models can resolve. Ingredients without such a range are absent.
	Ranges map[string]search.Range `json:"ranges,omitempty"`
	// ConditionRanges maps the name of a condition to a range of its values. Within the range the
	// predictions change less than the models can resolve. It has only conditions whose values are
	// numbers.
	ConditionRanges map[string]ConditionRange `json:"condition_ranges,omitempty"`
	Variants        []Variant                 `json:"variants,omitempty"` // compositions that differ in a few ingredients and are nearly as good

	Apart Number `json:"apart"` // distance to the nearest of the entries that come earlier in the shortlist
	// Extrapolates reports whether the composition lies further from all known recipes than the
	// known recipes lie from each other. The models were trained on nothing similar.
	Extrapolates bool `json:"extrapolates"`
	// NotBetter reports whether the best known recipe scores at least as much, by its measured
	// labels, as this composition is predicted to score.
	NotBetter bool `json:"not_better,omitempty"`
}

// A Prediction is a model's prediction for a composition.
//
// For a numeric label, Value is the predicted number. The interval from Low to High is made to hold
// the labels of 90 % of new recipes of this composition.
//
// For a class, Value is the calibrated probability of the class: among recipes that the model was
// not trained on, and to which the model gives the same probability, the share in the class. The
// interval holds this share with probability 0.9. The score of the composition is the model's own
// probability, without calibration.
//
// Models trained by other programs give no interval.
type Prediction struct {
	Value Number `json:"value"`          // predicted number, or probability of the class
	Low   Number `json:"low"`            // lower end of the 90 % interval
	High  Number `json:"high"`           // upper end of the 90 % interval
	Unit  string `json:"unit,omitempty"` // unit of Value, Low and High, where it is known

	Class string `json:"class,omitempty"` // name of the class whose probability is predicted; empty for a numeric label
	// Unchecked reports, for a class, that it is unknown on which recipes the model was trained.
	// Value is then the model's own probability, which is not calibrated.
	Unchecked bool `json:"unchecked,omitempty"`
	Weak      bool `json:"weak,omitempty"` // whether the model predicts little better than guessing; see Strength in [ObjectiveSummary]

	// Expected is the value, with Low and High around it, corrected because the search selects
	// compositions whose predictions are too high by chance; see [search.OptimismCheck]. Expected
	// is absent if no check measured this effect.
	Expected *Number `json:"expected,omitempty"`
	// Limited reports whether the problem limits the predicted value. If so, reports show Value as
	// well as Expected.
	Limited bool `json:"limited,omitempty"`
}

// A LimitProbability is the probability that a measurement of a recipe keeps a limit of the
// problem.
type LimitProbability struct {
	Limit       string `json:"limit"` // limit as text
	Probability Number `json:"probability"`
}

// Shown returns the number to display: Expected if it is known and the problem does not limit the
// value, otherwise Value.
func (p Prediction) Shown() Number {
	if p.Expected != nil && !p.Limited {
		return *p.Expected
	}
	return p.Value
}

// A Variant is a composition similar to an entry of the shortlist and nearly as good. It is
// described by the differences.
type Variant struct {
	Score   Number         `json:"score"`
	Without []string       `json:"without"` // names of the ingredients of the entry that the variant does not have
	With    map[string]int `json:"with"`    // maps the name of an ingredient that only the variant has to its amount in units
}

// A Part is an ingredient of a recipe with its amount.
type Part struct {
	Ingredient string
	Amount     int // amount in units
}

// Parts returns the ingredients of the recipe with their amounts. The largest amounts come first;
// equal amounts are ordered by name.
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

// A Slack compares a composition with the bounds of a constraint.
type Slack struct {
	Rule       int    `json:"rule"`                 // index of the constraint in [Problem].Rules
	Value      Number `json:"value"`                // quantity of the composition that the constraint bounds
	Min        Number `json:"min"`                  // lower bound; null where there is none
	Max        Number `json:"max"`                  // upper bound; null where there is none
	Unit       string `json:"unit"`                 // unit of Value: "units", "ingredients", or the name of an attribute
	Ingredient string `json:"ingredient,omitempty"` // ingredient that the constraint is about; empty if there is none
	Room       Number `json:"room"`                 // distance to the nearer bound; null without bounds
}

// A Nearest is a known recipe similar to a composition.
type Nearest struct {
	Recipe  string   `json:"recipe"`  // name of the known recipe
	Overlap Number   `json:"overlap"` // |A∩B| / min(|A|, |B|) for the two sets of ingredients A and B
	Shared  []string `json:"shared"`  // names of the ingredients that both have
	// Distance is Hellinger's distance between the two recipes' shares of the ingredients. Like
	// Overlap, it leaves out ingredients that all known recipes have. Distance is null if there was
	// no search.
	Distance Number `json:"distance"`
}
