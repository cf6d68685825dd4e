package paper

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Report is everything that the experiments gave. paper.json is its JSON
// form. It depends on the options' Seed, Divide and Book alone, not on the
// machine, the number of workers or the time.
type Report struct {
	Source    string `json:"source"` // the paper
	Seed      uint64 `json:"seed"`
	Sequences int    `json:"sequences"` // of each sampler on each target

	// Divide is how many times shorter than the paper's the sequences were;
	// 1 in a full run.
	Divide int `json:"divide"`

	Counts  CountTable `json:"compositions"` // Table 1
	Tables  []Table    `json:"tables"`
	Figures []Figure   `json:"figures"` // figure 1, one for each target and kernel
	Verdict Verdict    `json:"verdict"`
	Mixing  []Mixing   `json:"mixing"`

	// Cocktails is nil when there was no recipe book.
	Cocktails *Cocktails `json:"cocktails,omitempty"`

	Differences []Difference `json:"differences"`
}

// A CountTable holds numbers of compositions, exactly.
type CountTable struct {
	Ingredients int     `json:"ingredients"`
	Total       int     `json:"total"`
	Rows        []Count `json:"rows"`
}

// A Count is |X_n|, in decimal digits.
type Count struct {
	N     int    `json:"n"`
	Count string `json:"count"`
	Paper string `json:"paper"`
}

// A Table holds rates of one kind of experiment, in percent of the iterations
// that were not discarded.
type Table struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Unit       string `json:"unit"` // of all figures but z
	N          int    `json:"ingredients"`
	Total      int    `json:"total"`
	Iterations int    `json:"iterations"` // of a sequence, those discarded among them
	Discarded  int    `json:"discarded"`
	Rows       []Row  `json:"rows"`
}

// A Row is one rate.
type Row struct {
	Target string `json:"target"`
	Kernel string `json:"kernel"`
	Rate   string `json:"rate"` // "accepted" or "updated"

	// Paper and PaperSD are the paper's mean and standard deviation over ten
	// sequences, nil where they were not available to us.
	Paper   *float64 `json:"paper"`
	PaperSD *float64 `json:"paper_sd"`

	// Exact is the rate in the long run; see [Exact].
	Exact float64 `json:"exact"`

	// Mean and SD are those of the sequences.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`

	// Z is (Mean − Exact) / (SD/√sequences). Where all sequences have the very
	// same rate, the standard error is that of independent iterations,
	// √(p(1−p)/iterations) with the exact rate p, or one iteration's worth if
	// that is 0 too.
	Z float64 `json:"z"`
}

// A Figure is the histogram of n of one kernel on one target.
type Figure struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Kernel string `json:"kernel"`

	// TV is the total variation distance, ½ Σ_n |observed − target|, of the
	// mean histogram of all sequences. Expected is what it would be on average
	// if the target was followed, given how well the chain mixes; see
	// [diagnose.ExpectedTotalVariation]. An error of a share there is at most
	// what the sequences' starts alone are worth, which are independent draws
	// from the target.
	TV       float64 `json:"tv"`
	Expected float64 `json:"tv_expected"`

	// Stuck is how many sequences never moved.
	Stuck int `json:"stuck"`

	// File is the name, without extension, of the picture that shows it.
	File  string `json:"file"`
	Sizes []Size `json:"sizes"`
}

// A Size is one n of a histogram. All its figures are shares.
type Size struct {
	N      int     `json:"n"`
	Target float64 `json:"target"`
	Mean   float64 `json:"mean"` // over the sequences
	SD     float64 `json:"sd"`   // over the sequences, of one
	MCSE   float64 `json:"mcse"` // of the mean, from the autocorrelation
}

// A Verdict sums up how the measured rates lie to the exact ones.
type Verdict struct {
	// Rates is how many rates of the paper's samplers were measured, without
	// those that are 100 % or next to 0 by their definition.
	Rates int `json:"rates"`

	// Largest is the row with the largest |z| among them.
	Largest Row `json:"largest"`

	// FalseAlarm is the probability that a row has |z| > Limit although all is
	// well: of Student's t with sequences − 1 degrees of freedom. AnyAlarm is
	// that of at least one among Rates, taken as independent.
	Limit      float64 `json:"limit"`
	FalseAlarm float64 `json:"false_alarm"`
	AnyAlarm   float64 `json:"any_alarm"`

	// Beyond are the rows with |z| > Limit.
	Beyond []Row `json:"beyond"`
}

// Mixing says how many independent values of n the sequences of accelerated
// are worth.
type Mixing struct {
	Target string `json:"target"`

	// IACT is a lower bound on the integrated autocorrelation time of n, in
	// iterations, and close to it; see [IACTBound].
	IACT float64 `json:"iact"`

	// Independent is how many independent values a sequence of the paper's
	// length is worth at most, without what it discards.
	Independent float64 `json:"independent"`
}

// A Difference is a place where data or reading differ from the paper's.
type Difference struct {
	What  string `json:"what"`
	Paper string `json:"paper"`
	Here  string `json:"here"`
	Why   string `json:"why"`
}

// WriteJSON writes paper.json.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("paper.json: %w", err)
	}
	return nil
}

// fileName makes a name fit for a file: "small a" becomes "small-a".
func fileName(name string) string { return strings.ReplaceAll(name, " ", "-") }
