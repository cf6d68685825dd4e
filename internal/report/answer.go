package report

import (
	"slices"

	"kir/internal/search"
)

// An Answer summarises the shortlist: the quality of the models, and the scores of the shortlist
// compared with those of random compositions and of the known recipes.
type Answer struct {
	Headline   string             `json:"headline"` // verdict in a line
	Grade      AnswerGrade        `json:"grade"`
	Verdict    []string           `json:"verdict"` // verdict in sentences
	Warnings   []string           `json:"warnings"`
	Objectives []ObjectiveSummary `json:"wishes"` // one entry for each objective with a positive weight

	search.Comparison

	OptimismCheck *search.OptimismCheck `json:"promise"`         // check of the predicted gain on held-out recipes; null where no model was trained
	Bound         *Bound                `json:"bound,omitempty"` // upper bound on the score of any recipe; absent where there was no search or it found nothing

	Effort       float64 `json:"effort"`
	Evaluations  int64   `json:"evaluations"`  // number of scored compositions and lines; a line is all ways to divide the joint amount of two ingredients
	Compositions int64   `json:"compositions"` // number of compositions that were scored, alone or as part of a line
}

// A Bound is an upper bound on the score of every new recipe that may be suggested. Such a recipe
// keeps the constraints and, if the search does, the doses of the known recipes. The score is Π y_k
// over the objectives with positive weights, each to the power 1.
type Bound struct {
	Score            Number `json:"score"`  // proved upper bound on the score; null where none is known
	Best             Number `json:"best"`   // score of the best recipe found
	Gap              Number `json:"gap"`    // 1 − Best/Score
	ProvedOptimal    bool   `json:"proved"` // whether no recipe scores more than the best recipe found, up to a relative difference of 10⁻⁸
	WithinKnownDoses bool   `json:"doses"`  // whether the bound holds only for recipes within the doses of the known recipes

	// Unbounded names the objectives without a known upper bound. If there are any, there is no
	// bound on the score.
	Unbounded []string `json:"unbounded"`
}

// An AnswerGrade states the quality of an answer in a word.
type AnswerGrade string

// The grades of an answer. With several models the worst model decides.
const (
	Weak             AnswerGrade = "weak"     // a model has learnt too little
	Doubtful         AnswerGrade = "doubtful" // no model is weak, but comparisons and checks show little gain
	Fair             AnswerGrade = "fair"     // the worst model is fair
	Good             AnswerGrade = "good"     // all models are good
	StatedObjectives AnswerGrade = "stated"   // no model was trained: the objectives follow from the problem file alone
	NoObjectives     AnswerGrade = "unasked"  // the problem has no objectives
)

// IsSure reports whether the grade needs no caution.
func (g AnswerGrade) IsSure() bool { return g == Good || g == StatedObjectives || g == NoObjectives }

// ObjectiveSummary summarises the shortlist for one objective.
type ObjectiveSummary struct {
	Name     string `json:"name"`
	Strength string `json:"strength,omitempty"` // quality of the objective's model: weak, fair or good
	// Unit is the unit of Shortlist, Expected, Random and Known: the label's own "value", the
	// "probability" of a class as in [Prediction], or the "score" in 0..1 of an objective without a
	// model.
	Unit      string `json:"unit"`
	Shortlist Number `json:"shortlist"` // mean over the shortlist
	// Expected is Shortlist after a correction for the selection by the search, which favours
	// compositions that are best by luck. It is absent where there was no check.
	Expected *Number `json:"expected,omitempty"`
	// mean over random compositions
	Random Number `json:"random"`
	Known  Number `json:"known"` // mean of the measured labels of the known recipes; null where there are none
}

// HasExpectedValues reports whether any objective has an expected value.
func (a *Answer) HasExpectedValues() bool {
	return slices.ContainsFunc(a.Objectives, func(w ObjectiveSummary) bool { return w.Expected != nil })
}
