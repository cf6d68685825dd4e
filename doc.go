// Package kir finds new recipes: it samples sparse composition ratios, ways to divide a
// fixed whole among a few of many possible ingredients, in proportion to how well they fit
// what is wanted, by Markov chains that are checked to follow the stated law exactly.
//
// A problem file says what there is to choose from, how much of it, what a recipe should be
// like, and which rules it must keep. This program prints the shortlist of one:
//
//	p, err := kir.Load(ctx, "examples/cocktails/problem.yaml")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer p.Close()
//	result, err := p.Sample(ctx)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(result.Headline)
//	for _, r := range result.Shortlist {
//		fmt.Println(r)
//	}
//
// [New] makes a problem of a target that a program builds, from packages mcmc (spaces, laws,
// kernels and chains), rule, property and model.
//
// # Defaults
//
// Four chains of 100,000 draws each, after a warm-up, by the kernel that short trials
// recommend; a search for the best recipes stands beside them. Draws and figures follow
// from the problem and its seed alone, whatever the number of workers.
//
// # Concurrency
//
// Sample uses all cores unless [Problem.Workers] says otherwise, and ends early when its
// context does. A Problem must not be sampled or changed by several goroutines at once; a
// Result may be read by any number.
//
// The method starts from Obara, Morimura and Yanagisawa, "Sampler for Composition Ratio by
// Markov Chain Monte Carlo" (2019, arXiv 1906.06663).
package kir
