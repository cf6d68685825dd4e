package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/internal/browsersched"
	"kir/internal/diagnose"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
)

// Advice is a recommended kernel for a target, with the reason for the recommendation.
type Advice struct {
	Kernel  string `json:"recommended"`
	Because string `json:"because"` // reason in words that can follow "as" or a colon
}

// A Trial is the result of a short run of a kernel, after an equally long warm-up.
type Trial struct {
	// Mean and BestScore are the mean and the greatest value of Π_k y_k, the product of the properties
	// with positive weights, each to the power 1. They are taken over every tenth draw.
	MeanScore, BestScore float64
	// RHat is the R-hat of the log score. Where the log score hardly changes, RHat is the largest
	// R-hat of the log score and of some sums of amounts. NaN if R-hat cannot be computed.
	RHat float64
}

const (
	trialSeed   = 1 // seed of every trial, whatever the seed of the run: the kernel follows from the target and the length of the run
	trialChains = 4

	// A trial has 1/trialDivisor of the iterations of a run, but at least minTrialIterations and at
	// most maxTrialIterations. If its chains disagree, a second trial follows, which is longer by
	// longTrialFactor.
	trialDivisor       = 40
	minTrialIterations = 100
	maxTrialIterations = 2500
	longTrialFactor    = 4

	balancedIterationsPerScan = 8    // approximate number of iterations of kernel balanced in the time of a scan of kernel tempered
	maxTrialRHat              = 1.1  // largest R-hat at which the chains of a trial count as agreeing
	minRHatGain               = 0.02 // least decrease of R-hat that makes another kernel preferable
	trialSumCount             = 8    // number of sums of amounts, each over a random half of the ingredients, that replace a score that does not change
	forbiddenSampleSize       = 200  // number of random compositions that are tested for being forbidden
	minRulesShare             = 1e-3 // least share of the countable compositions that must keep all rules for tempered to be tried
)

// Recommend recommends a kernel for a target, for a run of the given settings. It ignores the
// kernel in the settings. Recommend tries kernels in short runs. With programs set, it tries none:
// programs score properties then, and only a run may start programs.
//
// Without properties Recommend recommends kernel exact. Otherwise it recommends balanced, which has
// the most effective draws a second, unless two conditions hold. First, the chains of short trials
// of balanced must disagree (R-hat above 1.1), or most random compositions must be forbidden. The
// trials have at most a fortieth and a tenth of the run's iterations. Second, a trial of tempered
// with as many lines, or a longer trial if needed, must bring its chains closer together. Tempered
// is not tried where fewer than one in 1,000 of the countable compositions keep the other rules,
// since the round trips of tempered begin there. The advice does not depend on the seed of the run
// or on the speed of the machine.
func Recommend(ctx context.Context, t *mcmc.Target, settings mcmc.Settings, programs bool) (*Advice, error) {
	if _, err := mcmc.NewExact(t); err == nil {
		return &Advice{Kernel: "exact", Because: "without properties each draw can be made independently"}, nil
	}
	if programs {
		return &Advice{Kernel: "balanced", Because: "it suits most problems; kir tried no kernel, because only a run may start programs"}, nil
	}
	if kept := shareKeepingRules(t); kept < minRulesShare {
		// At β = 0 a ladder nearly always draws compositions that break a rule, and no round trip
		// succeeds. So the only trial is whether balanced can start.
		_, err := runTrial(ctx, t, "balanced", minTrialIterations)
		if err == nil {
			return &Advice{Kernel: "balanced", Because: fmt.Sprintf("a share of only %.1g of the recipes from which tempered starts keeps the rules", kept)}, nil
		}
		if !errors.Is(err, mcmc.ErrNoStart) {
			return nil, err
		}
	}
	forbidden, err := countForbidden(ctx, t)
	if err != nil {
		return nil, err
	}
	a := &Advice{}
	iterations := int(min(max(settings.Iterations()/trialDivisor, minTrialIterations), maxTrialIterations))
	balanced, err := runTrial(ctx, t, "balanced", iterations)
	if errors.Is(err, mcmc.ErrNoStart) {
		// The run itself will report the problem.
		return &Advice{Kernel: "tempered", Because: "no allowed recipe was found to start from, and tempered can cross forbidden ones"}, nil
	}
	if err != nil {
		return nil, err
	}
	if !(balanced.RHat <= maxTrialRHat) {
		// A longer trial brings slow chains closer together, but not chains confined to separate
		// regions.
		iterations *= longTrialFactor
		if balanced, err = runTrial(ctx, t, "balanced", iterations); err != nil {
			return nil, err
		}
	}
	gap := ""
	if n, yes := t.Law().FirstGap(); yes {
		gap = fmt.Sprintf(", and it crosses the gap that the sparsity law has at n = %d", n)
	}
	most := 2*forbidden > forbiddenSampleSize
	if !most && balanced.RHat <= maxTrialRHat {
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial its chains agreed (R-hat %.2f after %d iterations)%s", balanced.RHat, iterations, gap)
		return a, nil
	}
	scans := max(iterations/balancedIterationsPerScan, minTrialIterations/4)
	tempered, err := runTrial(ctx, t, "tempered", scans)
	if err == nil && !(tempered.RHat <= max(maxTrialRHat, balanced.RHat-minRHatGain)) {
		// A ladder must learn more before its chains meet.
		tempered, err = runTrial(ctx, t, "tempered", longTrialFactor*scans)
	}
	if errors.Is(err, mcmc.ErrNoStart) { // a kernel that cannot be tried is no error of the other
		return &Advice{Kernel: "balanced", Because: "in a trial the kernel tempered found no recipe to start from" + gap}, nil
	}
	if err != nil {
		return nil, err
	}
	both := fmt.Sprintf("R-hat %.2f in a trial, %s %.2f", tempered.RHat, "balanced", balanced.RHat)
	switch {
	case !math.IsNaN(tempered.RHat) && !(tempered.RHat > balanced.RHat-minRHatGain):
		a.Kernel, a.Because = "tempered", "it brings the chains together sooner ("+both+")"
	case most && tempered.RHat <= max(maxTrialRHat, balanced.RHat):
		a.Kernel = "tempered"
		a.Because = fmt.Sprintf("%d of %d random compositions are forbidden, and it goes round them (%s)", forbidden, forbiddenSampleSize, both)
	default:
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial tempered was no better (%s)%s", both, gap)
	}
	return a, nil
}

