package run

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A UnseenMode is a region that the search beside a run found and that its chains, by what they
// saw, do not know of.
type UnseenMode struct {
	Parts []mcmc.Part // the best composition of it, by ingredient
	// LogRatio is the log of at least how many times as probable it is as all that the
	// chains saw.
	LogRatio float64
}

// unseenRatio is how many times as probable a region must be at least. Of chains that are at
// their target a run says so with a probability of at most one in unseenRatio: see [Result.findUnseenMode].
const unseenRatio = 100

// minScoreRatio is how many times as good a composition must be as the best draw: chains that have
// only begun in the wilderness, and have come as high since, are another matter.
const minScoreRatio = 1000

// findUnseenMode looks for regions that the chains did not see.
//
// Let p be the law without properties, and w(x) = Π_k y_k(x)^c_k. The target is p·w/Z with
// Z = Σ p·w. Of draws of it the mean of 1/w is at most 1/Z on average, so that it is above
// 100/Z with a probability of at most 1/100 (Markov's inequality), however the draws
// depend on each other. A region R has Σ_R p·w ≤ Z. So if the sum over a region is more
// than 100 times the inverse of the mean of 1/w, either that has happened or the draws are
// not of the target: they are of where w is lower than in R. The region of a composition is all lines
// through it: every way to divide what two of its ingredients have together.
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
		x, err := mcmc.NewComposition(t.Space().N(), e.Parts...)
		if err != nil {
			return err
		}
		score, err := t.LogScore(x)
		if err != nil {
			return err
		}
		n := len(e.Parts)
		points := float64(float64(n*(n-1)/2)*float64(t.Space().Total())) + 1
		most := portable.Log(points) + t.LogLaw(n) + score // were all as good
		if !(most-seen > portable.Log(unseenRatio)) || score-best < portable.Log(minScoreRatio) {
			continue
		}
		around, err := logNeighbourhoodMass(t, e.Parts)
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
func logNeighbourhoodMass(t *mcmc.Target, parts []mcmc.Part) (float64, error) {
	var sum logMean
	law := t.LogLaw(len(parts))
	look := func(at []mcmc.Part) error {
		x, err := mcmc.NewComposition(t.Space().N(), at...)
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

// A logMean sums up numbers by their logs.
type logMean struct {
	most, scaled float64 // Σ e^(v − most)
	count        int
}

// add takes a number by its log.
func (m *logMean) add(v float64) {
	m.count++
	switch {
	case math.IsInf(v, -1):
	case m.scaled == 0:
		m.most, m.scaled = v, 1
	case v > m.most:
		m.scaled = float64(m.scaled*portable.Exp(m.most-v)) + 1
		m.most = v
	default:
		m.scaled += portable.Exp(v - m.most)
	}
}

// join takes those of another.
func (m *logMean) join(o logMean) {
	count := m.count + o.count
	switch {
	case o.scaled == 0:
	case m.scaled == 0:
		*m = o
	case o.most > m.most:
		m.scaled = float64(m.scaled*portable.Exp(m.most-o.most)) + o.scaled
		m.most = o.most
	default:
		m.scaled += float64(o.scaled * portable.Exp(o.most-m.most))
	}
	m.count = count
}

// sum returns the log of the sum.
func (m *logMean) sum() float64 {
	if m.scaled == 0 {
		return math.Inf(-1)
	}
	return m.most + portable.Log(m.scaled)
}

// value returns the log of the mean.
func (m *logMean) value() float64 { return m.sum() - portable.Log(float64(m.count)) }
