package run

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// An UnseenMode is a region that the run's search found and that its chains missed, as far as their
// draws show.
type UnseenMode struct {
	Parts []mcmc.Part // the best composition of it, by ingredient
	// LogRatio is the log of a lower bound of the region's probability, relative to everything that
	// the chains saw.
	LogRatio float64
}

// unseenRatio is the least probability ratio that is reported. For chains that sample their target
// the probability of a false report is at most one in unseenRatio: see [Result.findUnseenMode].
const unseenRatio = 100

// minScoreRatio is the least score, relative to the best draw, of a composition in the region. It
// excludes chains that started in a region of low score and have since reached as high a score.
const minScoreRatio = 1000

// findUnseenMode looks for regions that the chains missed.
//
// Let p be the law without properties, and w(x) = Π_k y_k(x)^c_k. The target is p·w/Z with Z = Σ
// p·w. Over its draws the mean of 1/w is at most 1/Z in expectation. So it exceeds 100/Z with a
// probability of at most 1/100 (Markov's inequality), however dependent the draws are. A region R
// has Σ_R p·w ≤ Z. So if the sum over a region exceeds 100 times the inverse of the mean of 1/w,
// there are two explanations. Either that rare event has happened, or the draws do not follow the
// target and come from a part where w is lower than in R. The region of a composition consists of
// all lines through it: every way to divide the sum of two of its ingredients.
func (r *Result) findUnseenMode(t *mcmc.Target, inverse logMean) error {
	seen := -inverse.value()
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
		if !(most-seen > portable.Log(unseenRatio)) || score-best < portable.Log(minScoreRatio) {
			continue
		}
		around, err := logNeighbourhoodMass(t, x)
		if err != nil {
			return err
		}
		if ratio := around - seen; ratio > portable.Log(unseenRatio) && (r.UnseenMode == nil || ratio > r.UnseenMode.LogRatio) {
			r.UnseenMode = &UnseenMode{Parts: slices.Clone(x.Parts()), LogRatio: ratio}
		}
	}
	return nil
}

// logNeighbourhoodMass returns the log of the sum of p·w over the lines through a composition.
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
	return sum.sum(), nil
}

// A logMean averages numbers given by their logs.
type logMean struct {
	max, scaled float64 // Σ e^(v − max)
	count       int
}

// add adds a number by its log.
func (m *logMean) add(v float64) {
	m.count++
	switch {
	case math.IsInf(v, -1):
	case m.scaled == 0:
		m.max, m.scaled = v, 1
	case v > m.max:
		m.scaled = float64(m.scaled*portable.Exp(m.max-v)) + 1
		m.max = v
	default:
		m.scaled += portable.Exp(v - m.max)
	}
}

// join adds the numbers of another logMean.
func (m *logMean) join(o logMean) {
	count := m.count + o.count
	switch {
	case o.scaled == 0:
	case m.scaled == 0:
		*m = o
	case o.max > m.max:
		m.scaled = float64(m.scaled*portable.Exp(m.max-o.max)) + o.scaled
		m.max = o.max
	default:
		m.scaled += float64(o.scaled * portable.Exp(o.max-m.max))
	}
	m.count = count
}

// sum returns the log of the sum.
func (m *logMean) sum() float64 {
	if m.scaled == 0 {
		return math.Inf(-1)
	}
	return m.max + portable.Log(m.scaled)
}

// value returns the log of the mean.
func (m *logMean) value() float64 { return m.sum() - portable.Log(float64(m.count)) }
