package mcmc_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// TestDrawsStay keeps what chains of all kernels do from fixed seeds on targets of all
// kinds: their draws and scores, what they count, find and learn, and what is saved of
// them. It says nothing of whether that is right, but sees every change.
func TestDrawsStay(t *testing.T) {
	kept := golden.Open(t)
	targets := chainTargets(t)
	spread := make([]float64, 40)
	returns := make([]float64, 40)
	risks := make([][]float64, 40)
	for i := range spread {
		spread[i], returns[i], risks[i] = float64(i*i%17), float64(i%7)/40, make([]float64, 40)
		for j := range risks[i] {
			risks[i][j] = 0.01 * float64(1+i%3) * float64(1+j%3)
		}
		risks[i][i] += 0.02
	}
	blend := must(property.NewBlend(spread, 9000, must(property.BellShaped(7, 0.3))))
	portfolio := must(property.NewMarkowitz(returns, risks, 300, 9000))
	targets["long lines"] = newTarget(t, 40, 9000, mcmc.Uniform(2, 9), mcmc.Objective{Name: "blend", Property: blend, Weight: 2}, mcmc.Objective{Name: "portfolio", Property: portfolio, Weight: 1})
	holes := wish("holes", 1, func(x *mcmc.Composition) float64 {
		return float64(x.Amount(0)*x.Amount(1)%3) + 0.2*float64(x.Amount(2))
	})
	targets["gaps and zeros"] = newTarget(t, 7, 12, mcmc.Table(map[int]float64{1: 1, 3: 2, 6: 0.5}), holes)
	inBatches := batched{newTreeProperty(12, 30), 4, func([]*mcmc.Composition) {}}
	targets["in batches"] = newTarget(t, 12, 30, mcmc.Uniform(1, 6), mcmc.Objective{Name: "tree", Property: inBatches, Weight: 2})
	targets["one"] = newTarget(t, 1, 1, mcmc.Uniform(1, 1))
	targets["wide"] = newTarget(t, 3000, 100, mcmc.Uniform(17, 24))
	targets["dense"] = newTarget(t, 60, 600, mcmc.Exponential(0.01), wish("used", 0.5, func(x *mcmc.Composition) float64 { return float64(x.UsedCount()) }))
	factors := func(n int, of func(i int) float64) []float64 {
		f := make([]float64, n)
		for i := range f {
			f[i] = of(i)
		}
		return f
	}
	for name, rules := range map[string][]rule.Rule{
		"counted": {rule.Amount{Of: []int{0, 1, 2}, Min: 3, Max: 20}, rule.Amount{Of: []int{4}, Step: 4}, rule.Need{If: 3, Then: []int{5, 6}}, rule.Group{Of: []int{0, 7, 8}, Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 5, Max: 30}}},
		"limited": {rule.Limit{Factors: factors(6, func(i int) float64 { return float64(i*i%11) + 0.25 }), Min: 3, Max: 5}, rule.Limit{Factors: factors(6, func(i int) float64 { return float64(7*i%10) / 3 }), Min: math.Inf(-1), Max: 1.25}, rule.Amount{Of: []int{2, 3}, Min: 2}},
		"equal":   {rule.Limit{Factors: factors(10, func(i int) float64 { return float64(i % 5) }), Min: 2, Max: 2}, rule.If{Used: []int{1}, Then: rule.Exclude{Of: []int{2}}}},
		"near":    {rule.Near{Recipe: []rule.Part{{Ingredient: 1, Amount: 20}, {Ingredient: 4, Amount: 20}}, Changes: new(2), Distance: new(15)}, rule.Ratio{Of: []int{1}, To: []int{4}, Min: 0.5, Max: 2}},
	} {
		n := 10
		if name == "limited" {
			n = 6
		}
		for _, steps := range []float64{0, 1} { // a table, or measured
			if steps == 1 && (name == "equal" || name == "limited") {
				continue // takes long, or is measured in any case
			}
			space, err := mcmc.NewRuledSpace(t.Context(), rule.Set{Ingredients: n, Total: 40, Rules: rules}, mcmc.CountingOptions{Law: mcmc.Uniform(1, 5), Seed: 3, Workers: 1, MaxTableSteps: steps})
			if err != nil {
				t.Fatal(err)
			}
			said := fmt.Sprintf("%.9g", space.LogCounts(5))
			for _, s := range space.UncountedRuleShares() {
				said += fmt.Sprintf(" %+.6v", s)
			}
			kept.CheckText(t, fmt.Sprintf("space, %s, %v", name, steps), said)
			target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 5), wish("first", 1, func(x *mcmc.Composition) float64 { return 1 + float64(x.Amount(1)) }))
			if err != nil {
				t.Fatal(err)
			}
			if steps == 1 {
				name += ", measured"
			}
			targets[name] = target
		}
	}
	kernels := map[string]func(t *mcmc.Target) (mcmc.Sampler, error){}
	for _, name := range mcmc.KernelNames() {
		kernels[name] = func(t *mcmc.Target) (mcmc.Sampler, error) { return mcmc.NewSampler(name, t) }
	}
	kernels["hand over"] = func(t *mcmc.Target) (mcmc.Sampler, error) {
		k, err := handOverKernel(t)
		if err != nil {
			return nil, err
		}
		return mcmc.NewKernelSampler(t, k)
	}
	for name, mix := range map[string]mcmc.MoveMix{"mix of lines": {Line: 1}, "mix of resizes": {Resize: 2}, "mix of all": {Line: 1, Resize: 1, Refresh: 1, Recall: 1, Constrained: 1}} {
		kernels[name] = func(t *mcmc.Target) (mcmc.Sampler, error) {
			k, err := mcmc.NewBalancedMix(t, mix)
			if err != nil {
				return nil, err
			}
			return mcmc.NewKernelSampler(t, k)
		}
	}
	for name, target := range targets {
		for kernel, sampler := range kernels {
			of := name + ", " + kernel
			s, err := sampler(target)
			if err != nil {
				kept.CheckText(t, of, err.Error())
				continue
			}
			c, err := s.NewChain(11, 2)
			if err != nil {
				kept.CheckText(t, of, err.Error())
				continue
			}
			c.RecordVisited(0.1)
			if err := c.Warm(100); err != nil {
				t.Fatal(err)
			}
			c.EndWarmup()
			steps := trace(t, c, 40)
			data, err := c.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			finds := 0
			best := math.Inf(-1)
			if err := c.DrainVisited(func(f mcmc.VisitedState) error { finds, best = finds+1, max(best, f.LogScore); return nil }); err != nil {
				t.Fatal(err)
			}
			first, second := sha256.Sum256([]byte(steps)), sha256.Sum256(data)
			said := fmt.Sprintf("%.60s %.9g %.9g, %d updated, %d finds to %.9g, %d bytes, %x %x", c.State.Composition.String(), c.State.LogDensity(), c.State.AppendScores(nil), c.ChangedCount(), finds, best, len(data), first[:8], second[:8])
			if l := c.Ladder(); l != nil {
				said += fmt.Sprintf(" %d rungs, barrier %.6g, %d restarts, %d round trips, log Z %.6g ± %.6g", len(l.Rungs), l.Barrier, l.Restarts, l.RoundTrips, l.LogZ, l.LogZError)
			}
			kept.CheckText(t, of, said)
		}
	}
}

