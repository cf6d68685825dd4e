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
	Question   string                   `json:"question"` // what the run was to find, as a sentence
	Sampler    mcmc.Settings            `json:"sampler"`
	Auto       *run.Auto                `json:"auto,omitempty"` // when and why a run that determines its number of draws itself stopped; absent for other runs
	Verdict    string                   `json:"verdict"`        // summary of the quality of the answer and then of the draws, in sentences
	Draws      string                   `json:"draws"`          // how far the draws can be relied on, in a sentence
	Grade      Grade                    `json:"grade"`          // how far the draws can be relied on, in one word
	Rates      run.Rates                `json:"rates"`
	Moves      []run.Move               `json:"moves"` // statistics of each kind of move, for a kernel that mixes several kinds
	Chains     []run.ChainResult        `json:"chains"`
	Ladders    []run.Ladder             `json:"ladders"`                  // statistics of tempered chains for each inverse temperature, one ladder for each chain
	LogZ       *run.Estimate            `json:"log_z"`                    // log of the mean score over random compositions; null unless the kernel is tempered
	Sparsity   []run.Size               `json:"sparsity"`                 // for each number of ingredients: its probability in the sparsity law and its share of the draws
	Variation  Number                   `json:"total_variation"`          // total variation distance between the sparsity law and the numbers of ingredients in the draws
	Expected   Number                   `json:"total_variation_expected"` // expected value of Variation for draws that follow the sparsity law
	Statistics map[string]run.Statistic `json:"statistics"`               // maps the name of a statistic, see [Model.StatisticNames], to its summary
	Inclusion  []run.Inclusion          `json:"inclusion"`                // use of each ingredient in the draws
	Conditions []run.ConditionShares    `json:"conditions,omitempty"`     // share of the draws with each value of each condition
	Pairs      *Pairs                   `json:"pairs"`                    // pairs of ingredients that draws use together often or rarely
	Properties []Property               `json:"properties"`
	Score      Comparison               `json:"score"`                // scores of the draws compared with random compositions
	Best       []Best                   `json:"best"`                 // the shortlist
	BestKnown  *BestKnown               `json:"best_known,omitempty"` // known recipe that the shortlist is compared with; absent if there are no known recipes or no objectives
	Plots      []Plot                   `json:"plots"`                // data of the rank plots and traces
	Tradeoff   *Tradeoff                `json:"tradeoff,omitempty"`   // recipes that balance several objectives (Pareto front); absent if the problem does not ask for them
	Map        *RecipeMap               `json:"map,omitempty"`        // draws, known recipes and the shortlist as points in a plane; absent if the draws do not differ enough
	Ternary    *Ternary                 `json:"ternary,omitempty"`    // the same recipes by their shares of three things; absent unless the problem is about three
	Warnings   []string                 `json:"warnings"`
	Inputs     []run.Input              `json:"inputs"` // files that the problem was read from
	Again      Reproduction             `json:"again"`  // data needed to repeat the run
	Files      []string                 `json:"files"`  // names of the files in the run's directory
	Parts      []run.PartFile           `json:"parts"`  // files of the draws that the report was computed from
	Timing     run.Timing               `json:"timing"`
	Checksum   string                   `json:"checksum"` // checksum of the JSON text, see [run.Seal]; empty until the text is written
}

// A Grade says in one word how far the draws can be relied on.
type Grade string

// The grades of draws. Dependent draws are worth a smaller number of independent draws, the
// effective sample size.
const (
	Sound   Grade = "sound"   // the chains agree, and the effective sample size is large enough
	Short   Grade = "short"   // the chains agree, but the effective sample size is too small
	Unsound Grade = "unsound" // the chains disagree
	Unknown Grade = "unknown" // the draws do not show whether the chains agree
)

// Problem is a short description of a problem, for its report.
type Problem struct {
	Name        string `json:"name"`
	Ingredients int    `json:"ingredients"` // number of ingredients N
	Total       int    `json:"total"`       // number of units M of a composition
	Recipes     int    `json:"recipes"`     // number of known recipes

	// Unit is the unit in which the known recipes are measured, such as cl, and Whole the size of a
	// typical one of them in that unit, to three digits. Both are absent if the recipes have no unit.
	Unit  string `json:"unit,omitempty"`
	Whole Number `json:"whole,omitempty"`

	Rules []string `json:"rules"` // constraints as sentences

	Conditions []Condition `json:"conditions,omitempty"` // settings of an experiment beside the recipe
}

// Describe describes the problem in a line of text.
func (p Problem) Describe() string {
	s := fmt.Sprintf("%s, amounts in steps of %s", number.CountWithNoun(p.Ingredients, "ingredient"), number.ShortShare(1, p.Total))
	if p.Recipes > 0 {
		s += ", " + number.CountWithNoun(p.Recipes, "known recipe")
	}
	return s
}

// A Comparison compares the score of the draws with the score of random compositions. The score is
// Π y_k^c_k, with the scores y_k and the weights c_k of the properties. Random compositions are
// drawn from the sparsity law, without regard to the properties.
type Comparison struct {
	Draws     Number `json:"draws"`          // mean score of the draws
	DrawsMCSE Number `json:"draws_mcse"`     // Monte Carlo standard error of Draws
	DrawsESS  Number `json:"draws_ess_bulk"` // effective sample size of Draws
	run.Baseline

	Histogram *Histogram `json:"histogram"` // distribution of the scores; null if no property has a positive weight
}

// A Reproduction holds the data needed to repeat a run.
type Reproduction struct {
	Command string `json:"command"` // command line to be executed in the directory of the problem file
	Problem string `json:"problem"` // YAML text of the resolved problem
}
