package randomproblem

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"kir/internal/compile"
	"kir/mcmc"
	"kir/model"
)

// kernels are all there are.
var kernels = []string{"naive", "gibbs", "accelerated", "balanced", "tempered", "exact"}

// Check runs a problem with every kernel and compares what comes out. The error is
// of this machine or of ctx; whatever is wrong with kir is in the outcome.
func Check(ctx context.Context, p *Problem, o Options) (*Outcome, error) {
	c := &checker{Problem: p, Options: o, out: &Outcome{}}
	for _, w := range p.Wishes {
		if w.Kind == "program" { // some 10,000 times as slow as others
			c.Starts, c.Chains, c.More, c.Warmup = 60, 8, 0, 16
		}
	}
	written := p
	if o.written != nil {
		written = o.written
	}
	path, err := written.Write(o.Dir, o.Scorer)
	if err != nil {
		return nil, err
	}
	e := p.feasible()
	c.out.States = len(e.States)
	c.read, err = compile.Load(compile.AllowPrograms(ctx), path, compile.Options{Workers: 1})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if c.out.Refused = len(e.States) == 0 || p.unmet(); !c.out.Refused {
			c.fault("refused: %v", err)
		}
		return c.out, nil
	}
	defer c.read.Close()
	if p.unmet() {
		c.fault("no recipe has what a forest is to want, and it was not refused")
		return c.out, nil
	}
	if len(e.States) == 0 {
		c.fault("no composition keeps the rules with a number of ingredients that the law allows, and it was not refused")
		return c.out, nil
	}
	for k, w := range p.Wishes {
		if w.forest != nil {
			var saved bytes.Buffer
			if err := c.read.Properties[k].Model.(*model.Forest).Write(&saved); err != nil {
				return nil, err
			}
			if err := w.Read(saved.Bytes()); err != nil {
				return nil, err
			}
		} else if w.goal != nil {
			w.reach(e)
		} else if w.Kind == "preference" {
			w.learn(&c.read.Properties[k])
		} else if w.Kind == "learn" || w.Kind == "process" {
			w.point(c.read.Target.Objectives()[k].Property)
		}
	}
	sizes, err := c.counts(e)
	if err != nil {
		c.fault("kir check: %v", err)
		return c.out, nil
	}
	c.law = p.Enumerate(sizes)
	if c.alter != nil {
		c.alter(c.law)
	}
	for _, name := range kernels {
		if err := c.kernel(ctx, name); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// kernel checks one kernel: whether it refuses what it must, and its draws.
func (c *checker) kernel(ctx context.Context, name string) error {
	wished := len(c.Limits) > 0
	for _, w := range c.Wishes {
		wished = wished || w.Weight > 0
	}
	parts := c.law.Parts()
	refuses := name == "exact" && (wished || c.uncounted)
	if (name == "gibbs" || name == "accelerated") && len(c.Rules) == 0 {
		refuses = refuses || parts > 1
	}
	var k mcmc.Kernel
	var err error
	if name == "tempered" {
		_, err = mcmc.NewTempered(c.read.Target)
	} else {
		k, err = mcmc.NewKernel(name, c.read.Target)
	}
	switch {
	case err != nil && refuses:
		return nil
	case err != nil && parts == 0:
		return nil
	case err != nil:
		c.fault("%s: refused, and what is allowed hangs together: %v", name, err)
		return nil
	case refuses && errors.Is(err, nil):
		c.fault("%s: not refused, and it leaves what is allowed in %d parts", name, parts)
		return nil
	}
	if name != "tempered" && name != "exact" && c.alter == nil {
		if err := c.matrix(k, name); err != nil {
			c.fault("%s: %v", name, err)
			return nil
		}
	}
	if name == "tempered" && parts > 0 && c.alter == nil && c.likePrior() <= likePrior {
		if err := c.logZ(); err != nil {
			c.fault("%s: %v", name, err)
			return nil
		}
	}
	right := true
	if parts > 0 && name != "tempered" && name != "exact" {
		row, err := c.fromLaw(k, name)
		if errors.Is(err, mcmc.ErrNoStart) && c.startless() > unlucky {
			c.out.NoStart = true
			return nil
		}
		if err != nil {
			c.fault("%s, from the law: %v", name, err)
			return nil
		}
		c.out.Rows = append(c.out.Rows, row)
		right = row.P >= small
	}
	return c.wholeRun(ctx, name, right)
}

// fromLaw starts from states of the law and compares where the kernel leaves them.
// What the kernel learns in warm-up it has learnt before, elsewhere.
func (c *checker) fromLaw(k mcmc.Kernel, name string) (Row, error) {
	chain, err := mcmc.NewChain(c.read.Target, k, c.Seed, 0)
	if err != nil {
		return Row{}, err
	}
	if err := chain.Warm(c.Warmup); err != nil {
		return Row{}, err
	}
	chain.EndWarmup()
	d, law := newDice(c.Seed, 1<<41), c.law.sampler()
	ends := make([]int, c.Starts)
	for r := range ends {
		x := chain.State.Composition
		if err := x.SetParts(parts(c.law.States[law.draw(d)])...); err != nil {
			return Row{}, err
		}
		if err := chain.Refresh(); err != nil {
			return Row{}, err
		}
		if err := chain.Advance(c.Iterations); err != nil {
			return Row{}, err
		}
		if ends[r], err = c.state(chain.State.Composition); err != nil {
			return Row{}, err
		}
	}
	f := c.compare(c.law, ends)
	return Row{Kernel: name, Way: fromLaw, P: f.p, At: f.at}, nil
}

// unmet says whether a forest wants a number that no recipe has, which is refused.
func (p *Problem) unmet() bool {
	return slices.ContainsFunc(p.Wishes, func(w *Wish) bool {
		return w.forest != nil && w.forest.classes == nil && !slices.ContainsFunc(p.Recipes, func(r Recipe) bool {
			return float64(r.Stars) >= w.forest.low && float64(r.Stars) <= w.forest.top
		})
	})
}
