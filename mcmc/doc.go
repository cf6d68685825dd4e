// Package mcmc samples sparse composition ratios: ways to divide a fixed total among a few of many
// possible ingredients. It draws each with a probability in proportion to how well it meets the
// objectives.
//
// A [Space] is the set of possible compositions: N ingredients and a total of M units. A [Target]
// is a law on a space. It combines a [Sparsity] law for the number of ingredients with any number
// of [Objective]s, each a [Property] and its weight. A [Kernel] is a Markov chain that leaves the
// target invariant. A [Sampler] makes chains, of any kernel or as a ladder of replicas. [Stream]
// runs several chains and passes on their draws.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by Markov
// Chain Monte Carlo" (2019, arXiv 1906.06663). "The paper" in this package's comments is that one.
package mcmc
