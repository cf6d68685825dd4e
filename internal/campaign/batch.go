package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kir/internal/compile"
)

// A Batch is the set of recipes to make next. Its JSON is the form in which it is stored and
// printed.
type Batch struct {
	Version string  `json:"version"` // of the program that chose the batch
	Name    string  `json:"name"`    // of the problem
	Round   int     `json:"round"`
	Seed    uint64  `json:"seed"`
	Size    int     `json:"size"`  // number of recipes asked for
	State   string  `json:"state"` // SHA-256 of all inputs that determine the batch
	Total   int     `json:"total"` // units of a recipe
	Measure Measure `json:"measure"`

	Entries       []Entry        `json:"batch"`
	Best          *Best          `json:"best"` // the best measured recipe; null if nothing was measured
	RemainingGain RemainingGain  `json:"left"`
	Models        []ModelSummary `json:"models"`
	Pending       []string       `json:"pending"` // ids of earlier batches without a result
	Notes         []string       `json:"notes"`
	Labels        []string       `json:"labels"`               // labels that are measured
	Conditions    []Condition    `json:"conditions,omitempty"` // of the problem
	Trade         []string       `json:"trade,omitempty"`      // the objectives of the trade-off, if the problem has one
}

// An Entry is one recipe of a batch.
type Entry struct {
	ID          string                `json:"id"`
	Recipe      map[string]int        `json:"recipe"`               // units by ingredient
	Conditions  map[string]any        `json:"conditions,omitempty"` // their values by name: numbers or texts
	Reason      Reason                `json:"reason"`
	Predicted   map[string]Prediction `json:"predicted"` // by label
	BeatsBest   *float64              `json:"beats_best"`
	Improvement *float64              `json:"improvement"`
	Limits      []LimitCheck          `json:"limits,omitempty"` // the limits on predictions

	recipe
	setting    compile.Setting // as it was offered
	key        string
	round      int
	measure    Measure
	conditions []Condition // the conditions of the batch
}

// A Share is the amount of one ingredient of a recipe.
type Share struct {
	Ingredient string
	Amount     string // in the measure's unit
	Fraction   float64
}

// Shares returns the ingredients and amounts of a recipe, the largest amount first.
func (m *Measure) Shares(recipe map[string]int, total int) ([]Share, error) {
	names := slices.SortedFunc(maps.Keys(recipe), func(a, b string) int {
		return cmp.Or(recipe[b]-recipe[a], strings.Compare(a, b))
	})
	units := make([]int, len(names))
	for k, name := range names {
		units[k] = recipe[name]
	}
	texts, err := m.write(units, total)
	if err != nil {
		return nil, err
	}
	all := make([]Share, len(names))
	for k, name := range names {
		all[k] = Share{name, texts[k], float64(units[k]) / float64(total)}
	}
	return all, nil
}

// SharesWithOwnDecimals is [Measure.Shares] for a recipe outside the batch. It may use more
// decimals.
func (m *Measure) SharesWithOwnDecimals(recipe map[string]int, total int) ([]Share, error) {
	own, err := m.fitDecimals(total, recipe)
	if err != nil {
		return nil, err
	}
	return own.Shares(recipe, total)
}

// A ReasonKind is the kind of a [Reason].
type ReasonKind string

// The kinds of reasons.
const (
	Likely    ReasonKind = "best"      // it probably beats all recipes tried
	Learn     ReasonKind = "learn"     // it reduces the uncertainty of the model
	Fill      ReasonKind = "fill"      // it lies far from all recipes tried
	Replicate ReasonKind = "replicate" // it repeats a trial, because noise hides which recipe is best
)

// A Reason says why a recipe is in a batch. Its text is computed from figures.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	Text string     `json:"text"`
}

// A Prediction is the predicted measurement of a recipe, with an interval that holds it with a
// probability of 90 %.
type Prediction struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Best is the best measured recipe.
type Best struct {
	ID         string             `json:"id"`
	Recipe     map[string]int     `json:"recipe"`
	Conditions map[string]any     `json:"conditions,omitempty"` // as they were
	Measured   map[string]float64 `json:"measured"`             // means over all trials of this recipe
	Trials     int                `json:"trials"`

	key string
}

// RemainingGain is the gain still to expect, and the advice to go on or stop.
type RemainingGain struct {
	Probability *float64 `json:"probability"` // that an untried recipe is better; if replicates show the noise, better by more than the noise
	Gain        *float64 `json:"gain"`        // expected gain of making the best recipe of each draw of the model
	Advice      string   `json:"advice"`
	Text        string   `json:"text"`
}

// Values of the Advice of a [RemainingGain].
const (
	GoOn = "go on"
	Stop = "stop"
)

// A ModelSummary says how well the model of a label predicts.
type ModelSummary struct {
	Label string   `json:"label"`
	Kind  string   `json:"kind"` // Gaussian process, forest, or [NoModel]
	Rows  int      `json:"rows"`
	R2    *float64 `json:"r2"` // on held-out results; null if it cannot be computed
	Noise *float64 `json:"noise"`
}

// NoModel is the [ModelSummary] kind of a label with too few results to learn from.
const NoModel = "none yet"
