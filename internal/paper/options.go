package paper

import "kir/internal/dataset"

// Options state how the experiments are run. The zero value runs the experiments at full length, without the
// cocktail experiment.
type Options struct {
	// Seed determines all random numbers. Seed, Divide and Book together determine all results.
	Seed uint64

	// Workers is the number of sequences that run at once; 0 means one for each processor. The number affects
	// only the duration.
	Workers int

	// Book is the cocktail book with the labels taste and timing, as in examples/cocktails. The report lists how
	// the book differs from the data of the paper. If Book is nil, the cocktail experiment is left out.
	Book *dataset.Book

	// Divide is a number, at most 1,000, by which the length of every sequence is divided, for trial runs. 0 and
	// 1 mean sequences as long as in the paper.
	Divide int

	// Progress receives the work done so far and the total work, both in nanoseconds, and the name of the
	// present task. One goroutine at a time calls Progress. Progress may be nil.
	Progress func(done, total int64, what string)
}

// DefaultSeed is the seed if the user states no seed.
const DefaultSeed = 1
