package mcmc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"kir/internal/diagnose"
	"kir/internal/testonly/kernelbench"
	"kir/mcmc"
	"kir/rule"
)

// A limitedSpace is a space with limits that many kernels find hard to walk.
type limitedSpace struct {
	name string
	set  rule.Set
	law  mcmc.Sparsity
}

// quantiles returns the given quantiles of the means of random compositions of a law.
func quantiles(tb testing.TB, ingredients, total int, law mcmc.Sparsity, factors [][]float64, at func(k int) float64) []float64 {
	tb.Helper()
	target := benchCase{"", ingredients, total, law}.target(tb)
	x, _, err := mcmc.StartState(target, mcmc.NewRand(1, "quantiles", 0))
	if err != nil {
		tb.Fatal(err)
	}
	exact, err := mcmc.NewExact(target)
	if err != nil {
		tb.Fatal(err)
	}
	r := mcmc.NewRand(1, "quantiles", 1)
	means := make([][]float64, len(factors))
	for range 4000 {
		if err := exact.Advance(r, x, 1, &mcmc.Tally{}); err != nil {
			tb.Fatal(err)
		}
		for k, f := range factors {
			sum := 0.0
			for _, i := range x.Composition.Ingredients() {
				sum += f[i] * float64(x.Composition.Amount(int(i)))
			}
			means[k] = append(means[k], sum/float64(total))
		}
	}
	var out []float64
	for k := range means {
		slices.Sort(means[k])
		out = append(out, means[k][int(at(k)*float64(len(means[k])))])
	}
	return out
}

// limitedSpaces are spaces of 1, 2, 12 and 171 limits.
func limitedSpaces(tb testing.TB) []limitedSpace {
	r := rand.New(rand.NewPCG(5, 5))
	whole := func(n, most int) []float64 {
		f := make([]float64, n)
		for i := range f {
			f[i] = float64(r.IntN(most + 1))
		}
		return f
	}
	equal := func(f []float64, mean float64) rule.Rule { return rule.Limit{Factors: f, Min: mean, Max: mean} }
	all := []limitedSpace{
		{"an equality, few", rule.Set{Ingredients: 6, Total: 12, Rules: []rule.Rule{equal([]float64{0, 1, 3, 4, 7, 9}, 4)}}, mcmc.Uniform(1, 4)},
		{"an equality", rule.Set{Ingredients: 40, Total: 100, Rules: []rule.Rule{equal(whole(40, 20), 8)}}, mcmc.Normal(6, 1.5)},
		{"two equalities", rule.Set{Ingredients: 40, Total: 100, Rules: []rule.Rule{equal(whole(40, 10), 4), equal(whole(40, 5), 2)}}, mcmc.Normal(8, 1.5)},
		{"two tight", rule.Set{Ingredients: 200, Total: 1000, Rules: []rule.Rule{}}, mcmc.Normal(12, 2)},
		{"twelve", rule.Set{Ingredients: 200, Total: 1000}, mcmc.Normal(20, 2)},
	}
	for _, of := range []struct{ space, limits int }{{3, 2}, {4, 12}} {
		space := &all[of.space]
		var factors [][]float64
		for range of.limits {
			f := make([]float64, 200)
			for i := range f {
				f[i] = math.Round(1e4*r.Float64()) / 100
			}
			factors = append(factors, f)
		}
		if of.limits == 2 { // each lets one in a hundred pass
			low := quantiles(tb, 200, 1000, space.law, factors, func(int) float64 { return 0.3 })
			high := quantiles(tb, 200, 1000, space.law, factors, func(int) float64 { return 0.31 })
			for k, f := range factors {
				space.set.Rules = append(space.set.Rules, rule.Limit{Factors: f, Min: math.Round(100*low[k]) / 100, Max: math.Round(100*high[k]) / 100})
			}
			continue
		}
		for k, q := range quantiles(tb, 200, 1000, space.law, factors, func(int) float64 { return 0.6 }) {
			space.set.Rules = append(space.set.Rules, rule.Limit{Factors: factors[k], Min: math.Inf(-1), Max: math.Round(100*q) / 100})
		}
	}
	return append(all, constituents(tb, 1000), constituents(tb, 10_000))
}

// constituents is a space of 1,000 materials, each of which consists of 1 to 8 of
// 171 constituents in part, each of which is limited so that one to ten random
// compositions in a hundred break it.
func constituents(tb testing.TB, total int) limitedSpace {
	const materials, limits = 1000, 171
	r := rand.New(rand.NewPCG(171, 1))
	factors := make([][]float64, limits)
	for k := range factors {
		factors[k] = make([]float64, materials)
	}
	for i := range materials {
		for range 1 + r.IntN(8) {
			k := int(limits * r.Float64() * r.Float64()) // some are in many
			factors[k][i] = math.Round(1e4*math.Exp(math.Log(0.3)*(1+2*r.Float64()))) / 1e4
		}
	}
	space := limitedSpace{fmt.Sprintf("171 of %d", total), rule.Set{Ingredients: materials, Total: total}, mcmc.Normal(30, 4)}
	tight := make([]float64, limits)
	for k := range tight {
		tight[k] = 0.9 + 0.09*r.Float64()
	}
	for k, q := range quantiles(tb, materials, 1000, space.law, factors, func(k int) float64 { return tight[k] }) {
		space.set.Rules = append(space.set.Rules, rule.Limit{Factors: factors[k], Min: math.Inf(-1), Max: math.Ceil(1e5*q) / 1e5})
	}
	return space
}

