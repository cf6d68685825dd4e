// Package diagnose computes how far the draws of several Markov chains can be trusted. It reports whether the chains
// agree (rank-normalised split R-hat), and how many independent draws they are worth (effective sample size, ESS;
// integrated autocorrelation time, IACT). It also reports how far an estimate may be off (Monte Carlo standard error,
// MCSE).
//
// # Definitions
//
// The figures are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner, Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC (Bayesian Analysis 16, 2021). They use Geyer's
// initial monotone positive sequence (Practical Markov chain Monte Carlo, Statistical Science 7, 1992). Draws come as
// chains × draws, all chains of one length. The mean, the standard deviation and the quantiles are computed from all
// draws. Every other figure is computed from split chains: the first and the last half of each chain. With an odd
// number of draws the middle one belongs to neither half.
//
// The values are those of the R package posterior and of ArviZ wherever these two agree. Where they do not, each
// function names the one that it follows, and why.
//
// A figure that the draws do not determine is NaN, and comes with an error that gives the reason: [ErrConstant],
// [ErrFewDraws], [ErrNotFinite], ... A NaN never comes without an error, nor an error without a NaN.
//
// # Stated errors
//
// With few effective draws, the Monte Carlo standard errors of the literature are too small too often. So there are
// stated errors, too: the SE fields of a [Summary] and [Proportion.StatedError]. In 95 of 100 runs the truth lies
// within two stated errors, or they are undefined.
//
// # Whole chains and streams
//
// [Summarize] takes all draws of a statistic. A [Summarizer] keeps its buffers from one statistic to the next.
//
// A run that is too long for memory feeds one of these for each chain: a [Series] for each statistic, a [Presence]
// for the ingredients of compositions, and a [Histogram] for an integer. For short chains they give the same figures
// as the functions on whole chains. For long chains they keep a fixed amount of memory, and their documentation says
// what the figures then are.
package diagnose
