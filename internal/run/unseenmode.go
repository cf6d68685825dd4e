package run

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// An UnseenMode is a region of compositions of high score that the search found but that, as far as
// the draws show, no chain has visited.
type UnseenMode struct {
	Parts []mcmc.Part // composition that the search found; the region consists of this composition and similar compositions
	// LogRatio is the log of a ratio of probabilities in the target: that of the region divided by
	// that of everything the chains have visited. It is a lower bound.
	LogRatio float64
}

// minUnseenRatio is the least ratio of probabilities at which an [UnseenMode] is reported. If the
// chains do sample their target, a false report has a probability of at most 1/minUnseenRatio: see
// [Result.findUnseenMode].
const minUnseenRatio = 100

// minScoreRatio is the least ratio of scores at which an [UnseenMode] is reported: the score of its
// composition divided by the score of the best draw. This excludes chains that started in a region
// of low score and have since reached compositions of as high a score.
const minScoreRatio = 1000

// findUnseenMode looks for regions of compositions that the search found and the chains missed. The
// parameter inverse is the mean of 1/w over the draws, with w as below.
//
// Let p be the distribution without properties, and w(x) = Π_k y_k(x)^c_k the score. The target is
// p·w/Z with Z = Σ p·w. Over draws from the target the mean of 1/w is at most 1/Z in expectation.
// So the mean exceeds 100/Z with a probability of at most 1/100 (Markov's inequality), however
// dependent the draws are.
//
// Let R be a region, and s the sum of p·w over R; then s ≤ Z. If s times the mean of 1/w exceeds
// 100, the mean exceeds 100/Z. Then either this rare event has happened, or the draws do not follow
// the target: they come from compositions where w is lower than in R.
//
// The region of a composition consists of the composition and of all compositions that divide the
// joint amount of two of its ingredients differently.
func (r *Result) findUnseenMode(t *mcmc.Target, inverse logMean) error {
	seen := -inverse.logOfMean()
	if r.Answer == nil || math.IsInf(seen, 0) || math.IsNaN(seen) {
		return nil
	}
	best := math.Inf(-1) // log score of a draw
	for _, b := range r.Best {
		if !b.Found {
			best = max(best, b.LogScore)
		}
	}
	for _, e := range r.Answer.Entries {
		x, err := t.Space().Composition(e.Parts, e.Conditions)
		if err != nil {
			return err
		}
		score, err := t.LogScore(x)
		if err != nil {
			return err
		}
		n := len(e.Parts)
		points := float64(float64(n*(n-1)/2)*float64(t.Space().Total())) + 1
		most := portable.Log(points) + t.LogPrior(x) + score // were all as good
		if !(most-seen > portable.Log(minUnseenRatio)) || score-best < portable.Log(minScoreRatio) {
			continue
		}
		around, err := logNeighbourhoodMass(t, x)
		if err != nil {
			return err
		}
		if ratio := around - seen; ratio > portable.Log(minUnseenRatio) && (r.UnseenMode == nil || ratio > r.UnseenMode.LogRatio) {
			r.UnseenMode = &UnseenMode{Parts: slices.Clone(x.Parts()), LogRatio: ratio}
		}
	}
	return nil
}

// logNeighbourhoodMass returns the log of the sum of p·w over the region of a composition, with p,
// w and the region as in [Result.findUnseenMode].
func logNeighbourhoodMass(t *mcmc.Target, x *mcmc.Composition) (float64, error) {
	var sum logMean
	parts, conditions, law := x.Parts(), x.AppendConditions(nil), t.LogPrior(x)
	look := func(at []mcmc.Part) error {
		x, err := t.Space().Composition(at, conditions)
		if err != nil {
			return err
		}
		if t.Space().Contains(x) != nil {
			return nil
		}
		score, err := t.LogScore(x)
		sum.add(law + score)
		return err
	}
	if err := look(parts); err != nil {
		return 0, err
	}
	for i := range parts {
		for j := range i {
			at := slices.Clone(parts)
			both := parts[i].Amount + parts[j].Amount
			for k := 1; k < both; k++ {
				if k == parts[i].Amount {
					continue // counted already
				}
				at[i].Amount, at[j].Amount = k, both-k
				if err := look(at); err != nil {
					return 0, err
				}
			}
		}
	}
	return sum.logOfSum(), nil
}

// A logMean computes the log of the mean of numbers that are given by their logs.
type logMean struct {
	maxLog    float64 // largest log that was added
	scaledSum float64 // sum of e^(v − maxLog) over all added logs v
	count     int     // number of logs added
}

// add adds the number e^v.
func (m *logMean) add(v float64) {
	m.count++
	switch {
	case math.IsInf(v, -1):
	case m.scaledSum == 0:
		m.maxLog, m.scaledSum = v, 1
	case v > m.maxLog:
		m.scaledSum = float64(m.scaledSum*portable.Exp(m.maxLog-v)) + 1
		m.maxLog = v
	default:
		m.scaledSum += portable.Exp(v - m.maxLog)
	}
}

// join adds all numbers that were added to other.
func (m *logMean) join(other logMean) {
	count := m.count + other.count
	switch {
	case other.scaledSum == 0:
	case m.scaledSum == 0:
		*m = other
	case other.maxLog > m.maxLog:
		m.scaledSum = float64(m.scaledSum*portable.Exp(m.maxLog-other.maxLog)) + other.scaledSum
		m.maxLog = other.maxLog
	default:
		m.scaledSum += float64(other.scaledSum * portable.Exp(other.maxLog-m.maxLog))
	}
	m.count = count
}

// logOfSum returns the log of the sum of all added numbers.
func (m *logMean) logOfSum() float64 {
	if m.scaledSum == 0 {
		return math.Inf(-1)
	}
	return m.maxLog + portable.Log(m.scaledSum)
}

// logOfMean returns the log of the mean of all added numbers.
func (m *logMean) logOfMean() float64 { return m.logOfSum() - portable.Log(float64(m.count)) }
