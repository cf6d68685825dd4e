package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kir/mcmc"
)

// A Batch is what was chosen to be made next, as it is kept and as it is printed.
type Batch struct {
	Version string  `json:"version"` // of the program that chose it
	Name    string  `json:"name"`    // of the problem
	Round   int     `json:"round"`
	Seed    uint64  `json:"seed"`
	Size    int     `json:"size"`  // that was asked for
	State   string  `json:"state"` // SHA-256 of all that it follows from
	Total   int     `json:"total"` // units of a recipe
	Measure Measure `json:"measure"`

	Entries       []Entry        `json:"batch"`
	Best          *Best          `json:"best"` // of what was measured; null if nothing was
	RemainingGain RemainingGain  `json:"left"`
	Models        []ModelSummary `json:"models"`
	Pending       []string       `json:"pending"` // of earlier batches
	Notes         []string       `json:"notes"`
	Labels        []string       `json:"labels"`          // that are measured
	Trade         []string       `json:"trade,omitempty"` // the objectives of the trade-off that it is to move
}

// An Entry is one recipe of a batch.
type Entry struct {
	ID          string                `json:"id"`
	Recipe      map[string]int        `json:"recipe"` // units by ingredient
	Reason      Reason                `json:"reason"`
	Predicted   map[string]Prediction `json:"predicted"` // by label
	BeatsBest   *float64              `json:"beats_best"`
	Improvement *float64              `json:"improvement"`
	Limits      []LimitCheck          `json:"limits,omitempty"` // of what is predicted

	parts   []mcmc.Part
	key     string
	round   int
	measure Measure
}

// A Share is an ingredient of a recipe.
type Share struct {
	Ingredient string
	Amount     string // in the measure's unit
	Fraction   float64
}

// Shares returns what is in a recipe, the most first.
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

// SharesWithOwnDecimals is Shares of a recipe that is none of the batch, and may take more places.
func (m *Measure) SharesWithOwnDecimals(recipe map[string]int, total int) ([]Share, error) {
	own, err := m.fitDecimals(total, recipe)
	if err != nil {
		return nil, err
	}
	return own.Shares(recipe, total)
}

// A ReasonKind of reason.
type ReasonKind string

// The kinds of reasons.
const (
	Likely    ReasonKind = "best"      // it probably beats what was tried
	Learn     ReasonKind = "learn"     // what it teaches counts
	Fill      ReasonKind = "fill"      // it lies where nothing was tried
	Replicate ReasonKind = "replicate" // it was tried, and noise decides
)

// A Reason says why a recipe is in a batch; its text follows from figures.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	Text string     `json:"text"`
}

// A Prediction is what will be measured, and the interval that holds it with a
// probability of 90 %.
type Prediction struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Best is the best of what was measured.
type Best struct {
	ID       string             `json:"id"`
	Recipe   map[string]int     `json:"recipe"`
	Measured map[string]float64 `json:"measured"` // means over all trials of this recipe
	Trials   int                `json:"trials"`

	key string
}

// RemainingGain says what there is to gain.
type RemainingGain struct {
	Probability *float64 `json:"probability"` // that something better is left, by more than the noise if replicates tell that
	Gain        *float64 `json:"gain"`        // that is expected of making the best of the model's draws
	Advice      string   `json:"advice"`
	Text        string   `json:"text"`
}

// Advice.
const (
	GoOn = "go on"
	Stop = "stop"
)

// A ModelSummary says how well a label was learnt.
type ModelSummary struct {
	Label string   `json:"label"`
	Kind  string   `json:"kind"` // Gaussian process, forest, or [NoModel]
	Rows  int      `json:"rows"`
	R2    *float64 `json:"r2"` // held out; null if it cannot be told
	Noise *float64 `json:"noise"`
}

// NoModel is the kind of a model of a label of which too little is known.
const NoModel = "none yet"
