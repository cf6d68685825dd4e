package randomproblem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"kir/internal/run"
	"kir/mcmc"
)

// wholeRun makes a run and reads it back. right says that the kernel leaves the law
// as it is, if that was looked at.
func (c *checker) wholeRun(ctx context.Context, name string, right bool) error {
	settings := c.read.Sampler
	settings.Kernel, settings.Seed = name, c.Seed
	settings.Chains, settings.Warmup, settings.Draws, settings.Thin = c.Chains, c.Warmup, 2, 8
	if name == "tempered" {
		settings.Warmup, settings.Thin = c.Warmup/8, 2 // a scan moves each replica four times
	}
	more := c.More
	if c.law.Parts() == 0 { // a chain looks for a start 100,000 times
		settings.Chains = 1
	}
	exact := !c.measured // without wishes chains start from the law
	for _, w := range c.Wishes {
		exact = exact && w.Weight == 0
	}
	const longer = 24
	row := Row{Kernel: name, Way: wholeRun}
	for try := range 2 {
		ends, err := c.run(ctx, settings, fmt.Sprintf("%s-%d", name, try))
		if err != nil || ends == nil {
			return err
		}
		more, err := c.chains(settings)
		if errors.Is(err, mcmc.ErrNoStart) && c.startless() > unlucky {
			c.out.NoStart = true
			return nil
		}
		if err != nil {
			c.fault("%s: %v", name, err)
			return nil
		}
		ends = append(ends, more...)
		f := c.compare(c.law, ends)
		row.P, row.At = f.p, f.at
		if row.P >= small || exact || c.alter != nil {
			break
		}
		settings.Warmup *= longer
		c.More = min(c.More, 40)
		settings.Seed += 1 << 32
	}
	c.More = more
	row.Slow = row.P < small && right && !exact && !c.forgets(name, settings.Warmup/longer)
	if row.Slow {
		row.At += fmt.Sprintf(", where a composition has up to %.2g times what the sparsity law alone gives it", c.likePrior())
	}
	c.out.Rows = append(c.out.Rows, row)
	return nil
}

// run makes one run and checks every draw. It returns the states of the last draws
// of the chains; nil if there was a fault, or nothing to start from.
func (c *checker) run(ctx context.Context, settings mcmc.Settings, name string) (ends []int, err error) {
	spec := &run.Spec{
		Name: c.read.Name, ProblemPath: "problem.yaml", Ingredients: c.read.Ingredients, Target: c.read.Target,
		Settings: settings, ResolvedProblem: c.read.Resolved, Version: "test",
	}
	for _, in := range c.read.Inputs {
		spec.Inputs = append(spec.Inputs, run.Input(in))
	}
	dir := filepath.Join(c.Dir, name)
	if _, err := run.Start(ctx, spec, run.NewDirectoryStore(dir), run.Options{Workers: 1}); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case !errors.Is(err, mcmc.ErrNoStart):
			c.fault("%s: %v", name, err)
		case c.law.Parts() == 0:
			c.out.Empty = true
		case c.startless() > unlucky:
			c.out.NoStart = true
		default:
			c.fault("%s: %v, and the probability of that is %.3g", name, err, c.startless())
		}
		return nil, nil
	}
	if c.law.Parts() == 0 {
		c.fault("%s: it runs, and the wishes forbid everything", name)
		return nil, nil
	}
	for chain := range settings.Chains {
		draws, err := c.readChain(dir, chain)
		if err != nil {
			return nil, err
		}
		if len(draws) != settings.Draws {
			c.fault("%s: chain %d has %d draws of %d", name, chain, len(draws), settings.Draws)
			return nil, nil
		}
		for k, d := range draws {
			s, err := c.allowed(d.x)
			if err == nil && c.alter == nil {
				err = c.figures(s, d)
			}
			if err == nil && (d.chain != chain || d.draw != k) {
				err = fmt.Errorf("draw %d of chain %d stands where draw %d of chain %d should", d.draw, d.chain, k, chain)
			}
			if err != nil {
				c.fault("%s: %v", name, err)
				return nil, nil
			}
			if k == len(draws)-1 {
				ends = append(ends, s)
			}
		}
	}
	return ends, nil
}

// chains makes the chains that a run of more chains would have beside its own, and
// writes no files. It returns their last states.
func (c *checker) chains(settings mcmc.Settings) (ends []int, err error) {
	sampler, err := settings.Sampler(c.read.Target)
	if err != nil {
		return nil, err
	}
	for index := range c.More {
		chain, err := sampler.NewChain(settings.Seed, settings.Chains+index)
		if err != nil {
			return nil, err
		}
		if err := chain.Warm(settings.Warmup); err != nil {
			return nil, err
		}
		chain.EndWarmup()
		if err := chain.Advance(settings.Thin * settings.Draws); err != nil {
			return nil, err
		}
		s, err := c.state(chain.State.Composition)
		if err != nil {
			return nil, err
		}
		ends = append(ends, s)
	}
	return ends, nil
}

// figures compares what a file says of a draw with what is known of its state.
// Coefficients are rounded when a problem is read, as package property says, and
// sums of thousands lose what such sums lose, and logs of likeness have 26 binary
// digits after the point: 3e-8 of them is allowed. What is learnt of a taste has 28
// binary digits, of which its variance, a difference, loses several.
func (c *checker) figures(s int, d stored) error {
	e := c.law
	if d.used != e.Used[s] {
		return fmt.Errorf("the draw %v is said to use %d ingredients", d.x, d.used)
	}
	least := 1e-6
	if slices.ContainsFunc(c.Wishes, func(w *Wish) bool { return w.Kind == "preference" }) {
		least = 1e-5
	}
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= least+3e-8*math.Abs(b) }
	if want := math.Log(e.Prior[s]) + e.Score[s]; !near(d.logDensity, want) {
		return fmt.Errorf("the draw %v has the log density %v, and should have %v", d.x, d.logDensity, want)
	}
	for k, y := range d.scores {
		want := e.Scores[s][k]
		if want < -700 && y < 1e-300 {
			continue // below what a float64 holds with all its digits
		}
		if want > 709.7 && y == math.MaxFloat64 {
			continue // above what it holds at all
		}
		if !near(math.Log(y), want) {
			return fmt.Errorf("%q of the draw %v is %v, and should be %v", c.Wishes[k].Name, d.x, y, math.Exp(want))
		}
	}
	return nil
}
