package volume

import (
	"errors"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
)

// A Rand is a source of random choices.
type Rand interface {
	count.Rand

	// Bernoulli returns true with probability p.
	Bernoulli(p float64) bool
}

// A Problem holds the rules, divided into countable ones and sums.
type Problem struct {
	Space   count.Space      // countable rules, whose groups are disjoint or nested
	Table   *count.Table     // counts of Space
	Sampler *count.Sampler   // uniform draws from Space
	Sums    []constraint.Sum // rules that Space does not express
}

// A Composition lists the used ingredients and, in the same order, their amounts.
type Composition struct{ Ingredients, Amounts []int32 }

// These are the default precision and effort. Caches hold results measured with them.
const (
	DefaultRatioError = 0.02
	DefaultEffort     = 100 // greatest number of moves, in millions
)

// Options state which sizes to measure, and how precisely.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, ascending. Sizes with D_n = 0 are
	// skipped.
	Sizes []int

	// Mass is the law's probability of each size, up to a factor; nil makes all equal. RatioError applies to sizes
	// with more than 0.1 % of the total.
	Mass []float64

	// RatioError is the required standard error of the log of each ratio |X_m|/|X_n|. Measuring ends once it is
	// reached, or when the Effort is spent. 0 means [DefaultRatioError].
	RatioError float64

	// Effort is the greatest number of moves, in millions; 0 means [DefaultEffort]. If ingredients have more than 64
	// terms in sums on average, a move counts once for every 64 terms.
	Effort float64

	// Stream returns a source of random choices for a part of the work. Equal indices must give equal sources. The
	// result depends on nothing else.
	Stream func(index uint64) Rand

	// Workers is the number of goroutines, at least 1. It does not affect the result.
	Workers int
}

// ErrNoStream is returned if Options.Stream is nil.
var ErrNoStream = errors.New("measure: there are no streams of random choices")
