package report

import "strings"

// A Weighing is a recipe as it is put on the scale. Amounts are decimal numbers in
// Unit, so that their sum is exact.
type Weighing struct {
	Title string       `json:"title"`
	Batch string       `json:"batch"`         // how much is made, with its unit
	Unit  string       `json:"unit"`          // that is weighed
	Step  string       `json:"step"`          // of the scale
	Set   []SetValue   `json:"set,omitempty"` // the conditions under which it is made
	Rows  []WeighedRow `json:"rows"`          // in the order of addition
	Sum   string       `json:"sum"`
	Cost  Number       `json:"cost"` // of the batch; null if that of some ingredient is not known
	Notes []string     `json:"notes"`
}

// A SetValue is a condition with its value, with the unit.
type SetValue struct {
	Condition string `json:"condition"`
	Value     string `json:"value"`
}

// SetText lists the conditions, such as "temperature 190 °C, oven fan".
func (w *Weighing) SetText() string {
	var said []string
	for _, s := range w.Set {
		said = append(said, s.Condition+" "+s.Value)
	}
	return strings.Join(said, ", ")
}

// A WeighedRow is an ingredient on the scale.
type WeighedRow struct {
	Group      string `json:"group"`
	Ingredient string `json:"ingredient"`
	Amount     string `json:"amount"`
	Running    string `json:"running"` // what the scale shows if it is not set back
	Exact      Number `json:"exact"`   // before it was rounded
	Percent    Number `json:"percent"` // of the recipe, as it was drawn
	Cost       Number `json:"cost"`

	ExactText, PercentText string `json:"-"` // as they are written
}
