package diagnose

import (
	"math/bits"

	"kir/internal/portable"
)

const (
	// directLags is the number of lags that are summed directly. If more are needed, a Fourier transform computes all
	// of them at once. Most chains need few lags; the transform costs as much as 150 to 300.
	directLags = 128
	// firstLags is how many lags are summed at first. Each further group is as large as all lags before it.
	firstLags = 8
	// stretch is how many draws are summed at all lags of a group before the next draws follow, so that they stay in
	// the processor's nearest cache.
	stretch = 1 << 11
)

// denseCovariance computes the autocovariances, averaged over several series, lag by lag.
type denseCovariance struct {
	draws   int
	centred [][]float64 // draws of each series, less the series' mean
	lags    []float64   // the autocovariances computed so far, from lag 0

	memory []float64
	fft    *fourier
	re, im []float64
	power  []float64
}

// reset prepares for new series of equal length. m holds their moments.
func (c *denseCovariance) reset(series [][]float64, m []moments) {
	c.draws = len(series[0])
	c.lags = c.lags[:0]
	c.memory = grow(c.memory, len(series)*c.draws)
	c.centred = c.centred[:0]
	for i, x := range series {
		y := c.memory[i*c.draws : (i+1)*c.draws]
		for j, v := range x {
			y[j] = v - m[i].mean
		}
		c.centred = append(c.centred, y)
	}
}

func (c *denseCovariance) at(lag int) float64 {
	if lag >= len(c.lags) {
		switch quarter := c.draws / 4; {
		case lag < directLags:
			for lag >= len(c.lags) {
				c.sumLags(min(max(firstLags, 2*len(c.lags)), directLags, c.draws))
			}
		case lag < quarter:
			// A quarter of all lags suffices for all but the slowest chains.
			c.transform(quarter)
		default:
			c.transform(c.draws)
		}
	}
	return c.lags[lag]
}

// sumLags appends lags up to count−1 by direct summation.
func (c *denseCovariance) sumLags(count int) {
	first := len(c.lags)
	c.lags = append(c.lags, make([]float64, count-first)...)
	scale := 1 / (float64(c.draws) * float64(len(c.centred)))
	for _, x := range c.centred {
		for start := 0; start < len(x); start += stretch {
			for t := first; t < count; t++ {
				if end := min(start+stretch, len(x)-t); start < end {
					c.lags[t] += portable.Dot(x[start:end], x[start+t:end+t])
				}
			}
		}
	}
	for t := first; t < count; t++ {
		c.lags[t] = float64(c.lags[t] * scale)
	}
}

// transform computes the autocovariances at lags 0..count−1 by Fourier transforms. The series are padded with
// enough zeros that none of these lags wraps around. The power spectra are summed, and one inverse transform gives
// the sum of the autocovariances. Two series form the real and imaginary part of one complex series. Their
// cross-spectrum is odd and becomes imaginary, where it is ignored.
func (c *denseCovariance) transform(count int) {
	size := 1 << bits.Len(uint(max(c.draws+count-1, 1)))
	if c.fft == nil || c.fft.n != size {
		c.fft = newFourier(size)
	}
	c.re, c.im, c.power = grow(c.re, size), grow(c.im, size), grow(c.power, size)
	clear(c.power)
	for k := 0; k < len(c.centred); k += 2 {
		clear(c.re[copy(c.re, c.centred[k]):])
		clear(c.im)
		if k+1 < len(c.centred) {
			copy(c.im, c.centred[k+1])
		}
		c.fft.transform(c.re, c.im)
		for i, re := range c.re {
			c.power[i] += float64(re*re) + float64(c.im[i]*c.im[i])
		}
	}
	clear(c.im)
	c.fft.transform(c.power, c.im)
	c.lags = grow(c.lags, count)
	scale := 1 / (float64(size) * float64(c.draws) * float64(len(c.centred)))
	for t := range c.lags {
		c.lags[t] = float64(c.power[t] * scale)
	}
}
