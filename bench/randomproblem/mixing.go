package randomproblem

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// likePrior is how much more than the sparsity law alone a law may give to a
// composition for its chains to be sure to forget their start: a whole new
// composition, drawn from that law, is then accepted at least once in as many
// times, and a chain that has accepted one has the law itself.
const likePrior = 20

// likePrior returns by how much the law exceeds the sparsity law alone, at most.
func (c *checker) likePrior() float64 {
	most := 0.0
	for s, pi := range c.law.Pi {
		if c.law.Allowed(s) {
			most = max(most, pi/c.law.Prior[s])
		}
	}
	return most
}

// forgets says whether it is sure that chains of a kernel have forgotten their
// start after so many iterations, as kernels.md and the documentation of kir have
// the kernels: what is still left of the start is e^−9 at most.
//
// A candidate drawn with probability q(x) whatever the state, and accepted as
// Metropolis and Hastings have it, gives P(x, y) ≥ min(q/π)·π(y), so that the
// distance from the law shrinks by 1 − min(q/π) an iteration at least. naive draws
// uniformly from no more than all compositions. balanced has 15 % of draws from the
// sparsity law in warm-up, and gibbs and accelerated, under rules, 2 %; tempered
// makes one at β = 0 in each scan, which is not the same, and is held to it all the
// same.
func (c *checker) forgets(name string, iterations int) bool {
	const left = 9
	switch name {
	case "naive":
		top := 0.0
		for _, pi := range c.law.Pi {
			top = max(top, pi)
		}
		return float64(iterations) >= left*top*float64(compositions(len(c.Names), c.Total))
	case "gibbs", "accelerated":
		return len(c.Rules) > 0 && 0.02*float64(iterations) >= left*c.likePrior()
	}
	return c.likePrior() <= likePrior
}

// logZ compares the estimate of a tempered chain with the enumeration. Its error is
// that of 32 batches of scans or more, a normal error of which is never 10 times as
// large.
func (c *checker) logZ() error {
	if c.Starts < 100 {
		return nil // a program scores
	}
	tempered, err := mcmc.NewTempered(c.read.Target)
	if err != nil {
		return err
	}
	chain, err := tempered.NewChain(c.Seed, 1<<20)
	if err != nil {
		return err
	}
	if err := chain.Warm(256); err != nil {
		return err
	}
	chain.EndWarmup()
	if err := chain.Advance(640); err != nil {
		return err
	}
	ladder := chain.Ladder()
	off := math.Abs(ladder.LogZ - c.law.LogZ)
	if off > 10*ladder.LogZError+1e-6 {
		return fmt.Errorf("log Z is said to be %v ± %v, and is %v", ladder.LogZ, ladder.LogZError, c.law.LogZ)
	}
	return nil
}
