package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"kir/internal/diagnose"
	"kir/mcmc"
)

// sequenceCount is the number of sequences that the paper, and this package, runs of each sampler.
const sequenceCount = 10

// A sequenceStats holds the statistics of one chain on a target without properties.
type sequenceStats struct {
	tally         mcmc.Tally          // numbers of iterations in which the candidate was accepted, and in which the composition changed
	sizeCounts    []int64             // item n is the number of counted states with n ingredients
	usedHistogram *diagnose.Histogram // counts of the numbers of ingredients, for the standard errors
	moved         bool                // whether any counted state differs from the state before
}

// runSequence runs one chain from a start drawn from the target t. The first discarded iterations are not
// counted, the next kept iterations are.
func runSequence(ctx context.Context, t *mcmc.Target, k mcmc.Kernel, seed uint64, index, discarded, kept int, tick func(iterations int)) (*sequenceStats, error) {
	c, err := mcmc.NewChain(t, k, seed, index)
	if err != nil {
		return nil, err
	}
	_, hi := t.Law().Support()
	s := &sequenceStats{sizeCounts: make([]int64, hi+1), usedHistogram: diagnose.NewHistogram(hi+1, 1)}
	err = advanceChain(ctx, c, discarded, kept, tick, func(int) {
		n := c.State.Composition.UsedCount()
		s.usedHistogram.Add(n)
		s.sizeCounts[n]++
	})
	s.tally = c.Tally()
	s.moved = s.tally.Updated > 0
	return s, err
}

// A kernelRun holds all sequences of one kernel on one target.
type kernelRun struct {
	setting   *Setting
	lawTarget LawTarget
	kernel    string
	target    *mcmc.Target

	mutex           sync.Mutex
	sequences       []*sequenceStats // item k holds the statistics of sequence k; nil until the sequence has finished
	unfinishedCount int              // number of sequences not yet finished

	rateRows  []Row  // results for the accepted and the updated rate
	histogram Figure // histogram of the number n of ingredients
}

// add stores a finished sequence. After the last sequence add computes the results and drops the sequences.
func (r *kernelRun) add(index int, s *sequenceStats) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sequences[index] = s
	r.unfinishedCount--
	if r.unfinishedCount > 0 {
		return nil
	}
	err := r.summarize()
	r.sequences = nil
	return err
}

// summarize computes the rows and the histogram of the run.
func (r *kernelRun) summarize() error {
	exact, err := Exact(r.kernel, r.target)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.lawTarget.Name, r.kernel, err)
	}
	kept := float64(r.sequences[0].tally.Iterations)
	var accepted, updated []float64
	for _, s := range r.sequences {
		accepted = append(accepted, float64(s.tally.Accepted)/kept)
		updated = append(updated, float64(s.tally.Updated)/kept)
	}
	r.rateRows = []Row{
		newRow(r.lawTarget.Name, r.kernel, Accepted, exact.Accepted, accepted, kept),
		newRow(r.lawTarget.Name, r.kernel, Updated, exact.Updated, updated, kept),
	}
	return r.computeHistogram()
}

// computeHistogram computes the histogram of the number n of ingredients, the field histogram of the run.
func (r *kernelRun) computeHistogram() error {
	f := Figure{
		Name:   "figure1-" + fileName(r.lawTarget.Name) + "-" + r.kernel,
		Target: r.lawTarget.Name,
		Kernel: r.kernel,
		File:   "figure1-" + fileName(r.lawTarget.Name),
	}
	histories := make([]*diagnose.Histogram, len(r.sequences))
	for k, s := range r.sequences {
		histories[k] = s.usedHistogram
		if !s.moved {
			f.Stuck++
		}
	}
	shares, err := diagnose.Shares(histories)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.lawTarget.Name, r.kernel, err)
	}
	_, hi := r.target.Law().Support()
	law, observed := make([]float64, hi+1), make([]float64, hi+1)
	for n := range law {
		law[n] = r.target.Law().P(n)
		observed[n] = shares[n].Probability
		shares[n] = r.limitShareError(shares[n], law[n])
		perSequence := make([]float64, len(r.sequences))
		for k, s := range r.sequences {
			perSequence[k] = float64(s.sizeCounts[n]) / float64(s.tally.Iterations)
		}
		mean, sd := meanSD(perSequence)
		if n >= 1 {
			f.Sizes = append(f.Sizes, Size{N: n, Target: law[n], Mean: mean, SD: sd, MCSE: shares[n].MCSE})
		}
	}
	f.TV = diagnose.TotalVariation(law, observed)
	f.Expected = diagnose.ExpectedTotalVariation(law, shares)
	r.histogram = f
	return nil
}

// limitShareError limits the standard error of s, the share of compositions with some number of ingredients,
// whose target probability is p. The limit is the standard error that the share has among the starts of the
// sequences, which are independent draws from the target. If no sequence ever moved, the standard error equals
// the limit, because autocorrelation cannot show the error.
func (r *kernelRun) limitShareError(s diagnose.Proportion, p float64) diagnose.Proportion {
	starts := math.Sqrt(p * (1 - p) / float64(len(r.sequences)))
	if s.Err != nil || !(s.MCSE < starts) {
		s.MCSE, s.Err = starts, nil
	}
	return s
}

// advanceChain runs a chain for discarded and then for kept iterations. After each of the kept iterations
// advanceChain calls keep.
func advanceChain(ctx context.Context, c *mcmc.Chain, discarded, kept int, tick func(iterations int), keep func(draw int)) error {
	const stride = 2_000 // iterations between checks of the context
	for left := discarded; left > 0; left -= stride {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.Warm(min(stride, left)); err != nil {
			return err
		}
		tick(min(stride, left))
	}
	c.EndWarmup()
	for from := 0; from < kept; from += stride {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+stride, kept)
		for draw := from; draw < to; draw++ {
			if err := c.Advance(1); err != nil {
				return err
			}
			keep(draw)
		}
		tick(to - from)
	}
	return nil
}

// newRow returns the row for one rate. Item k of rates is the rate in sequence k, as a fraction of kept
// iterations.
func newRow(target, kernel, rate string, exact float64, rates []float64, kept float64) Row {
	mean, sd := meanSD(rates)
	iterations := float64(kept * float64(len(rates)))
	se := sd / math.Sqrt(float64(len(rates)))
	if se == 0 {
		se = math.Sqrt(exact * (1 - exact) / iterations)
	}
	if se == 0 {
		se = 1 / iterations
	}
	p := PublishedRate(target, kernel, rate)
	return Row{
		Target: target, Kernel: kernel, Rate: rate,
		Paper: p.Mean, PaperSD: p.SD,
		Exact: float64(100 * exact), Mean: float64(100 * mean), SD: float64(100 * sd),
		Z: (mean - exact) / se,
	}
}

// meanSD returns the mean of k numbers and the standard deviation with divisor k−1.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	if slices.Min(x) == slices.Max(x) {
		return x[0], 0 // the exact value, without the rounding error of the mean
	}
	for _, v := range x {
		sd += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}
