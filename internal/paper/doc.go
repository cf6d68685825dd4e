// Package paper repeats the experiments of Obara, Morimura and Yanagisawa,
// "Sampler for Composition Ratio by Markov Chain Monte Carlo" (2019, arXiv
// 1906.06663), table by table and figure by figure, and holds them against
// exact values.
//
// [Run] runs them all. Of a target without properties the rates of every
// sampler have closed forms ([Exact]), and so nearly has the time in which
// accelerated forgets n ([IACTBound]). The report therefore shows, for each
// rate, what the paper printed, what is exact, what was measured, and how many
// standard errors lie between the latter two. Where the paper's figures are
// not those of the sampler that it describes, the report says so and shows what
// they are the figures of, as far as that is known.
//
// The report is one model, [Report], of which paper.json, paper.html and the
// figures are views.
package paper
