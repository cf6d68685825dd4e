package paper

// Cocktails is the result of the cocktail experiment. The experiment samples compositions for a drink that is
// fresh and suits any time of the day, as learnt from a recipe book.
type Cocktails struct {
	Recipes     int `json:"recipes"`     // number of recipes in the book
	Ingredients int `json:"ingredients"` // number of ingredients in the book
	Total       int `json:"total"`       // total units of a composition
	Iterations  int `json:"iterations"`  // iterations of one sequence
	Discarded   int `json:"discarded"`   // number of iterations at the beginning of a sequence that are discarded

	// Law holds, for each number n, how many recipes of the book use n ingredients.
	Law     []LawCount      `json:"law"`
	Forests []ForestQuality `json:"forests"` // quality of the forest for each objective
	Rates   []Share         `json:"rates"`   // rates of acceptance and change of the accelerated sampler, in percent

	// New is the new cocktail, and Rule states how the new cocktail was chosen.
	New  Drink  `json:"new"`
	Rule string `json:"rule"`

	// Nearest are the recipes whose sets of ingredients overlap most with the set of the new cocktail.
	Nearest []Drink `json:"nearest"`

	// Random is the distribution of the product of the objectives over random compositions whose number of
	// ingredients follows the distribution in the book. Chain is the distribution of the product over the chains.
	// Both hold means and standard deviations over the sequences.
	Random Product `json:"random"`
	Chain  Product `json:"chain"`

	// Tastes are the classes of the label "taste".
	Tastes []string `json:"tastes"`
}

// A LawCount is the number of recipes that use n ingredients.
type LawCount struct {
	N       int `json:"n"`       // number of ingredients
	Recipes int `json:"recipes"` // number of recipes in the book
	Paper   int `json:"paper"`   // number of recipes in the paper
}

// A ForestQuality holds how well a forest predicts recipes that its trees were not trained on.
type ForestQuality struct {
	Label      string  `json:"label"`             // name of the predicted label
	Want       string  `json:"want"`              // wanted class of the label
	Trees      int     `json:"trees"`             // number of trees
	Accuracy   float64 `json:"accuracy"`          // fraction of correct predictions
	AccuracySE float64 `json:"accuracy_se"`       // standard error of Accuracy
	Majority   float64 `json:"majority_accuracy"` // fraction of correct predictions of the trivial prediction that always predicts the most frequent class
	LogLoss    float64 `json:"log_loss"`          // mean of −log of the predicted probability of the true class
	PriorLoss  float64 `json:"prior_log_loss"`    // LogLoss of the trivial prediction that always predicts the class frequencies
}

// A Share is the mean and the standard deviation of a rate over the sequences.
type Share struct {
	Rate string  `json:"rate"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// A Drink is a composition with the names of the ingredients and the scores.
type Drink struct {
	Name   string    `json:"name"`
	Parts  []Portion `json:"parts"`            // ingredients with shares, the largest share first
	Labels []string  `json:"labels,omitempty"` // classes of the recipe, one for each label that is an objective

	// Scores are the predicted probabilities of the wanted classes, and Score is the product of the Scores.
	Scores []float64 `json:"scores"`
	Score  float64   `json:"score"`

	// Overlap is |A∩B|/min(|A|,|B|), where A is the set of ingredients of this drink and B the set of
	// ingredients of the new cocktail.
	Overlap float64 `json:"overlap"`
}

// A Portion is an ingredient of a drink and the share of the ingredient.
type Portion struct {
	Ingredient string  `json:"ingredient"`
	Units      int     `json:"units"`
	Percent    float64 `json:"percent"`
	Shared     bool    `json:"shared"` // in a recipe: whether the new cocktail also has the ingredient; in the new cocktail: whether one of the nearest recipes has the ingredient
}

// A Product is the distribution of y_taste·y_timing, the product of the two objectives, over several sequences
// of compositions.
type Product struct {
	Compositions int     `json:"compositions"` // number of compositions in each sequence
	Mean         float64 `json:"mean"`         // mean of the product
	SD           float64 `json:"sd"`           // standard deviation, over the sequences, of the mean of a sequence
	Bins         []Bin   `json:"bins"`
}

// A Bin is the fraction of compositions with Low ≤ product < High. The last bin includes High = 1.
type Bin struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Mean float64 `json:"mean"` // mean, over the sequences, of the fraction
	SD   float64 `json:"sd"`   // standard deviation, over the sequences, of the fraction
}
