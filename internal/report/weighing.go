package report

import "strings"

// A Weighing is a recipe with the amounts to weigh. Amounts are texts of decimal numbers in Unit,
// so that they add up exactly.
type Weighing struct {
	Title      string       `json:"title"`
	Batch      string       `json:"batch"`         // size of the batch, with its unit
	Unit       string       `json:"unit"`          // unit of the amounts
	Step       string       `json:"step"`          // smallest difference that the scale shows, in Unit
	Conditions []SetValue   `json:"set,omitempty"` // conditions under which the recipe is made
	Rows       []WeighedRow `json:"rows"`          // ingredients with their amounts, in the order of addition
	Sum        string       `json:"sum"`           // sum of all amounts
	Cost       Number       `json:"cost"`          // cost of the batch; null if the cost of some ingredient is unknown
	Notes      []string     `json:"notes"`
}

// A SetValue is a condition with its value for one recipe, as text with the unit.
type SetValue struct {
	Condition string `json:"condition"`
	Value     string `json:"value"`
}

// SetText lists the conditions of the recipe with their values, such as "temperature 190 °C, oven
// fan".
func (w *Weighing) SetText() string {
	var said []string
	for _, s := range w.Conditions {
		said = append(said, s.Condition+" "+s.Value)
	}
	return strings.Join(said, ", ")
}

// A WeighedRow is an ingredient to weigh, a row of a [Weighing].
type WeighedRow struct {
	Group      string `json:"group"` // group of the ingredient in tables
	Ingredient string `json:"ingredient"`
	Amount     string `json:"amount"`  // amount to weigh
	RunningSum string `json:"running"` // sum of the amounts from the first row to this row, which a scale shows that is not reset between ingredients
	Exact      Number `json:"exact"`   // amount before it was rounded to the step of the scale
	Percent    Number `json:"percent"` // percentage of the ingredient in the recipe before rounding
	Cost       Number `json:"cost"`    // cost of the amount; null if it is unknown

	ExactText   string `json:"-"` // Exact as text
	PercentText string `json:"-"` // Percent as text
}
