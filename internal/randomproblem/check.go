package randomproblem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	"kir"
	"kir/internal/stattest"
	"kir/problem"
	"kir/report/build"
)

// Options say how much is looked at.
type Options struct {
	Dir    string // an empty directory, for the problem and its runs
	Scorer string // a program; see [Problem.Write]

	Starts     int // states drawn from the law that each kernel moves
	Iterations int // made from each
	Chains     int // of each whole run, which end in files
	More       int // chains beside them, which do not
	Warmup     int // iterations of those

	// Faults that negative controls put in: what is written in place of the problem,
	// and what is done to the law that is compared with. The figures of draws are
	// then not looked at, so that it is the comparison of laws that must see it.
	written *Problem
	alter   func(e *Enumeration)
}

// An Outcome is what became of a problem.
type Outcome struct {
	Refused  bool // it is infeasible, and was refused
	Empty    bool // its wishes forbid all, and no run began
	NoStart  bool // some kernel found no start: fewer than one in 1,000 is one
	States   int  // compositions that keep the rules
	Matrices int  // transition matrices that were small enough to compute
	Rows     []Row
	Faults   []string // what cannot be, whatever the random choices
}

// A Row is a comparison of draws with the law.
type Row struct {
	Kernel string
	Way    string  // fromLaw or wholeRun
	P      float64 // see [Problem.compare]
	At     string
	// Slow says of a whole run whose draws do not follow the law that the same
	// kernel left draws from the law as they are: the chains were too short for
	// the problem.
	Slow bool
}

// The ways to compare.
const (
	fromLaw  = "from the law"
	wholeRun = "whole run"
)

// kernels are all there are.
var kernels = []string{"naive", "gibbs", "accelerated", "balanced", "tempered", "exact"}

// small is the p-value below which draws do not follow a law.
const small = 1e-7

// A checker checks one problem.
type checker struct {
	*Problem
	Options
	out      *Outcome
	read     *problem.Problem
	law      *Enumeration
	measured bool // some |X_n| are estimates
}

