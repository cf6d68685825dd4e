package model

// A Strength says in a word how much a forest knows.
type Strength int

// The strengths, by the share S of the label's variance that the forest explains
// out of bag: R² of numbers, Brier's skill of classes. √S is about the
// correlation of what is predicted with what is, and that is the share of the
// possible gain that somebody who chooses by the forest can hope for (the
// breeder's equation: to choose by a predictor brings its correlation times what
// choosing by the truth would).
const (
	// Weak: less than half of the gain (S < 1/4), or not told from always saying
	// the mean or the commonest class: S less than two standard errors above 0.
	Weak Strength = iota
	// Fair: half of the gain or more.
	Fair
	// Good: seven tenths or more (S ≥ 1/2), and for classes right more often than
	// the commonest one.
	Good
)

const (
	fairShare = 0.25
	goodShare = 0.5
)

// String returns the strength in a word.
func (s Strength) String() string { return [...]string{"weak", "fair", "good"}[s] }

// Strength returns how much the forest knows. It is Weak if no tree left a row
// out.
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
