package report

import "strings"

// A Weighing is a recipe with the amounts to weigh. Amounts are decimal numbers in Unit, so that
// their sum is exact.
type Weighing struct {
	Title      string       `json:"title"`
	Batch      string       `json:"batch"`         // size of the batch, with its unit
	Unit       string       `json:"unit"`          // unit of the amounts
	Step       string       `json:"step"`          // step of the scale, in Unit
	Conditions []SetValue   `json:"set,omitempty"` // conditions under which the recipe is made
	Rows       []WeighedRow `json:"rows"`          // ingredients with their amounts, in the order of addition
	Sum        string       `json:"sum"`
	Cost       Number       `json:"cost"` // cost of the batch; null if the cost of some ingredient is unknown
	Notes      []string     `json:"notes"`
}

// A SetValue is a condition with its value as text, with the unit.
type SetValue struct {
	Condition string `json:"condition"`
	Value     string `json:"value"`
}

// SetText lists the conditions and their values, such as "temperature 190 °C, oven fan".
func (w *Weighing) SetText() string {
	var said []string
	for _, s := range w.Conditions {
		said = append(said, s.Condition+" "+s.Value)
	}
	return strings.Join(said, ", ")
}

// A WeighedRow is an ingredient to weigh.
type WeighedRow struct {
	Group      string `json:"group"`
	Ingredient string `json:"ingredient"`
	Amount     string `json:"amount"`
	RunningSum string `json:"running"` // sum of the amounts down to this row, which the scale shows if it is not reset
	Exact      Number `json:"exact"`   // amount before rounding to the scale
	Percent    Number `json:"percent"` // percentage in the recipe before rounding
	Cost       Number `json:"cost"`

	ExactText, PercentText string `json:"-"` // texts of Exact and Percent
}
