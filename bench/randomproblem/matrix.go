package randomproblem

import (
	"errors"
	"fmt"
	"math"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// errLarge ends the search of a tree of outcomes that is too large.
var errLarge = errors.New("too many outcomes")

// matrix computes, on problems with few compositions, the transition matrix of the
// kernel over every outcome of its random choices, and checks that it leaves the law
// as it is and reaches all that is allowed. It is skipped where compositions differ
// by more than a float64 can hold, as what has no probability in it is not reached.
func (c *checker) matrix(k mcmc.Kernel, name string) error {
	const mostAllowed, mostOutcomes, widest = 24, 40_000, 500
	var allowed []int
	low, high := math.Inf(1), math.Inf(-1)
	for s := range c.law.States {
		if c.law.Allowed(s) {
			allowed = append(allowed, s)
			v := math.Log(c.law.Prior[s]) + c.law.Score[s]
			low, high = min(low, v), max(high, v)
		}
	}
	if len(allowed) == 0 || len(allowed) > mostAllowed || high-low > widest || c.Starts < 100 {
		return nil
	}
	index := map[int]int{}
	for a, s := range allowed {
		index[s] = a
	}
	flow := make([]float64, len(allowed)) // π P
	leads := make([][]bool, len(allowed))
	outcomes := 0
	for a, s := range allowed {
		leads[a] = make([]bool, len(allowed))
		x, err := mcmc.NewComposition(len(c.Names), parts(c.law.States[s])...)
		if err != nil {
			return err
		}
		state, err := mcmc.NewState(c.read.Target, x.Clone())
		if err != nil {
			return err
		}
		err = stattest.Explore(func(r *mcmc.Rand) error {
			if err := state.Composition.SetParts(parts(c.law.States[s])...); err != nil {
				return err
			}
			if err := state.Refresh(); err != nil {
				return err
			}
			return k.Advance(r, state, 1, &mcmc.Tally{})
		}, func(p float64) error {
			if outcomes++; outcomes > mostOutcomes {
				return errLarge
			}
			to, err := c.state(state.Composition)
			if err != nil {
				return err
			}
			leads[a][index[to]] = true
			flow[index[to]] += c.law.Pi[s] * p
			return nil
		})
		if errors.Is(err, errLarge) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	c.out.Matrices++
	for a, s := range allowed {
		if off := math.Abs(flow[a] - c.law.Pi[s]); off > 1e-7*max(c.law.Pi[s], 1e-9) {
			return fmt.Errorf("one iteration changes the probability of %v from %v to %v", c.law.States[s], c.law.Pi[s], flow[a])
		}
	}
	for _, way := range []string{"from", "to"} {
		seen := make([]bool, len(allowed))
		next := []int{0}
		seen[0] = true
		for len(next) > 0 {
			a := next[len(next)-1]
			next = next[:len(next)-1]
			for b := range allowed {
				if !seen[b] && (way == "from" && leads[a][b] || way == "to" && leads[b][a]) {
					seen[b] = true
					next = append(next, b)
				}
			}
		}
		for a, s := range allowed {
			if !seen[a] {
				return fmt.Errorf("nothing leads %s %v to all that is allowed, such as %v", way, c.law.States[allowed[0]], c.law.States[s])
			}
		}
	}
	return nil
}
