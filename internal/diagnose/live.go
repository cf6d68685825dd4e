package diagnose

import "math"

// maxLiveDraws is how many draws of each chain the live R-hat looks at.
const maxLiveDraws = 1 << 11

// Live is what can be said about a statistic while its chains are running, in
// about a millisecond.
type Live struct {
	// Draws is the length of the shortest chain.
	Draws int
	// RHat is that of at most 2,048 evenly spaced draws of each chain, up to
	// the length of the shortest.
	RHat float64
	// ESS is the effective sample size of the mean of all draws, from batch
	// means.
	ESS float64
	// RHatErr and ESSErr say why RHat and ESS are NaN.
	RHatErr, ESSErr error
}

// Live computes the live figures of a statistic from the Series of its chains.
// The chains need not have equally many draws. No Series may be added to
// meanwhile.
func (z *Summarizer) Live(series []*Series) Live {
	undefined := func(n int, err error) Live {
		return Live{n, math.NaN(), math.NaN(), err, err}
	}
	if len(series) == 0 {
		return undefined(0, ErrNoDraws)
	}
	n, stride := series[0].n, 1
	for _, s := range series {
		n, stride = min(n, s.n), max(stride, s.stride)
	}
	if n == 0 {
		return undefined(0, ErrNoDraws)
	}
	for c, s := range series {
		if s.bad >= 0 {
			return undefined(n, notFinite(c, s.bad, s.badValue))
		}
	}
	for (n+stride-1)/stride > maxLiveDraws {
		stride *= 2
	}
	z.chains = grow(z.chains, len(series))
	for c, s := range series {
		z.chains[c] = s.strided(stride, n)
	}
	live := Live{Draws: n}
	if err := z.sample.load(z.chains); err != nil {
		return undefined(n, err)
	}
	live.RHat, live.RHatErr = z.sample.rhat()
	live.ESS, live.ESSErr = z.essMeanOfBatches(series)
	return live
}
