package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"kir/diagnostics"
	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// A drawQuestion asks for draws of shares that add up to 1; see python/samplers_protocol.py.
type drawQuestion struct {
	Low       []float64    `json:"low"`
	High      []float64    `json:"high"`
	Groups    []shareGroup `json:"groups"`
	Limits    []shareLimit `json:"limits"`
	Linear    []float64    `json:"linear,omitempty"`
	Quadratic [][]float64  `json:"quadratic,omitempty"`
	Kernel    string       `json:"kernel"`
	Chains    int          `json:"chains"`
	Warmup    int          `json:"warmup"` // draws before those that are kept
	Draws     int          `json:"draws"`
	Thin      int          `json:"thin"`
	Seed      int          `json:"seed"`
	File      string       `json:"file"`
}

// A shareGroup bounds the share of some ingredients together.
type shareGroup struct {
	Members []int   `json:"members"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// A shareLimit bounds the mean of an attribute.
type shareLimit struct {
	Factors []float64 `json:"factors"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
}

// A drawArm is how an arm draws.
type drawArm struct {
	name, script, kernel        string // the script; empty: kir
	total                       int    // of kir
	chains, warmup, draws, thin int
}

// A drawCase is a law of shares.
type drawCase struct {
	name string
	law  drawQuestion
}

// polytopeCases returns polytopes of 20 shares, each with one more kind of rule, and one of 60 with all of them.
func polytopeCases() []drawCase {
	var cases []drawCase
	for _, n := range []int{20, 60} {
		r := rand.New(rand.NewPCG(uint64(n), 17))
		q := drawQuestion{}
		for range n {
			q.Low, q.High = append(q.Low, 0.2/float64(n)), append(q.High, 4/float64(n))
		}
		cases = append(cases, drawCase{fmt.Sprintf("%d shares, bounds", n), q})
		for k := 0; k < n; k += n / 4 {
			g := shareGroup{Low: 0.15, High: 0.35}
			for i := range n / 4 {
				g.Members = append(g.Members, k+i)
			}
			q.Groups = append(q.Groups, g)
		}
		cases = append(cases, drawCase{fmt.Sprintf("%d shares, bounds, groups", n), q})
		factors := make([]float64, n)
		for i := range factors {
			factors[i] = math.Round(100*(1+9*r.Float64())) / 100
		}
		q.Limits = []shareLimit{{factors, 1, math.Round(100*mean(factors)) / 100}}
		cases = append(cases, drawCase{fmt.Sprintf("%d shares, bounds, groups, a limit", n), q})
	}
	return slices.Concat(cases[:3], cases[5:])
}

// targetCases returns smooth laws on all shares: a Gaussian about a point, cut where a share would be negative.
func targetCases() []drawCase {
	var cases []drawCase
	for _, n := range []int{5, 20, 50} {
		r := rand.New(rand.NewPCG(uint64(n), 19))
		middle := make([]float64, n)
		sum := 0.0
		for i := range middle {
			middle[i] = r.ExpFloat64()
			sum += middle[i]
		}
		q := drawQuestion{Low: make([]float64, n), High: slices.Repeat([]float64{1}, n), Linear: make([]float64, n)}
		// Some directions are known well and others hardly: the quadratic form is a sum of squares of random blends.
		factors := make([][]float64, n)
		for k := range factors {
			for range n {
				factors[k] = append(factors[k], r.NormFloat64())
			}
		}
		for i := range n {
			row := make([]float64, n)
			for j := range n {
				for k := range factors {
					row[j] += float64(n) * factors[k][i] * factors[k][j]
				}
				if i == j {
					row[j] += float64(n * n)
				}
			}
			q.Quadratic = append(q.Quadratic, row)
		}
		for i := range n {
			for j := range n {
				q.Linear[i] += 2 * q.Quadratic[i][j] * middle[j] / sum
			}
		}
		cases = append(cases, drawCase{fmt.Sprintf("a Gaussian on %d shares", n), q})
	}
	return cases
}

