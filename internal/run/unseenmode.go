package run

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// An UnseenMode is a region of high score that the run's search found and that the run's chains
// missed, as far as their draws show.
type UnseenMode struct {
	Parts []mcmc.Part // the best composition of the region
	// LogRatio is the log of a lower bound on the probability of the region, relative to the
	// probability of everything that the chains saw.
	LogRatio float64
}

// minUnseenRatio is the least probability ratio at which an unseen mode is reported. For chains
// that sample their target the probability of a false report is at most 1/minUnseenRatio: see
// [Result.findUnseenMode].
const minUnseenRatio = 100

// minScoreRatio is the least ratio of a composition's score to the score of the best draw for an
// unseen mode. It excludes chains that started in a region of low score and have since reached as
// high a score.
const minScoreRatio = 1000

// findUnseenMode looks for regions that the chains missed. The parameter inverse is the mean of 1/w
// over the draws, with w as below.
//
// Let p be the law without properties, and w(x) = Π_k y_k(x)^c_k. The target is p·w/Z with Z = Σ
// p·w. Over draws from the target the mean of 1/w is at most 1/Z in expectation. So the mean
// exceeds 100/Z with a probability of at most 1/100 (Markov's inequality), however dependent the
// draws are. A region R has Σ_R p·w ≤ Z. So if the sum over a region exceeds 100 times the inverse
// of the mean of 1/w, there are two explanations. Either that rare event has happened, or the draws
// do not follow the target and come from a part where w is lower than in R. The region of a
// composition consists of all lines through the composition: every way to divide the sum of two of
// its ingredients.
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

// logNeighbourhoodMass returns the log of the sum of p·w over the lines through a composition; see
// [Result.findUnseenMode].
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

// A logMean accumulates numbers that are given by their logs, and computes the log of their mean.
type logMean struct {
	maxLog, scaledSum float64 // maxLog is the greatest log v that was added, and scaledSum is Σ e^(v − maxLog)
	count             int
}

// add adds the number whose log is v.
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

// join adds the numbers of another logMean.
func (m *logMean) join(o logMean) {
	count := m.count + o.count
	switch {
	case o.scaledSum == 0:
	case m.scaledSum == 0:
		*m = o
	case o.maxLog > m.maxLog:
		m.scaledSum = float64(m.scaledSum*portable.Exp(m.maxLog-o.maxLog)) + o.scaledSum
		m.maxLog = o.maxLog
	default:
		m.scaledSum += float64(o.scaledSum * portable.Exp(o.maxLog-m.maxLog))
	}
	m.count = count
}

// logOfSum returns the log of the sum of the numbers.
func (m *logMean) logOfSum() float64 {
	if m.scaledSum == 0 {
		return math.Inf(-1)
	}
	return m.maxLog + portable.Log(m.scaledSum)
}

// logOfMean returns the log of the mean of the numbers.
func (m *logMean) logOfMean() float64 { return m.logOfSum() - portable.Log(float64(m.count)) }
