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
	"kir/internal/number"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
)

// Advice is a recommended kernel (sampling algorithm) for a target, with the reason for the
// recommendation.
type Advice struct {
	Kernel  string `json:"recommended"`
	Because string `json:"because"` // reason, worded so that it can follow "as" or a colon
}

// A Trial is the result of a short run of a kernel, made to compare kernels or weights. The warm-up
// is as long as the run after it.
type Trial struct {
	MeanScore float64 // mean of Π_k y_k over every tenth draw, where k runs over the properties with positive weights
	BestScore float64 // greatest value of Π_k y_k over every tenth draw
	// RHat is the R-hat of the log score. If the log score hardly changes from draw to draw, RHat
	// is the largest R-hat of the log score and of some sums of amounts. It is NaN if R-hat cannot
	// be computed.
	RHat float64
}

const (
	trialSeed   = 1 // seed of every trial; it does not depend on the seed of the run, so that the recommended kernel does not either
	trialChains = 4

	runToTrialRatio    = 40   // number of iterations of a run, divided by that of a trial for the run
	minTrialIterations = 100  // least number of iterations of a trial
	maxTrialIterations = 2500 // largest number of iterations of a first trial
	longTrialFactor    = 4    // factor by which the second trial is longer, which follows if the chains of the first disagree

	balancedIterationsPerScan = 8    // approximate number of iterations of the kernel balanced that take as long as one scan of the kernel tempered
	maxTrialRHat              = 1.1  // largest R-hat at which the chains of a trial count as agreeing
	minRHatGain               = 0.02 // least decrease of R-hat that makes another kernel preferable
	trialAmountSumCount       = 8    // number of sums of amounts, each over a random half of the ingredients, for which R-hat is computed if the score hardly changes
	forbiddenSampleSize       = 200  // number of random compositions that are tested for the score 0
	minShareKeepingRules      = 1e-3 // least share of random compositions that must keep the rules which cannot be counted, for the kernel tempered to be tried
)

