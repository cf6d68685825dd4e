package diagnose

import (
	"math"

	"kir/internal/number"
)

// A Summary holds the figures of one statistic over all chains. A figure that the draws do not determine is NaN and
// listed in Undefined. Its JSON holds the figures that a report shows; there the stated errors go by the name of
// MCSE.
type Summary struct {
	Chains int `json:"-"`
	Draws  int `json:"-"` // number of draws in each chain

	// Mean, standard deviation (divisor S−1) and quantiles, interpolated linearly, of all draws.
	Mean   number.Number `json:"mean"`
	SD     number.Number `json:"sd"`
	Q5     number.Number `json:"q5"`
	Median number.Number `json:"median"`
	Q95    number.Number `json:"q95"`

	// SEMean to SEQ95 are stated errors: in 95 of 100 runs the truth lies within two of them. They equal the MCSE if
	// the effective sample size is large, and are larger or undefined if it is small.
	SEMean number.Number `json:"mcse_mean"`

	// These are effective sample sizes, which need 12 draws in a chain. Each is the number of independent draws that
	// would be as informative about the centre of the distribution, its tails (the smaller of ESSQ5 and ESSQ95), its
	// mean, or a quantile. If one value makes up more than 5 % of the draws at the upper end, ESSQ95 and ESSTail are
	// undefined with ErrConstantTail.
	ESSMean   number.Number `json:"ess_mean"`
	ESSQ5     number.Number `json:"-"`
	ESSMedian number.Number `json:"-"`
	ESSQ95    number.Number `json:"-"`

	SEQ5     number.Number `json:"mcse_q5"`
	SEMedian number.Number `json:"mcse_median"`
	SEQ95    number.Number `json:"mcse_q95"`

	ESSBulk number.Number `json:"ess_bulk"`
	ESSTail number.Number `json:"ess_tail"`

	// These are Monte Carlo standard errors. That of the mean is sd/√ESSMean.
	MCSEMean   number.Number `json:"-"`
	MCSESD     number.Number `json:"-"`
	MCSEQ5     number.Number `json:"-"`
	MCSEMedian number.Number `json:"-"`
	MCSEQ95    number.Number `json:"-"`

	// RHat is the larger of RHatBulk, which detects chains that differ in location, and RHatFolded, which detects
	// chains that differ in scale. It is near 1 if all halves of all chains have the same distribution; do not trust
	// chains above 1.01. With one chain it compares the two halves, and cannot show that the chain missed a region.
	// It is +Inf if every half is constant and the halves differ. It equals RHatBulk if the folded draws are all
	// equal. It needs 4 draws in a chain.
	RHat       number.Number `json:"rhat"`
	RHatBulk   number.Number `json:"-"`
	RHatFolded number.Number `json:"-"`

	// NestedRHat is [NestedRHat] if there are at least 64 Series. For fewer it is NaN, which Undefined does not list.
	NestedRHat number.Number `json:"rhat_nested"`

	// IACT is the integrated autocorrelation time, 1 + 2 Σ_{t≥1} ρ_t: the number of consecutive draws that carry
	// as much information as one independent draw. The sum ends where Geyer's initial monotone positive sequence
	// ends.
	IACT number.Number `json:"-"`

	// Stride is 1 if every figure was computed from every draw. If it is larger, the chains are longer than the limit
	// of their [Series]. Mean, SD, MCSEMean, ESSMean and IACT still use every draw, the other figures only every
	// Stride-th.
	Stride int `json:"-"`

	// Undefined lists the figures that are NaN, with reasons.
	Undefined Reasons `json:"why,omitzero"`
}

// nestedChains is the least number of chains for which nested R-hat is computed.
const nestedChains = 64

// ReasonFor returns the reason why the named figure is NaN, or nil if it is defined.
func (s *Summary) ReasonFor(figure string) error {
	for _, u := range s.Undefined {
		if u.Figure == figure {
			return u.Err
		}
	}
	return nil
}

// Summarize computes all figures of one statistic from chains × draws. See [Summarizer].
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

	// scratch of series: kept draws or batch means
	chains [][]float64
	means  sample

	freedom float64 // degrees of freedom of the latest ESSMean
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

// fill computes the figures of a summary other than Mean, SD and ESSMean. If err is not nil, all of them are
// undefined with that error.
func (z *Summarizer) fill(sum *Summary, err error) {
	s := &z.sample
	quantile := func(p float64) func() (float64, error) {
		return func() (float64, error) { return s.quantile(p), nil }
	}
	freedoms := make(map[float64]float64, 3) // degrees of freedom of the effective sample sizes of quantiles
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

// compute sets *x to the result of the function compute. If err is not nil or compute fails, it sets NaN and records
// the reason under the figure's name.
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
