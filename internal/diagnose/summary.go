package diagnose

import (
	"math"

	"kir/internal/number"
)

// A Summary holds statistics of the draws of one quantity over all chains: mean, quantiles, standard errors and
// diagnostics. A number that the draws do not determine is NaN and listed in Undefined. The JSON of a Summary
// holds the numbers that a report shows; in the JSON the names of the stated errors begin with mcse.
type Summary struct {
	Chains int `json:"-"` // number of chains
	Draws  int `json:"-"` // number of draws in each chain

	// Mean is the mean of all draws, SD the standard deviation (divisor S−1, for S draws). Q5, Median and Q95 are
	// the quantiles at 5 %, 50 % and 95 %, interpolated linearly.
	Mean   number.Number `json:"mean"`
	SD     number.Number `json:"sd"`
	Q5     number.Number `json:"q5"`
	Median number.Number `json:"median"`
	Q95    number.Number `json:"q95"`

	// SEMean, SEQ5, SEMedian and SEQ95 are stated errors: in 95 of 100 runs the truth lies within two stated
	// errors of the estimate. A stated error equals the Monte Carlo standard error (MCSE) if the effective sample
	// size is large. If the effective sample size is small, the stated error is larger than the MCSE or
	// undefined.
	SEMean number.Number `json:"mcse_mean"`

	// The ESS fields are effective sample sizes, which need 12 draws in a chain. Each is the number of
	// independent draws that would be equally informative. ESSBulk is for the centre of the distribution, and
	// ESSTail, the smaller of ESSQ5 and ESSQ95, is for the tails. The other ESS fields are for the mean and the
	// quantiles. If one value makes up more than 5 % of the draws at the upper end, ESSQ95 and ESSTail are
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

	// The MCSE fields are Monte Carlo standard errors. MCSEMean is SD/√ESSMean.
	MCSEMean   number.Number `json:"-"`
	MCSESD     number.Number `json:"-"`
	MCSEQ5     number.Number `json:"-"`
	MCSEMedian number.Number `json:"-"`
	MCSEQ95    number.Number `json:"-"`

	// RHat is the larger of RHatBulk, which detects chains that differ in location, and RHatFolded, which
	// detects chains that differ in scale. RHat is near 1 if all halves of all chains have the same
	// distribution; do not trust chains with RHat above 1.01. With one chain RHat compares the two halves, and
	// cannot show that the chain missed a region. RHat is +Inf if every half is constant and the halves differ.
	// RHat equals RHatBulk if the folded draws are all equal. RHat needs 4 draws in a chain.
	RHat       number.Number `json:"rhat"`
	RHatBulk   number.Number `json:"-"` // for location
	RHatFolded number.Number `json:"-"` // for scale

	// NestedRHat is [NestedRHat] if there are at least 64 Series. For fewer Series the field is NaN, which
	// Undefined does not list.
	NestedRHat number.Number `json:"rhat_nested"`

	// IACT is the integrated autocorrelation time, 1 + 2 Σ_{t≥1} ρ_t: the number of consecutive draws that carry
	// as much information as one independent draw. The sum ends where Geyer's initial monotone positive sequence
	// ends.
	IACT number.Number `json:"-"`

	// Stride is 1 if every number of the Summary was computed from every draw. A larger Stride means that the
	// chains are longer than the limit of their [Series]. Mean, SD, MCSEMean, ESSMean and IACT still use every
	// draw; the other numbers use only every Stride-th draw.
	Stride int `json:"-"`

	// Undefined lists the numbers of the Summary that are NaN, with reasons.
	Undefined Reasons `json:"why,omitzero"`
}

// minNestedChains is the minimum number of chains for which nested R-hat is computed.
const minNestedChains = 64

// ReasonFor returns the reason why the named number of the Summary is NaN, or nil if the number is defined. The
// parameter figure is the name of a field.
func (s *Summary) ReasonFor(figure string) error {
	for _, u := range s.Undefined {
		if u.Figure == figure {
			return u.Err
		}
	}
	return nil
}

// Summarize computes the [Summary] of the draws of one quantity: chains[c][k] is draw k of chain c. See
// [Summarizer].
func Summarize(chains [][]float64) Summary {
	var s Summarizer
	return s.Draws(chains)
}

// A Summarizer computes a [Summary] for one quantity after the other. A Summarizer sorts the draws of a quantity
// once, and keeps its buffers for the next quantity: about 80 bytes for each draw. The zero value is ready to
// use. A Summarizer is not safe for concurrent use.
type Summarizer struct {
	sample sample

	// buffers of summarizeSeries: kept draws or batch means
	chainBuffer [][]float64
	batchSample sample // sample of batch means

	meanFreedom float64 // degrees of freedom of the latest ESSMean (see [geyerESS])
}

// Draws computes the [Summary] of the draws of one quantity: chains[c][k] is draw k of chain c.
func (z *Summarizer) Draws(chains [][]float64) Summary {
	sum := Summary{Chains: len(chains), Stride: 1, NestedRHat: number.Unknown()}
	if len(chains) > 0 {
		sum.Draws = len(chains[0])
	}
	s := &z.sample
	err := s.loadChains(chains)
	sum.setStatistic("Mean", &sum.Mean, err, s.mean)
	sum.setStatistic("SD", &sum.SD, err, s.sd)
	sum.setStatistic("ESSMean", &sum.ESSMean, err, s.essMean)
	z.meanFreedom = s.geyerESS.degreesOfFreedom
	z.fillStatistics(&sum, err)
	return sum
}

