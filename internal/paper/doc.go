// Package paper repeats the experiments of Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by
// Markov Chain Monte Carlo" (2019, arXiv 1906.06663), table by table and figure by figure, and compares the
// results with exact values.
//
// [Run] runs all experiments. For a target without properties the rates of every sampler have closed forms
// ([Exact]). The number of iterations in which the accelerated sampler forgets the number n of ingredients
// nearly has a closed form ([IACTBound]). The report therefore shows, for each rate, the rate printed in the
// paper, the exact rate, the measured rate, and the number of standard errors between exact and measured rate.
// If the paper's figures are not those of the sampler that the paper describes, the report says so. The report
// then shows which sampler the figures fit, as far as that is known.
//
// The report is one model, [Report]. The file paper.json, the file paper.html and the figures are views of this
// model.
package paper
