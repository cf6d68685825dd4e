// Package diagnose computes how far the draws of several Markov chains can be trusted. The package reports
// whether the chains agree (rank-normalised split R-hat), and how many independent draws the chains are worth
// (effective sample size, ESS; integrated autocorrelation time, IACT). The package also reports how far an
// estimate may be off (Monte Carlo standard error, MCSE).
//
// # Definitions
//
// The figures are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner, Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC (Bayesian Analysis 16, 2021). The figures
// use Geyer's initial monotone positive sequence (Practical Markov chain Monte Carlo, Statistical Science 7,
// 1992). Draws come as chains × draws, and all chains have the same length. The mean, the standard deviation and
// the quantiles are computed from all draws. Every other figure is computed from split chains: the first and the
// last half of each chain. If the number of draws is odd, the middle draw belongs to neither half.
//
// The values equal the values of the R package posterior and of ArviZ wherever the two agree. Where the two
// disagree, each function names the package that the function follows, and why.
//
// A figure that the draws do not determine is NaN, and comes with an error that gives the reason: [ErrConstant],
// [ErrFewDraws], [ErrNotFinite], ... A NaN never comes without an error, nor an error without a NaN.
//
// # Stated errors
//
// With few effective draws, the Monte Carlo standard errors of the literature are too small too often. So there
// are also stated errors: the SE fields of a [Summary] and [Proportion.StatedError]. In 95 of 100 runs the truth
// lies within two stated errors of the estimate, or the stated error is undefined.
//
// # Whole chains and streams
//
// [Summarize] takes all draws of a statistic. A [Summarizer] keeps its buffers from one statistic to the next.
//
// If a run is too long for memory, its draws are fed to streams, one stream for each chain. There are three
// kinds of streams: a [Series] for each statistic, a [Presence] for the ingredients of compositions, and a
// [Histogram] for an integer. For short chains the streams give the same figures as the functions on whole
// chains. For long chains the streams keep a fixed amount of memory, and their documentation says what the
// figures then are.
package diagnose
