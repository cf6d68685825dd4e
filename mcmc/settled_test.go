package mcmc_test

import (
	"testing"

	"kir/internal/testonly/kernelbench"
	"kir/mcmc"
)

// settled returns a chain after warm-up.
func settled(tb testing.TB, kernel string, t *mcmc.Target, seed uint64, warmup int) *mcmc.Chain {
	tb.Helper()
	sampler, err := mcmc.NewSampler(kernel, t)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := kernelbench.NewWarmChain(sampler, seed, warmup)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

type statistic = kernelbench.Statistic

// A series is the draws of one statistic of one chain.
type series = []float64

// follow returns the series of statistics of a chain that is looked at every
// thin iterations.
func follow(tb testing.TB, c *mcmc.Chain, statistics []statistic, draws, thin int) []series {
	tb.Helper()
	seen, err := kernelbench.Follow(c, statistics, draws, thin)
	if err != nil {
		tb.Fatal(err)
	}
	return seen
}
