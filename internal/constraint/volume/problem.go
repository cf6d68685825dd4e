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

// A Problem holds the rules, divided into two kinds: countable rules, under which package count can count and
// draw compositions, and further sums.
type Problem struct {
	Space   count.Space      // countable rules, whose groups are disjoint or nested
	Table   *count.Table     // numbers of compositions in Space
	Sampler *count.Sampler   // uniform draws from Space
	Sums    []constraint.Sum // rules that Space does not contain
}

// A Composition lists the used ingredients and, in the same order, the amounts of the ingredients.
type Composition struct{ Ingredients, Amounts []int32 }

// These constants are the default precision and effort. Caches hold results measured with the defaults.
const (
	DefaultRatioError = 0.02 // required standard error of the log of a ratio
	DefaultEffort     = 100  // maximum number of moves, in millions
)

// Options determine which sizes to measure, that is, which numbers of used ingredients, and how precisely.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, in ascending order. Sizes without a composition that
	// keeps the countable rules are skipped.
	Sizes []int

	// SizeProbabilities is the probability of each size in the distribution to be sampled, up to a common factor;
	// nil makes all sizes equally probable. RatioError applies only to sizes with more than 0.1 % of the total
	// probability.
	SizeProbabilities []float64

	// RatioError is the required standard error of log(|X_m|/|X_n|) for all m and n, where |X_n| is the number of
	// compositions of n ingredients that keep all rules. Measuring ends once all ratios have this precision, or
	// after MaxMillionMoves. 0 means [DefaultRatioError].
	RatioError float64

	// MaxMillionMoves is the maximum number of moves, in millions; 0 means [DefaultEffort]. If ingredients have more than
	// 64 terms in sums on average, a move counts once for every 64 terms.
	MaxMillionMoves float64

	// Stream returns the source of random choices for one part of the work, given the index of the part. Equal
	// indices must give equal sources. The result of the measurement depends on no other source of randomness.
	Stream func(index uint64) Rand

	// Workers is the number of goroutines, at least 1. The number does not affect the result.
	Workers int
}

// ErrNoStream is returned if Options.Stream is nil.
var ErrNoStream = errors.New("measure: there are no streams of random choices")
