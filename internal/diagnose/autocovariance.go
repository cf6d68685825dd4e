package diagnose

import (
	"math/bits"

	"kir/internal/portable"
)

const (
	// maxDirectLags is the maximum number of lags at which autocovariances are summed directly. If more lags are
	// needed, a Fourier transform computes all lags at once. Most chains need few lags; the transform costs as
	// much as 150 to 300 directly summed lags.
	maxDirectLags = 128
	// firstLagCount is the number of lags at which autocovariances are summed at first. If more lags are needed,
	// the number doubles each time.
	firstLagCount = 8
	// drawsPerStretch is the number of draws for which the products at all lags of a group are summed before the
	// next draws follow. So the draws stay in the nearest cache of the processor.
	drawsPerStretch = 1 << 11
)

// autocovarianceTable computes the autocovariances of several series, averaged over the series, lag by lag.
type autocovarianceTable struct {
	drawsPerSeries  int         // number of draws in each series
	centred         [][]float64 // draws of each series, less the mean of the series
	autocovariances []float64   // item t is the autocovariance at lag t; only the lags computed so far

	centredMemory []float64         // memory of the slices in centred
	fft           *fourierTransform // Fourier transform for the latest length
	re, im        []float64         // buffers: real and imaginary parts
	powerSpectrum []float64         // buffer: sum of the power spectra of the series
}

// reset prepares for new series of equal length. Item i of m holds the moments of series i.
func (c *autocovarianceTable) reset(series [][]float64, m []moments) {
	c.drawsPerSeries = len(series[0])
	c.autocovariances = c.autocovariances[:0]
	c.centredMemory = resize(c.centredMemory, len(series)*c.drawsPerSeries)
	c.centred = c.centred[:0]
	for i, x := range series {
		y := c.centredMemory[i*c.drawsPerSeries : (i+1)*c.drawsPerSeries]
		for j, v := range x {
			y[j] = v - m[i].mean
		}
		c.centred = append(c.centred, y)
	}
}

// autocovariance returns the autocovariance at the given lag, averaged over all series. The divisor of each sum of products
// is the number of draws in a series.
func (c *autocovarianceTable) autocovariance(lag int) float64 {
	if lag >= len(c.autocovariances) {
		switch quarter := c.drawsPerSeries / 4; {
		case lag < maxDirectLags:
			for lag >= len(c.autocovariances) {
				c.computeLagsDirectly(min(max(firstLagCount, 2*len(c.autocovariances)), maxDirectLags, c.drawsPerSeries))
			}
		case lag < quarter:
			// A quarter of all lags suffices for all but the slowest chains.
			c.computeLagsByFourier(quarter)
		default:
			c.computeLagsByFourier(c.drawsPerSeries)
		}
	}
	return c.autocovariances[lag]
}

// computeLagsDirectly computes the autocovariances at all lags below count that are still missing, by direct summation.
func (c *autocovarianceTable) computeLagsDirectly(count int) {
	first := len(c.autocovariances)
	c.autocovariances = append(c.autocovariances, make([]float64, count-first)...)
	scale := 1 / (float64(c.drawsPerSeries) * float64(len(c.centred)))
	for _, x := range c.centred {
		for start := 0; start < len(x); start += drawsPerStretch {
			for t := first; t < count; t++ {
				if end := min(start+drawsPerStretch, len(x)-t); start < end {
					c.autocovariances[t] += portable.Dot(x[start:end], x[start+t:end+t])
				}
			}
		}
	}
	for t := first; t < count; t++ {
		c.autocovariances[t] = float64(c.autocovariances[t] * scale)
	}
}

// computeLagsByFourier computes the autocovariances at lags 0..count−1 by Fourier transforms. The series are padded with
// enough zeros that no lag below count wraps around. The power spectra are summed, and one inverse transform
// gives the sum of the autocovariances. Two series form the real and imaginary part of one complex series. The
// cross-spectrum of the two series is odd and becomes imaginary, and the imaginary part is ignored.
func (c *autocovarianceTable) computeLagsByFourier(count int) {
	size := 1 << bits.Len(uint(max(c.drawsPerSeries+count-1, 1)))
	if c.fft == nil || c.fft.length != size {
		c.fft = newFourierTransform(size)
	}
	c.re, c.im, c.powerSpectrum = resize(c.re, size), resize(c.im, size), resize(c.powerSpectrum, size)
	clear(c.powerSpectrum)
	for k := 0; k < len(c.centred); k += 2 {
		clear(c.re[copy(c.re, c.centred[k]):])
		clear(c.im)
		if k+1 < len(c.centred) {
			copy(c.im, c.centred[k+1])
		}
		c.fft.transform(c.re, c.im)
		for i, re := range c.re {
			c.powerSpectrum[i] += float64(re*re) + float64(c.im[i]*c.im[i])
		}
	}
	clear(c.im)
	c.fft.transform(c.powerSpectrum, c.im)
	c.autocovariances = resize(c.autocovariances, count)
	scale := 1 / (float64(size) * float64(c.drawsPerSeries) * float64(len(c.centred)))
	for t := range c.autocovariances {
		c.autocovariances[t] = float64(c.powerSpectrum[t] * scale)
	}
}
