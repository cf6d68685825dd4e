package paper

// Cocktails is the result of the cocktail experiment: samples for a drink that is fresh and suits any time of the
// day, learnt from a recipe book.
type Cocktails struct {
	Recipes     int `json:"recipes"`
	Ingredients int `json:"ingredients"`
	Total       int `json:"total"`
	Iterations  int `json:"iterations"`
	Discarded   int `json:"discarded"`

	// Law holds how many recipes of the book use n ingredients, for each n.
	Law     []LawCount      `json:"law"`
	Forests []ForestQuality `json:"forests"`
	Rates   []Share         `json:"rates"` // rates of the accelerated sampler, in percent

	// New is the new cocktail, and Rule states how it was chosen.
	New  Drink  `json:"new"`
	Rule string `json:"rule"`

	// Nearest are the recipes whose sets of ingredients overlap most with the new cocktail's.
	Nearest []Drink `json:"nearest"`

	// Random and the next field describe the product of the objectives over random compositions of the book's law of
	// n, and over the chains. They hold means over the sequences and standard deviations.
	Random Product `json:"random"`
	Chain  Product `json:"chain"`

	// Tastes are the classes of the label taste.
	Tastes []string `json:"tastes"`
}

// A LawCount is the number of recipes that use n ingredients.
type LawCount struct {
	N       int `json:"n"`
	Recipes int `json:"recipes"`
	Paper   int `json:"paper"`
}

// A ForestQuality holds how well a forest predicts recipes that its trees were not trained on.
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

// A Share is the mean and the standard deviation of a rate over the sequences.
type Share struct {
	Rate string  `json:"rate"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// A Drink is a composition with the names of its ingredients and its scores.
type Drink struct {
	Name   string    `json:"name"`
	Parts  []Portion `json:"parts"` // ingredients with shares, the largest first
	Labels []string  `json:"labels,omitempty"`

	// Scores are the probabilities of the wanted classes, and Score is their product.
	Scores []float64 `json:"scores"`
	Score  float64   `json:"score"`

	// Overlap is |A∩B|/min(|A|,|B|), with A the ingredients of this drink and B those of the new cocktail.
	Overlap float64 `json:"overlap"`
}

// A Portion is an ingredient of a drink and its share.
type Portion struct {
	Ingredient string  `json:"ingredient"`
	Units      int     `json:"units"`
	Percent    float64 `json:"percent"`
	Shared     bool    `json:"shared"` // whether the new cocktail, or for that cocktail one of the nearest recipes, has the ingredient, too
}

// A Product is the distribution of y_taste·y_timing over several sequences of compositions.
type Product struct {
	Compositions int     `json:"compositions"` // number of compositions in each sequence
	Mean         float64 `json:"mean"`
	SD           float64 `json:"sd"` // standard deviation of the sequences' means
	Bins         []Bin   `json:"bins"`
}

// A Bin is the fraction of compositions with low ≤ product < high. The last bin includes high = 1.
type Bin struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}
