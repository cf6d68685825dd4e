package paper

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Report holds the results of all experiments. The file paper.json is the JSON form of the Report. A Report
// depends only on the options Seed, Divide and Book, not on the machine, the number of workers or the time.
type Report struct {
	Source    string `json:"source"` // citation of the paper
	Seed      uint64 `json:"seed"`
	Sequences int    `json:"sequences"` // number of sequences of each sampler on each target

	// Divide is the number by which the paper's length of every sequence was divided; 1 in a full run.
	Divide int `json:"divide"`

	Counts  CountTable `json:"compositions"` // Table 1 of the paper
	Tables  []Table    `json:"tables"`       // rates, one table for each setting
	Figures []Figure   `json:"figures"`      // histograms of the paper's figure 1, one for each target and kernel
	Verdict Verdict    `json:"verdict"`      // summary of how far the measured rates lie from the exact rates
	Mixing  []Mixing   `json:"mixing"`       // how well the accelerated sampler mixes on each target

	// Cocktails is nil without a recipe book.
	Cocktails *Cocktails `json:"cocktails,omitempty"`

	Differences []Difference `json:"differences"` // points in which the experiments differ from the paper
}

// A CountTable holds exact numbers of compositions.
type CountTable struct {
	Ingredients int     `json:"ingredients"`
	Total       int     `json:"total"`
	Rows        []Count `json:"rows"`
}

// A Count states how many compositions of N ingredients there are, here and in the paper.
type Count struct {
	N     int    `json:"n"`
	Count string `json:"count"` // exact number, in decimal digits
	Paper string `json:"paper"` // number that the paper prints, in decimal digits
}

// A Table holds the rates of one setting, in percent of the iterations after the discarded iterations.
type Table struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Unit       string `json:"unit"` // unit of all rates in the table; Z has no unit
	N          int    `json:"ingredients"`
	Total      int    `json:"total"`
	Iterations int    `json:"iterations"` // iterations of one sequence, including the discarded iterations
	Discarded  int    `json:"discarded"`  // number of iterations at the beginning of a sequence that are discarded
	Rows       []Row  `json:"rows"`
}

// A Row compares the published, the exact and the measured value of one rate, of one kernel on one target.
type Row struct {
	Target string `json:"target"`
	Kernel string `json:"kernel"`
	Rate   string `json:"rate"` // "accepted" or "updated"

	// Paper and PaperSD are the mean and the standard deviation over ten sequences that the paper prints. A
	// field is nil if the value was not available to us.
	Paper   *float64 `json:"paper"`
	PaperSD *float64 `json:"paper_sd"`

	// Exact is the long-run rate; see the function [Exact].
	Exact float64 `json:"exact"`

	// Mean and SD are the mean and the standard deviation of the rates of the sequences.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`

	// Z is (Mean − Exact) / (SD/√sequences). If all sequences have equal rates, Z is computed with the standard
	// error of independent iterations, √(p(1−p)/iterations), where p is the exact rate. If this standard error
	// is also 0, Z is computed with the standard error 1/iterations.
	Z float64 `json:"z"`
}

// A Figure is the histogram of the number n of ingredients, for one kernel on one target.
type Figure struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Kernel string `json:"kernel"`

	// TV is the total variation distance, ½ Σ_n |observed − target|, between the mean histogram of the sequences
	// and the target. Expected is the mean TV of a chain that follows the target and mixes as well as the
	// kernel's sequences; see [diagnose.ExpectedTotalVariation]. The error of a share in Expected is at most the
	// error of the starts of the sequences, which are independent draws from the target.
	TV       float64 `json:"tv"`
	Expected float64 `json:"tv_expected"`

	// Stuck is the number of sequences that stayed at their first composition.
	Stuck int `json:"stuck"`

	// File is the name, without extension, of the picture file that shows the histogram.
	File  string `json:"file"`
	Sizes []Size `json:"sizes"`
}

// A Size is one bar of a histogram: the share of compositions with n ingredients.
type Size struct {
	N      int     `json:"n"`
	Target float64 `json:"target"` // probability of n in the target
	Mean   float64 `json:"mean"`   // mean of the shares of the sequences
	SD     float64 `json:"sd"`     // standard deviation of the shares of the sequences
	MCSE   float64 `json:"mcse"`   // standard error of Mean, computed from the autocorrelation of the sequences
}

// A Verdict summarises how far the measured rates lie from the exact rates, in standard errors.
type Verdict struct {
	// Rates is the number of rates that the summary covers: the measured rates of the paper's samplers, without
	// rates that are 100 % or nearly 0 by definition.
	Rates int `json:"rates"`

	// Largest is the row with the largest |Z|.
	Largest Row `json:"largest"`

	// Limit is the |Z| above which a rate counts as an alarm.
	Limit      float64 `json:"limit"`
	FalseAlarm float64 `json:"false_alarm"` // probability that a correct rate exceeds Limit, by Student's t with one degree of freedom less than sequences
	AnyAlarm   float64 `json:"any_alarm"`   // probability that at least one of Rates independent correct rates exceeds Limit

	// Beyond lists the rows with |Z| > Limit.
	Beyond []Row `json:"beyond"`
}

// A Mixing states how well the accelerated sampler mixes on one target: how many independent values of the number
// n of ingredients a sequence is worth.
type Mixing struct {
	Target string `json:"target"`

	// IACT is a close lower bound of the integrated autocorrelation time of n, in iterations; see [IACTBound].
	IACT float64 `json:"iact"`

	// Independent is the maximum number of independent values of n that a sequence of the paper's length is
	// worth, not counting discarded iterations.
	Independent float64 `json:"independent"`
}

// A Difference is a point in which the data, or the reading of the paper, differ from the paper.
type Difference struct {
	What  string `json:"what"`  // subject of the difference
	Paper string `json:"paper"` // what the paper states
	Here  string `json:"here"`  // what the repeated experiments use
	Why   string `json:"why"`   // reason for the difference
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

// fileName replaces the spaces of a name for use in a file name: "small a" becomes "small-a".
func fileName(name string) string { return strings.ReplaceAll(name, " ", "-") }
