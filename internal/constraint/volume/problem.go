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

// A Problem holds the rules to measure.
type Problem struct {
	Space   count.Space      // the countable rules; its groups are disjoint or nested
	Table   *count.Table     // its counts
	Sampler *count.Sampler   // its draws
	Sums    []constraint.Sum // the other rules
}

// A Composition lists used ingredients and their amounts.
type Composition struct{ Ingredients, Amounts []int32 }

// The default precision and effort. Caches hold results at these.
const (
	DefaultRatioError = 0.02
	DefaultEffort     = 100 // million moves
)

// Options are the sizes to measure, and the precision.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, ascending. Sizes with D_n = 0 are
	// skipped.
	Sizes []int

	// Mass is the law's probability of each size, in any scale; nil makes all equal. RatioError
	// concerns the ratios among sizes with more than 0.1 % of the total mass.
	Mass []float64

	// RatioError is the target for the standard error of the log of every ratio |X_m|/|X_n|.
	// Measuring ends there, unless Effort ends it before. 0 stands for [DefaultRatioError].
	RatioError float64

	// Effort bounds the number of moves, in millions; 0 stands for [DefaultEffort]. Where
	// ingredients have more than 64 terms in sums on average, a move counts once for every 64
	// terms.
	Effort float64

	// Stream returns the stream of random choices for a part of the work. The same index must give
	// the same stream. The result depends on the streams alone.
	Stream func(index uint64) Rand

	// Workers is the number of goroutines, at least 1. It does not affect the result.
	Workers int
}

// ErrNoStream is returned if Options.Stream is nil.
var ErrNoStream = errors.New("measure: there are no streams of random choices")
