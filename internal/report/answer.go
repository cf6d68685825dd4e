package report

import (
	"slices"

	"kir/internal/search"
)

// An Answer is what was asked for, and how good it is: what the models know, and
// what the shortlist promises beside random compositions and the known recipes.
type Answer struct {
	Headline string        `json:"headline"` // in a line
	Grade    AnswerGrade   `json:"grade"`
	Verdict  []string      `json:"verdict"` // in sentences
	Warnings []string      `json:"warnings"`
	Wishes   []WishPromise `json:"wishes"` // that count

	search.Comparison

	Promise *search.Promise `json:"promise"` // null where nothing has been learnt

	Effort       float64 `json:"effort"`
	Evaluations  int64   `json:"evaluations"`  // lines and compositions that were scored
	Compositions int64   `json:"compositions"` // and all splits of these lines
}

// An AnswerGrade is how good the answer is, in a word.
type AnswerGrade string

// The grades of an answer. That of several models is that of the worst.
const (
	Weak     AnswerGrade = "weak"     // a model has learnt too little
	Doubtful AnswerGrade = "doubtful" // the models are fair or good, and what they promise is not kept
	Fair     AnswerGrade = "fair"
	Good     AnswerGrade = "good"
	Stated   AnswerGrade = "stated"  // nothing is learnt: the wishes are what was written down
	Unasked  AnswerGrade = "unasked" // nothing is wished for
)

// Sure says whether the grade calls for no care.
func (g AnswerGrade) Sure() bool { return g == Good || g == Stated || g == Unasked }

// WishPromise is what the shortlist promises of one wish.
type WishPromise struct {
	Name     string `json:"name"`
	Strength string `json:"strength,omitempty"` // weak, fair or good: of a model
	// Unit says what the figures are: the label's own "value", the "probability" of a
	// class as [Prediction] has it, or the "score" in 0..1 of another wish.
	Unit      string `json:"unit"`
	Shortlist Number `json:"shortlist"` // means
	// Expected is what is left of the shortlist's mean once it is taken into account that
	// it was searched for; absent where nothing checks that.
	Expected *Number `json:"expected,omitempty"`
	Random   Number  `json:"random"`
	Known    Number  `json:"known"` // of a value or a probability, the recipes' own labels; null where there are none
}

// Expects says whether anything is known of what is left of what the shortlist promises.
func (a *Answer) Expects() bool {
	return slices.ContainsFunc(a.Wishes, func(w WishPromise) bool { return w.Expected != nil })
}