// fault notes what cannot be.
func (c *checker) fault(format string, args ...any) {
	c.out.Faults = append(c.out.Faults, fmt.Sprintf(format, args...))
}

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
	c.read, err = problem.Load(ctx, path, problem.Options{Workers: 1})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		if c.out.Refused = len(e.States) == 0; !c.out.Refused {
			c.fault("refused: %v", err)
		}
		return c.out, nil
	}
	defer c.read.Close()
	if len(e.States) == 0 {
		c.fault("no composition keeps the rules with a number of ingredients that the law allows, and it was not refused")
		return c.out, nil
	}
	for k, w := range p.Wishes {
		if w.forest != nil {
			var saved bytes.Buffer
			if err := c.read.Properties[k].Forest.Write(&saved); err != nil {
				return nil, err
			}
			if err := w.Read(saved.Bytes()); err != nil {
				return nil, err
			}
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

// counts holds what kir check --json says of the sizes against the enumeration. It
// returns |X_n| as kir has it where that is an estimate, else nil.
func (c *checker) counts(e *Enumeration) (sizes []float64, err error) {
	check, err := build.Check(c.read)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(check)
	if err != nil {
		return nil, err
	}
	var said struct {
		Sizes []struct {
			N            int      `json:"n"`
			Target       float64  `json:"target"`
			Compositions *big.Int `json:"compositions"`
			Share        *struct {
				Estimate float64 `json:"estimate"`
				SE       float64 `json:"se"`
			} `json:"share"`
		} `json:"sizes"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, err
	}
	seen := make([]bool, len(e.Sizes))
	estimates := make([]float64, len(e.Sizes))
	for _, size := range said.Sizes {
		if size.N >= len(e.Law) || e.Law[size.N] == 0 {
			c.fault("n = %d has the mass %v, and nothing keeps the rules", size.N, size.Target)
			continue
		}
		seen[size.N] = true
		if math.Abs(size.Target-e.Law[size.N]) > 1e-12 {
			c.fault("n = %d has the mass %v, and should have %v", size.N, size.Target, e.Law[size.N])
		}
		if size.Compositions == nil {
			c.fault("n = %d has no count", size.N)
			continue
		}
		counted, _ := new(big.Float).SetInt(size.Compositions).Float64()
		truth := float64(e.Sizes[size.N])
		if size.Share == nil {
			if counted != truth {
				c.fault("n = %d: %v compositions, and there are %v", size.N, size.Compositions, truth)
			}
			estimates[size.N] = truth
			continue
		}
		c.measured = true
		estimates[size.N] = counted * size.Share.Estimate
		c.share(size.N, truth/counted, size.Share.Estimate, size.Share.SE)
	}
	for n, mass := range e.Law {
		if mass > 0 && !seen[n] {
			c.fault("n = %d is left out, and has %d compositions", n, e.Sizes[n])
		}
	}
	if c.measured {
		return estimates, nil
	}
	return nil, nil
}

// share tests the share of the counted compositions that keeps all rules: one
// without an error must be right, and the draws of an estimated one follow from its
// standard error, √(s(1−s)/draws); they end at 10,000 that passed, so that the tail
// of few draws is the binomial one of many that passed.
func (c *checker) share(n int, truth, estimate, se float64) {
	switch {
	case truth > 1:
		c.fault("n = %d: more compositions than are counted", n)
		return
	case se == 0 && estimate == 1:
		if math.Pow(truth, 10_000) < small {
			c.fault("n = %d: the share is said to be 1, and is %v", n, truth)
		}
		return
	case se == 0: // counted by looking at every composition
		if math.Abs(estimate-truth) > 1e-12*truth {
			c.fault("n = %d: the share is said to be %v without an error, and is %v", n, estimate, truth)
		}
		return
	}
	draws := int(math.Round(estimate * (1 - estimate) / (se * se)))
	passed := int(math.Round(estimate * float64(draws)))
	if p, _ := stattest.Follows([]int{passed, draws - passed}, []float64{truth, 1 - truth}); p < small {
		c.fault("n = %d: the share is said to be %v ± %v, and is %v (p = %.2g)", n, estimate, se, truth, p)
	}
}

// kernel checks one kernel: whether it refuses what it must, and its draws.
func (c *checker) kernel(ctx context.Context, name string) error {
	wished := false
	for _, w := range c.Wishes {
		wished = wished || w.Weight > 0
	}
	parts := c.law.Parts()
	refuses := name == "exact" && (wished || c.measured)
	if (name == "gibbs" || name == "accelerated") && len(c.Rules) == 0 {
		refuses = refuses || parts > 1
	}
	k, err := kir.NewKernel(name, c.read.Target)
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
		if err := c.logZ(k); err != nil {
			c.fault("%s: %v", name, err)
			return nil
		}
	}
	right := true
	if parts > 0 && name != "tempered" && name != "exact" {
		row, err := c.fromLaw(k, name)
		if errors.Is(err, kir.ErrNoStart) && c.started() < 1e-3 {
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
func (c *checker) fromLaw(k kir.Kernel, name string) (Row, error) {
	chain, err := kir.NewChain(c.read.Target, k, c.Seed, 0)
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

// parts lists what a composition uses.
func parts(x []int) []kir.Part {
	var list []kir.Part
	for i, a := range x {
		if a > 0 {
			list = append(list, kir.Part{Ingredient: i, Amount: a})
		}
	}
	return list
}

// state returns which state a composition is; it fails if that is not allowed.
func (c *checker) state(x *kir.Composition) (int, error) {
	amounts := make([]int, x.N())
	for i, a := range x.Amounts() {
		amounts[i] = int(a)
	}
	return c.allowed(amounts)
}

func (c *checker) allowed(x []int) (int, error) {
	s := c.law.Number(x)
	if s < 0 || !c.law.Allowed(s) {
		return 0, fmt.Errorf("a draw is %v, which is not allowed", x)
	}
	return s, nil
}
