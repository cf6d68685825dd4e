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
	RequestedSize int     `json:"size"`    // number of recipes that the user asked for
	StateHash     string  `json:"state"`   // SHA-256, in hexadecimal, of all inputs that determine the batch
	Total         int     `json:"total"`   // sum of the amounts of a recipe in units
	Measure       Measure `json:"measure"` // unit in which amounts are written

	Entries            []Entry        `json:"batch"`
	Best               *Best          `json:"best"`                 // best measured recipe so far; nil if no recipe was measured
	RemainingGain      RemainingGain  `json:"left"`                 // gain to expect from further rounds, and the advice to go on or to stop
	Correction         Correction     `json:"correction"`           // how the outcome of earlier batches corrected the predictions
	Models             []ModelSummary `json:"models"`               // one summary for each label of how well its model predicts
	Pending            []string       `json:"pending"`              // ids of recipes of earlier batches that have no result yet
	Notes              []string       `json:"notes"`                // remarks for the user, such as why the batch has fewer recipes than asked for
	Labels             []string       `json:"labels"`               // names of the labels to measure, that is, of the measured quantities
	Conditions         []Condition    `json:"conditions,omitempty"` // conditions of the problem
	TradeOffObjectives []string       `json:"trade,omitempty"`      // names of the objectives of the trade-off; empty if the problem has no trade-off
}

// A Correction says how the outcome of earlier batches corrected the predictions of a batch. The
// file docs/campaign.md describes the method.
type Correction struct {
	Widening   map[string]float64 `json:"widening"` // maps the name of a numeric label to the factor by which its prediction intervals were widened
	OddsFactor float64            `json:"odds"`     // factor by which the odds of a new best were multiplied; 1 for a trade-off
}

// An Entry is one recipe of a batch.
type Entry struct {
	ID                   string                `json:"id"`                   // id of the recipe, such as B3-1
	Recipe               map[string]int        `json:"recipe"`               // maps the name of an ingredient to the amount in units
	Conditions           map[string]any        `json:"conditions,omitempty"` // maps the name of a condition to the value, a float64 or a string
	Reason               Reason                `json:"reason"`               // reason why the recipe was chosen
	Predicted            map[string]Prediction `json:"predicted"`            // maps the name of a label to the predicted measurement
	BeatsBestProbability *float64              `json:"beats_best"`           // probability that the recipe beats all trials; nil if the reason has the kind Fill or Replicate
	ExpectedImprovement  *float64              `json:"improvement"`          // expected improvement over the best trial; nil if the reason has the kind Fill or Replicate
	Limits               []LimitCheck          `json:"limits,omitempty"`     // one check of the recipe for each limit on predictions

	recipe
	conditionSetting compile.Setting // values of the conditions that were offered
	key              string          // text that identifies the amounts and conditions of the recipe; see [recipe.key]
	round            int             // number of the round of the batch
	measure          Measure         // unit in which the batch's amounts are written
	conditions       []Condition     // conditions of the problem when the batch was chosen
}

// A Share is the amount of one ingredient of a recipe.
type Share struct {
	Ingredient string  // name of the ingredient
	Amount     string  // amount in the unit of the [Measure], as a decimal text
	Fraction   float64 // amount divided by the total of the recipe
}

// Shares returns the ingredients of a recipe and their amounts, the largest amount first. The map
// amounts gives the amount of each ingredient in units, and total is the sum of the units.
func (m *Measure) Shares(amounts map[string]int, total int) ([]Share, error) {
	names := slices.SortedFunc(maps.Keys(amounts), func(a, b string) int {
		return cmp.Or(amounts[b]-amounts[a], strings.Compare(a, b))
	})
	units := make([]int, len(names))
	for k, name := range names {
		units[k] = amounts[name]
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

// SharesWithOwnDecimals is like [Measure.Shares], but writes as many decimals as the given recipe
// needs. It is meant for recipes outside the batch.
func (m *Measure) SharesWithOwnDecimals(amounts map[string]int, total int) ([]Share, error) {
	own, err := m.withEnoughDecimals(total, amounts)
	if err != nil {
		return nil, err
	}
	return own.Shares(amounts, total)
}

// A ReasonKind is the kind of a [Reason].
type ReasonKind string

// These are the kinds of a [Reason].
const (
	Likely    ReasonKind = "best"      // the recipe was chosen because it probably beats all recipes tried so far
	Learn     ReasonKind = "learn"     // the recipe was chosen to reduce the uncertainty of the model
	Fill      ReasonKind = "fill"      // the recipe was chosen to fill a gap: it is far from all recipes tried so far
	Replicate ReasonKind = "replicate" // the recipe repeats a trial, because measurement noise hides which trial is best
)

// A Reason says why a recipe is in a batch.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	Text string     `json:"text"` // the reason as a sentence for the user, with numbers
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
	Recipe     map[string]int     `json:"recipe"`               // maps the name of an ingredient to the amount in units
	Conditions map[string]any     `json:"conditions,omitempty"` // maps the name of a condition to the value at which the trial was made
	Measured   map[string]float64 `json:"measured"`             // maps the name of a label to the mean of the measurements over all trials of the recipe
	Trials     int                `json:"trials"`               // number of trials of the best recipe

	key string // text that identifies the amounts and conditions of the recipe; see [recipe.key]
}

// A RemainingGain is the gain that further rounds are expected to bring, and the advice to go on or
// to stop.
type RemainingGain struct {
	Probability *float64 `json:"probability"` // probability that an untried recipe is better than all trials; if replicates show the noise, better by more than the noise; nil if unknown
	Gain        *float64 `json:"gain"`        // expected improvement over the best trial if the truly best recipe were made next; nil if unknown
	Advice      string   `json:"advice"`      // GoOn or Stop
	Text        string   `json:"text"`        // gain and advice as sentences for the user
}

// These are the values of [RemainingGain.Advice].
const (
	GoOn = "go on"
	Stop = "stop"
)

// A ModelSummary says how well the model of a label predicts.
type ModelSummary struct {
	Label string   `json:"label"` // name of the label
	Kind  string   `json:"kind"`  // "Gaussian process", "forest" or [NoModel]
	Rows  int      `json:"rows"`  // number of results that the model was learnt from
	R2    *float64 `json:"r2"`    // share of the variance of held-out results that the model predicts; nil if not computable
	Noise *float64 `json:"noise"` // standard deviation of one measurement, in the unit of the label; nil if the model is not a Gaussian process
}

// NoModel is the [ModelSummary.Kind] of a label with too few results to learn a model from.
const NoModel = "none yet"
