// Package assetstats makes a year's expected returns and their covariance from a history of
// prices or of returns.
package assetstats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Kind is what a history holds.
type Kind int

const (
	Guess   Kind = iota // as the numbers show
	Prices              // what an asset cost at each time
	Returns             // by what share it gained since the time before
	Percent             // the same in percent
)

// String returns the kind in words.
func (k Kind) String() string {
	return [...]string{"anything", "prices", "returns", "returns in percent"}[k]
}

// restless is from which ratio of the typical change to the typical size on numbers above 0
// are no prices: those of independent draws differ by as much as they vary, while a price is
// near the last one. Even a volatility of 10 % a day stays below it.
const restless = 0.35

// KindOf guesses what a history holds, by time and asset. Prices are above 0, and each is
// near the one before. Returns may lose at most all, so that those of −1 or less are in
// percent.
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
	case least <= 0 || changes > restless*sizes:
		return Returns
	}
	return Prices
}

// Compute returns the returns of a history, a row less than it has if it holds prices.
func Compute(values [][]float64, kind Kind) [][]float64 {
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

// Moments are the mean and the covariance of returns.
type Moments struct {
	Mean       []float64
	Covariance [][]float64

	// The covariance is the sample covariance, shrunk towards a target in which all pairs of assets
	// have the same Correlation. Intensity is the weight of the target, from 0 to 1.
	Intensity, Correlation float64
}

// Estimate returns the moments of returns, by time and asset, over so many periods as a year
// has. The mean is the plain one. The covariance is shrunk to one in which all pairs have the
// same correlation, the mean one, and each asset its own variance, by the intensity of Ledoit
// and Wolf, "Honey, I Shrunk the Sample Covariance Matrix", Journal of Portfolio Management
// 30/4 (2004), 110–119, appendices A and B. Variances are thus those of the sample, divided
// by T−1. An asset without variance is uncorrelated.
func Estimate(returns [][]float64, periods float64) (*Moments, error) {
	times := len(returns)
	if times < 2 {
		return nil, errors.New("a covariance needs at least two returns of each asset")
	}
	if !(periods > 0) || math.IsInf(periods, 1) {
		return nil, fmt.Errorf("there are %v periods a year: it must be a number above 0", periods)
	}
	n, count := len(returns[0]), float64(times)
	m := &Moments{Mean: make([]float64, n), Covariance: square(n)}
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
	s := square(n)
	for _, row := range y {
		for i, a := range row {
			for j, b := range row {
				s[i][j] += float64(a*b) / count
			}
		}
	}
	target := m.target(s)
	m.shrink(y, s, target)
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

// target returns the covariance with the mean correlation throughout.
func (m *Moments) target(s [][]float64) [][]float64 {
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
	f := square(len(s))
	for i := range s {
		for j := range s {
			if f[i][j] = float64(m.Correlation * math.Sqrt(float64(s[i][i]*s[j][j]))); i == j {
				f[i][i] = s[i][i]
			}
		}
	}
	return f
}

// shrink sets the intensity: (π − ρ)/(γ·T), within 0 and 1.
func (m *Moments) shrink(y, s, target [][]float64) {
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
				// The two terms of a pair are this one, and this one with i and j exchanged.
				along += float64(m.Correlation * math.Sqrt(s[j][j]/s[i][i]) * theta)
			}
		}
	}
	if gap > 0 {
		m.Intensity = min(max((spread-along)/gap/count, 0), 1)
	}
}

func square(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}
