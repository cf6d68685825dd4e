// Package diagnose says how far the draws of several Markov chains can be
// trusted: whether the chains agree (rank-normalised split R-hat), how many
// independent draws they are worth (effective sample size, ESS; integrated
// autocorrelation time, IACT) and how far an estimate may be off (Monte Carlo
// standard error, MCSE).
//
// # Definitions
//
// The figures are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner,
// Rank-normalization, folding, and localization: an improved R-hat for
// assessing convergence of MCMC (Bayesian Analysis 16, 2021), with Geyer's
// initial monotone positive sequence (Practical Markov chain Monte Carlo,
// Statistical Science 7, 1992) inside. Draws come as chains × draws, all
// chains of one length. Every figure but the mean, the standard deviation and
// the quantiles is computed on split chains: each chain gives two chains, its
// first and its last half; with an odd number of draws the middle one belongs
// to neither.
//
// The values are those of the R package posterior and of ArviZ wherever these
// two agree. Where they do not, each function says which it follows and why.
//
// A figure that the draws do not determine is NaN, and comes with an error
// that says why: [ErrConstant], [ErrFewDraws], [ErrNotFinite], ... A NaN never
// comes without an error, nor an error without a NaN.
//
// # Errors to state
//
// A Monte Carlo standard error is what the literature makes it. Where draws are
// worth few independent ones it is too small too often, so that there is an error
// to state beside it, the SE of a [Summary] and [Proportion.StatedError]: the truth lies
// within two of them in 95 of 100 runs, or they are undefined.
//
// # Whole chains and streams
//
// [Summarize] takes all draws of a statistic. A [Summarizer] keeps its buffers from
// one statistic to the next.
//
// A run that is too long to be kept in memory feeds a [Series] for each
// statistic, a [Presence] for what a composition uses and a [Histogram] for an
// integer, one of each per chain. Short chains give the same figures as the
// functions on whole chains; of long ones a fixed amount of memory is kept, and
// what is reported instead is said.
package diagnose