// shareKeepingRules returns the share of random compositions that keep the rules that are not
// counted; 1 if all rules are counted.
func shareKeepingRules(t *mcmc.Target) float64 {
	shares := t.Space().UncountedRuleShares()
	if shares == nil {
		return 1
	}
	sum := 0.0
	for _, s := range shares {
		sum += float64(t.Law().P(s.N) * s.Estimate)
	}
	return sum
}

// weightTrialIterations is the number of iterations of each chain in a trial of other weights.
const weightTrialIterations = 500

// TryWeights makes a short run of the kernel balanced with other weights of the objectives. The
// parameter weights has one weight for each objective, in the target's order.
func TryWeights(ctx context.Context, t *mcmc.Target, weights []float64) (Trial, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		wishes[k].Weight = weights[k]
	}
	weighed, err := t.WithObjectives(wishes...)
	if err != nil {
		return Trial{}, err
	}
	return runTrial(ctx, weighed, "balanced", weightTrialIterations)
}

// Agrees reports whether the chains of a trial agree, as far as a short run can show.
func (t *Trial) Agrees() bool { return t.RHat <= maxTrialRHat }

// countForbidden draws forbiddenSampleSize random compositions and returns how many of them a
// property forbids.
func countForbidden(ctx context.Context, t *mcmc.Target) (forbidden int, err error) {
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(trialSeed, "advice", 0)
	for range forbiddenSampleSize {
		if err := browsersched.Err(ctx); err != nil {
			return 0, err
		}
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break // the rules leave hardly anything at random, which the properties do not forbid
		}
		if err != nil {
			return 0, err
		}
		score, err := t.LogScore(x)
		if err != nil {
			return 0, err
		}
		if math.IsInf(score, -1) {
			forbidden++
		}
	}
	return forbidden, nil
}

