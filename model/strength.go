package model

// A Strength rates, in a word, how much a model has learnt.
type Strength int

// The strengths, by the share S of the label's variance that the model explains on held-out rows:
// R² of numbers, Brier's skill of classes. √S is approximately the correlation of predictions with
// labels. It is also the share of the possible gain that a choice by the model can achieve (the
// breeder's equation: choosing by a predictor gains its correlation times the gain of choosing by
// the truth).
const (
	// Weak: less than half of the gain (S < 1/4), or not distinguishable from always predicting the
	// mean or the commonest class: S is less than two standard errors above 0.
	Weak Strength = iota
	// Fair: half of the gain or more.
	Fair
	// Good: seven tenths or more (S ≥ 1/2), and for classes correct more often than the commonest
	// one.
	Good
)

const (
	fairShare = 0.25
	goodShare = 0.5
)

// String returns the strength as a word.
func (s Strength) String() string { return [...]string{"weak", "fair", "good"}[s] }

// Strength returns how much the model has learnt. It is Weak if no tree left a row out.
func (q *Quality) Strength() Strength {
	switch {
	case q.Numbers != nil:
		return strength(q.Numbers.R2, q.Numbers.R2SE)
	case q.Classes != nil:
		s := strength(q.Classes.Skill, q.Classes.SkillSE)
		if q.Classes.Accuracy <= q.Classes.MajorityAccuracy {
			s = min(s, Fair)
		}
		return s
	}
	return Weak
}

func strength(share, standardError float64) Strength {
	switch {
	case share < fairShare || share < 2*standardError:
		return Weak
	case share < goodShare:
		return Fair
	}
	return Good
}
