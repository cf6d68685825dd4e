// Package report is the model of what there is to say of a run, of a problem
// before it is sampled, and of a forest that was grown. summary.json is its JSON;
// kir/report/build makes it, and kir/report/view shows it as text, page and
// figures, so that they cannot disagree.
package report

import (
	"fmt"

	"kir/internal/report/number"
	"kir/internal/run"
	"kir/mcmc"
)

// A Model describes a run. Its JSON is summary.json.
type Model struct {
	Answer     *Answer              `json:"answer"` // null of runs that nobody asked for an answer
	Version    string               `json:"version"`
	Problem    Problem              `json:"problem"`
	Question   string               `json:"question"` // what was asked, in words
	Sampler    mcmc.Settings        `json:"sampler"`
	Auto       *run.Auto            `json:"auto,omitempty"` // why the chains stopped, of a run that was not asked for a number of draws
	Verdict    string               `json:"verdict"`        // on the answer, then on the draws
	Draws      string               `json:"draws"`          // how far they can be relied on
	Grade      Grade                `json:"grade"`          // the same in a word
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
	Best       []Best               `json:"best"` // the shortlist
	Plots      []Plot               `json:"plots"`
	Tradeoff   *Tradeoff            `json:"tradeoff,omitempty"` // of a problem that asks for one
	Warnings   []string             `json:"warnings"`
	Inputs     []run.Input          `json:"inputs"`
	Again      Again                `json:"again"`
	Files      []string             `json:"files"` // in the run's directory
	Parts      []run.Part           `json:"parts"` // the draws that all this was made of
	Timing     Timing               `json:"timing"`
	Checksum   string               `json:"checksum"` // of the file, see [run.Seal]; empty until it is written
}

// A Grade says in a word how far the draws can be relied on.
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

// Words is the problem in a line.
func (p Problem) Words() string {
	s := fmt.Sprintf("%s, a total of %s", number.Counted(p.Ingredients, "ingredient"), number.Counted(p.Total, "unit"))
	if p.Recipes > 0 {
		s += ", " + number.Counted(p.Recipes, "known recipe")
	}
	return s
}

// A Move is what one of a kernel's moves did after warm-up.
type Move struct {
	Name  string `json:"name"`
	Tried int64  `json:"tried"` // iterations
	Rates        // shares of these
}

// Rates are shares of iterations after warm-up, in 0..1.
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

// A Share is the part of the counted compositions that keeps the rules which
// cannot be counted, as it was measured.
type Share struct {
	Estimate Number `json:"estimate"`
	SE       Number `json:"se"`
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

// Again is what it takes to do the run again.
type Again struct {
	Command string `json:"command"` // in the directory of the problem file
	Problem string `json:"problem"` // as it was resolved, YAML
}

// Timing is the one part that differs between equal runs.
type Timing struct {
	Seconds             Number `json:"seconds"`
	IterationsPerSecond Number `json:"iterations_per_second"`
	SearchSeconds       Number `json:"search_seconds"` // of the search for the best
}
