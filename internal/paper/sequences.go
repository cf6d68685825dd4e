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

// sequenceCount is the number of sequences that the paper runs of each sampler.
const sequenceCount = 10

// A sequence holds the statistics of one chain on a law of n.
type sequence struct {
	tally   mcmc.Tally
	counts  []int64 // number of kept states with n ingredients, by n
	history *diagnose.Histogram
	moved   bool // whether any kept state differs from the one before
}

// runSequence runs one chain from a start drawn from the target.
func runSequence(ctx context.Context, t *mcmc.Target, k mcmc.Kernel, seed uint64, index, discarded, kept int, tick func(iterations int)) (*sequence, error) {
	c, err := mcmc.NewChain(t, k, seed, index)
	if err != nil {
		return nil, err
	}
	_, hi := t.Law().Support()
	s := &sequence{counts: make([]int64, hi+1), history: diagnose.NewHistogram(hi+1, 1)}
	err = advance(ctx, c, discarded, kept, tick, func(int) {
		n := c.State.Composition.Used()
		s.history.Add(n)
		s.counts[n]++
	})
	s.tally = c.Tally()
	s.moved = s.tally.Updated > 0
	return s, err
}

// A run holds all sequences of one kernel on one target.
type run struct {
	setting *Setting
	law     LawTarget
	kernel  string
	target  *mcmc.Target

	mutex     sync.Mutex
	sequences []*sequence
	left      int // number of sequences not yet finished

	rows   []Row
	figure Figure
}

// add stores a finished sequence. After the last one it computes the results and drops the sequences.
func (r *run) add(index int, s *sequence) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sequences[index] = s
	r.left--
	if r.left > 0 {
		return nil
	}
	err := r.sumUp()
	r.sequences = nil
	return err
}

// sumUp computes the rows and the histogram of the run.
func (r *run) sumUp() error {
	exact, err := Exact(r.kernel, r.target)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.law.Name, r.kernel, err)
	}
	kept := float64(r.sequences[0].tally.Iterations)
	var accepted, updated []float64
	for _, s := range r.sequences {
		accepted = append(accepted, float64(s.tally.Accepted)/kept)
		updated = append(updated, float64(s.tally.Updated)/kept)
	}
	r.rows = []Row{
		newRow(r.law.Name, r.kernel, Accepted, exact.Accepted, accepted, kept),
		newRow(r.law.Name, r.kernel, Updated, exact.Updated, updated, kept),
	}
	return r.draw()
}

// draw computes the histogram of n, as the run's Figure.
func (r *run) draw() error {
	f := Figure{
		Name:   "figure1-" + fileName(r.law.Name) + "-" + r.kernel,
		Target: r.law.Name,
		Kernel: r.kernel,
		File:   "figure1-" + fileName(r.law.Name),
	}
	histories := make([]*diagnose.Histogram, len(r.sequences))
	for k, s := range r.sequences {
		histories[k] = s.history
		if !s.moved {
			f.Stuck++
		}
	}
	shares, err := diagnose.Shares(histories)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.law.Name, r.kernel, err)
	}
	_, hi := r.target.Law().Support()
	law, observed := make([]float64, hi+1), make([]float64, hi+1)
	for n := range law {
		law[n] = r.target.Law().P(n)
		observed[n] = shares[n].Probability
		shares[n] = r.boundError(shares[n], law[n])
		perSequence := make([]float64, len(r.sequences))
		for k, s := range r.sequences {
			perSequence[k] = float64(s.counts[n]) / float64(s.tally.Iterations)
		}
		mean, sd := meanSD(perSequence)
		if n >= 1 {
			f.Sizes = append(f.Sizes, Size{N: n, Target: law[n], Mean: mean, SD: sd, MCSE: shares[n].MCSE})
		}
	}
	f.TV = diagnose.TotalVariation(law, observed)
	f.Expected = diagnose.ExpectedTotalVariation(law, shares)
	r.figure = f
	return nil
}

// boundError limits the standard error of the share of an n with probability p. The limit is the error of the
// sequences' starts, which are independent draws from the target. The error equals the limit if no sequence ever
// moved, which autocorrelation cannot show.
func (r *run) boundError(s diagnose.Proportion, p float64) diagnose.Proportion {
	starts := math.Sqrt(p * (1 - p) / float64(len(r.sequences)))
	if s.Err != nil || !(s.MCSE < starts) {
		s.MCSE, s.Err = starts, nil
	}
	return s
}

// advance runs a chain and calls keep after each iteration that is not discarded.
func advance(ctx context.Context, c *mcmc.Chain, discarded, kept int, tick func(iterations int), keep func(draw int)) error {
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

// newRow returns the row for the rates of the sequences. A rate is a fraction of kept iterations.
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

// meanSD returns the mean and the standard deviation with divisor k−1.
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
