package report

// A Weighing is a recipe as it is put on the scale. Amounts are decimal numbers in
// Unit, so that their sum is exact.
type Weighing struct {
	Title string       `json:"title"`
	Batch string       `json:"batch"` // how much is made, with its unit
	Unit  string       `json:"unit"`  // that is weighed
	Step  string       `json:"step"`  // of the scale
	Rows  []WeighedRow `json:"rows"`  // in the order of addition
	Sum   string       `json:"sum"`
	Cost  Number       `json:"cost"` // of the batch; null if that of some ingredient is not known
	Notes []string     `json:"notes"`
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