// runTrial makes a short run with the named kernel.
func runTrial(ctx context.Context, t *mcmc.Target, name string, iterations int) (Trial, error) {
	sampler, err := mcmc.NewSampler(name, t)
	if err != nil {
		return Trial{}, err
	}
	plain, err := search.UnweightedTarget(t)
	if err != nil {
		return Trial{}, err
	}
	signs := newSumMembership(t.Space().N())
	var chains [trialChains]trialChain
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c := range chains {
		chains[c] = trialChain{unweighted: plain, sumMembership: signs}
		g.Go(func() error { return chains[c].run(ctx, sampler, c, iterations) })
	}
	if err := g.Wait(); err != nil {
		return Trial{}, err
	}
	return summarizeTrial(chains[:]), nil
}

// newSumMembership returns random bits for each ingredient. Bit k of an ingredient says whether the
// ingredient's amount is part of the k-th sum of amounts.
//
// A score that is equal in nine of ten draws carries no information, but sums of amounts may. Sums
// of amounts mix more slowly than the score wherever there are many ingredients, so they are used
// only for scores that hardly change. The statistics of the run itself show if the run is long
// enough for them.
func newSumMembership(n int) []uint64 {
	signs := make([]uint64, n)
	r := mcmc.NewRand(trialSeed, "trial sums", 0)
	for i := range signs {
		signs[i] = r.Uint64()
	}
	return signs
}

// A trialChain is a chain of a short run, with the numbers recorded at its draws.
type trialChain struct {
	unweighted    *mcmc.Target
	sumMembership []uint64

	series        [1 + trialSumCount]*diagnose.Series // series of the log score, followed by the series of the sums of amounts
	sampledScores []float64                           // score with all weights 1 at every tenth draw
}

// run makes the warm-up and the draws of the chain with the given number, and records the draws.
func (t *trialChain) run(ctx context.Context, sampler mcmc.Sampler, number, iterations int) error {
	for k := range t.series {
		t.series[k] = diagnose.NewSeries(iterations, trialChains)
	}
	chain, err := sampler.NewChain(trialSeed, number)
	if err != nil {
		return err
	}
	if err := chain.Warm(iterations); err != nil {
		return err
	}
	chain.EndWarmup()
	for d := range iterations {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		if err := chain.Advance(1); err != nil {
			return err
		}
		t.record(chain.State)
		if d%10 == 9 {
			score, err := t.unweighted.LogScore(chain.State.Composition)
			if err != nil {
				return err
			}
			t.sampledScores = append(t.sampledScores, portable.Exp(score))
		}
	}
	return nil
}

// record adds the log score and the sums of amounts of a state to the series.
func (t *trialChain) record(state *mcmc.State) {
	t.series[0].Add(state.LogScore())
	x := state.Composition
	for k := range trialSumCount {
		sum := 0
		for _, i := range x.Ingredients() {
			if t.sumMembership[i]>>k&1 == 1 {
				sum += x.Amount(int(i))
			}
		}
		t.series[1+k].Add(float64(sum))
	}
}

// summarizeTrial returns the mean and the best score of the chains, and R-hat. R-hat is that of the
// scores or, if the scores are nearly all equal, the largest R-hat of the scores and the sums of
// amounts.
func summarizeTrial(chains []trialChain) Trial {
	trial := Trial{RHat: seriesRHat(chains, 0)}
	var all []float64
	for _, t := range chains {
		all = append(all, t.sampledScores...)
	}
	for _, score := range all {
		trial.MeanScore += score / float64(len(all))
		trial.BestScore = max(trial.BestScore, score)
	}
	if slices.Sort(all); !math.IsNaN(trial.RHat) && all[len(all)/20] < all[len(all)-1-len(all)/20] {
		return trial
	}
	for k := range trialSumCount {
		if rhat := seriesRHat(chains, 1+k); !(rhat <= trial.RHat) && !math.IsNaN(rhat) {
			trial.RHat = rhat
		}
	}
	return trial
}

// seriesRHat returns R-hat of the k-th series over all chains.
func seriesRHat(chains []trialChain, k int) float64 {
	var series []*diagnose.Series
	for _, t := range chains {
		series = append(series, t.series[k])
	}
	return computeRHat(series)
}

// computeRHat returns R-hat of a statistic, given as one series for each chain.
func computeRHat(series []*diagnose.Series) float64 {
	var z diagnose.Summarizer
	return float64(z.Series(series).RHat)
}