// polytopes measures uniform draws.
func (b *samplerBench) polytopes(ctx context.Context) error {
	return b.drawAll(ctx, "polytopes", polytopeCases(), func(n int) []drawArm {
		return []drawArm{
			{"kir", "", "balanced", 1000, 4, 2000, 5000, 1},
			{"kir, total 100,000", "", "balanced", 100_000, 4, 2000, 2000, 1},
			{"kir accelerated", "", "accelerated", 1000, 4, 500, 5000, n},
			{"kir accelerated, total 100,000", "", "accelerated", 100_000, 4, 500, 5000, n},
			{"kir exact", "", "exact", 1000, 4, 0, 5000, 1},
			{"hopsy", "hopsy", "UniformHitAndRunProposal", 0, 4, 500, 5000, n},
			{"hopsy, coordinates", "hopsy", "UniformCoordinateHitAndRunProposal", 0, 4, 500, 5000, n},
		}
	})
}

// targets measures draws of smooth laws.
func (b *samplerBench) targets(ctx context.Context) error {
	return b.drawAll(ctx, "targets", targetCases(), func(n int) []drawArm {
		return []drawArm{
			{"kir", "", "balanced", 1000, 4, 2000, 5000, n},
			{"kir, total 100,000", "", "balanced", 100_000, 4, 2000, 2000, n},
			{"kir accelerated", "", "accelerated", 1000, 4, 2000, 5000, n},
			{"hopsy", "hopsy", "TruncatedGaussianProposal", 0, 4, 500, 5000, 1},
			{"emcee", "emcee", "", 0, 4 * n, 500, 1000, 20},
			{"pymc", "pymc", "", 0, 4, 1000, 2000, 1},
		}
	})
}

