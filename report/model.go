// Package report turns a finished run into what a person or a program reads of
// it. There is one model, [Model]; summary.json, the text on a terminal and
// every other form are views of it, so that they cannot disagree.
package report

import (
	"encoding/json"
	"math"

	"kir"
	"kir/forest"
	"kir/problem"
	"kir/run"
)

// A Number is a figure that may be unknown. NaN and the infinities are null in
// JSON: a figure that could not be computed is left open, not made up.
type Number float64

// MarshalJSON writes the shortest number that reads back the same, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a number or null, which is NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// UnknownNumber is a figure that is not known.
func UnknownNumber() Number { return Number(math.NaN()) }

// Known says whether the figure is known.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// A Model is what is said of a run. Its JSON is summary.json.
type Model struct {
	Version    string               `json:"version"`
	Problem    Problem              `json:"problem"`
	Question   string               `json:"question"` // what was asked, in words
	Sampler    kir.Settings         `json:"sampler"`
	Verdict    string               `json:"verdict"`
	Grade      Grade                `json:"grade"`
	Rates      Rates                `json:"rates"`
	Moves      []Move               `json:"moves"` // of a kernel that mixes several
	Chains     []Chain              `json:"chains"`
	Ladders    []Ladder             `json:"ladders"` // of a tempered run, by chain
	LogZ       *Estimate            `json:"log_z"`   // null unless tempered
	Sparsity   []Size               `json:"sparsity"`
	Variation  Number               `json:"total_variation"`
	Expected   Number               `json:"total_variation_expected"`
	Statistics map[string]Statistic `json:"statistics"`
	Inclusion  []Inclusion          `json:"inclusion"`
	Pairs      *Pairs               `json:"pairs"`
	Properties []Property           `json:"properties"`
	Score      Comparison           `json:"score"`
	Best       []Best               `json:"best"`    // sets of ingredients, by score
	Diverse    []Best               `json:"diverse"` // some that score well and differ
	Plots      []Plot               `json:"plots"`
	Warnings   []string             `json:"warnings"`
	Inputs     []problem.Input      `json:"inputs"`
	Again      Again                `json:"again"`
	Files      []string             `json:"files"` // in the run's directory
	Parts      []run.Part           `json:"parts"` // the draws that all this was made of
	Timing     Timing               `json:"timing"`
}

// A Grade is the verdict in a word.
type Grade string

// The grades.
const (
	Sound   Grade = "sound"   // the chains agree, and are worth enough draws
	Short   Grade = "short"   // they agree, but too few draws stand behind it
	Unsound Grade = "unsound" // they disagree
	Unknown Grade = "unknown" // it cannot be told
)

// Problem is what was asked.
type Problem struct {
	Name        string `json:"name"`
	Ingredients int    `json:"ingredients"` // N
	Total       int    `json:"total"`       // M, in units
	Recipes     int    `json:"recipes"`     // in the book; 0 without one

	Rules []string `json:"rules"` // in words
}

// A Move is what one of a kernel's moves did after warm-up.
type Move struct {
	Name     string `json:"name"`
	Tried    int64  `json:"tried"`    // iterations
	Accepted Number `json:"accepted"` // share of these
	Updated  Number `json:"updated"`
}

// Rates are shares of the iterations after warm-up, in 0..1.
type Rates struct {
	Accepted Number `json:"accepted"`
	Updated  Number `json:"updated"`
}

// A Chain is what one chain did.
type Chain struct {
	Chain  int   `json:"chain"`
	Starts int   `json:"starts"` // draws from the sparsity law until one had positive density
	Rates  Rates `json:"rates"`
}

// A Size is one number of ingredients: its probability as wanted and as drawn,
// with the standard error of the latter.
type Size struct {
	N        int    `json:"n"`
	Target   Number `json:"target"`
	Observed Number `json:"observed"`
	MCSE     Number `json:"mcse"`

	// LawSE is the part of MCSE that comes from the Share; 0 without.
	LawSE Number `json:"law_se"`
	// Share is set where rules cannot be counted: what part of the counted
	// compositions keeps them. The law of n is as exact as it is.
	Share *Share `json:"share,omitempty"`
}

// A Statistic sums up one series over all chains.
type Statistic struct {
	Mean     Number `json:"mean"`
	SD       Number `json:"sd"`
	Q5       Number `json:"q5"`
	Median   Number `json:"median"`
	Q95      Number `json:"q95"`
	MCSEMean Number `json:"mcse_mean"` // the error to state, see [diagnose.Summary]
	ESSMean  Number `json:"ess_mean"`  // sd/√ESSMean is the MCSE of the literature

	MCSEQ5     Number `json:"mcse_q5"`
	MCSEMedian Number `json:"mcse_median"`
	MCSEQ95    Number `json:"mcse_q95"`

	ESSBulk Number `json:"ess_bulk"`
	ESSTail Number `json:"ess_tail"`
	Rhat    Number `json:"rhat"`
	Nested  Number `json:"rhat_nested"` // of 64 chains or more

	// Why says of figures that are null, by their names here, why.
	Why map[string]string `json:"why,omitempty"`
}

// Inclusion is how often an ingredient is used, and how much of it then.
type Inclusion struct {
	Ingredient  string `json:"ingredient"`
	Probability Number `json:"probability"`
	MCSE        Number `json:"mcse"`
	MeanAmount  Number `json:"mean_amount"`      // units, over the draws that use it
	AmountMCSE  Number `json:"mean_amount_mcse"` // an upper bound, as it is of at most 524,288 draws

	BookShare  Number `json:"book_share"`  // of the book's recipes that use it; unknown without a book
	BookAmount Number `json:"book_amount"` // mean units over these
}

// A Property is one wish and what is known of its quality.
type Property struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	About  string  `json:"about"`
	Weight float64 `json:"weight"`
	Forest *Forest `json:"forest,omitempty"`
}

// Forest is a random forest and how well it predicts recipes that it has not
// seen (out of bag), beside what guessing would do.
type Forest struct {
	Label   string         `json:"label"`
	Trees   int            `json:"trees"`
	Rows    int            `json:"rows"`
	Classes []string       `json:"classes,omitempty"`
	Quality forest.Quality `json:"out_of_bag"`

	// Importances are the features whose permutation harms the forest most, at
	// most 15. There are none of a forest that was grown without.
	Importances []Importance `json:"importances,omitempty"`
}

// An Importance is the permutation importance of a feature, see
// [forest.Importance].
type Importance struct {
	Feature string `json:"feature"`
	Mean    Number `json:"mean"`
	SE      Number `json:"se"`
}

// Comparison sets the score of the draws, the product of the properties to
// their weights, beside that of compositions drawn from the sparsity law alone.
type Comparison struct {
	Draws      Number `json:"draws"` // mean over the draws
	DrawsMCSE  Number `json:"draws_mcse"`
	DrawsESS   Number `json:"draws_ess_bulk"`
	Random     Number `json:"random"` // mean over random compositions
	RandomSE   Number `json:"random_se"`
	RandomSize int    `json:"random_size"`

	Histogram *Histogram `json:"histogram"` // null if no property counts
}

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

// Again is what it takes to do the run again.
type Again struct {
	Command string `json:"command"` // in the directory of the problem file
	Problem string `json:"problem"` // as it was resolved, YAML
}

// Timing is the one part that differs between equal runs.
type Timing struct {
	Seconds             Number `json:"seconds"`
	IterationsPerSecond Number `json:"iterations_per_second"`
}
