package model

import (
	"cmp"
	"slices"
)

// A Distribution is a discrete probability distribution of a number: what a model predicts for one
// composition.
type Distribution struct {
	Values  []float64 // the possible values, ascending
	Weights []float64 // probability of each value; the probabilities sum to 1
}

// Mean returns the mean of the distribution, Σ value·weight.
func (l Distribution) Mean() float64 {
	mean := 0.0
	for k, v := range l.Values {
		mean += float64(l.Weights[k] * v)
	}
	return mean
}

// Quantile returns the p-quantile, 0 ≤ p ≤ 1: the smallest value whose cumulative weight is at
// least p.
func (l Distribution) Quantile(p float64) float64 { return l.Values[quantileIndex(l.Weights, p)] }

// Share returns the probability of the interval [low, high]: the sum of the weights of the values
// in it.
func (l Distribution) Share(low, high float64) float64 {
	sum := 0.0
	for k, v := range l.Values {
		if low <= v && v <= high {
			sum += l.Weights[k]
		}
	}
	return sum
}

// stretchedAboutMean returns a wider or narrower distribution: the distance of each value from the
// mean is multiplied by a factor.
func (l Distribution) stretchedAboutMean(by float64) Distribution {
	if by == 1 || l.Values == nil {
		return l
	}
	mean := l.Mean()
	values := make([]float64, len(l.Values))
	for k, v := range l.Values {
		values[k] = mean + float64(by*(v-mean))
	}
	return Distribution{values, l.Weights}
}

// CRPS returns the continuous ranked probability score of the distribution for the observed number
// y, ∫ (F(z) − 1{z ≥ y})² dz, where F is the distribution function (Gneiting and Raftery 2007,
// equation 20). The score has the unit of y. A lower score is better.
func (l Distribution) CRPS(y float64) float64 {
	sum := 0.0
	score := max(0, l.Values[0]-y) + max(0, y-l.Values[len(l.Values)-1])
	for k := range len(l.Values) - 1 {
		sum += l.Weights[k]
		from, to := l.Values[k], l.Values[k+1]
		below := min(max(y, from), to) // F − 0 below y, F − 1 above
		score += float64(sum*sum*(below-from)) + float64((1-sum)*(1-sum)*(to-below))
	}
	return score
}

// mixDistributions returns the mixture of two distributions. The weight of a is weightOfA, from 0 to
// 1, and b has the rest.
func mixDistributions(a, b Distribution, weightOfA float64) Distribution {
	type atom struct{ value, weight float64 }
	all := make([]atom, 0, len(a.Values)+len(b.Values))
	add := func(l Distribution, weight float64) {
		for k, v := range l.Values {
			if w := float64(weight * l.Weights[k]); w > 0 {
				all = append(all, atom{v, w})
			}
		}
	}
	add(a, weightOfA)
	add(b, 1-weightOfA)
	slices.SortStableFunc(all, func(a, b atom) int { return cmp.Compare(a.value, b.value) })
	m := Distribution{make([]float64, len(all)), make([]float64, len(all))}
	for k, x := range all {
		m.Values[k], m.Weights[k] = x.value, x.weight
	}
	return m
}

// Law returns the predicted distribution of the label for the dense composition x. The weight of a
// label is the mean over the trees of the label's share in the leaf that x reaches (Meinshausen
// 2006). Law panics if the label is a class.
func (f *Forest) Law(x []int32) Distribution {
	f.mustBeNumeric()
	return Distribution{f.numbers, f.labelWeights(x)}
}

// normalAtomCount is the number of equally likely values that [normalDistribution] takes to
// represent a normal distribution.
const normalAtomCount = 64

// normalDistribution returns a discrete approximation of a normal distribution. Its values are the
// (k + ½)/normalAtomCount quantiles, k = 0, …, normalAtomCount − 1, all with equal weights.
func normalDistribution(mean, sd float64) Distribution {
	l := Distribution{make([]float64, normalAtomCount), make([]float64, normalAtomCount)}
	for k := range l.Values {
		l.Values[k] = mean + float64(sd*normalQuantile(float64((float64(k)+0.5)/normalAtomCount)))
		l.Weights[k] = 1.0 / normalAtomCount
	}
	return l
}
