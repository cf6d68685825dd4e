// Package report defines the data of reports: on a run, on a problem before sampling, and on a
// trained model. summary.json is its JSON. Package kir/internal/report/assemble computes the data, and
// kir/report/view renders them as text, page and figures, so that all three agree.
package report

import (
	"fmt"

	"kir/internal/number"
	"kir/internal/run"
	"kir/mcmc"
)

// A Model describes a run. Its JSON is summary.json.
type Model struct {
	Answer     *Answer                  `json:"answer"` // null of runs that nobody asked for an answer
	Version    string                   `json:"version"`
	Problem    Problem                  `json:"problem"`
	Question   string                   `json:"question"` // what was asked, in words
	Sampler    mcmc.Settings            `json:"sampler"`
	Auto       *run.Auto                `json:"auto,omitempty"` // why the chains stopped, of a run that was not asked for a number of draws
	Verdict    string                   `json:"verdict"`        // on the answer, then on the draws
	Draws      string                   `json:"draws"`          // how far they can be relied on
	Grade      Grade                    `json:"grade"`          // the same in a word
	Rates      run.Rates                `json:"rates"`
	Moves      []run.Move               `json:"moves"` // of a kernel that mixes several
	Chains     []run.ChainResult        `json:"chains"`
	Ladders    []run.Ladder             `json:"ladders"` // of a tempered run, by chain
	LogZ       *run.Estimate            `json:"log_z"`   // null unless tempered
	Sparsity   []run.Size               `json:"sparsity"`
	Variation  Number                   `json:"total_variation"`
	Expected   Number                   `json:"total_variation_expected"`
	Statistics map[string]run.Statistic `json:"statistics"`
	Inclusion  []run.Inclusion          `json:"inclusion"`
	Conditions []run.ConditionShares    `json:"conditions,omitempty"`
	Pairs      *Pairs                   `json:"pairs"`
	Properties []Property               `json:"properties"`
	Score      Comparison               `json:"score"`
	Best       []Best                   `json:"best"` // the shortlist
	Plots      []Plot                   `json:"plots"`
	Tradeoff   *Tradeoff                `json:"tradeoff,omitempty"` // of a problem that asks for one
	Warnings   []string                 `json:"warnings"`
	Inputs     []run.Input              `json:"inputs"`
	Again      Reproduction             `json:"again"`
	Files      []string                 `json:"files"` // in the run's directory
	Parts      []run.PartFile           `json:"parts"` // the draws that all this was made of
	Timing     run.Timing               `json:"timing"`
	Checksum   string                   `json:"checksum"` // of the file, see [run.Seal]; empty until it is written
}

// A Grade states in a word how reliable the draws are.
type Grade string

// The grades.
const (
	Sound   Grade = "sound"   // the chains agree, and are worth enough draws
	Short   Grade = "short"   // they agree, but too few draws stand behind it
	Unsound Grade = "unsound" // they disagree
	Unknown Grade = "unknown" // it cannot be told
)

// Problem describes the problem.
type Problem struct {
	Name        string `json:"name"`
	Ingredients int    `json:"ingredients"` // N
	Total       int    `json:"total"`       // M, in units
	Recipes     int    `json:"recipes"`     // in the book; 0 without one

	Rules []string `json:"rules"` // in words

	Conditions []Condition `json:"conditions,omitempty"`
}

// Describe describes the problem in a line.
func (p Problem) Describe() string {
	s := fmt.Sprintf("%s, a total of %s", number.Counted(p.Ingredients, "ingredient"), number.Counted(p.Total, "unit"))
	if p.Recipes > 0 {
		s += ", " + number.Counted(p.Recipes, "known recipe")
	}
	return s
}

// Comparison compares the score of the draws, the weighted product of the properties, with that of
// compositions drawn from the sparsity law alone.
type Comparison struct {
	Draws     Number `json:"draws"` // mean over the draws
	DrawsMCSE Number `json:"draws_mcse"`
	DrawsESS  Number `json:"draws_ess_bulk"`
	run.Baseline

	Histogram *Histogram `json:"histogram"` // null if no property counts
}

// Reproduction is the data needed to repeat the run.
type Reproduction struct {
	Command string `json:"command"` // in the directory of the problem file
	Problem string `json:"problem"` // as it was resolved, YAML
}