// TestRefused keeps what is said of whatever is no space, composition, law, target,
// kernel, state or stream.
func TestRefused(t *testing.T) {
	kept := golden.Open(t)
	said := func(of string, err error) { t.Helper(); kept.CheckText(t, of, fmt.Sprint(err)) }
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, 5}, {5, -1}, {1, 1}, {math.MaxInt32, math.MaxInt32}, {math.MaxInt32 + 1, 1}, {1, math.MaxInt32 + 1}} {
		_, err := mcmc.NewSpace(c[0], c[1])
		said(fmt.Sprintf("space %v", c), err)
	}
	part := func(i, a int) mcmc.Part { return mcmc.Part{Ingredient: i, Amount: a} }
	for _, parts := range [][]mcmc.Part{{}, {part(0, 1)}, {part(3, 1)}, {part(2, 1)}, {part(-1, 1)}, {part(0, 0)}, {part(0, -1)}, {part(0, 1), part(0, 2)}, {part(0, math.MaxInt32)}, {part(0, math.MaxInt32), part(1, 1)}} {
		_, err := mcmc.NewComposition(3, parts...)
		said(fmt.Sprintf("composition %v", parts), err)
	}
	x, err := mcmc.NewComposition(3, part(0, 2), part(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]int{{0, 0, 1}, {0, 3, 1}, {-1, 1, 1}, {3, 1, 0}, {0, 1, -1}, {0, 1, 6}, {0, 1, 5}, {0, 1, 0}} {
		said(fmt.Sprintf("move %v", c), x.Clone().Move(c[0], c[1], c[2]))
	}
	inf, nan := math.Inf(1), math.NaN()
	for name, law := range map[string]mcmc.Sparsity{
		"none": {}, "uniform above": mcmc.Uniform(3, 2), "uniform one": mcmc.Uniform(2, 2), "uniform below": mcmc.Uniform(-3, 0), "uniform far": mcmc.Uniform(31, 40), "table": mcmc.Table(map[int]float64{1: 1, 2: -1}), "table NaN": mcmc.Table(map[int]float64{2: nan}), "table empty": mcmc.Table(nil),
		"table of zeros": mcmc.Table(map[int]float64{1: 0}), "table infinite": mcmc.Table(map[int]float64{1: inf}), "overflow": mcmc.Table(map[int]float64{1: math.MaxFloat64, 2: math.MaxFloat64}), "normal": mcmc.Normal(3, 0), "normal NaN": mcmc.Normal(nan, 1), "normal below": mcmc.Normal(3, -1), "normal infinite": mcmc.Normal(3, inf),
		"exponential": mcmc.Exponential(inf), "exponential NaN": mcmc.Exponential(nan), "mixture": mcmc.Mixture(), "mixture weight": mcmc.Mixture(mcmc.Component{Weight: -1, Law: mcmc.Uniform(1, 2)}), "mixture of none": mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Uniform(1, 2)}, mcmc.Component{Weight: 1, Law: mcmc.Uniform(3, 2)}),
		"mixture far": mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Uniform(40, 50)}), "power": mcmc.Power(mcmc.Uniform(1, 2), -1), "power NaN": mcmc.Power(mcmc.Uniform(1, 2), nan), "power of none": mcmc.Power(mcmc.Uniform(2, 1), 2),
	} {
		_, err := mcmc.NewTarget(newSpace(t, 12, 30), law)
		said("law "+name, err)
	}
	one := func(*mcmc.Composition) float64 { return 1 }
	for name, wishes := range map[string][]mcmc.Objective{"no property": {{Name: "a", Weight: 1}}, "weight": {wish("a", -1, one)}, "weight NaN": {wish("a", nan, one)}, "weight infinite": {wish("a", inf, one)}, "weight 0": {wish("a", 0, one)}, "twice": {wish("a", 1, one), wish("b", 1, one), wish("a", 2, one)}} {
		_, err := mcmc.NewTarget(newSpace(t, 12, 30), mcmc.Uniform(1, 3), wishes...)
		said("wishes "+name, err)
	}
	target := newTarget(t, 12, 30, mcmc.Uniform(1, 6))
	scored := newTarget(t, 12, 30, mcmc.Uniform(1, 6), wish("a", 1, one))
	for _, name := range []string{"acelerated", "", "tempered", "exact"} {
		_, err := mcmc.NewKernel(name, target)
		said("kernel "+name, err)
	}
	_, err = mcmc.NewExact(scored)
	said("exact, scored", err)
	for _, m := range []mcmc.MoveMix{{}, {Line: -1}, {Resize: nan}, {Refresh: inf}, {Recall: -1, Line: 1}, {Constrained: -1, Line: 1}, {Constrained: 1}, {Recall: 1}} {
		_, err := mcmc.NewBalancedMix(target, m)
		said(fmt.Sprintf("mix %v", m), err)
	}
	for _, replicas := range []int{-1, 0, 1, 2, 101, 102} {
		_, err := mcmc.NewTemperedReplicas(target, replicas)
		said(fmt.Sprintf("tempered %d", replicas), err)
	}
	_, err = mcmc.NewTempered(nil)
	said("tempered, no target", err)
	accelerated, err := mcmc.NewKernel("accelerated", target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.NewKernelSampler(nil, accelerated)
	said("sampler of no target", err)
	_, err = mcmc.NewKernelSampler(target, nil)
	said("sampler of no kernel", err)
	_, err = mcmc.NewChain(nil, accelerated, 1, 3)
	said("chain of no target", err)
	_, err = mcmc.NewChain(target, nil, 1, 3)
	said("chain of no kernel", err)
	_, err = mcmc.NewState(nil, x)
	said("state of no target", err)
	_, err = mcmc.NewState(target, nil)
	said("state of no composition", err)
	_, err = mcmc.NewState(target, x)
	said("state of another space", err)
	sampler, err := mcmc.NewKernelSampler(target, accelerated)
	if err != nil {
		t.Fatal(err)
	}
	o := mcmc.Settings{Kernel: "accelerated", Chains: 1, Draws: 1, Thin: 1}
	_, err = mcmc.Stream(t.Context(), nil, o, 1, func(int, int, *mcmc.State) error { return nil })
	said("stream of no sampler", err)
	_, err = mcmc.Stream(t.Context(), sampler, o, 1, nil)
	said("stream to nowhere", err)
	for name, spoil := range map[string]func(o *mcmc.Settings){"chains": func(o *mcmc.Settings) { o.Chains = 0 }, "many chains": func(o *mcmc.Settings) { o.Chains = mcmc.MaxChains + 1 }, "draws": func(o *mcmc.Settings) { o.Draws = -1 }, "no draws": func(o *mcmc.Settings) { o.Draws = 0 }, "thin": func(o *mcmc.Settings) { o.Thin = 0 }, "warmup": func(o *mcmc.Settings) { o.Warmup = -1 }} {
		spoilt := o
		spoil(&spoilt)
		_, err := mcmc.Stream(t.Context(), sampler, spoilt, 1, func(int, int, *mcmc.State) error { return nil })
		said("stream, "+name, err)
	}
	for name, proposal := range map[string]proposalFunc{
		"fails": func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) {
			return 0, errors.New("no idea")
		}, "NaN": func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) { return nan, nil }, "infinite": func(*mcmc.Rand, *mcmc.Composition, *mcmc.Composition) (float64, error) { return inf, nil },
	} {
		s, err := mcmc.NewKernelSampler(target, mcmc.NewMetropolis("mine", target, proposal))
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.NewChain(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		said("proposal, "+name, c.Advance(1))
	}
	c, err := sampler.NewChain(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "another version": []byte("kir chain 1\n"), "half": data[:len(data)/2], "longer": append(slices.Clone(data), 1), "no chain": []byte("other")} {
		_, err := sampler.RestoreChain(bad)
		said("restored, "+name, err)
	}
	other, err := mcmc.NewKernel("accelerated", newTarget(t, 11, 30, mcmc.Uniform(1, 6)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = mcmc.RestoreChain(newTarget(t, 11, 30, mcmc.Uniform(1, 6)), other, data)
	said("restored, another target", err)
}

// A proposalFunc is a proposal.
type proposalFunc func(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error)

func (f proposalFunc) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error) {
	return f(r, x, y)
}
