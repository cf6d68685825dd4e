package model

import (
	"cmp"
	"slices"
)

// A Law is a model's predictive distribution of a number for one composition: values, ascending,
// and their weights, which sum to 1.
type Law struct {
	Values, Weights []float64
}

// Mean returns Σ value·weight.
func (l Law) Mean() float64 {
	mean := 0.0
	for k, v := range l.Values {
		mean += float64(l.Weights[k] * v)
	}
	return mean
}

// Quantile returns the smallest value whose cumulative weight is at least p, in 0..1.
func (l Law) Quantile(p float64) float64 { return l.Values[quantileIndex(l.Weights, p)] }

// Share returns the weight of the values in [low, high].
func (l Law) Share(low, high float64) float64 {
	sum := 0.0
	for k, v := range l.Values {
		if low <= v && v <= high {
			sum += l.Weights[k]
		}
	}
	return sum
}

// stretched returns the law stretched about its mean by a factor.
func (l Law) stretched(by float64) Law {
	if by == 1 || l.Values == nil {
		return l
	}
	mean := l.Mean()
	values := make([]float64, len(l.Values))
	for k, v := range l.Values {
		values[k] = mean + float64(by*(v-mean))
	}
	return Law{values, l.Weights}
}

// CRPS returns the continuous ranked probability score ∫ (F(z) − 1{z ≥ y})² dz of the
// law's distribution function F at the number y, in its unit (Gneiting and Raftery
// 2007, equation 20); lower is better.
func (l Law) CRPS(y float64) float64 {
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

// mixed returns the mixture of two laws in equal parts.
func mixed(a, b Law) Law {
	type atom struct{ value, weight float64 }
	all := make([]atom, 0, len(a.Values)+len(b.Values))
	for _, l := range []Law{a, b} {
		for k, v := range l.Values {
			if l.Weights[k] > 0 {
				all = append(all, atom{v, float64(l.Weights[k] / 2)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b atom) int { return cmp.Compare(a.value, b.value) })
	m := Law{make([]float64, len(all)), make([]float64, len(all))}
	for k, x := range all {
		m.Values[k], m.Weights[k] = x.value, x.weight
	}
	return m
}

// Law returns the law of the label of a numeric forest at the dense composition x: the
// mean over the trees of the leaf's shares (Meinshausen 2006). It panics if the label is
// a class.
func (f *Forest) Law(x []int32) Law {
	f.mustBeNumeric()
	return Law{f.numbers, f.weights(x)}
}

// normalAtoms is the number of values of equal weight that represent a normal law.
const normalAtoms = 64

// normalLaw returns a normal law as its quantiles (k + ½)/normalAtoms.
func normalLaw(mean, sd float64) Law {
	l := Law{make([]float64, normalAtoms), make([]float64, normalAtoms)}
	for k := range l.Values {
		l.Values[k] = mean + float64(sd*normalQuantile(float64((float64(k)+0.5)/normalAtoms)))
		l.Weights[k] = 1.0 / normalAtoms
	}
	return l
}
