package paper

import "kir/internal/dataset"

// Options state how the experiments are run. The zero value runs them at full length, without the cocktails.
type Options struct {
	// Seed determines all random numbers. Together with Divide and Book it determines every figure.
	Seed uint64

	// Workers is how many sequences run at once, 0 for one on each processor. It affects only the duration.
	Workers int

	// Book is the cocktail book with the labels taste and timing, as in examples/cocktails. The report lists how it
	// differs from the paper's. If nil, the cocktail experiment is left out.
	Book *dataset.Book

	// Divide is the factor, at most 1,000, by which every sequence is shorter than the paper's, for trials. 0 and 1
	// mean the paper's length.
	Divide int

	// Progress receives the work done so far, the total work, both in units of about a nanosecond, and the present
	// task. It is called by one goroutine at a time, and may be nil.
	Progress func(done, total int64, what string)
}

// DefaultSeed is the seed if none is given.
const DefaultSeed = 1
