// Package kernelbench measures what the iterations of a kernel are worth: how many
// independent draws they amount to, for the statistic that is worst, and how long
// they take.
package kernelbench

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/mcmc"
)

// A Clock tells seconds since some moment. [CPU] is one.
type Clock func() float64

// A Statistic is a number that is looked at of every draw.
type Statistic struct {
	Name  string
	Value func(x *mcmc.State) float64
}

// Statistics are what a chain is judged by: the number of ingredients, the log
// density, the score of each wish, and whether each of the given ingredients is used.
func Statistics(t *mcmc.Target, ingredients []int) []Statistic {
	all := []Statistic{
		{"used", func(x *mcmc.State) float64 { return float64(x.Composition.UsedCount()) }},
		{"log density", (*mcmc.State).LogDensity},
	}
	var scores []float64
	for k, w := range t.Objectives() {
		all = append(all, Statistic{w.Name, func(x *mcmc.State) float64 {
			scores = x.AppendScores(scores[:0])
			return scores[k]
		}})
	}
	for _, i := range ingredients {
		all = append(all, Statistic{fmt.Sprint("ingredient ", i), func(x *mcmc.State) float64 {
			return float64(min(x.Composition.Amount(i), 1))
		}})
	}
	return all
}

// MostUsed returns the ten ingredients that a chain uses most in so many draws, thin
// iterations apart, and how often each is, without those in more than 99.9 % of them.
func MostUsed(c *mcmc.Chain, draws, thin int) (ingredients []int, shares []float64, err error) {
	used := make([]int, c.State.Composition.N())
	for range draws {
		if err := c.Advance(thin); err != nil {
			return nil, nil, err
		}
		for _, i := range c.State.Composition.Ingredients() {
			used[i]++
		}
	}
	order := make([]int, len(used))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return used[j] - used[i] })
	order = slices.DeleteFunc(order, func(i int) bool { return 1000*used[i] > 999*draws })
	order = order[:min(10, len(order))]
	for _, i := range order {
		shares = append(shares, float64(used[i])/float64(draws))
	}
	return order, shares, nil
}

// Follow returns the draws of each statistic of a chain that is looked at every thin
// iterations.
func Follow(c *mcmc.Chain, statistics []Statistic, draws, thin int) ([][]float64, error) {
	all := make([][]float64, len(statistics))
	for range draws {
		if err := c.Advance(thin); err != nil {
			return nil, err
		}
		for k, s := range statistics {
			all[k] = append(all[k], s.Value(c.State))
		}
	}
	return all, nil
}

// IACT returns the integrated autocorrelation time of the draws of one statistic by
// some chains, in draws, at least 1. It is +Inf if all are the same.
func IACT(chains [][]float64) (float64, error) {
	of := diagnose.Summarize(chains)
	ess, err := float64(of.ESSMean), of.ReasonFor("ESSMean")
	if errors.Is(err, diagnose.ErrConstant) {
		return math.Inf(1), nil
	}
	if err != nil {
		return 0, err
	}
	return max(1, float64(len(chains)*len(chains[0]))/ess), nil
}

// SlowestStatistic returns the largest autocorrelation time, in draws, and what of. all has, by
// chain, the draws of each statistic.
func SlowestStatistic(statistics []Statistic, all ...[][]float64) (tau float64, what string, err error) {
	for k, s := range statistics {
		of := make([][]float64, len(all))
		for c := range all {
			of[c] = all[c][k]
		}
		t, err := IACT(of)
		if err != nil {
			return 0, "", fmt.Errorf("%s: %w", s.Name, err)
		}
		if t > tau {
			tau, what = t, s.Name
		}
	}
	return tau, what, nil
}

// paceSlices is how many slices each chain is timed in.
const paceSlices = 30

// IterationSeconds returns the seconds that an iteration of each chain takes, from so many seconds
// of each. They run in turn, in short slices of which the median counts, so that what
// else the machine does slows them alike or not at all.
func IterationSeconds(clock Clock, seconds float64, chains ...*mcmc.Chain) ([]float64, error) {
	took := make([][]float64, len(chains))
	for range paceSlices {
		for k, c := range chains {
			iterations, block := 0, 1
			start := clock()
			spent := 0.0
			for spent < seconds/paceSlices {
				if err := c.Advance(block); err != nil {
					return nil, err
				}
				iterations += block
				block = min(2*block, 512)
				spent = clock() - start
			}
			took[k] = append(took[k], spent/float64(iterations))
		}
	}
	all := make([]float64, len(chains))
	for k := range took {
		slices.Sort(took[k])
		all[k] = took[k][len(took[k])/2]
	}
	return all, nil
}

// NewWarmChain returns a chain of a seed after a number of warm-up iterations.
func NewWarmChain(sampler mcmc.Sampler, seed uint64, warmup int) (*mcmc.Chain, error) {
	c, err := sampler.NewChain(seed, 0)
	if err != nil {
		return nil, err
	}
	if err := c.Warm(warmup); err != nil {
		return nil, err
	}
	c.EndWarmup()
	return c, nil
}
