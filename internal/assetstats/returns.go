// Package assetstats estimates the expected returns of assets in a year, and the covariance of the
// returns, from a history of prices or returns.
package assetstats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Kind says what the numbers of a history are: prices or returns.
type Kind int

const (
	GuessKind Kind = iota // the numbers decide: see [KindOf]
	Prices                // prices of the assets
	Returns               // returns since the previous row, as fractions
	Percent               // returns since the previous row, in percent
)

// String returns the kind as a word.
func (k Kind) String() string {
	return [...]string{"anything", "prices", "returns", "returns in percent"}[k]
}

// maxPriceChangeRatio is a limit on the mean change of a number from row to row, divided by the
// mean size of the numbers. Positive numbers up to this limit are taken for prices, and above it
// for returns. A price is near the previous price, while a return is nearly independent of the
// previous return. Even prices with a volatility of 10 % a day stay below this limit.
const maxPriceChangeRatio = 0.35

// KindOf guesses whether the numbers of a history are prices or returns. The element values[t][i]
// is the number of asset i in row t. Prices are positive and near the previous prices: see
// maxPriceChangeRatio. A return as a fraction is above −1, so that a history with a number of −1 or
// less holds returns in percent.
func KindOf(values [][]float64) Kind {
	least, changes, sizes := math.Inf(1), 0.0, 0.0
	for t, row := range values {
		for i, v := range row {
			least = min(least, v)
			if t > 0 {
				changes += math.Abs(v - values[t-1][i])
				sizes += math.Abs(v)
			}
		}
	}
	switch {
	case least <= -1:
		return Percent
	case least <= 0 || changes > maxPriceChangeRatio*sizes:
		return Returns
	}
	return Prices
}

// ToReturns converts the numbers of a history to returns as fractions. The element values[t][i] is
// the number of asset i in row t. If the numbers are prices, the result has one row less than the
// history.
func ToReturns(values [][]float64, kind Kind) [][]float64 {
	var all [][]float64
	for t, row := range values {
		r := slices.Clone(row)
		switch {
		case kind == Percent:
			for i := range r {
				r[i] /= 100
			}
		case kind == Prices && t == 0:
			continue
		case kind == Prices:
			for i := range r {
				r[i] = row[i]/values[t-1][i] - 1
			}
		}
		all = append(all, r)
	}
	return all
}

// A Moments holds the estimated mean and covariance of the yearly returns of assets.
type Moments struct {
	Mean       []float64   // mean yearly return of each asset
	Covariance [][]float64 // Covariance[i][j] is the covariance of the yearly returns of assets i and j

	// Intensity is the weight of the shrinkage target in Covariance, from 0 to 1. Covariance is the
	// weighted mean of the sample covariance and the target. In the target, all pairs of assets
	// have the same correlation.
	Intensity   float64
	Correlation float64 // Correlation is the correlation of each pair of assets in the shrinkage target.
}

// Estimate estimates the mean and the covariance of the yearly returns of assets. The element
// returns[t][i] is the return of asset i in row t, as a fraction. The parameter periods is the
// number of rows in a year.
//
// The mean is the sample mean. The covariance is a weighted mean of the sample covariance and a
// shrinkage target. The target has the sample variances. In the target, each pair of assets has the
// same correlation: the mean of the sample correlations. The weight of the target is that of Ledoit
// and Wolf, "Honey, I Shrunk the Sample Covariance Matrix", Journal of Portfolio Management 30/4
// (2004), 110–119, appendices A and B. Variances have the divisor T−1 for T rows. An asset without
// variance is uncorrelated with the others.
func Estimate(returns [][]float64, periods float64) (*Moments, error) {
	times := len(returns)
	if times < 2 {
		return nil, errors.New("a covariance needs at least two returns of each asset")
	}
	if !(periods > 0) || math.IsInf(periods, 1) {
		return nil, fmt.Errorf("there are %v periods a year: it must be a number above 0", periods)
	}
	n, count := len(returns[0]), float64(times)
	m := &Moments{Mean: make([]float64, n), Covariance: newSquareMatrix(n)}
	for i := range n {
		for _, row := range returns {
			m.Mean[i] += row[i] / count
		}
	}
	y := make([][]float64, times)
	for t, row := range returns {
		y[t] = make([]float64, n)
		for i, v := range row {
			y[t][i] = v - m.Mean[i]
		}
	}
	s := newSquareMatrix(n)
	for _, row := range y {
		for i, a := range row {
			for j, b := range row {
				s[i][j] += float64(a*b) / count
			}
		}
	}
	target := m.shrinkageTarget(s)
	m.setIntensity(y, s, target)
	for i := range n {
		for j := range n {
			c := s[i][j]
			if i != j {
				c = float64(m.Intensity*target[i][j]) + float64((1-m.Intensity)*s[i][j])
			}
			m.Covariance[i][j] = float64(c * (count / (count - 1)) * periods)
		}
		m.Mean[i] = float64(m.Mean[i] * periods)
	}
	return m, nil
}

// shrinkageTarget sets Correlation to the mean of the sample correlations. It returns the shrinkage
// target, a covariance matrix with the sample variances and with this correlation for each pair of
// assets. The parameter s is the sample covariance with the divisor T for T rows.
func (m *Moments) shrinkageTarget(s [][]float64) [][]float64 {
	sum, pairs := 0.0, 0
	for i := range s {
		for j := range i {
			if s[i][i] > 0 && s[j][j] > 0 {
				sum += s[i][j] / math.Sqrt(float64(s[i][i]*s[j][j]))
				pairs++
			}
		}
	}
	if pairs > 0 {
		m.Correlation = sum / float64(pairs)
	}
	f := newSquareMatrix(len(s))
	for i := range s {
		for j := range s {
			if f[i][j] = float64(m.Correlation * math.Sqrt(float64(s[i][i]*s[j][j]))); i == j {
				f[i][i] = s[i][i]
			}
		}
	}
	return f
}

// setIntensity sets Intensity to (π − ρ)/(γ·T), limited to 0..1, in the notation of Ledoit and
// Wolf: see [Estimate]. The parameter y holds the returns minus their means, s is the sample
// covariance with the divisor T, and target is the shrinkage target.
func (m *Moments) setIntensity(y, s, target [][]float64) {
	count := float64(len(y))
	spread, along, gap := 0.0, 0.0, 0.0 // π, ρ and γ of the paper
	for i := range s {
		for j := range s {
			pi, theta := 0.0, 0.0
			for _, row := range y {
				p := float64(row[i] * row[j])
				pi += (p - s[i][j]) * (p - s[i][j]) / count
				theta += (float64(row[i]*row[i]) - s[i][i]) * (p - s[i][j]) / count
			}
			spread += pi
			gap += float64((target[i][j] - s[i][j]) * (target[i][j] - s[i][j]))
			switch {
			case i == j:
				along += pi
			case s[i][i] > 0:
				// ρ has two terms for each pair: this one, and the one with i and j exchanged.
				along += float64(m.Correlation * math.Sqrt(s[j][j]/s[i][i]) * theta)
			}
		}
	}
	if gap > 0 {
		m.Intensity = min(max((spread-along)/gap/count, 0), 1)
	}
}

// newSquareMatrix returns an n×n matrix of zeros.
func newSquareMatrix(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}
