package diagnose

import (
	"math"

	"kir/internal/number"
)

// Summary is what can be said about one statistic, over all chains. A figure
// that the draws do not determine is NaN and listed in Undefined. Its JSON has the
// figures that a report shows: there the errors to state go by the name of MCSE.
type Summary struct {
	Chains int `json:"-"`
	Draws  int `json:"-"` // in each chain

	// The mean, the standard deviation with divisor S−1, and quantiles, interpolated
	// linearly.
	Mean   number.Number `json:"mean"`
	SD     number.Number `json:"sd"`
	Q5     number.Number `json:"q5"`
	Median number.Number `json:"median"`
	Q95    number.Number `json:"q95"`

	// The errors to state, SEMean to SEQ95. They are the MCSE where draws are worth many
	// independent ones, and larger or undefined where they are not, so that the
	// truth lies within two of them in 95 of 100 runs.
	SEMean number.Number `json:"mcse_mean"`

	// Effective sample sizes, which need 12 draws in a chain: the number of
	// independent draws that would estimate the centre of the distribution, its tails
	// (the smaller of ESSQ5 and ESSQ95), its mean and its quantiles as well. Where one
	// value has more than 5 % of the draws at the upper end, that of the 95 % quantile
	// is not defined, and so is ESSTail: ErrConstantTail.
	ESSMean   number.Number `json:"ess_mean"`
	ESSQ5     number.Number `json:"-"`
	ESSMedian number.Number `json:"-"`
	ESSQ95    number.Number `json:"-"`

	SEQ5     number.Number `json:"mcse_q5"`
	SEMedian number.Number `json:"mcse_median"`
	SEQ95    number.Number `json:"mcse_q95"`

	ESSBulk number.Number `json:"ess_bulk"`
	ESSTail number.Number `json:"ess_tail"`

	// Monte Carlo standard errors. That of the mean is sd/√ESSMean.
	MCSEMean   number.Number `json:"-"`
	MCSESD     number.Number `json:"-"`
	MCSEQ5     number.Number `json:"-"`
	MCSEMedian number.Number `json:"-"`
	MCSEQ95    number.Number `json:"-"`

	// RHat is the larger of the other two, which see chains that differ in location
	// and in scale. It is near 1 when all halves of all chains have the same
	// distribution; above 1.01 they should not be trusted. One chain has its halves
	// compared, but cannot show that it has missed a region. It is +Inf when every
	// half is constant and the halves differ, and RHatBulk where the folded draws are
	// all equal. It needs 4 draws in a chain.
	RHat       number.Number `json:"rhat"`
	RHatBulk   number.Number `json:"-"`
	RHatFolded number.Number `json:"-"`

	// NestedRHat is that of 64 series or more, see [NestedRHat]. Of fewer it is NaN, which
	// Undefined does not list: nothing is missing.
	NestedRHat number.Number `json:"rhat_nested"`

	// IACT is the integrated autocorrelation time in draws, 1 + 2 Σ_{t≥1} ρ_t: how
	// many consecutive draws are worth one independent one. The sum ends where Geyer's
	// initial monotone positive sequence does.
	IACT number.Number `json:"-"`

	// Stride is 1 when every figure was computed on every draw. When it is
	// larger, the statistic was streamed and the chains are longer than the
	// limit of the stream: Mean, SD, MCSEMean, ESSMean and IACT still speak of
	// every draw, the others of every Stride-th. See Series.
	Stride int `json:"-"`

	// Undefined lists the figures that are NaN.
	Undefined Reasons `json:"why,omitzero"`
}

// nestedChains is from how many chains on there is nested R-hat.
const nestedChains = 64

// ReasonFor returns why the figure of this name is NaN, or nil if it is not.
func (s *Summary) ReasonFor(figure string) error {
	for _, u := range s.Undefined {
		if u.Figure == figure {
			return u.Err
		}
	}
	return nil
}

// Summarize computes all figures of one statistic. See [Summarizer].
func Summarize(chains [][]float64) Summary {
	var s Summarizer
	return s.Draws(chains)
}

// A Summarizer computes all figures of statistics one after the other. It sorts
// the draws of a statistic once, and keeps its buffers for the next: about 80
// bytes a draw. The zero value is ready to use; it must not be used by two
// goroutines at once.
type Summarizer struct {
	sample sample

	// For series: their kept draws or their batch means.
	chains [][]float64
	means  sample

	freedom float64 // of the latest ESSMean
}

// Draws computes the figures of a statistic from all its draws, chains × draws.
func (z *Summarizer) Draws(chains [][]float64) Summary {
	sum := Summary{Chains: len(chains), Stride: 1, NestedRHat: number.Unknown()}
	if len(chains) > 0 {
		sum.Draws = len(chains[0])
	}
	s := &z.sample
	err := s.load(chains)
	sum.compute("Mean", &sum.Mean, err, s.mean)
	sum.compute("SD", &sum.SD, err, s.sd)
	sum.compute("ESSMean", &sum.ESSMean, err, s.essMean)
	z.freedom = s.geyer.freedom
	z.fill(&sum, err)
	return sum
}

