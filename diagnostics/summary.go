// Package diagnostics says how far the draws of Markov chains can be trusted: whether the chains agree (split R-hat), how
// many independent draws they are worth (effective sample size, ESS), and how far an estimate may be off (Monte Carlo
// standard error, MCSE). The draws may come from any sampler.
//
// The statistics are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner, Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC (Bayesian Analysis 16, 2021). They equal those of the R
// package posterior, and those of ArviZ wherever the two packages agree.
//
// All chains need the same number of draws: at least 4
// for R-hat, and at least 12 for an effective sample size or a standard error. A statistic that the draws do not determine
// is NaN, and comes with an error that gives the reason.
package diagnostics

import "kir/internal/diagnose"

// These errors are the reasons why a statistic is NaN. Test for them with [errors.Is]: the returned errors add details.
var (
	ErrNoDraws      = diagnose.ErrNoDraws      // there is no chain, or no draw
	ErrRagged       = diagnose.ErrRagged       // the chains differ in length
	ErrNotFinite    = diagnose.ErrNotFinite    // a draw is NaN or infinite
	ErrFewDraws     = diagnose.ErrFewDraws     // the chains are too short for the statistic
	ErrConstant     = diagnose.ErrConstant     // all draws are equal up to rounding
	ErrConstantTail = diagnose.ErrConstantTail // no draw lies beyond the quantile, which is the largest value
	ErrScale        = diagnose.ErrScale        // the spread of the draws is too large or too small for its square to be a float64
)

// A Summary holds statistics of the draws of one quantity over all chains.
type Summary struct {
	Mean, SD        float64 // mean of all draws, and their standard deviation with divisor S−1 for S draws
	Q5, Median, Q95 float64 // quantiles at 5 %, 50 % and 95 %, interpolated linearly

	// Monte Carlo standard errors of the estimates above. MCSEMean is SD/√ESSMean, where ESSMean is the effective sample
	// size of the draws without ranks. The errors of the quantiles are those of section 4.4 of the paper.
	MCSEMean, MCSESD, MCSEQ5, MCSEMedian, MCSEQ95 float64

	// ESSBulk is the effective sample size of the ranks, for the centre of the distribution. ESSTail, for its tails, is
	// the smaller one of the effective sample sizes of the quantiles at 5 % and 95 %.
	ESSBulk, ESSTail float64

	// RHat is the rank-normalised split R-hat: the larger value of the draws and of their distances from the median. It
	// is near 1 if all halves of all chains have the same distribution. Do not trust chains with RHat above 1.01.
	RHat float64

	// IACT is the integrated autocorrelation time: how many consecutive draws carry as much information as one
	// independent draw.
	IACT float64

	// Undefined maps the name of each field that is NaN to the reason.
	Undefined map[string]error
}

// Summarize returns the statistics of the draws of one quantity; chains[c][k] is draw k of chain c.
func Summarize(chains [][]float64) Summary {
	s := diagnose.Summarize(chains)
	public := Summary{
		Mean: float64(s.Mean), SD: float64(s.SD), Q5: float64(s.Q5), Median: float64(s.Median), Q95: float64(s.Q95),
		MCSEMean: float64(s.MCSEMean), MCSESD: float64(s.MCSESD),
		MCSEQ5: float64(s.MCSEQ5), MCSEMedian: float64(s.MCSEMedian), MCSEQ95: float64(s.MCSEQ95),
		ESSBulk: float64(s.ESSBulk), ESSTail: float64(s.ESSTail), RHat: float64(s.RHat), IACT: float64(s.IACT),
		Undefined: make(map[string]error),
	}
	for _, figure := range []string{"Mean", "SD", "Q5", "Median", "Q95", "MCSEMean", "MCSESD", "MCSEQ5", "MCSEMedian", "MCSEQ95", "ESSBulk", "ESSTail", "RHat", "IACT"} {
		if err := s.ReasonFor(figure); err != nil {
			public.Undefined[figure] = err
		}
	}
	return public
}
