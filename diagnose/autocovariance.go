package diagnose

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Autocorrelation returns the autocorrelations of x at the lags 0..maxLag,
//
//	ρ_t = c_t / c_0,  c_t = (1/n) Σ_s (x_s − m)(x_{s+t} − m),
//
// where m is the mean of x, by fast Fourier transform in O(n log n). The divisor
// is n at every lag (as in R's acf, posterior and ArviZ), so that estimates at
// large lags shrink to 0. maxLag is cut down to len(x)−1. It fails with
// ErrNoDraws, ErrNotFinite, ErrConstant or ErrScale.
func Autocorrelation(x []float64, maxLag int) ([]float64, error) {
	var s sample
	if err := s.load([][]float64{x}); err != nil {
		return nil, err
	}
	if s.constant() {
		return nil, ErrConstant
	}
	m := momentsOf(s.flat)
	if m.squares == 0 || math.IsInf(m.squares, 0) || math.IsNaN(m.squares) {
		return nil, ErrScale
	}
	s.dense.reset([][]float64{s.flat}, []moments{m})
	s.dense.transform()
	rho := make([]float64, max(0, min(maxLag, len(x)-1))+1)
	for t := range rho {
		rho[t] = s.dense.all[t] / s.dense.all[0]
	}
	return rho, nil
}

// directLags is the number of lags that are summed one by one before all lags
// are computed at once by Fourier transform. Most chains need few lags; the
// transform costs as much as about 250 of them at 50,000 draws in a series.
const directLags = 128

// denseCovariance is the covariance of series of numbers.
type denseCovariance struct {
	draws   int
	centred [][]float64 // the series less their means
	all     []float64   // every lag, once the transform was done
	done    bool

	memory []float64
	fft    *fourier.FFT
	padded []float64
	coeffs []complex128
	power  []complex128
}

// reset prepares for other series, all of one length, whose moments are given.
func (c *denseCovariance) reset(series [][]float64, m []moments) {
	c.draws = len(series[0])
	c.done = false
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
	if !c.done && lag > directLags {
		c.transform()
	}
	if c.done {
		return c.all[lag]
	}
	var sum float64
	for _, x := range c.centred {
		sum += floats.Dot(x[:c.draws-lag], x[lag:])
	}
	return sum / float64(c.draws) / float64(len(c.centred))
}

// transform computes all lags: the power spectra of the series, padded with
// zeros to twice their length so that no lag wraps around, are summed, and one
// transform back gives the sum of the autocovariances.
func (c *denseCovariance) transform() {
	size := fastLength(2 * c.draws)
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
			c.power[i] += complex(real(z)*real(z)+imag(z)*imag(z), 0)
		}
	}
	c.fft.Sequence(c.padded, c.power)
	c.all = grow(c.all, c.draws)
	scale := 1 / (float64(size) * float64(c.draws) * float64(len(c.centred)))
	for t := range c.all {
		c.all[t] = c.padded[t] * scale
	}
	c.done = true
}

// fastLength returns the smallest even number that is at least n and has no
// prime factor above 5, which the transform is fast for.
func fastLength(n int) int {
	best := math.MaxInt
	for five := 2; five < best; five *= 5 {
		for three := five; three < best; three *= 3 {
			two := three
			for two < n {
				two *= 2
			}
			best = min(best, two)
		}
	}
	return best
}
