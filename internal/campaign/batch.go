package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kir/internal/compile"
)

// A Batch is the set of recipes to make next. Batches are stored and printed as JSON.
type Batch struct {
	Version       string  `json:"version"` // version of the program that chose the batch
	Name          string  `json:"name"`    // name of the problem
	Round         int     `json:"round"`   // number of the round, from 1
	Seed          uint64  `json:"seed"`    // seed of the random numbers
	RequestedSize int     `json:"size"`    // number of recipes that were asked for
	StateHash     string  `json:"state"`   // SHA-256 of all inputs that determine the batch, in hexadecimal
	Total         int     `json:"total"`   // number of units that the amounts of every recipe sum to
	Measure       Measure `json:"measure"` // unit in which amounts are written

	Entries            []Entry        `json:"batch"`
	Best               *Best          `json:"best"`                 // best measured recipe so far; nil if no recipe was measured
	RemainingGain      RemainingGain  `json:"left"`                 // gain that is still to be expected, and the advice
	Models             []ModelSummary `json:"models"`               // how well the model of each label predicts
	Pending            []string       `json:"pending"`              // ids of recipes of earlier batches that have no result yet
	Notes              []string       `json:"notes"`                // remarks for the user, such as why the batch has fewer recipes than asked for
	Labels             []string       `json:"labels"`               // names of the labels to measure
	Conditions         []Condition    `json:"conditions,omitempty"` // conditions of the problem
	TradeOffObjectives []string       `json:"trade,omitempty"`      // names of the objectives of the trade-off; empty if the problem has no trade-off
}

// An Entry is one recipe of a batch.
type Entry struct {
	ID                   string                `json:"id"`
	Recipe               map[string]int        `json:"recipe"`               // by name of the ingredient: the amount in units
	Conditions           map[string]any        `json:"conditions,omitempty"` // by name of the condition: the value, a float64 or a string
	Reason               Reason                `json:"reason"`               // why the recipe is in the batch
	Predicted            map[string]Prediction `json:"predicted"`            // by label: the predicted measurement
	BeatsBestProbability *float64              `json:"beats_best"`           // probability that the recipe beats all trials; nil for the kinds Fill and Replicate
	ExpectedImprovement  *float64              `json:"improvement"`          // expected improvement over the best trial; nil for the kinds Fill and Replicate
	Limits               []LimitCheck          `json:"limits,omitempty"`     // comparison of the recipe with each limit on a prediction

	recipe
	setting    compile.Setting // conditions of the recipe as they were offered
	key        string          // unique text of the recipe; see [recipe.key]
	round      int             // number of the batch's round
	measure    Measure         // unit of the batch's amounts
	conditions []Condition     // conditions of the problem when the batch was chosen
}

// A Share is the amount of one ingredient of a recipe.
type Share struct {
	Ingredient string
	Amount     string  // amount in the unit of the [Measure], as a decimal text
	Fraction   float64 // amount divided by the total of the recipe
}

// Shares returns the ingredients of a recipe and their amounts, the largest amount first. The
// parameter recipe has the units by ingredient.
func (m *Measure) Shares(recipe map[string]int, total int) ([]Share, error) {
	names := slices.SortedFunc(maps.Keys(recipe), func(a, b string) int {
		return cmp.Or(recipe[b]-recipe[a], strings.Compare(a, b))
	})
	units := make([]int, len(names))
	for k, name := range names {
		units[k] = recipe[name]
	}
	texts, err := m.amountTexts(units, total)
	if err != nil {
		return nil, err
	}
	all := make([]Share, len(names))
	for k, name := range names {
		all[k] = Share{name, texts[k], float64(units[k]) / float64(total)}
	}
	return all, nil
}

// SharesWithOwnDecimals is like [Measure.Shares], but writes as many decimals as this recipe needs.
// It serves recipes outside the batch.
func (m *Measure) SharesWithOwnDecimals(recipe map[string]int, total int) ([]Share, error) {
	own, err := m.withEnoughDecimals(total, recipe)
	if err != nil {
		return nil, err
	}
	return own.Shares(recipe, total)
}

// A ReasonKind is the kind of a [Reason].
type ReasonKind string

// These are the kinds of reasons for choosing a recipe.
const (
	Likely    ReasonKind = "best"      // the recipe probably beats all recipes tried so far
	Learn     ReasonKind = "learn"     // the recipe reduces the uncertainty of the model
	Fill      ReasonKind = "fill"      // the recipe is far from all recipes tried so far
	Replicate ReasonKind = "replicate" // the recipe repeats a trial, because measurement noise hides which trial is best
)

// A Reason says why a recipe is in a batch.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	Text string     `json:"text"` // sentence for the user, with figures
}

// A Prediction is the predicted measurement of a recipe. The measurement lies between Low and High
// with a probability of 90 %.
type Prediction struct {
	Value float64 `json:"value"` // predicted measurement
	Low   float64 `json:"low"`   // lower end of the 90 % interval
	High  float64 `json:"high"`  // upper end of the 90 % interval
}

// A Best is the best measured recipe of a campaign.
type Best struct {
	ID         string             `json:"id"`                   // id of the first trial of the recipe
	Recipe     map[string]int     `json:"recipe"`               // by name of the ingredient: the amount in units
	Conditions map[string]any     `json:"conditions,omitempty"` // by name of the condition: the value at which the trial was made
	Measured   map[string]float64 `json:"measured"`             // by label: the mean of the measurements over all trials of the recipe
	Trials     int                `json:"trials"`               // number of trials of the recipe

	key string // unique text of the recipe; see [recipe.key]
}

// A RemainingGain is the gain that further rounds are expected to bring, and the advice to go on or
// to stop.
type RemainingGain struct {
	Probability *float64 `json:"probability"` // probability that an untried recipe is better than all trials; if replicates show the noise, better by more than the noise
	Gain        *float64 `json:"gain"`        // expected gain of making the recipe that is best in each draw of the model
	Advice      string   `json:"advice"`      // GoOn or Stop
	Text        string   `json:"text"`        // sentence for the user
}

// These are the values of [RemainingGain.Advice].
const (
	GoOn = "go on"
	Stop = "stop"
)

// A ModelSummary says how well the model of a label predicts.
type ModelSummary struct {
	Label string   `json:"label"`
	Kind  string   `json:"kind"`  // "Gaussian process", "forest" or [NoModel]
	Rows  int      `json:"rows"`  // number of results that the model was learnt from
	R2    *float64 `json:"r2"`    // share of the variance of held-out results that the model predicts; nil if not computable
	Noise *float64 `json:"noise"` // standard deviation of one measurement, in the unit of the label; nil without a Gaussian process
}

// NoModel is the [ModelSummary.Kind] of a label with too few results to learn a model from.
const NoModel = "none yet"
