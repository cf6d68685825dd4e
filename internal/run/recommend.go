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

// Advice is a recommended kernel for a target, with the reason.
type Advice struct {
	Kernel  string `json:"recommended"`
	Because string `json:"because"` // in words, to follow "as" or a colon
}

// A Trial is the result of a short run of a kernel, after an equally long warm-up.
type Trial struct {
	Mean, Best float64 // of Π_k y_k of the properties that count, as they are, over every tenth draw
	RHat       float64 // of the log score, or where that hardly changes the largest of it and of some sums of amounts; NaN if it cannot be told
}

const (
	trialSeed   = 1 // whatever the run's: the kernel follows from the target and the length of the run
	trialChains = 4

	// A trial makes this share of a run's iterations. If it left the chains apart, a second, longer
	// one follows.
	trialShare = 40
	leastTrial = 100
	mostTrial  = 2500
	longer     = 4

	trialScan       = 8    // iterations of balanced in the time of a scan of tempered, about
	trialRHat       = 1.1  // up to which chains agree as far as so short a run can tell
	trialBetter     = 0.02 // by how much it is to be lower for another kernel
	trialSums       = 8    // sums of the amounts of a random half of the ingredients, which stand for a score that does not change
	forbiddenSample = 200  // random compositions that are looked at
	leastKept       = 1e-3 // which share of the compositions that can be counted is to keep all rules for tempered to be tried
)

// Recommend recommends a kernel for a target, for a run of the given settings. It ignores the
// kernel in the settings. It tries kernels with short runs, except where programs score properties,
// since only a run may start these. Then programs is true.
//
// Without properties it recommends exact. Otherwise it recommends balanced, which has the most
// effective draws a second, with one exception. First, short runs of balanced, of at most a
// fortieth and a tenth of the run's length, must leave its chains apart (R-hat above 1.1), or most
// random compositions must be forbidden. Second, a run of tempered with as many lines, or a longer
// one if needed, must bring its chains closer together. Tempered is not tried where fewer than one
// in 1,000 of the countable compositions keep the other rules, since its round trips begin there.
// The advice does not depend on the seed or on the speed of the machine.
func Recommend(ctx context.Context, t *mcmc.Target, settings mcmc.Settings, programs bool) (*Advice, error) {
	if _, err := mcmc.NewExact(t); err == nil {
		return &Advice{Kernel: "exact", Because: "without properties each draw can be made independently"}, nil
	}
	if programs {
		return &Advice{Kernel: "balanced", Because: "it suits most problems; kir tried no kernel, because only a run may start programs"}, nil
	}
	if kept := shareKeepingRules(t); kept < leastKept {
		// At β = 0 a ladder nearly always draws compositions that break a rule, and no round trip
		// succeeds. So the only trial is whether balanced can start.
		_, err := runTrial(ctx, t, "balanced", leastTrial)
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
	iterations := int(min(max(settings.Iterations()/trialShare, leastTrial), mostTrial))
	balanced, err := runTrial(ctx, t, "balanced", iterations)
	if errors.Is(err, mcmc.ErrNoStart) {
		// The run itself will report the problem.
		return &Advice{Kernel: "tempered", Because: "no allowed recipe was found to start from, and tempered can cross forbidden ones"}, nil
	}
	if err != nil {
		return nil, err
	}
	if !(balanced.RHat <= trialRHat) {
		// A longer trial brings slow chains closer together, but not chains confined to separate
		// regions.
		iterations *= longer
		if balanced, err = runTrial(ctx, t, "balanced", iterations); err != nil {
			return nil, err
		}
	}
	gap := ""
	if n, yes := t.Law().Gap(); yes {
		gap = fmt.Sprintf(", and it crosses the gap that the sparsity law has at n = %d", n)
	}
	most := 2*forbidden > forbiddenSample
	if !most && balanced.RHat <= trialRHat {
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial its chains agreed (R-hat %.2f after %d iterations)%s", balanced.RHat, iterations, gap)
		return a, nil
	}
	scans := max(iterations/trialScan, leastTrial/4)
	tempered, err := runTrial(ctx, t, "tempered", scans)
	if err == nil && !(tempered.RHat <= max(trialRHat, balanced.RHat-trialBetter)) {
		// A ladder must learn more before its chains meet.
		tempered, err = runTrial(ctx, t, "tempered", longer*scans)
	}
	if errors.Is(err, mcmc.ErrNoStart) { // a kernel that cannot be tried is no error of the other
		return &Advice{Kernel: "balanced", Because: "in a trial the kernel tempered found no recipe to start from" + gap}, nil
	}
	if err != nil {
		return nil, err
	}
	both := fmt.Sprintf("R-hat %.2f in a trial, %s %.2f", tempered.RHat, "balanced", balanced.RHat)
	switch {
	case !math.IsNaN(tempered.RHat) && !(tempered.RHat > balanced.RHat-trialBetter):
		a.Kernel, a.Because = "tempered", "it brings the chains together sooner ("+both+")"
	case most && tempered.RHat <= max(trialRHat, balanced.RHat):
		a.Kernel = "tempered"
		a.Because = fmt.Sprintf("%d of %d random compositions are forbidden, and it goes round them (%s)", forbidden, forbiddenSample, both)
	default:
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial tempered was no better (%s)%s", both, gap)
	}
	return a, nil
}

// shareKeepingRules returns the share of random compositions that keeps the rules that are not counted, 1
// if all are counted.
func shareKeepingRules(t *mcmc.Target) float64 {
	shares := t.Space().Shares()
	if shares == nil {
		return 1
	}
	sum := 0.0
	for _, s := range shares {
		sum += float64(t.Law().P(s.N) * s.Estimate)
	}
	return sum
}

// weightTrial is the number of iterations of each chain in a trial of weights.
const weightTrial = 500

// TryWeights makes a short run of balanced with other weights of the objectives, given in their
// order.
func TryWeights(ctx context.Context, t *mcmc.Target, weights []float64) (Trial, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		wishes[k].Weight = weights[k]
	}
	weighed, err := t.WithObjectives(wishes...)
	if err != nil {
		return Trial{}, err
	}
	return runTrial(ctx, weighed, "balanced", weightTrial)
}

