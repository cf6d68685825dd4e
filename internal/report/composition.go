package report

import (
	"slices"
	"strings"

	"kir/internal/search"
)

// A Best is a composition worth a look.
type Best struct {
	Chain      int               `json:"chain"` // −1: a search found it
	Draw       int               `json:"draw"`  // −1: a search found it
	Drawn      bool              `json:"drawn"` // else a search, or a replica of a tempered chain, met it
	Score      Number            `json:"score"` // of the shortlist Π y_k, of the objectives that count, each once
	LogDensity Number            `json:"log_density"`
	Scores     map[string]Number `json:"scores"` // y_k, whatever its weight
	Recipe     map[string]int    `json:"recipe"` // units by ingredient
	Known      bool              `json:"known"`  // the book has a recipe of the same ingredients
	Nearest    []Nearest         `json:"nearest"`
	Slack      []Slack           `json:"slack"` // of the rules that have something to say of it

	// Predicted are the labels, numbers and classes, by objective.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// Values are those of all properties that have any, what is predicted among them.
	Values map[string]Value `json:"values,omitempty"`
	// Sure are the probabilities that limits with sure bound.
	Sure []LimitProbability `json:"sure,omitempty"`
	// Ranges are the units that an ingredient may have, given to or taken from one
	// other, without the models telling the difference. What has no range is not
	// listed.
	Ranges   map[string]search.Range `json:"ranges,omitempty"`
	Variants []Variant               `json:"variants,omitempty"` // nearly the same of other ingredients

	Apart Number `json:"apart"` // distance from the nearest entry before it
	// Extrapolates says that it lies further from all known recipes than these lie
	// from each other: the models have seen nothing like it.
	Extrapolates bool `json:"extrapolates"`
}

// A Prediction is what a model expects of a label. Of a number it is that number, with an
// interval for the label of this composition that holds those of 90 % of new recipes. Of a
// class it is how often recipes are of it to which the model gives such a probability, by
// those that it has not seen, with an interval that holds this share with probability 0.9;
// the model's own probability is the score. Models of other programs tell no interval, but
// at which values of constants, if several were tried.
type Prediction struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	At    string `json:"at,omitempty"`
	Unit  string `json:"unit,omitempty"` // of all three, where it is known

	Class string `json:"class,omitempty"` // that the probability is of; empty of a number
	// Unchecked says of a class that nobody knows which recipes the model has seen, so that
	// its own probability stands there as it is.
	Unchecked bool `json:"unchecked,omitempty"`
	Weak      bool `json:"weak,omitempty"` // the model is, see [ObjectiveSummary]

	// Expected is what is left of the value once it is taken into account that the
	// composition was searched for, and the interval is about it: a search finds what
	// is best by luck, too. See [search.OptimismCheck]. It is absent where nothing checks that.
	Expected *Number `json:"expected,omitempty"`
	// Limited says that the value is limited, so that it is shown beside what is expected.
	Limited bool `json:"limited,omitempty"`
}

// A LimitProbability is the probability with which a measurement keeps a limit, as the problem says
// it.
type LimitProbability struct {
	Limit       string `json:"limit"`
	Probability Number `json:"probability"`
}

// Shown is the figure to show: what is expected, or the value where that is limited or
// nothing is expected.
func (p Prediction) Shown() Number {
	if p.Expected != nil && !p.Limited {
		return *p.Expected
	}
	return p.Value
}

// A Variant is another composition that is nearly as good as an entry, and nearly
// the same: what it has not, and what it has instead.
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

// Parts returns the recipe's parts, the largest first, then by name.
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

// A Slack sets a figure of a composition beside the bounds of a rule.
type Slack struct {
	Rule       int    `json:"rule"` // its place in the problem's rules
	Value      Number `json:"value"`
	Min        Number `json:"min"`  // null where there is no bound
	Max        Number `json:"max"`  // null where there is no bound
	Unit       string `json:"unit"` // units, ingredients, or an attribute
	Ingredient string `json:"ingredient,omitempty"`
	Room       Number `json:"room"` // to the nearer bound; null without any
}

// A Nearest is a recipe of the book that shares ingredients.
type Nearest struct {
	Recipe  string   `json:"recipe"`
	Overlap Number   `json:"overlap"` // |A∩B| / min(|A|, |B|)
	Shared  []string `json:"shared"`
	// Distance is Hellinger's on the shares of what is left when the ingredients
	// that all recipes have are taken out, as they are of the overlap; null where
	// nothing was searched.
	Distance Number `json:"distance"`
}
