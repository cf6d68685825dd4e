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
	// minStatisticESS is the effective sample size that each displayed statistic must reach before
	// a run of [mcmc.AutoDraws] stops. If minESSPerChain times the number of chains is larger, that
	// is the requirement.
	minStatisticESS = 1000
	minESSPerChain  = 100 // effective sample size for each chain that a statistic must reach before a run of [mcmc.AutoDraws] stops
	// maxStatisticRHat is the largest R-hat of a statistic at which a run of [mcmc.AutoDraws] may
	// stop.
	maxStatisticRHat = 1.01
	// minUsedShare determines which ingredients can prolong a run of [mcmc.AutoDraws]. They are
	// used by at least the share minUsedShare, and at most the share 1 − minUsedShare, of the
	// draws. For other ingredients no effective sample size is required.
	minUsedShare = 0.05
)

// checkStopping reports whether the buffered draws are enough for every displayed statistic. If
// not, ahead is an estimate of the factor by which the number of draws must grow. The result
// depends on the draws alone.
func (s *session) checkStopping() (yes bool, ahead float64, err error) {
	minESS := math.Inf(1)
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	looks := []func(*stoppingChecker) error{(*stoppingChecker).checkNumericStatistics, (*stoppingChecker).checkSizesAndInclusion, (*stoppingChecker).checkConditionShares, (*stoppingChecker).checkMeanAmounts}
	checkers := make([]stoppingChecker, len(looks))
	for k, look := range looks {
		checkers[k] = stoppingChecker{session: s, wantedESS: float64(s.manifest.Auto.WantedESS), minESS: minESS}
		g.Go(func() error { return look(&checkers[k]) })
	}
	if err := g.Wait(); err != nil {
		return false, 0, err
	}
	for _, e := range checkers {
		ahead, minESS = max(ahead, e.neededDrawsFactor), min(minESS, e.minESS)
	}
	s.lastStoppingCheck.Store(&stoppingCheck{minESS, s.roundIterations()})
	return ahead <= 1, ahead, nil
}

// stoppingChecker checks whether draws are enough for some of the displayed statistics, and keeps the
// worst results.
type stoppingChecker struct {
	session           *session
	wantedESS         float64 // effective sample size that each statistic must reach
	neededDrawsFactor float64 // factor by which the number of draws must grow; at most 1 if the draws are enough
	minESS            float64 // smallest effective sample size of a statistic
}

// A stoppingCheck is the result of [session.checkStopping] that progress reports use.
type stoppingCheck struct {
	minESS     float64 // smallest effective sample size of a statistic
	iterations int     // number of iterations of each chain after warm-up at the time of the check
}

// addESS records the effective sample size of a statistic, or the error for which it could not be
// computed.
func (e *stoppingChecker) addESS(ess float64, err error) {
	switch {
	case errors.Is(err, diagnose.ErrConstant), errors.Is(err, diagnose.ErrConstantTail):
		// A constant has no error.
	case err != nil:
		e.neededDrawsFactor = max(e.neededDrawsFactor, 2)
	default:
		e.neededDrawsFactor = max(e.neededDrawsFactor, e.wantedESS/ess)
		e.minESS = min(e.minESS, ess)
	}
}

// checkNumericStatistics checks whether the draws are enough for the numeric statistics: the number
// of ingredients, the log density and the scores.
func (e *stoppingChecker) checkNumericStatistics() error {
	s := e.session
	series := []func(h *bufferedDraws, d int) float64{
		func(h *bufferedDraws, d int) float64 { return float64(h.ingredientCount(d)) },
		func(h *bufferedDraws, d int) float64 { return h.logDensities[d] },
	}
	if s.spec.hasObjectives() {
		series = append(series, func(h *bufferedDraws, d int) float64 {
			return portable.Exp(LogScore(s.spec.Target.Objectives(), h.scoresOf(d)))
		})
	}
	for k := range s.spec.propertyNames() {
		series = append(series, func(h *bufferedDraws, d int) float64 { return h.scoresOf(d)[k] })
	}
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	summaries := make([]diagnose.Summary, len(series))
	for k, of := range series {
		g.Go(func() error {
			columns := make([][]float64, len(s.chains))
			for c, chain := range s.chains {
				columns[c] = make([]float64, chain.buffered.count())
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
		case why != nil || sum.RHat > maxStatisticRHat:
			e.neededDrawsFactor = max(e.neededDrawsFactor, 2)
		}
	}
	return nil
}

// checkSizesAndInclusion checks whether the draws are enough for the distribution of the number of
// ingredients, and for the share of the draws that use each ingredient.
func (e *stoppingChecker) checkSizesAndInclusion() error {
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
		draws += h.count()
		for d := range h.count() {
			sizes[c].Add(h.ingredientCount(d))
			presences[c].Next()
			ingredients, amounts := h.partsOf(d)
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

// isRare reports whether a share of the draws is too close to 0 or 1 to be considered in the
// decision when a run stops; see minUsedShare.
func isRare(share float64) bool { return math.Min(share, 1-share) < minUsedShare }

// checkMeanAmounts checks whether the draws are enough for the mean amounts of ingredients that are
// used often.
func (e *stoppingChecker) checkMeanAmounts() error {
	s := e.session
	n := s.spec.Target.Space().N()
	counts, draws := make([]int, n), 0
	for _, chain := range s.chains {
		draws += chain.buffered.count()
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
		if float64(count) >= float64(minUsedShare*float64(draws)) {
			at[i] = &column{means: make([][]float64, len(s.chains))}
		}
	}
	batch := max(1, s.spec.Settings.Draws/amountBatches)
	for c, chain := range s.chains {
		for _, a := range at {
			if a != nil {
				a.means[c] = make([]float64, chain.buffered.count()/batch)
			}
		}
		for d := range chain.buffered.count() / batch * batch {
			ingredients, amounts := chain.buffered.partsOf(d)
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

// amountBatches is the number of batches of consecutive draws into which each chain is divided to
// estimate the standard error of a mean amount.
const amountBatches = 1 << 10
