package report

import (
	"slices"
	"strings"

	"kir/internal/search"
)

// A Best is a composition of the shortlist.
type Best struct {
	Chain      int               `json:"chain"` // −1: a search found it
	Draw       int               `json:"draw"`  // −1: a search found it
	Drawn      bool              `json:"drawn"` // else a search, or a replica of a tempered chain, met it
	Score      Number            `json:"score"` // of the shortlist Π y_k, of the objectives that count, each once
	LogDensity Number            `json:"log_density"`
	Scores     map[string]Number `json:"scores"`               // y_k, whatever its weight
	Recipe     map[string]int    `json:"recipe"`               // units by ingredient
	Conditions map[string]any    `json:"conditions,omitempty"` // by name: a number or a text
	Known      bool              `json:"known"`                // the book has a recipe of the same ingredients
	Nearest    []Nearest         `json:"nearest"`
	Slack      []Slack           `json:"slack"` // of the rules that have something to say of it

	// Predicted are the predicted labels, numbers and classes, by objective.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values are the values of all properties that have any, including predictions.
	Values map[string]Value `json:"values,omitempty"`
	// Sure are the probabilities of keeping the limits that have a sure value.
	Sure []LimitProbability `json:"sure,omitempty"`
	// Ranges are the units that an ingredient may have, in exchange with one other, without a
	// difference that the models resolve. Ingredients without a range are not listed.
	Ranges map[string]search.Range `json:"ranges,omitempty"`
	// ConditionRanges are the same of conditions of numbers.
	ConditionRanges map[string]ConditionRange `json:"condition_ranges,omitempty"`
	Variants        []Variant                 `json:"variants,omitempty"` // nearly the same of other ingredients

	Apart Number `json:"apart"` // distance from the nearest entry before it
	// Extrapolates reports whether the composition lies further from all known recipes than these
	// lie from each other. The models were trained on nothing like it.
	Extrapolates bool `json:"extrapolates"`
}

// A Prediction is a model's prediction of a label. For a number it is the number, with an interval
// that holds the labels of 90 % of new recipes of this composition. For a class it is a calibrated
// probability: the share of held-out recipes of that class among those with the same model
// probability. Its interval holds this share with probability 0.9, and the model's own probability
// is the score. Models of other programs give no interval.
type Prediction struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Unit  string `json:"unit,omitempty"` // of all three, where it is known

	Class string `json:"class,omitempty"` // that the probability is of; empty of a number
	// Unchecked reports, for a class, that the training recipes of the model are unknown. Value is
	// then the model's own probability.
	Unchecked bool `json:"unchecked,omitempty"`
	Weak      bool `json:"weak,omitempty"` // the model is, see [ObjectiveSummary]

	// Expected is the part of the value that is expected to remain after the search's selection
	// effect, with the interval around it. A search also finds compositions that are best by luck.
	// See [search.OptimismCheck]. It is absent where no check exists.
	Expected *Number `json:"expected,omitempty"`
	// Limited reports whether the value is limited. Reports then show it next to Expected.
	Limited bool `json:"limited,omitempty"`
}

// A LimitProbability is the probability that a measurement keeps a limit of the problem.
type LimitProbability struct {
	Limit       string `json:"limit"`
	Probability Number `json:"probability"`
}

// Shown returns the figure to display: Expected, or Value if that is limited or Expected is absent.
func (p Prediction) Shown() Number {
	if p.Expected != nil && !p.Limited {
		return *p.Expected
	}
	return p.Value
}

// A Variant is a nearly equal composition that is nearly as good as an entry, given by the
// ingredients it lacks and those it has instead.
type Variant struct {
	Score   Number         `json:"score"`
	Without []string       `json:"without"`
	With    map[string]int `json:"with"` // units
}

// A Part is an ingredient of a recipe and its units.
type Part struct {
	Ingredient string
	Amount     int
}

// Parts returns the recipe's ingredients, the largest amounts first, then by name.
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

// A Slack compares a figure of a composition with the bounds of a constraint.
type Slack struct {
	Rule       int    `json:"rule"` // its place in the problem's rules
	Value      Number `json:"value"`
	Min        Number `json:"min"`  // null where there is no bound
	Max        Number `json:"max"`  // null where there is no bound
	Unit       string `json:"unit"` // units, ingredients, or an attribute
	Ingredient string `json:"ingredient,omitempty"`
	Room       Number `json:"room"` // to the nearer bound; null without any
}

// A Nearest is a known recipe that shares ingredients.
type Nearest struct {
	Recipe  string   `json:"recipe"`
	Overlap Number   `json:"overlap"` // |A∩B| / min(|A|, |B|)
	Shared  []string `json:"shared"`
	// Distance is Hellinger's distance on the shares without the ingredients that all recipes have.
	// Overlap leaves these out too. Distance is null where there was no search.
	Distance Number `json:"distance"`
}
