package diagnose

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

const (
	// directLags is the number of lags that are summed directly before the
	// others are computed at once by Fourier transform. Most chains need few
	// lags; the transform costs as much as 150 to 300 of them.
	directLags = 128
	// firstLags is how many lags are summed at first; each further group is as
	// large as all before it.
	firstLags = 8
	// stretch is how many draws are summed at all lags of a group before the
	// next are, so that they stay in the processor's nearest cache.
	stretch = 1 << 11
)

// denseCovariance is the covariance of series of numbers.
type denseCovariance struct {
	draws   int
	centred [][]float64 // the series less their means
	lags    []float64   // the lags that have been computed

	memory []float64
	fft    *fourier.FFT
	padded []float64
	coeffs []complex128
	power  []complex128
}

// reset prepares for other series, all of one length, whose moments are given.
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
				c.sum(min(max(firstLags, 2*len(c.lags)), directLags, c.draws))
			}
		case lag < quarter:
			// Enough for all but the slowest chains.
			c.transform(quarter)
		default:
			c.transform(c.draws)
		}
	}
	return c.lags[lag]
}

// sum appends lags up to count−1 by direct summation.
func (c *denseCovariance) sum(count int) {
	first := len(c.lags)
	c.lags = append(c.lags, make([]float64, count-first)...)
	scale := 1 / (float64(c.draws) * float64(len(c.centred)))
	for _, x := range c.centred {
		for start := 0; start < len(x); start += stretch {
			for t := first; t < count; t++ {
				if end := min(start+stretch, len(x)-t); start < end {
					c.lags[t] += floats.Dot(x[start:end], x[start+t:end+t])
				}
			}
		}
	}
	for t := first; t < count; t++ {
		c.lags[t] = float64(c.lags[t] * scale)
	}
}

// transform computes the lags 0..count−1: the power spectra of the series, padded
// with so many zeros that none of these lags wraps around, are summed, and one
// transform back gives the sum of the autocovariances.
func (c *denseCovariance) transform(count int) {
	size := fastLength(c.draws + count)
	if c.fft == nil || c.fft.Len() != size {
		c.fft = fourier.NewFFT(size)
	}
	c.padded = grow(c.padded, size)
	c.coeffs = grow(c.coeffs, size/2+1)
	c.power = grow(c.power, size/2+1)
	clear(c.power)
	for _, x := range c.centred {
		clear(c.padded[copy(c.padded, x):])
		c.fft.Coefficients(c.coeffs, c.padded)
		for i, z := range c.coeffs {
			c.power[i] += complex(float64(real(z)*real(z))+float64(imag(z)*imag(z)), 0)
		}
	}
	c.fft.Sequence(c.padded, c.power)
	c.lags = grow(c.lags, count)
	scale := 1 / (float64(size) * float64(c.draws) * float64(len(c.centred)))
	for t := range c.lags {
		c.lags[t] = float64(c.padded[t] * scale)
	}
}

// fastLength returns the smallest even number that is at least n and has no
// prime factors but 2 and 3, which the transform is fast for.
func fastLength(n int) int {
	best := math.MaxInt
	for three := 2; three < best; three *= 3 {
		two := three
		for two < n {
			two *= 2
		}
		best = min(best, two)
	}
	return best
}