// drawAll asks every arm for draws of laws, the arms in turn, and ArviZ for their figures.
func (b *samplerBench) drawAll(ctx context.Context, task string, cases []drawCase, arms func(n int) []drawArm) error {
	for seed := range b.seeds {
		for _, c := range cases {
			for _, a := range arms(len(c.law.Low)) {
				r := samplerRecord{Task: task, On: c.name, Arm: a.name, Seed: seed}
				if b.isMeasured(r) {
					continue
				}
				if err := b.draw(ctx, c.law, a, &r); err != nil {
					return fmt.Errorf("%s on %s: %w", a.name, c.name, err)
				}
				if err := b.add(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// draw has an arm draw, and computes the figures of its draws.
func (b *samplerBench) draw(ctx context.Context, q drawQuestion, a drawArm, r *samplerRecord) error {
	q.Kernel, q.Chains, q.Warmup, q.Draws, q.Thin, q.Seed = a.kernel, a.chains, a.warmup, a.draws, a.thin, r.Seed+1
	q.File = filepath.Join(b.scratch, "draws.f64")
	var err error
	if a.script == "" {
		err = drawByKir(ctx, q, a.total, r)
	} else {
		err = b.ask(ctx, a.script, q, r, nil)
	}
	if err != nil || r.Refused != "" {
		return err
	}
	return b.summarize(ctx, q, r)
}

// targetOf returns kir's target of a law: all ingredients are used, and bounds are whole units.
func targetOf(ctx context.Context, q drawQuestion, total int) (*mcmc.Target, error) {
	n := len(q.Low)
	units := func(share float64) int { return int(math.Round(share * float64(total))) }
	set := rule.Set{Ingredients: n, Total: total, Used: []int{n}}
	for i := range n {
		set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: max(units(q.Low[i]), 1), Max: units(q.High[i])})
	}
	for _, g := range q.Groups {
		set.Rules = append(set.Rules, rule.Group{Of: g.Members, Total: &rule.Range{Min: units(g.Low), Max: units(g.High)}})
	}
	for _, l := range q.Limits {
		set.Rules = append(set.Rules, rule.Limit{Attribute: "attribute", Factors: l.Factors, Min: l.Low, Max: l.High})
	}
	law := mcmc.Uniform(n, n)
	space, err := mcmc.NewRuledSpace(ctx, set, mcmc.CountingOptions{Law: law, Workers: 1})
	if err != nil {
		return nil, err
	}
	if q.Quadratic == nil {
		return mcmc.NewTarget(space, law)
	}
	score, err := property.NewMarkowitz(q.Linear, q.Quadratic, 1, total)
	if err != nil {
		return nil, err
	}
	return mcmc.NewTarget(space, law, mcmc.Objective{Name: "score", Property: score, Weight: 1})
}

// drawByKir draws by a kernel of kir, one chain after another.
func drawByKir(ctx context.Context, q drawQuestion, total int, r *samplerRecord) error {
	runtime.GC()
	began, before := time.Now(), processorSeconds()
	target, err := targetOf(ctx, q, total)
	if err != nil {
		return err
	}
	sampler, err := mcmc.NewSampler(q.Kernel, target)
	if err != nil {
		r.Refused = err.Error()
		return nil
	}
	r.Setup = processorSeconds() - before
	n := len(q.Low)
	draws := make([]float64, 0, q.Chains*q.Draws*n)
	for k := range q.Chains {
		warm := processorSeconds()
		c, err := sampler.NewChain(uint64(q.Seed), k)
		if err != nil {
			return err
		}
		if err := c.Warm(q.Warmup * q.Thin); err != nil {
			return err
		}
		c.EndWarmup()
		kept := processorSeconds()
		r.Setup += kept - warm
		for range q.Draws {
			if err := c.Advance(q.Thin); err != nil {
				return err
			}
			for _, units := range c.State.Composition.Amounts() {
				draws = append(draws, float64(units)/float64(total))
			}
		}
		r.Processor += processorSeconds() - kept
	}
	r.Seconds = time.Since(began).Seconds()
	f, err := os.Create(q.File)
	if err != nil {
		return err
	}
	return errors.Join(binary.Write(f, binary.LittleEndian, draws), f.Close(), ctx.Err())
}

// summarize has ArviZ compute the figures of the draws, and kir its own of the same draws.
func (b *samplerBench) summarize(ctx context.Context, q drawQuestion, r *samplerRecord) error {
	n := len(q.Low)
	own, err := summariesOf(q.File, q.Chains, q.Draws, n)
	if err != nil {
		return err
	}
	if r.Figures == nil {
		r.Figures = make(map[string]float64)
	}
	vectors := own // without Python kir's figures stand alone
	if b.python != "" {
		theirs := new(samplerRecord)
		if err := b.ask(ctx, "arviz", map[string]any{"file": q.File, "chains": q.Chains, "draws": q.Draws, "n": n}, theirs, nil); err != nil {
			return err
		}
		if theirs.Refused != "" {
			return errors.New(theirs.Refused)
		}
		vectors, r.Versions = theirs.Vectors, append(r.Versions, theirs.Versions...)
		for name, of := range own {
			r.Figures["difference_"+name] = largestDifference(of, vectors[name])
		}
	}
	r.Figures["ess_bulk"], r.Figures["ess_tail"] = slices.Min(vectors["ess_bulk"]), slices.Min(vectors["ess_tail"])
	r.Figures["rhat"] = slices.Max(vectors["rhat"])
	r.Figures["per_second"] = r.Figures["ess_bulk"] / r.Processor
	r.Vectors = make(map[string][]float64)
	for _, name := range []string{"mean", "sd", "mcse_mean", "mcse_sd"} {
		r.Vectors[name] = vectors[name]
	}
	return nil
}

// summariesOf returns kir's figures of the draws of a file, by ArviZ's names.
func summariesOf(path string, chains, draws, n int) (map[string][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := make([]float64, chains*draws*n)
	if err := binary.Read(f, binary.LittleEndian, all); err != nil {
		return nil, err
	}
	out := make(map[string][]float64)
	for i := range n {
		quantity := make([][]float64, chains)
		for k := range chains {
			for d := range draws {
				quantity[k] = append(quantity[k], all[(k*draws+d)*n+i])
			}
		}
		s := diagnostics.Summarize(quantity)
		for name, v := range map[string]float64{"mean": s.Mean, "sd": s.SD, "mcse_mean": s.MCSEMean, "mcse_sd": s.MCSESD, "ess_bulk": s.ESSBulk, "ess_tail": s.ESSTail,
			"rhat": s.RHat, "mcse_median": s.MCSEMedian, "mcse_q5": s.MCSEQ5, "mcse_q95": s.MCSEQ95} {
			out[name] = append(out[name], v)
		}
	}
	return out, nil
}

// largestDifference returns the largest difference of two lists, relative to the larger of the two numbers.
func largestDifference(own, theirs []float64) float64 {
	worst := 0.0
	for k, v := range own {
		if v != theirs[k] {
			worst = max(worst, math.Abs(v-theirs[k])/max(math.Abs(v), math.Abs(theirs[k])))
		}
	}
	return worst
}
