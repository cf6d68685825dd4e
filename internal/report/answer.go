package report

import (
	"slices"

	"kir/internal/search"
)

// An Answer is the part of a run's report about its shortlist of best compositions: the quality of
// the models, and how the shortlist scores compared with random compositions and known recipes.
type Answer struct {
	Headline   string             `json:"headline"` // quality of the answer in one line
	Grade      AnswerGrade        `json:"grade"`
	Verdict    []string           `json:"verdict"` // quality of the answer in sentences
	Warnings   []string           `json:"warnings"`
	Objectives []ObjectiveSummary `json:"wishes"` // one entry for each objective with a positive weight

	search.Comparison

	OptimismCheck *search.OptimismCheck `json:"promise"`         // check, with recipes that the models were not trained on, how much of the predicted gain is real; null where no model was trained
	Bound         *Bound                `json:"bound,omitempty"` // upper bound on the score of any recipe; absent if there was no search or the search found nothing

	Effort       float64 `json:"effort"`       // length of the search as a multiple of the usual length
	Evaluations  int64   `json:"evaluations"`  // number of scored compositions and lines; a line is the set of all ways to divide the joint amount of two ingredients
	Compositions int64   `json:"compositions"` // number of scored compositions, including all compositions of scored lines
}

// A Bound is an upper bound on the score of every new recipe that may be suggested. Such a recipe
// keeps the constraints and, if the search requires it, the doses of the ingredients in known
// recipes. The score is Π y_k, where y_k are the scores for the objectives with positive weights.
type Bound struct {
	Score            Number `json:"score"`  // upper bound on the score; null if none is known
	Best             Number `json:"best"`   // score of the best recipe found
	Gap              Number `json:"gap"`    // 1 − Best/Score
	ProvedOptimal    bool   `json:"proved"` // whether no recipe scores more than the best recipe found, up to a relative difference of 10⁻⁸
	WithinKnownDoses bool   `json:"doses"`  // whether the bound holds only for recipes whose ingredients have doses like those in known recipes

	// Unbounded names the objectives without a known upper bound. If there are any, Score is null.
	Unbounded []string `json:"unbounded"`
}

// An AnswerGrade is the quality of an answer in one word.
type AnswerGrade string

// The grades of an answer. If there are several models, the worst one determines the grade.
const (
	Weak             AnswerGrade = "weak"     // a model predicts little better than guessing
	Doubtful         AnswerGrade = "doubtful" // no model is weak, but comparisons and checks show hardly any gain
	Fair             AnswerGrade = "fair"     // the worst model predicts with large errors
	Good             AnswerGrade = "good"     // all models predict well
	StatedObjectives AnswerGrade = "stated"   // no model was trained: the problem file alone determines the scores
	NoObjectives     AnswerGrade = "unasked"  // the problem has no objectives
)

// IsSure reports whether an answer with this grade can be relied on without caution.
func (g AnswerGrade) IsSure() bool { return g == Good || g == StatedObjectives || g == NoObjectives }

// An ObjectiveSummary compares the shortlist with random compositions and known recipes for one
// objective.
type ObjectiveSummary struct {
	Name     string `json:"name"`
	Strength string `json:"strength,omitempty"` // quality of the objective's model: weak, fair or good
	// Unit is the unit of Shortlist, Expected, Random and Known:
	//   - "value": the unit of the numeric label that a model predicts;
	//   - "probability": the probability of a class, as in [Prediction];
	//   - "score": a score from 0 to 1, of an objective without a model.
	Unit      string `json:"unit"`
	Shortlist Number `json:"shortlist"` // mean of the objective over the shortlist
	// Expected is Shortlist, corrected because the search selects compositions whose predictions
	// are too high by chance. Expected is absent if no check measured this effect.
	Expected *Number `json:"expected,omitempty"`
	// mean of the objective over random compositions
	Random Number `json:"random"`
	Known  Number `json:"known"` // mean of the measured labels of the known recipes; null if there are none
}

// HasExpectedValues reports whether any objective has a value of Expected, that is, a mean
// corrected for the selection by the search.
func (a *Answer) HasExpectedValues() bool {
	return slices.ContainsFunc(a.Objectives, func(w ObjectiveSummary) bool { return w.Expected != nil })
}
