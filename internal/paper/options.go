package paper

import "kir/internal/dataset"

// Options say how the experiments are run. The zero value runs them in full,
// without the cocktails.
type Options struct {
	// Seed decides every figure, together with Divide and Book.
	Seed uint64

	// Workers is how many sequences run at once; it changes nothing but the
	// time. 0: one for each processor.
	Workers int

	// Book is the book of cocktails, with the labels taste and timing: that of
	// examples/cocktails, whose differences from the paper's the report lists.
	// Without one the cocktail experiment is left out.
	Book *dataset.Book

	// Divide makes every sequence that many times shorter than the paper's, at
	// most 1,000, for a trial. 0 and 1: the paper's length.
	Divide int

	// Progress, if there is one, receives how much is done out of how much, in
	// units of about a nanosecond of work, and what is being done. It is
	// called from one goroutine at a time.
	Progress func(done, total int64, what string)
}

// DefaultSeed is the seed of a run that is given none.
const DefaultSeed = 1
