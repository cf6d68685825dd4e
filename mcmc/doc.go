// Package mcmc samples sparse composition ratios: ways to divide a fixed whole
// among a few of many possible ingredients, in proportion to how well they fit
// what is wanted.
//
// A [Space] says what is possible: N ingredients and a total of M units. A
// [Target] is a law on it, of a [Sparsity] law for the number of ingredients
// and any number of [Objective]es, each a [Property] and its weight. A [Kernel] is
// a Markov chain that leaves the target invariant. A [Sampler] makes chains, of
// any kernel or as a ladder of replicas, and [Stream] runs several of them and
// hands out their draws.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for
// Composition Ratio by Markov Chain Monte Carlo" (2019, arXiv 1906.06663).
// "The paper" in this package's comments is that one.
package mcmc