// Agrees reports whether the chains of a trial agree, as far as so short a run can show.
func (t *Trial) Agrees() bool { return t.RHat <= trialRHat }

// countForbidden returns the number of random compositions that a property forbids.
func countForbidden(ctx context.Context, t *mcmc.Target) (forbidden int, err error) {
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(trialSeed, "advice", 0)
	for range forbiddenSample {
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

// runTrial makes a short run.
func runTrial(ctx context.Context, t *mcmc.Target, name string, iterations int) (Trial, error) {
	sampler, err := mcmc.NewSampler(name, t)
	if err != nil {
		return Trial{}, err
	}
	plain, err := search.Unweighted(t)
	if err != nil {
		return Trial{}, err
	}
	signs := trialSigns(t.Space().N())
	var chains [trialChains]trialChain
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c := range chains {
		chains[c] = trialChain{plain: plain, signs: signs}
		g.Go(func() error { return chains[c].run(ctx, sampler, c, iterations) })
	}
	if err := g.Wait(); err != nil {
		return Trial{}, err
	}
	return summarizeTrial(chains[:]), nil
}

// trialSigns returns random bits for each ingredient. Bit k says whether its amount is part of the
// k-th sum of amounts.
//
// A score that is equal in nine of ten draws carries no information, but sums of amounts may.
// These mix more slowly than the score wherever there are many ingredients, so they serve only
// here. The statistics of the run itself show if it is long enough for them.
func trialSigns(n int) []uint64 {
	signs := make([]uint64, n)
	r := mcmc.NewRand(trialSeed, "trial sums", 0)
	for i := range signs {
		signs[i] = r.Uint64()
	}
	return signs
}

// A trialChain is a chain of a short run with what is recorded of its draws.
type trialChain struct {
	plain *mcmc.Target
	signs []uint64

	series [1 + trialSums]*diagnose.Series // the log score and the sums of amounts
	scores []float64                       // of every tenth draw
}

// run warms the chain up and records its draws.
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
			score, err := t.plain.LogScore(chain.State.Composition)
			if err != nil {
				return err
			}
			t.scores = append(t.scores, portable.Exp(score))
		}
	}
	return nil
}

// record adds the log score and the sums of amounts of a state to the series.
func (t *trialChain) record(state *mcmc.State) {
	t.series[0].Add(state.LogScore())
	x := state.Composition
	for k := range trialSums {
		sum := 0
		for _, i := range x.Ingredients() {
			if t.signs[i]>>k&1 == 1 {
				sum += x.Amount(int(i))
			}
		}
		t.series[1+k].Add(float64(sum))
	}
}

// summarizeTrial returns the mean and the best score of the chains, and R-hat: that of the scores
// or, if these are nearly all equal, the largest of them and the sums of amounts.
func summarizeTrial(chains []trialChain) Trial {
	trial := Trial{RHat: seriesRHat(chains, 0)}
	var all []float64
	for _, t := range chains {
		all = append(all, t.scores...)
	}
	for _, score := range all {
		trial.Mean += score / float64(len(all))
		trial.Best = max(trial.Best, score)
	}
	if slices.Sort(all); !math.IsNaN(trial.RHat) && all[len(all)/20] < all[len(all)-1-len(all)/20] {
		return trial
	}
	for k := range trialSums {
		if rhat := seriesRHat(chains, 1+k); !(rhat <= trial.RHat) && !math.IsNaN(rhat) {
			trial.RHat = rhat
		}
	}
	return trial
}

// seriesRHat returns R-hat of the k-th series of all chains.
func seriesRHat(chains []trialChain, k int) float64 {
	var series []*diagnose.Series
	for _, t := range chains {
		series = append(series, t.series[k])
	}
	return rhatOf(series)
}

// rhatOf returns R-hat of the chains' series.
func rhatOf(series []*diagnose.Series) float64 {
	var z diagnose.Summarizer
	return float64(z.Series(series).RHat)
}
