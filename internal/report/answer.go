package report

import (
	"slices"

	"kir/internal/search"
)

// An Answer summarises the shortlist: the quality of the models, and the predicted scores compared
// with random compositions and the known recipes.
type Answer struct {
	Headline   string             `json:"headline"` // in a line
	Grade      AnswerGrade        `json:"grade"`
	Verdict    []string           `json:"verdict"` // in sentences
	Warnings   []string           `json:"warnings"`
	Objectives []ObjectiveSummary `json:"wishes"` // that count

	search.Comparison

	Promise *search.OptimismCheck `json:"promise"`         // null where nothing has been learnt
	Bound   *Bound                `json:"bound,omitempty"` // absent where nothing was searched or found

	Effort       float64 `json:"effort"`
	Evaluations  int64   `json:"evaluations"`  // lines and compositions that were scored
	Compositions int64   `json:"compositions"` // and all splits of these lines
}

// A Bound is an upper bound of the score of every new recipe that may be suggested. Such a recipe
// keeps the constraints and, if the search does, the doses of the known recipes. Its score is Π y_k
// of the objectives that count, each once.
type Bound struct {
	Score  Number `json:"score"`  // it is proved; null where none is known
	Best   Number `json:"best"`   // of the best recipe found
	Gap    Number `json:"gap"`    // 1 − best/score
	Proved bool   `json:"proved"` // the best found is the best there is, but for a hundred-millionth of its score
	Doses  bool   `json:"doses"`  // recipes outside the doses of the known ones are left out

	// Unbounded are the objectives without a known upper bound. If there are any, there is no
	// bound.
	Unbounded []string `json:"unbounded"`
}

// An AnswerGrade states the quality of an answer in a word.
type AnswerGrade string

// The grades of an answer. With several models the worst one counts.
const (
	Weak     AnswerGrade = "weak"     // a model has learnt too little
	Doubtful AnswerGrade = "doubtful" // the models are fair or good, and what they promise is not kept
	Fair     AnswerGrade = "fair"
	Good     AnswerGrade = "good"
	Stated   AnswerGrade = "stated"  // nothing is learnt: the objectives are what was written down
	Unasked  AnswerGrade = "unasked" // nothing is wished for
)

// IsSure reports whether the grade needs no caution.
func (g AnswerGrade) IsSure() bool { return g == Good || g == Stated || g == Unasked }

// ObjectiveSummary summarises the shortlist for one objective.
type ObjectiveSummary struct {
	Name     string `json:"name"`
	Strength string `json:"strength,omitempty"` // weak, fair or good: of a model
	// Unit is the unit of the figures: the label's own "value", the "probability" of a class as in
	// [Prediction], or the "score" in 0..1 of another objective.
	Unit      string `json:"unit"`
	Shortlist Number `json:"shortlist"` // means
	// Expected is the part of the shortlist's mean that is expected to remain after the search's
	// selection effect; absent where no check exists.
	Expected *Number `json:"expected,omitempty"`
	Random   Number  `json:"random"`
	Known    Number  `json:"known"` // of a value or a probability, the recipes' own labels; null where there are none
}

// HasExpectedValues reports whether any objective has an expected value.
func (a *Answer) HasExpectedValues() bool {
	return slices.ContainsFunc(a.Objectives, func(w ObjectiveSummary) bool { return w.Expected != nil })
}