// fillStatistics computes all numbers of a summary except Mean, SD and ESSMean. If err is not nil, all these numbers are
// undefined with the error err.
func (z *Summarizer) fillStatistics(sum *Summary, err error) {
	s := &z.sample
	quantile := func(p float64) func() (float64, error) {
		return func() (float64, error) { return s.quantile(p), nil }
	}
	freedoms := make(map[float64]float64, 3) // degrees of freedom of the effective sample sizes of quantiles
	essQuantile := func(p float64) func() (float64, error) {
		return func() (float64, error) {
			ess, err := s.essQuantile(p)
			freedoms[p] = s.geyerESS.degreesOfFreedom
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
	sum.setStatistic("Q5", &sum.Q5, err, quantile(0.05))
	sum.setStatistic("Median", &sum.Median, err, quantile(0.5))
	sum.setStatistic("Q95", &sum.Q95, err, quantile(0.95))
	sum.setStatistic("ESSQ5", &sum.ESSQ5, err, essQuantile(0.05))
	sum.setStatistic("ESSMedian", &sum.ESSMedian, err, essQuantile(0.5))
	sum.setStatistic("ESSQ95", &sum.ESSQ95, err, essQuantile(0.95))
	sum.setStatistic("ESSTail", &sum.ESSTail, err, func() (float64, error) {
		for _, figure := range []string{"ESSQ5", "ESSQ95"} {
			if err := sum.ReasonFor(figure); err != nil {
				return math.NaN(), err
			}
		}
		return float64(min(sum.ESSQ5, sum.ESSQ95)), nil
	})
	sum.setStatistic("ESSBulk", &sum.ESSBulk, err, s.essBulk)
	sum.setStatistic("RHatBulk", &sum.RHatBulk, err, s.rhatBulk)
	sum.setStatistic("RHatFolded", &sum.RHatFolded, err, s.rhatFolded)
	sum.setStatistic("RHat", &sum.RHat, err, func() (float64, error) {
		if err := sum.ReasonFor("RHatBulk"); err != nil {
			return math.NaN(), err
		}
		if sum.ReasonFor("RHatFolded") != nil {
			return float64(sum.RHatBulk), nil
		}
		return float64(max(sum.RHatBulk, sum.RHatFolded)), nil
	})
	sum.setStatistic("MCSEMean", &sum.MCSEMean, err, func() (float64, error) {
		for _, figure := range []string{"SD", "ESSMean"} {
			if err := sum.ReasonFor(figure); err != nil {
				return math.NaN(), err
			}
		}
		return float64(sum.SD) / math.Sqrt(float64(sum.ESSMean)), nil
	})
	sum.setStatistic("MCSESD", &sum.MCSESD, err, s.mcseSD)
	sum.setStatistic("MCSEQ5", &sum.MCSEQ5, err, mcseQuantile(0.05, "ESSQ5", sum.ESSQ5))
	sum.setStatistic("MCSEMedian", &sum.MCSEMedian, err, mcseQuantile(0.5, "ESSMedian", sum.ESSMedian))
	sum.setStatistic("MCSEQ95", &sum.MCSEQ95, err, mcseQuantile(0.95, "ESSQ95", sum.ESSQ95))
	sum.setStatistic("SEMean", &sum.SEMean, err, func() (float64, error) {
		if err := sum.ReasonFor("MCSEMean"); err != nil {
			return math.NaN(), err
		}
		return s.statedErrorOfMean(float64(sum.MCSEMean), float64(sum.ESSMean), z.meanFreedom), CheckESS(float64(sum.ESSMean), sum.Chains)
	})
	stated := func(p float64, ess string, size number.Number) func() (float64, error) {
		return func() (float64, error) {
			return s.statedErrorOrReason(p, float64(size), freedoms[p], sum.ReasonFor(ess))
		}
	}
	sum.setStatistic("SEQ5", &sum.SEQ5, err, stated(0.05, "ESSQ5", sum.ESSQ5))
	sum.setStatistic("SEMedian", &sum.SEMedian, err, stated(0.5, "ESSMedian", sum.ESSMedian))
	sum.setStatistic("SEQ95", &sum.SEQ95, err, stated(0.95, "ESSQ95", sum.ESSQ95))
	sum.setStatistic("IACT", &sum.IACT, err, func() (float64, error) {
		if err := sum.ReasonFor("ESSMean"); err != nil {
			return math.NaN(), err
		}
		return float64(sum.Chains*(sum.Draws/2)*2) / float64(sum.ESSMean), nil
	})
}

// setStatistic stores the result of compute in *x, a field of s. If err is not nil or compute fails, *x becomes NaN and
// the error is recorded in Undefined under the field name figure.
func (s *Summary) setStatistic(figure string, x *number.Number, err error, compute func() (float64, error)) {
	if err == nil {
		var v float64
		v, err = compute()
		*x = number.Number(v)
	}
	if err != nil {
		*x = number.Unknown()
		s.Undefined = append(s.Undefined, UndefinedFigure{figure, err})
	}
}