// target returns the space's target, and the seconds that measuring took.
func (l limitedSpace) target(tb testing.TB, wishes ...mcmc.Objective) (*mcmc.Target, float64) {
	tb.Helper()
	start := kernelbench.CPU()
	space, err := mcmc.NewRuledSpace(tb.Context(), l.set, mcmc.CountingOptions{Law: l.law, Seed: 1, Workers: 1})
	if err != nil {
		tb.Fatal(err)
	}
	seconds := kernelbench.CPU() - start
	target, err := mcmc.NewTarget(space, l.law, wishes...)
	if err != nil {
		tb.Fatal(err)
	}
	return target, seconds
}

// usedCount is n.
var usedCount = statistic{Name: "n", Value: func(x *mcmc.State) float64 { return float64(x.Composition.UsedCount()) }}

// presences are n, and whether each ingredient is used.
func presences(ingredients int) []statistic {
	all := []statistic{usedCount}
	for i := range ingredients {
		all = append(all, statistic{Name: fmt.Sprint("ingredient ", i), Value: func(x *mcmc.State) float64 { return float64(min(x.Composition.Amount(i), 1)) }})
	}
	return all
}

// slowness is the largest IACT of series, in draws. What is met in fewer than one
// draw in a thousand is left out, unless it is n.
func slowness(tb testing.TB, statistics []statistic, all []series) (tau float64, what string) {
	tb.Helper()
	for k, x := range all {
		mean := 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		if statistics[k].Name != "n" && min(mean, 1-mean) < 0.001 {
			continue
		}
		if slices.Max(x) == slices.Min(x) {
			return math.Inf(1), statistics[k].Name
		}
		t, err := kernelbench.IACT([][]float64{x})
		if err != nil {
			tb.Fatal(err)
		}
		if t > tau {
			tau, what = t, statistics[k].Name
		}
	}
	return tau, what
}

// BenchmarkLimits measures what an iteration of each kernel is worth under limits.
func BenchmarkLimits(b *testing.B) {
	for _, l := range limitedSpaces(b) {
		b.Run(l.name, func(b *testing.B) {
			target, seconds := l.target(b)
			b.ReportMetric(seconds, "measuring-s")
			statistics := presences(l.set.Ingredients)
			for _, e := range []struct {
				kernel              string
				warmup, draws, thin int
			}{{"accelerated", 20_000, 10_000, 100}, {"balanced", 20_000, 10_000, 100}, {"tempered", 1000, 5000, 4}} {
				c := settled(b, e.kernel, target, 1, e.warmup)
				start, iterations := kernelbench.CPU(), float64(2000*e.thin)
				if err := c.Advance(int(iterations)); err != nil {
					b.Fatal(err)
				}
				pace := (kernelbench.CPU() - start) / iterations
				seen := follow(b, c, statistics, e.draws, e.thin)
				n, _ := slowness(b, statistics[:1], seen[:1])
				tau, what := slowness(b, statistics[1:], seen[1:])
				n, tau = n*float64(e.thin), tau*float64(e.thin)
				b.Logf("%s: %s: %.3g µs, IACT of n %.4g, of %s %.4g; ESS/s of n %.4g, of presence %.4g", l.name, e.kernel, 1e6*pace, n, what, tau, 1/(pace*n), 1/(pace*tau))
				for _, m := range c.Tally().Moves {
					b.Logf("    %s %d, %.3g accepted", m.Name, m.Tried, float64(m.Accepted)/float64(m.Tried))
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Under twelve limits that each let six in ten pass, sizes come as often as the law
// of n has it: over 400,000 draws each is within 4.5 standard errors, of the draws
// and of |X_n| together. One seed in 10,000 fails. It takes half a minute, and runs if
// KIR_LIMITS is set.
func TestLawOfNUnderLimits(t *testing.T) {
	if os.Getenv("KIR_LIMITS") == "" {
		t.Skip("set KIR_LIMITS to run it")
	}
	l := limitedSpaces(t)[4]
	target, seconds := l.target(t)
	t.Logf("%s limits: measured in %.1f s of CPU", l.name, seconds)
	const chains, draws, thin = 4, 100_000, 20
	_, hi := target.Law().Support()
	sizes := make([][]series, hi+1)
	for k := range chains {
		c := settled(t, "balanced", target, uint64(1+k), 20_000)
		n := follow(t, c, []statistic{usedCount}, draws, thin)[0]
		for size := range sizes {
			one := make(series, draws)
			for d, used := range n {
				if int(used) == size {
					one[d] = 1
				}
			}
			sizes[size] = append(sizes[size], one)
		}
	}
	law := make([]float64, len(sizes))
	for n := range law {
		law[n] = target.Law().P(n)
	}
	counted := target.Space().LawStandardErrors(law)
	for n, p := range law {
		if p < 0.001 {
			continue
		}
		all := make([][]float64, chains)
		mean := 0.0
		for k, one := range sizes[n] {
			all[k] = one
			for _, v := range one {
				mean += v / (chains * draws)
			}
		}
		of := diagnose.Summarize(all)
		ess, err := of.ESSMean, of.ReasonFor("ESSMean")
		if err != nil {
			t.Fatal(err)
		}
		z := (mean - p) / math.Sqrt(p*(1-p)/float64(ess)+counted[n]*counted[n])
		t.Logf("n = %d: %.5f of the draws, law %.5f, z = %.2f", n, mean, p, z)
		if math.Abs(z) > 4.5 {
			t.Errorf("n = %d is %.1f standard errors off", n, z)
		}
	}
}