// fill computes the rest of a summary that has its Mean, SD and ESSMean, unless
// err says why the sample could not be loaded.
func (z *Summarizer) fill(sum *Summary, err error) {
	s := &z.sample
	quantile := func(p float64) func() (float64, error) {
		return func() (float64, error) { return s.quantile(p), nil }
	}
	freedoms := make(map[float64]float64, 3) // of the effective sample sizes of quantiles
	essQuantile := func(p float64) func() (float64, error) {
		return func() (float64, error) {
			ess, err := s.essQuantile(p)
			freedoms[p] = s.geyer.freedom
			return ess, err
		}
	}
	mcseQuantile := func(p float64, ess string, size number.Number) func() (float64, error) {
		return func() (float64, error) {
			if err := sum.ReasonFor(ess); err != nil {
				return math.NaN(), err
			}
			return s.mcseQuantile(p, float64(size)), nil
		}
	}
	sum.compute("Q5", &sum.Q5, err, quantile(0.05))
	sum.compute("Median", &sum.Median, err, quantile(0.5))
	sum.compute("Q95", &sum.Q95, err, quantile(0.95))
	sum.compute("ESSQ5", &sum.ESSQ5, err, essQuantile(0.05))
	sum.compute("ESSMedian", &sum.ESSMedian, err, essQuantile(0.5))
	sum.compute("ESSQ95", &sum.ESSQ95, err, essQuantile(0.95))
	sum.compute("ESSTail", &sum.ESSTail, err, func() (float64, error) {
		for _, figure := range []string{"ESSQ5", "ESSQ95"} {
			if err := sum.ReasonFor(figure); err != nil {
				return math.NaN(), err
			}
		}
		return float64(min(sum.ESSQ5, sum.ESSQ95)), nil
	})
	sum.compute("ESSBulk", &sum.ESSBulk, err, s.essBulk)
	sum.compute("RHatBulk", &sum.RHatBulk, err, s.rhatBulk)
	sum.compute("RHatFolded", &sum.RHatFolded, err, s.rhatFolded)
	sum.compute("RHat", &sum.RHat, err, func() (float64, error) {
		if err := sum.ReasonFor("RHatBulk"); err != nil {
			return math.NaN(), err
		}
		if sum.ReasonFor("RHatFolded") != nil {
			return float64(sum.RHatBulk), nil
		}
		return float64(max(sum.RHatBulk, sum.RHatFolded)), nil
	})
	sum.compute("MCSEMean", &sum.MCSEMean, err, func() (float64, error) {
		for _, figure := range []string{"SD", "ESSMean"} {
			if err := sum.ReasonFor(figure); err != nil {
				return math.NaN(), err
			}
		}
		return float64(sum.SD) / math.Sqrt(float64(sum.ESSMean)), nil
	})
	sum.compute("MCSESD", &sum.MCSESD, err, s.mcseSD)
	sum.compute("MCSEQ5", &sum.MCSEQ5, err, mcseQuantile(0.05, "ESSQ5", sum.ESSQ5))
	sum.compute("MCSEMedian", &sum.MCSEMedian, err, mcseQuantile(0.5, "ESSMedian", sum.ESSMedian))
	sum.compute("MCSEQ95", &sum.MCSEQ95, err, mcseQuantile(0.95, "ESSQ95", sum.ESSQ95))
	sum.compute("SEMean", &sum.SEMean, err, func() (float64, error) {
		if err := sum.ReasonFor("MCSEMean"); err != nil {
			return math.NaN(), err
		}
		return s.statedOfMean(float64(sum.MCSEMean), float64(sum.ESSMean), z.freedom), CheckESS(float64(sum.ESSMean), sum.Chains)
	})
	stated := func(p float64, ess string, size number.Number) func() (float64, error) {
		return func() (float64, error) { return s.statedQuantile(p, float64(size), freedoms[p], sum.ReasonFor(ess)) }
	}
	sum.compute("SEQ5", &sum.SEQ5, err, stated(0.05, "ESSQ5", sum.ESSQ5))
	sum.compute("SEMedian", &sum.SEMedian, err, stated(0.5, "ESSMedian", sum.ESSMedian))
	sum.compute("SEQ95", &sum.SEQ95, err, stated(0.95, "ESSQ95", sum.ESSQ95))
	sum.compute("IACT", &sum.IACT, err, func() (float64, error) {
		if err := sum.ReasonFor("ESSMean"); err != nil {
			return math.NaN(), err
		}
		return float64(sum.Chains*(sum.Draws/2)*2) / float64(sum.ESSMean), nil
	})
}

// compute computes a figure, unless err is already known, and notes why it is NaN.
func (s *Summary) compute(figure string, x *number.Number, err error, compute func() (float64, error)) {
	if err == nil {
		var v float64
		v, err = compute()
		*x = number.Number(v)
	}
	if err != nil {
		*x = number.Unknown()
		s.Undefined = append(s.Undefined, Undefined{figure, err})
	}
}
