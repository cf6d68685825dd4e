// Package report defines the data of reports: on a run, on a problem before sampling, and on a
// trained model. The JSON of a run's report is summary.json. Package kir/internal/report/assemble
// computes the data, and package kir/internal/report/view renders the data as text, page and
// figures, so that all three agree.
package report

import (
	"fmt"

	"kir/internal/number"
	"kir/internal/run"
	"kir/mcmc"
)

// A Model is the data of the report on a run. Its JSON is summary.json.
type Model struct {
	Answer     *Answer                  `json:"answer"` // quality of the shortlist; null if there was no search, although the problem has objectives
	Version    string                   `json:"version"`
	Problem    Problem                  `json:"problem"`
	Question   string                   `json:"question"` // what the run was to answer, as a sentence
	Sampler    mcmc.Settings            `json:"sampler"`
	Auto       *run.Auto                `json:"auto,omitempty"` // when and why a run of [mcmc.AutoDraws] stopped; absent for other runs
	Verdict    string                   `json:"verdict"`        // verdict on the answer, then on the draws
	Draws      string                   `json:"draws"`          // how far the draws can be relied on, as a sentence
	Grade      Grade                    `json:"grade"`          // how far the draws can be relied on, in a word
	Rates      run.Rates                `json:"rates"`
	Moves      []run.Move               `json:"moves"` // statistics of each move of a kernel that mixes several moves
	Chains     []run.ChainResult        `json:"chains"`
	Ladders    []run.Ladder             `json:"ladders"` // ladders of a tempered run, by chain
	LogZ       *run.Estimate            `json:"log_z"`   // log of the mean score over random compositions; null unless the kernel is tempered
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
	Tradeoff   *Tradeoff                `json:"tradeoff,omitempty"` // front of recipes; absent if the problem asks for no trade-off
	Warnings   []string                 `json:"warnings"`
	Inputs     []run.Input              `json:"inputs"`
	Again      Reproduction             `json:"again"`
	Files      []string                 `json:"files"` // names of the files in the run's directory
	Parts      []run.PartFile           `json:"parts"` // files of the draws that the report was computed from
	Timing     run.Timing               `json:"timing"`
	Checksum   string                   `json:"checksum"` // checksum of the JSON text; see [run.Seal]; empty until the text is written
}

// A Grade states in a word how far the draws can be relied on.
type Grade string

// The grades of draws.
const (
	Sound   Grade = "sound"   // the chains agree, and their draws are worth enough independent draws
	Short   Grade = "short"   // the chains agree, but their draws are worth too few independent draws
	Unsound Grade = "unsound" // the chains disagree
	Unknown Grade = "unknown" // the draws do not show whether the chains agree
)

// Problem is a short description of a problem.
type Problem struct {
	Name        string `json:"name"`
	Ingredients int    `json:"ingredients"` // number of ingredients N
	Total       int    `json:"total"`       // number of units M of a composition
	Recipes     int    `json:"recipes"`     // number of known recipes

	Rules []string `json:"rules"` // constraints as sentences

	Conditions []Condition `json:"conditions,omitempty"`
}

// Describe describes the problem in a line of text.
func (p Problem) Describe() string {
	s := fmt.Sprintf("%s, a total of %s", number.CountWithNoun(p.Ingredients, "ingredient"), number.CountWithNoun(p.Total, "unit"))
	if p.Recipes > 0 {
		s += ", " + number.CountWithNoun(p.Recipes, "known recipe")
	}
	return s
}

// Comparison compares the score of the draws with that of random compositions. The score is the
// product of the properties to their weights. Random compositions are drawn from the sparsity law
// alone.
type Comparison struct {
	Draws     Number `json:"draws"` // mean score of the draws
	DrawsMCSE Number `json:"draws_mcse"`
	DrawsESS  Number `json:"draws_ess_bulk"`
	run.Baseline

	Histogram *Histogram `json:"histogram"` // distribution of the scores; null if no property has a positive weight
}

// Reproduction holds the data needed to repeat the run.
type Reproduction struct {
	Command string `json:"command"` // command line to be executed in the directory of the problem file
	Problem string `json:"problem"` // YAML text of the resolved problem
}
