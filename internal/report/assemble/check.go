package assemble

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"kir/internal/compile"
	"kir/internal/constraint/count"
	"kir/internal/report"
	"kir/internal/run"
	"kir/mcmc"
)

// maxBitsOfCounts limits the size of a report: the largest number of bits of all exact counts of
// compositions together. Further counts are left out.
const maxBitsOfCounts = 1 << 27

// Check computes the report on a problem before sampling.
func Check(p *compile.Problem) (*report.Check, error) {
	c := &report.Check{
		Problem:      newReportProblem(p),
		Sampler:      p.Sampler,
		Compositions: new(big.Int),
		Properties:   newReportProperties(p),
		Warnings:     append(append([]string{}, p.Warnings...), forestWarnings(p)...),
	}
	var err error
	if c.Kernel, err = recommendKernel(p); err != nil {
		return nil, fmt.Errorf("scoring random compositions: %w", err)
	}
	space := p.Target.Space()
	if e, is := errors.AsType[*count.SizeError](space.UncountedReason()); is {
		switch {
		case e.Limit == 0:
			c.WhyUntabled = "kir cannot count " + e.Resource
		case e.Resource == "steps":
			c.WhyUntabled = "exact counting would take too long"
		default: // tables
			c.WhyUntabled = "exact counting would need too much memory"
		}
	}
	law := p.Target.Law()
	lo, hi := law.Support()
	counts, err := space.Counts(lo, hi)
	if err != nil {
		return nil, err
	}
	compositions, bits := make(map[int]*big.Int), 0
	for n, x := range counts {
		if bits += x.BitLen(); bits > maxBitsOfCounts {
			break
		}
		compositions[n] = x
	}
	for n := lo; n <= hi; n++ {
		if law.P(n) == 0 {
			continue
		}
		size := report.SpaceSize{N: n, Target: report.Number(law.P(n)), Compositions: compositions[n]}
		size.Share = run.RulesShare(space, n)
		c.Sizes = append(c.Sizes, size)
		switch {
		case size.Compositions == nil:
			c.Compositions = nil
		case c.Compositions != nil:
			c.Compositions.Add(c.Compositions, size.Compositions)
		}
	}
	return c, nil
}

// kernelAdviceSampleSize is the number of random compositions that [recommendKernel] scores.
const kernelAdviceSampleSize = 200

// recommendKernel recommends a kernel (sampling algorithm) without trial runs. It decides by the
// share of random compositions that are forbidden.
func recommendKernel(p *compile.Problem) (run.Advice, error) {
	if _, err := mcmc.NewExact(p.Target); err == nil {
		return run.Advice{Kernel: "exact", Because: "without objectives, it draws each recipe independently"}, nil
	}
	forbidden, looked := 0, kernelAdviceSampleSize
	if p.RunsPrograms() {
		looked = 0
	}
	prior, r := mcmc.NewPrior(p.Target), mcmc.NewRand(p.Sampler.Seed, "advice", 0)
	for range looked {
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break
		}
		if err != nil {
			return run.Advice{}, err
		}
		score, err := p.Target.LogScore(x)
		if err != nil {
			return run.Advice{}, err
		}
		if math.IsInf(score, -1) {
			forbidden++
		}
	}
	if 2*forbidden > looked {
		return run.Advice{Kernel: "tempered", Because: fmt.Sprintf("%d of %d random recipes are forbidden, and it can pass through them", forbidden, looked)}, nil
	}
	if n, gap := p.Target.Law().FirstGap(); gap {
		return run.Advice{Kernel: "balanced", Because: fmt.Sprintf("it can skip recipes of %d ingredients, which sparsity leaves out", n)}, nil
	}
	return run.Advice{Kernel: "balanced", Because: "it is the fastest; take tempered if its independent runs (chains) disagree"}, nil
}
