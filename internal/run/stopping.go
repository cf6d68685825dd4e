package run

import (
	"errors"
	"math"

	"golang.org/x/sync/errgroup"

	"kir/internal/diagnose"
	"kir/internal/number"
	"kir/internal/portable"
)

const (
	// enoughDraws is the effective sample size that each displayed statistic must reach.
	// enoughOfChain is the same, for each chain.
	enoughDraws   = 1000
	enoughOfChain = 100
	// enoughRHat is the largest R-hat.
	enoughRHat = 1.01
	// rarePresence is the share of draws, and one less it, between which the presence of an
	// ingredient must reach that size. For rarer or commoner ingredients the stated error is
	// enough.
	rarePresence = 0.05
)

// checkStopping reports whether every displayed statistic is good enough in the buffered draws. If
// not, ahead estimates how many times as many draws the worst one needs. The result depends on the
// draws alone.
func (s *session) checkStopping() (yes bool, ahead float64, err error) {
	e := &stoppingRule{session: s, wanted: float64(s.manifest.Auto.Wanted), minESS: math.Inf(1)}
	defer func() { s.checked.Store(&stoppingCheck{e.minESS, s.roundIterations()}) }()
	for _, look := range []func() error{e.checkStatistics, e.checkShares, e.checkValues, e.checkAmounts} {
		if err := look(); err != nil {
			return false, 0, err
		}
	}
	return e.drawsFactor <= 1, e.drawsFactor, nil
}

// stoppingRule checks all statistics. The progress of a run shows the worst of them.
type stoppingRule struct {
	session     *session
	wanted      float64
	drawsFactor float64 // how many times as many draws are needed; at most 1 if enough
	minESS      float64 // effective sample size that was seen
}

// A stoppingCheck is the least effective sample size of the statistics, with the number of
// iterations at the check.
type stoppingCheck struct {
	ess        float64
	iterations int
}

// addESS adds an effective sample size, or the error why there is none.
func (e *stoppingRule) addESS(ess float64, err error) {
	switch {
	case errors.Is(err, diagnose.ErrConstant), errors.Is(err, diagnose.ErrConstantTail):
		// A constant has no error.
	case err != nil:
		e.drawsFactor = max(e.drawsFactor, 2)
	default:
		e.drawsFactor = max(e.drawsFactor, e.wanted/ess)
		e.minESS = min(e.minESS, ess)
	}
}

// checkStatistics checks the numeric statistics of the draws.
func (e *stoppingRule) checkStatistics() error {
	s := e.session
	series := []func(h *bufferedDraws, d int) float64{
		func(h *bufferedDraws, d int) float64 { return float64(h.ingredientCount(d)) },
		func(h *bufferedDraws, d int) float64 { return h.density[d] },
	}
	if s.spec.hasObjectives() {
		series = append(series, func(h *bufferedDraws, d int) float64 {
			return portable.Exp(LogScore(s.spec.Target.Objectives(), h.scoresOf(d)))
		})
	}
	for k := range s.spec.properties() {
		series = append(series, func(h *bufferedDraws, d int) float64 { return h.scoresOf(d)[k] })
	}
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	summaries := make([]diagnose.Summary, len(series))
	for k, of := range series {
		g.Go(func() error {
			columns := make([][]float64, len(s.chains))
			for c, chain := range s.chains {
				columns[c] = make([]float64, chain.buffered.draws())
				for d := range columns[c] {
					columns[c][d] = of(chain.buffered, d)
				}
			}
			summaries[k] = diagnose.Summarize(columns)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, sum := range summaries {
		for _, f := range []struct {
			name string
			ess  number.Number
		}{{"ESSBulk", sum.ESSBulk}, {"ESSQ5", sum.ESSQ5}, {"ESSQ95", sum.ESSQ95}, {"ESSMean", sum.ESSMean}} {
			e.addESS(float64(f.ess), sum.ReasonFor(f.name))
		}
		switch why := sum.ReasonFor("RHat"); {
		case errors.Is(why, diagnose.ErrConstant):
		case why != nil || sum.RHat > enoughRHat:
			e.drawsFactor = max(e.drawsFactor, 2)
		}
	}
	return nil
}

// checkShares checks the law of n and the inclusion of ingredients.
func (e *stoppingRule) checkShares() error {
	s := e.session
	_, most := s.spec.Target.Law().Support()
	sizes := make([]*diagnose.Histogram, len(s.chains))
	presences := make([]*diagnose.Presence, len(s.chains))
	counts := make([]uint64, s.spec.Target.Space().N())
	draws := 0
	for c, chain := range s.chains {
		h := chain.buffered
		sizes[c] = diagnose.NewHistogram(most+1, len(s.chains))
		presences[c] = diagnose.NewPresence(len(counts), len(s.chains))
		draws += h.draws()
		for d := range h.draws() {
			sizes[c].Add(h.ingredientCount(d))
			presences[c].Next()
			ingredients, amounts := h.parts(d)
			for k, i := range ingredients {
				presences[c].Add(int(i), int(amounts[k]))
				counts[i]++
			}
		}
	}
	shares, err := diagnose.Shares(sizes)
	if err != nil {
		return err
	}
	for _, share := range shares {
		if !isRare(share.Probability) {
			e.addESS(share.ESS, share.Err)
		}
	}
	all, err := diagnose.AllInclusions(presences, func(i int) bool { return !isRare(float64(counts[i]) / float64(draws)) })
	if err != nil {
		return err
	}
	for _, x := range all {
		e.addESS(x.ESS, x.Err)
	}
	return nil
}

// isRare reports whether a share of the draws is too rare, or too common, for its error to
// determine a run's length.
func isRare(share float64) bool { return math.Min(share, 1-share) < rarePresence }

// checkAmounts checks the mean amounts of the frequent ingredients.
func (e *stoppingRule) checkAmounts() error {
	s := e.session
	n := s.spec.Target.Space().N()
	counts, draws := make([]int, n), 0
	for _, chain := range s.chains {
		draws += chain.buffered.draws()
		for _, i := range chain.buffered.ingredients {
			counts[i]++
		}
	}
	type column struct {
		sum, squares float64
		means        [][]float64 // of batches, by chain
	}
	at := make([]*column, n) // nil of those that are not looked at
	for i, count := range counts {
		if float64(count) >= float64(rarePresence*float64(draws)) {
			at[i] = &column{means: make([][]float64, len(s.chains))}
		}
	}
	batch := max(1, s.spec.Settings.Draws/amountBatches)
	for c, chain := range s.chains {
		for _, a := range at {
			if a != nil {
				a.means[c] = make([]float64, chain.buffered.draws()/batch)
			}
		}
		for d := range chain.buffered.draws() / batch * batch {
			ingredients, amounts := chain.buffered.parts(d)
			for p, i := range ingredients {
				if a := at[i]; a != nil {
					v := float64(amounts[p])
					a.sum += v
					a.squares += float64(v * v)
					a.means[c][d/batch] += v / float64(batch)
				}
			}
		}
	}
	for _, a := range at {
		if a == nil {
			continue
		}
		mean := a.sum / float64(draws)
		variance := a.squares/float64(draws) - float64(mean*mean)
		se, err := diagnose.MCSEMean(a.means)
		e.addESS(variance/float64(se*se), err)
	}
	return nil
}

// amountBatches is the number of batches of a chain's draws for the error of a mean amount.
const amountBatches = 1 << 10
