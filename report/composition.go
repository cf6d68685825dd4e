package report

import (
	"slices"
	"strings"
)

// A Best is a composition worth a look.
type Best struct {
	Chain      int               `json:"chain"`
	Draw       int               `json:"draw"`
	Drawn      bool              `json:"drawn"` // else a replica of a tempered chain met it on its way to that draw
	Score      Number            `json:"score"`
	LogDensity Number            `json:"log_density"`
	Scores     map[string]Number `json:"scores"`
	Recipe     map[string]int    `json:"recipe"` // units by ingredient
	Known      bool              `json:"known"`  // the book has a recipe of the same ingredients
	Nearest    []Nearest         `json:"nearest"`
	Slack      []Slack           `json:"slack"` // of the rules that have something to say of it
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
}
