package diagnose

import "math"

// maxLiveDraws is the maximum number of draws of each chain from which the live R-hat is computed.
const maxLiveDraws = 1 << 11

// LiveFigures holds the diagnostics of one statistic that can be computed in about a millisecond, while the
// chains still run.
type LiveFigures struct {
	// Draws is the length of the shortest chain.
	Draws int
	// RHat is the R-hat of at most 2,048 evenly spaced draws of each chain. Draws beyond the length of the
	// shortest chain are ignored.
	RHat float64
	// ESS is the effective sample size of the mean of all draws, computed from the means of batches of draws.
	ESS float64
	// RHatErr and ESSErr are the reasons why RHat and ESS are NaN, or nil for a number that is not NaN.
	RHatErr, ESSErr error
}

// Live computes the [LiveFigures] of a statistic from the Series of the chains, which may differ in length. No
// draws may be added to a Series during the call.
func (z *Summarizer) Live(series []*Series) LiveFigures {
	undefined := func(n int, err error) LiveFigures {
		return LiveFigures{n, math.NaN(), math.NaN(), err, err}
	}
	if len(series) == 0 {
		return undefined(0, ErrNoDraws)
	}
	n, stride := series[0].drawCount, 1
	for _, s := range series {
		n, stride = min(n, s.drawCount), max(stride, s.stride)
	}
	if n == 0 {
		return undefined(0, ErrNoDraws)
	}
	for c, s := range series {
		if s.firstNonFinite >= 0 {
			return undefined(n, notFiniteError(c, s.firstNonFinite, s.firstNonFiniteValue))
		}
	}
	for (n+stride-1)/stride > maxLiveDraws {
		stride *= 2
	}
	z.chainBuffer = resize(z.chainBuffer, len(series))
	for c, s := range series {
		z.chainBuffer[c] = s.stridedDraws(stride, n)
	}
	live := LiveFigures{Draws: n}
	if err := z.sample.loadChains(z.chainBuffer); err != nil {
		return undefined(n, err)
	}
	live.RHat, live.RHatErr = z.sample.rhat()
	live.ESS, live.ESSErr = z.essMeanOfBatches(series)
	return live
}
