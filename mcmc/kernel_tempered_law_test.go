package mcmc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"kir/internal/diagnose"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// away returns how many standard errors the mean of a series of zeros and ones
// lies from the probability that it should be. The variance of a draw is known,
// and how many independent draws the series is worth is estimated. It returns 0
// where so few of a kind are expected that the sum is not normal.
func away(t *testing.T, x series, p float64) float64 {
	t.Helper()
	if float64(len(x))*p*(1-p) < 300 {
		return 0
	}
	of := diagnose.Summarize([][]float64{x})
	mean := of.Mean
	ess, err := of.ESSMean, of.ReasonFor("ESSMean")
	if errors.Is(err, diagnose.ErrConstant) {
		return math.Inf(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return (float64(mean) - p) / math.Sqrt(p*(1-p)/float64(ess))
}

// lawStatistics are how often each size and each ingredient is used.
func lawStatistics(target *mcmc.Target) (all []statistic, plain []func(x []int) float64) {
	indicator := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	lo, hi := target.Law().Support()
	for n := lo; n <= hi; n++ {
		all = append(all, statistic{Name: fmt.Sprint("n = ", n), Value: func(x *mcmc.State) float64 { return indicator(x.Composition.UsedCount() == n) }})
		plain = append(plain, func(x []int) float64 {
			used := 0
			for _, a := range x {
				used += min(a, 1)
			}
			return indicator(used == n)
		})
	}
	for i := range target.Space().N() {
		all = append(all, statistic{Name: fmt.Sprint("ingredient ", i), Value: func(x *mcmc.State) float64 { return indicator(x.Composition.Amount(i) > 0) }})
		plain = append(plain, func(x []int) float64 { return indicator(x[i] > 0) })
	}
	return all, plain
}

// expectation returns the mean of f under an enumerated law.
func expectation(e *stattest.Enumeration, f func(x []int) float64) float64 {
	sum := 0.0
	for s, x := range e.States {
		sum += e.Pi[s] * f(x)
	}
	return sum
}

// A logZProblem is a small target, its law enumerated, and its log Z.
type logZProblem struct {
	name   string
	target *mcmc.Target
	law    *stattest.Enumeration
	logZ   float64
}

// logZProblems returns 20 problems without rules, and 8 with rules of every
// kind, of which some cannot be counted.
func logZProblems(t *testing.T) []logZProblem {
	t.Helper()
	var all []logZProblem
	add := func(name string, target *mcmc.Target, e *stattest.Enumeration, score func(x []int) float64) {
		// log Z of π(n)·Y(x), with |X_n| as the target has it.
		counts := target.Space().LogCounts(target.Space().MaxUsed())
		z := 0.0
		for s, x := range e.States {
			if e.Pi[s] == 0 {
				continue
			}
			n := 0
			for _, a := range x {
				n += min(a, 1)
			}
			z += target.Law().P(n) / math.Exp(counts[n]) * score(x)
		}
		all = append(all, logZProblem{name, target, e, math.Log(z)})
	}
	index := 0
	for _, size := range [][2]int{{3, 5}, {4, 4}, {4, 6}, {5, 5}} {
		picked := 0
		for _, c := range someCells(t, size[0], size[1]) {
			e, err := c.law.Enumerate()
			if index++; err != nil || !c.scored || index%17 != 0 || picked == 5 {
				continue
			}
			picked++
			add(fmt.Sprintf("N=%d/M=%d/%s", size[0], size[1], c.name), c.target, e, func(x []int) float64 {
				y := 1.0
				for _, w := range c.law.Objectives {
					if w.Weight > 0 {
						y *= math.Pow(w.Score(x), w.Weight)
					}
				}
				return y
			})
		}
	}
	if len(all) != 20 {
		t.Fatalf("%d problems", len(all))
	}
	bumpy := wish("bumpy", 1.5, func(x *mcmc.Composition) float64 {
		return 0.2 + float64(x.Amount(0)*x.Amount(0)%5) + 0.5*float64(x.UsedCount())
	})
	measured := 0
	for seed := uint64(0); len(all) < 28; seed++ {
		c := newRuledCell(t, seed, 4, 6, bumpy)
		if c == nil || len(c.law.States) < 10 || !c.measured && len(all) >= 24 {
			continue
		}
		if c.measured {
			measured++
		}
		add(fmt.Sprint("rules ", seed), c.target, c.law, func(x []int) float64 {
			var parts []mcmc.Part
			for i, a := range x {
				if a > 0 {
					parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
				}
			}
			y, err := mcmc.NewComposition(len(x), parts...)
			if err != nil {
				t.Fatal(err)
			}
			return math.Exp(1.5 * bumpy.Property.LogScore(y))
		})
	}
	if measured < 4 {
		t.Fatalf("only %d problems with rules that are not counted", measured)
	}
	return all
}

// log Z, and how often each size and each ingredient is used, are those of the
// enumerated law, within 4 standard errors for log Z and 5 for the rest. The
// error of log Z comes from at least 32 batches: by Student's t of 31 degrees
// of freedom one in 2,700 is farther out, so that all 28 raise a false alarm
// with probability 0.010. Of the others, fewer than 400, one in 1.7 million is:
// 2e-4. Seeds are fixed.
func TestTemperedLawAndLogZ(t *testing.T) {
	scans := testmode.Pick(12_000, 2000)
	for index, p := range logZProblems(t) {
		k, err := mcmc.NewTempered(p.target)
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.NewChain(1, index)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Warm(500); err != nil {
			t.Fatal(err)
		}
		c.EndWarmup()
		statistics, plain := lawStatistics(p.target)
		all := follow(t, c, statistics, scans, 1)
		l := c.Ladder()
		off := (l.LogZ - p.logZ) / l.LogZError
		t.Logf("%s: log Z %.4f, estimated as %.4f ± %.4f (%+.1f), %d rungs", p.name, p.logZ, l.LogZ, l.LogZError, off, len(l.Rungs))
		// Where Y is 1 wherever it is not 0 every draw may say the same.
		exactly := l.LogZError == 0 && math.Abs(l.LogZ-p.logZ) < 1e-9
		if !(math.Abs(off) < 4) && !exactly {
			t.Errorf("%s: log Z is %.4f and was estimated as %.4f ± %.4f", p.name, p.logZ, l.LogZ, l.LogZError)
		}
		if !(l.LogZError < 3/math.Sqrt(float64(scans))*math.Sqrt(float64(len(l.Rungs)))) {
			t.Errorf("%s: log Z has an error of %.4f after %d scans", p.name, l.LogZError, scans)
		}
		for s, x := range all {
			if z := away(t, x, expectation(p.law, plain[s])); math.Abs(z) > 5 {
				t.Errorf("%s: %s is %.1f standard errors off", p.name, statistics[s].Name, z)
			}
		}
	}
}

// With a law on 2 and 6 only, balanced and tempered follow the enumerated law
// and accelerated and gibbs, which would stay at one of them, are refused. Of
// the 2 × 12 figures one is farther off than 5 standard errors with probability
// 1.4e-5.
func TestSizesTwoAndSix(t *testing.T) {
	y := func(x []int32) float64 {
		return 0.05 + math.Abs(math.Sin(float64(3*x[0]+5*x[1]*x[2]+7*x[4])))
	}
	w := wish("waves", 2, func(x *mcmc.Composition) float64 { return y(x.Amounts()) })
	target := newTarget(t, 7, 8, mcmc.Table(map[int]float64{2: 1, 6: 2}), w)
	e, err := stattest.Law{
		Ingredients: 7, Total: 8,
		Size: func(n int) float64 { return map[int]float64{2: 1, 6: 2}[n] },
		Objectives: []stattest.Objective{{Weight: 2, Score: func(x []int) float64 {
			amounts := make([]int32, len(x))
			for i, a := range x {
				amounts[i] = int32(a)
			}
			return y(amounts)
		}}},
	}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	statistics, plain := lawStatistics(target)
	draws := testmode.Pick(60_000, 6000)
	for kernel, thin := range map[string]int{"balanced": 5, "tempered": 1} {
		c := settled(t, kernel, target, 1, 2000)
		for s, x := range follow(t, c, statistics, draws, thin) {
			want := expectation(e, plain[s])
			if z := away(t, x, want); math.Abs(z) > 5 {
				t.Errorf("%s: %s is %.1f standard errors off %.4f", kernel, statistics[s].Name, z, want)
			}
		}
	}
	for _, kernel := range []string{"accelerated", "gibbs"} {
		if _, err := mcmc.NewKernel(kernel, target); !errors.Is(err, mcmc.ErrReducible) {
			t.Errorf("%s: got %v, want ErrReducible", kernel, err)
		}
	}
}

// farApart is a target with two regions that are equally good and have nothing
// in common: all of the total among the first half of the ingredients, and all
// of it among the last. y = exp(150·(|2f − 1| − 1)) with f the share of the
// first half, so that what lies half-way has e^-150.
func farApart(t *testing.T) *mcmc.Target {
	return newTarget(t, 20, 40, mcmc.Uniform(4, 6), wish("one side", 150, func(x *mcmc.Composition) float64 {
		return math.Exp(math.Abs(2*firstHalf(x)-1) - 1)
	}))
}

func firstHalf(x *mcmc.Composition) float64 {
	sum := 0
	for _, i := range x.Ingredients() {
		if int(i) < x.N()/2 {
			sum += x.Amount(int(i))
		}
	}
	return float64(sum) / float64(x.Total())
}

// timeInFirstHalf returns the share of further iterations that a chain is in the
// first region, with its standard error.
func timeInFirstHalf(t *testing.T, c *mcmc.Chain, iterations int) (mean, se float64) {
	t.Helper()
	all := follow(t, c, []statistic{{Name: "the first side", Value: func(x *mcmc.State) float64 {
		if firstHalf(x.Composition) > 0.5 {
			return 1
		}
		return 0
	}}}, iterations, 1)
	of := diagnose.Summarize([][]float64{all[0]})
	if err := of.ReasonFor("MCSEMean"); err != nil {
		t.Fatal(err)
	}
	return float64(of.Mean), float64(of.MCSEMean)
}

// Between two regions that are far apart tempered goes to and fro, and is in
// each half of the time within 4 standard errors (one in 16,000 is farther
// out), which are below 0.02. accelerated does not leave the one where it
// began.
func TestRegionsFarApart(t *testing.T) {
	target := farApart(t)
	iterations, scans := testmode.Pick(1_000_000, 50_000), testmode.Pick(20_000, 2000)
	c := settled(t, "accelerated", target, 1, 1000)
	side := firstHalf(c.State.Composition) > 0.5
	for range iterations / 100 {
		if err := c.Advance(100); err != nil {
			t.Fatal(err)
		}
		if f := firstHalf(c.State.Composition); f > 0.5 != side {
			t.Fatalf("accelerated went over to %v", c.State.Composition)
		}
	}

	c = settled(t, "tempered", target, 1, 2000)
	mean, se := timeInFirstHalf(t, c, scans)
	l := c.Ladder()
	t.Logf("%.4f ± %.4f of the time in the first; %d rungs, %d round trips in %d scans", mean, se, len(l.Rungs), l.RoundTrips, l.Scans)
	if math.Abs(mean-0.5) > 4*se || !(se < 0.02*math.Sqrt(20_000/float64(scans))) {
		t.Errorf("%.4f ± %.4f of the time in the first region", mean, se)
	}
}

// The errors that draws of tempered are said to have are those that they have:
// over 40 seeds the deviations from the half, in standard errors, have a root
// mean square below 1.5 (χ² of 40: one in 100,000 is above), and so over the 30 of
// the sample (χ² of 30: one in 10,000), which has a shorter warm-up. Were swaps with the
// peaks tried in each scan, it would be 1.6 in either.
func TestErrorsOfTempered(t *testing.T) {
	const scans = 2000
	seeds, warmup := testmode.Pick(40, 30), testmode.Pick(2000, 500)
	target := farApart(t)
	sum := 0.0
	for seed := range uint64(seeds) {
		c := settled(t, "tempered", target, 100+seed, warmup)
		mean, se := timeInFirstHalf(t, c, scans)
		sum += (mean - 0.5) * (mean - 0.5) / (se * se)
	}
	if rms := math.Sqrt(sum / float64(seeds)); !(rms < 1.5) {
		t.Errorf("the deviations are %.2f standard errors", rms)
	} else {
		t.Logf("the deviations are %.2f standard errors", rms)
	}
}

// steep is a target whose ladder grows in warm-up, so that replicas are copied.
func steep(t *testing.T) *mcmc.Target {
	return newTarget(t, 60, 90, mcmc.Uniform(18, 22), wish("steep", 30, func(x *mcmc.Composition) float64 {
		sum := 0.0
		for _, p := range x.Parts() {
			sum += math.Sin(float64(p.Ingredient * p.Amount))
		}
		return math.Exp(sum - 22)
	}))
}

// One scan is an estimate of log Z, and too little to tell its error.
func TestLogZOfOneScan(t *testing.T) {
	c := settled(t, "tempered", steep(t), 1, 0)
	if l := c.Ladder(); !math.IsNaN(l.LogZ) || !math.IsNaN(l.LogZError) {
		t.Errorf("log Z is %v ± %v before any scan", l.LogZ, l.LogZError)
	}
	if err := c.Advance(1); err != nil {
		t.Fatal(err)
	}
	if l := c.Ladder(); math.IsNaN(l.LogZ) || math.IsInf(l.LogZ, 0) || !math.IsNaN(l.LogZError) {
		t.Errorf("log Z is %v ± %v after one scan", l.LogZ, l.LogZError)
	}
}
