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

// A Problem holds the rules, divided into countable rules and sums.
type Problem struct {
	Space   count.Space      // countable rules, whose groups are disjoint or nested
	Table   *count.Table     // counts of Space
	Sampler *count.Sampler   // uniform draws from Space
	Sums    []constraint.Sum // rules that Space does not express
}

// A Composition lists the used ingredients and, in the same order, the amounts of the ingredients.
type Composition struct{ Ingredients, Amounts []int32 }

// These constants are the default precision and effort. Caches hold results measured with the defaults.
const (
	DefaultRatioError = 0.02 // required standard error of the log of a ratio
	DefaultEffort     = 100  // maximum number of moves, in millions
)

// Options state which sizes to measure, and how precisely.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, in ascending order. Sizes with D_n = 0 are skipped.
	Sizes []int

	// SizeProbabilities is the probability of each size in the distribution to be sampled, up to a common factor; nil makes
	// all sizes equally probable. RatioError applies to sizes with more than 0.1 % of the total mass.
	SizeProbabilities []float64

	// RatioError is the required standard error of the log of each ratio |X_m|/|X_n|. Measuring ends once all
	// ratios have this precision, or when the Effort is spent. 0 means [DefaultRatioError].
	RatioError float64

	// MaxMillionMoves is the maximum number of moves, in millions; 0 means [DefaultEffort]. If ingredients have more than
	// 64 terms in sums on average, a move counts once for every 64 terms.
	MaxMillionMoves float64

	// Stream returns a source of random choices for a part of the work. Equal indices must give equal sources.
	// The result depends on no other source of randomness.
	Stream func(index uint64) Rand

	// Workers is the number of goroutines, at least 1. The number does not affect the result.
	Workers int
}

// ErrNoStream is returned if Options.Stream is nil.
var ErrNoStream = errors.New("measure: there are no streams of random choices")
