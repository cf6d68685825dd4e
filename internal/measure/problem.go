package measure

import (
	"errors"

	"kir/internal/condition"
	"kir/internal/count"
)

// A Rand is where random choices come from.
type Rand interface {
	count.Rand

	// Bernoulli returns true with probability p.
	Bernoulli(p float64) bool
}

// A Problem is what is measured.
type Problem struct {
	Space   count.Space     // the countable rules; its groups are disjoint or nested
	Table   *count.Table    // its counts
	Sampler *count.Sampler  // its draws
	Sums    []condition.Sum // the other rules
}

// A Composition lists used ingredients and their amounts.
type Composition struct{ Ingredients, Amounts []int32 }

// How well it is measured unless the options say otherwise; a cache is of these.
const (
	DefaultRatioError = 0.02
	DefaultEffort     = 100 // million moves
)

// Options say what is measured, and how well.
type Options struct {
	// Sizes are the numbers of used ingredients to measure, ascending. Those
	// with D_n = 0 are passed over.
	Sizes []int

	// Mass is the probability that the law of n gives to each size, in any
	// scale: the ratios among sizes of more than 0.1 % of the whole are what
	// RatioError speaks of. nil: all alike.
	Mass []float64

	// Early, if there is one, receives what is known when compositions of each size have
	// been found, while most of the work is still to be done. It changes nothing.
	Early func(*Result) error

	// RatioError is the standard error of the log of any ratio |X_m|/|X_n| at
	// which measuring ends, if Effort does not end it before; [DefaultRatioError] if it is 0.
	RatioError float64

	// Effort bounds the moves that are made, in millions; [DefaultEffort] if it is 0. Where
	// ingredients have more than 64 terms in sums on average, a move counts as
	// often as they have 64.
	Effort float64

	// Stream returns the stream of random choices of a part of the work, the
	// same for the same index. What is measured follows from the streams alone.
	Stream func(index uint64) Rand

	// Workers is how many goroutines work at once, at least 1. It changes
	// nothing but the time.
	Workers int
}

// ErrNoStream is returned if the options have no streams.
var ErrNoStream = errors.New("measure: there are no streams of random choices")
