package paper

// Cocktails is the cocktail experiment: what the sampler makes of a recipe
// book when it is to be Fresh, and good at any time of the day.
type Cocktails struct {
	Recipes     int `json:"recipes"`
	Ingredients int `json:"ingredients"`
	Total       int `json:"total"`
	Iterations  int `json:"iterations"`
	Discarded   int `json:"discarded"`

	// Law is how many recipes of the book use n ingredients.
	Law     []LawCount      `json:"law"`
	Forests []ForestQuality `json:"forests"`
	Rates   []Share         `json:"rates"` // of accelerated, in percent

	// New is the new cocktail, and Rule how it was chosen.
	New  Drink  `json:"new"`
	Rule string `json:"rule"`

	// Nearest are the recipes with the most similar sets of ingredients.
	Nearest []Drink `json:"nearest"`

	// The product of the wishes over random compositions of the book's law of n,
	// and over the chain: means over the sequences and standard deviations.
	Random Product `json:"random"`
	Chain  Product `json:"chain"`

	// Tastes are the classes of the label taste.
	Tastes []string `json:"tastes"`
}

// A LawCount is how many recipes use n ingredients.
type LawCount struct {
	N       int `json:"n"`
	Recipes int `json:"recipes"`
	Paper   int `json:"paper"`
}

// ForestQuality says how good a forest is, on recipes its trees have not seen.
type ForestQuality struct {
	Label      string  `json:"label"`
	Want       string  `json:"want"`
	Trees      int     `json:"trees"`
	Accuracy   float64 `json:"accuracy"`
	AccuracySE float64 `json:"accuracy_se"`
	Majority   float64 `json:"majority_accuracy"`
	LogLoss    float64 `json:"log_loss"`
	PriorLoss  float64 `json:"prior_log_loss"`
}

// A Share is a rate's mean and standard deviation over the sequences.
type Share struct {
	Rate string  `json:"rate"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// A Drink is a composition with names.
type Drink struct {
	Name   string    `json:"name"`
	Parts  []Portion `json:"parts"` // largest first
	Labels []string  `json:"labels,omitempty"`

	// Scores are the wishes' probabilities, and Score their product.
	Scores []float64 `json:"scores"`
	Score  float64   `json:"score"`

	// Overlap is |A∩B|/min(|A|,|B|) with the new cocktail.
	Overlap float64 `json:"overlap"`
}

// A Portion is one ingredient's part of a drink.
type Portion struct {
	Ingredient string  `json:"ingredient"`
	Units      int     `json:"units"`
	Percent    float64 `json:"percent"`
	Shared     bool    `json:"shared"` // with the new cocktail, or in it with any of the nearest
}

// A Product is the law of y_taste·y_timing over several sequences of
// compositions.
type Product struct {
	Compositions int     `json:"compositions"` // in a sequence
	Mean         float64 `json:"mean"`
	SD           float64 `json:"sd"` // of the sequences' means
	Bins         []Bin   `json:"bins"`
}

// A Bin is the share of compositions with low ≤ product < high; the last one
// has 1 as well.
type Bin struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}