// Recommend recommends a kernel for a target and a run with the given settings, by short trial
// runs. It ignores the kernel in the settings. The advice does not depend on the seed of the run or
// on the speed of the machine.
//
// The advice is
//   - exact, if there are no properties;
//   - balanced, without trials, if programs is true: properties are then scored by external
//     programs, which only a run may start;
//   - tempered, if balanced has difficulties and tempered has fewer, or if balanced finds no
//     composition to start from;
//   - balanced otherwise, since it makes the most effective draws a second.
//
// The kernel balanced has difficulties if the chains of its trials disagree (R-hat above 1.1), or
// if most random compositions are forbidden. Its trials have a fortieth and then a tenth of the
// run's iterations, at most. The kernel tempered is then tried with as many scored lines, and
// longer if needed. It must bring its chains closer together. It is not tried if fewer than one in
// 1,000 random compositions keep the rules that cannot be counted, since its chains must pass
// through random compositions.
func Recommend(ctx context.Context, t *mcmc.Target, settings mcmc.Settings, programs bool) (*Advice, error) {
	if _, err := mcmc.NewExact(t); err == nil {
		return &Advice{Kernel: "exact", Because: "without objectives, it draws each recipe independently"}, nil
	}
	if programs {
		return &Advice{Kernel: "balanced", Because: "it suits most problems; kir tried none, because only a run may start programs"}, nil
	}
	if kept := shareKeepingRules(t); kept < minShareKeepingRules {
		// At β = 0 a ladder nearly always draws compositions that break a rule, and no round trip
		// succeeds. So the only trial is whether balanced can start.
		_, err := runTrial(ctx, t, "balanced", minTrialIterations)
		if err == nil {
			return &Advice{Kernel: "balanced", Because: fmt.Sprintf("of the random recipes that tempered starts from, only a share of %.1g meets the constraints", kept)}, nil
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
	iterations := int(min(max(settings.Iterations()/runToTrialRatio, minTrialIterations), maxTrialIterations))
	balanced, err := runTrial(ctx, t, "balanced", iterations)
	if errors.Is(err, mcmc.ErrNoStart) {
		// The run itself will report the problem.
		return &Advice{Kernel: "tempered", Because: "kir found no allowed recipe to start from, and tempered can pass through forbidden ones"}, nil
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
		gap = fmt.Sprintf("; it can skip recipes of %d ingredients, which sparsity leaves out", n)
	}
	most := 2*forbidden > forbiddenSampleSize
	if !most && balanced.RHat <= maxTrialRHat {
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial of %s steps, independent runs (chains) agreed: R-hat %.2f (1 = full agreement)%s", number.Thousands(iterations), balanced.RHat, gap)
		return a, nil
	}
	scans := max(iterations/balancedIterationsPerScan, minTrialIterations/4)
	tempered, err := runTrial(ctx, t, "tempered", scans)
	if err == nil && !(tempered.RHat <= max(maxTrialRHat, balanced.RHat-minRHatGain)) {
		// A ladder must learn more before its chains meet.
		tempered, err = runTrial(ctx, t, "tempered", longTrialFactor*scans)
	}
	if errors.Is(err, mcmc.ErrNoStart) { // a kernel that cannot be tried is no error of the other
		return &Advice{Kernel: "balanced", Because: "in a trial, tempered found no recipe to start from" + gap}, nil
	}
	if err != nil {
		return nil, err
	}
	both := fmt.Sprintf("R-hat in a trial: tempered %.2f, balanced %.2f; 1 = full agreement", tempered.RHat, balanced.RHat)
	switch {
	case !math.IsNaN(tempered.RHat) && !(tempered.RHat > balanced.RHat-minRHatGain):
		a.Kernel, a.Because = "tempered", "its independent runs (chains) agree sooner ("+both+")"
	case most && tempered.RHat <= max(maxTrialRHat, balanced.RHat):
		a.Kernel = "tempered"
		a.Because = fmt.Sprintf("%d of %d random recipes are forbidden, and it can pass through them (%s)", forbidden, forbiddenSampleSize, both)
	default:
		a.Kernel, a.Because = "balanced", fmt.Sprintf("in a trial, tempered was no better (%s)%s", both, gap)
	}
	return a, nil
}

// shareKeepingRules returns the share of random compositions that keep all rules. Random
// compositions always keep the rules that can be counted. So the share is 1 if all rules can be
// counted.
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

// WeightTrialIterations is the number of iterations of each chain in a run of [TryWeights].
const WeightTrialIterations = 500

// TryWeights makes a short run of the kernel balanced with other weights of the objectives. Item k
// of weights is the weight of objective k of the target.
func TryWeights(ctx context.Context, t *mcmc.Target, weights []float64) (Trial, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		wishes[k].Weight = weights[k]
	}
	weighed, err := t.WithObjectives(wishes...)
	if err != nil {
		return Trial{}, err
	}
	return runTrial(ctx, weighed, "balanced", WeightTrialIterations)
}

// Agrees reports whether the chains of the trial agree: whether R-hat is at most 1.1.
func (t *Trial) Agrees() bool { return t.RHat <= maxTrialRHat }

// countForbidden draws forbiddenSampleSize random compositions. It returns the number of these
// compositions to which a property gives the score 0.
func countForbidden(ctx context.Context, t *mcmc.Target) (forbidden int, err error) {
	prior, r := mcmc.NewPrior(t), mcmc.NewRand(trialSeed, "advice", 0)
	for x, err := range prior.DrawsToScore(ctx, r, forbiddenSampleSize) {
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

// runTrial makes a short run with the kernel of the given name. The parameter iterations is the
// number of iterations of the warm-up, and also of the run after it.
func runTrial(ctx context.Context, t *mcmc.Target, name string, iterations int) (Trial, error) {
	sampler, err := mcmc.NewSampler(name, t)
	if err != nil {
		return Trial{}, err
	}
	plain, err := search.UnweightedTarget(t)
	if err != nil {
		return Trial{}, err
	}
	signs := randomSumMembership(t.Space().N())
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

// randomSumMembership returns random bits for each of n ingredients. Bit k of item i says whether
// the amount of ingredient i belongs to the k-th sum of amounts.
//
// The sums show whether chains agree where the score cannot: a score that is equal in nine of ten
// draws carries no information. The sums are used only there. With many ingredients, sums of
// amounts need more iterations than the score to agree. Whether the run is long enough for them is
// shown by the statistics of the run itself.
func randomSumMembership(n int) []uint64 {
	signs := make([]uint64, n)
	r := mcmc.NewRand(trialSeed, "trial sums", 0)
	for i := range signs {
		signs[i] = r.Uint64()
	}
	return signs
}

// A trialChain is a chain of a short run, with the log scores and sums of amounts at its draws.
type trialChain struct {
	unweighted    *mcmc.Target // the target with the weight 1 for each property with a positive weight
	sumMembership []uint64     // bits that define the sums of amounts; see [randomSumMembership]

	series        [1 + trialAmountSumCount]*diagnose.Series // item 0 is the series of the log score; item k+1 is the series of the k-th sum of amounts
	sampledScores []float64                                 // score with all weights 1, at every tenth draw
}

// run makes the chain's warm-up and draws, and records the draws. The parameter number is the
// number of the chain.
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
	for k := range trialAmountSumCount {
		sum := 0
		for _, i := range x.Ingredients() {
			if t.sumMembership[i]>>k&1 == 1 {
				sum += x.Amount(int(i))
			}
		}
		t.series[1+k].Add(float64(sum))
	}
}

// summarizeTrial returns the mean score, the best score and R-hat over the chains of a trial. If
// nearly all scores are equal, R-hat is the largest R-hat of the score and of the sums of amounts.
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
	for k := range trialAmountSumCount {
		if rhat := seriesRHat(chains, 1+k); !(rhat <= trial.RHat) && !math.IsNaN(rhat) {
			trial.RHat = rhat
		}
	}
	return trial
}

// seriesRHat returns R-hat of a statistic over all chains. The parameter k is the index of the
// statistic in the field series of each chain.
func seriesRHat(chains []trialChain, k int) float64 {
	var series []*diagnose.Series
	for _, t := range chains {
		series = append(series, t.series[k])
	}
	return computeRHat(series)
}

// computeRHat returns R-hat of a statistic. Item k of series holds the values of the statistic in
// chain k.
func computeRHat(series []*diagnose.Series) float64 {
	var z diagnose.Summarizer
	return float64(z.Series(series).RHat)
}
