package model

// A Strength rates how much a model has learnt as weak, fair or good.
type Strength int

// A strength depends on the share S of the variance of the label that the model explains on
// held-out rows. S is R² for numbers and Brier's skill score for classes. √S is approximately the
// correlation of predictions and labels. √S is also the share of the possible gain that a choice by
// the model achieves. This is the breeder's equation: the gain of choosing by a predictor is its
// correlation times the gain of choosing by the truth.
const (
	// WeakStrength means that the model explains less than 1/4 of the variance of the label: a
	// choice by the model achieves less than half of the possible gain. A model is also weak if the
	// explained share is less than two standard errors above 0. It then cannot be distinguished
	// from always predicting the mean or the most frequent class.
	WeakStrength Strength = iota
	// Fair means that the model explains 1/4 of the variance of the label or more: a choice by the
	// model achieves half of the possible gain or more.
	Fair
	// Good means that the model explains 1/2 of the variance of the label or more: a choice by the
	// model achieves seven tenths of the possible gain or more. For classes, the accuracy must also
	// exceed that of always predicting the most frequent class.
	Good
)

const (
	fairShare = 0.25 // least share of the variance that a fair model explains
	goodShare = 0.5  // least share of the variance that a good model explains
)

// String returns the strength as a word.
func (s Strength) String() string { return [...]string{"weak", "fair", "good"}[s] }

// Strength returns how much the model has learnt: weak, fair or good. It is [WeakStrength] if there
// were no held-out rows.
func (q *Quality) Strength() Strength {
	switch {
	case q.Numbers != nil:
		return rateStrength(q.Numbers.R2, q.Numbers.R2SE)
	case q.Classes != nil:
		s := rateStrength(q.Classes.Skill, q.Classes.SkillSE)
		if q.Classes.Accuracy <= q.Classes.MajorityAccuracy {
			s = min(s, Fair)
		}
		return s
	}
	return WeakStrength
}

// rateStrength returns the strength of a model. The parameter share is the share of the variance
// that the model explains, with the given standard error.
func rateStrength(share, standardError float64) Strength {
	switch {
	case share < fairShare || share < 2*standardError:
		return WeakStrength
	case share < goodShare:
		return Fair
	}
	return Good
}
