package model

import (
	"context"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/portable"
)

// The hyperparameters, as logarithms, for labels with mean 0 and variance 1.
type hyperparameters struct {
	length          float64   // log of the length that all ingredients have in common
	logLengthRatios []float64 // by ingredient: the log of the ratio of its length to the common one; 0 where no row has it
	signal          float64   // log of s, the variance of the function
	noise           float64   // log of the variance of the noise of a measurement
}

// The priors are normal in the logarithms. A length of 0.7 is half of the greatest distance of two
// compositions. Lengths of ingredients differ by about e^±0.5, so that a small dataset
// distinguishes them only if it must. The noise is expected to be a third of the variance: a
// process that takes noise for signal predicts gains that do not exist.
const (
	lengthMean, lengthSD = -0.35667494393873245, 1.0 // log 0.7
	ownSD                = 0.5
	signalMean, signalSD = 0.0, 1.5
	noiseMean, noiseSD   = -1.2039728043259361, 1.0 // log 0.3
)

const (
	mostFitted    = 250 // greatest number of compositions to which the hyperparameters are fitted
	fitIterations = 60
	fitTolerance  = 2e-3 // the search ends when the log density rises by less
	smallestNoise = 1e-7 // share of the labels' variance that is added to each row's noise
	mostHyper     = 20   // greatest absolute value of a hyperparameter
	minLengthRows = 2    // number of rows that an ingredient needs for a length of its own
)

// A posterior is the log density of hyperparameters, up to a constant.
type posterior struct {
	kernel       Kernel
	n, d         int
	rootShares   []float64 // by composition, then active ingredient: the root of the ingredient's share
	labels       []float64 // by composition: the mean label, standardised
	count        []float64
	meanVariance []float64 // by composition: the measurement variance of the standardised mean label
	squares      float64   // Σ of the squared deviations of rows from the mean of their composition
	freedom      float64   // degrees of freedom of squares

	k     portable.Lower
	slope []float64 // as the rows of k: s·κ′
}

// fit returns the hyperparameters of greatest posterior density.
func (p *Process) fit(ctx context.Context) (hyperparameters, error) {
	h := hyperparameters{length: lengthMean, logLengthRatios: make([]float64, len(p.ingredients)), signal: signalMean, noise: noiseMean}
	var active []int32
	uses := make([]int, len(p.ingredients))
	for _, parts := range p.known {
		for _, q := range parts {
			uses[q.Ingredient]++
		}
	}
	for i, n := range uses {
		if n >= minLengthRows {
			active = append(active, int32(i))
		}
	}
	q := p.posterior(active)
	// The common length, the signal and the noise, then one for each ingredient.
	theta := make([]float64, 3+len(active))
	theta[0], theta[1], theta[2] = h.length, h.signal, h.noise
	value := func(x, g []float64) float64 {
		if browsersched.Err(ctx) != nil {
			clear(g)
			return math.Inf(1)
		}
		return q.energy(x, g)
	}
	minimize(theta, value, fitIterations, fitTolerance)
	if err := context.Cause(ctx); err != nil {
		return h, err
	}
	h.length, h.signal, h.noise = theta[0], theta[1], theta[2]
	for k, i := range active {
		h.logLengthRatios[i] = theta[3+k]
	}
	return h, nil
}

// posterior takes the compositions; if there are too many, an evenly spread subset.
func (p *Process) posterior(active []int32) *posterior {
	some := make([]int, 0, len(p.known))
	for r := range p.known {
		// Takes the first composition of each of mostFitted equal parts.
		if n := len(p.known); n <= mostFitted || r*mostFitted/n != (r-1)*mostFitted/n || r == 0 {
			some = append(some, r)
		}
	}
	q := &posterior{kernel: p.options.Kernel, n: len(some), d: len(active)}
	q.rootShares = make([]float64, q.n*q.d)
	for k, r := range some {
		for _, part := range p.known[r] {
			if at, found := slices.BinarySearch(active, part.Ingredient); found {
				q.rootShares[k*q.d+at] = math.Sqrt(float64(part.Amount) / float64(p.totalOf(part.Ingredient)))
			}
		}
		q.labels = append(q.labels, (p.means[r]-p.centre)/p.scale)
		q.count, q.meanVariance = append(q.count, p.count[r]), append(q.meanVariance, p.meanVariance[r])
	}
	if !p.hasSD { // with known measurement errors, replicates differ by these as well
		q.squares, q.freedom = p.scatter()
	}
	q.squares /= float64(p.scale * p.scale)
	q.k = portable.NewLower(q.n)
	q.slope = make([]float64, q.n*(q.n+1)/2)
	return q
}

// energy returns −log density and its gradient.
func (q *posterior) energy(theta, gradient []float64) float64 {
	for _, v := range theta {
		if math.Abs(v) > mostHyper {
			clear(gradient)
			return math.Inf(1)
		}
	}
	s, noise := exp(theta[1]), exp(theta[2])
	weight := make([]float64, q.d)
	for i := range weight {
		weight[i] = exp(float64(-2 * (theta[0] + theta[3+i])))
	}
	correlation := portable.NewLower(q.n)
	for r := range q.n {
		ur := q.rootShares[r*q.d : (r+1)*q.d]
		row, slope, kappa := q.k.Row(r), q.slope[r*(r+1)/2:], correlation.Row(r)
		for c := range r {
			uc := q.rootShares[c*q.d : (c+1)*q.d]
			square := 0.0
			for i, u := range ur {
				gap := u - uc[i]
				square += float64(float64(gap*gap) * weight[i])
			}
			value, by := q.kernel.correlation(square)
			kappa[c], row[c], slope[c] = value, float64(s*value), float64(s*by)
		}
		kappa[r], row[r], slope[r] = 1, float64(s*1)+noise/q.count[r]+q.meanVariance[r]+smallestNoise, 0
	}
	if !q.k.Factor() {
		clear(gradient)
		return math.Inf(1)
	}
	alpha := slices.Clone(q.labels)
	q.k.Solve(alpha)
	energy := float64((portable.Dot(q.labels, alpha) + q.k.LogDeterminant()) / 2)
	inverse := q.k.Inverse()

	// ∂energy/∂θ = −½ Σ (α·αᵀ − K⁻¹)∘∂K/∂θ.
	clear(gradient)
	moved := make([]float64, q.d) // by ingredient: Σ (…)·s·κ′·(u − u′)², over pairs
	for r := range q.n {
		ur := q.rootShares[r*q.d : (r+1)*q.d]
		kappa, slope, inv := correlation.Row(r), q.slope[r*(r+1)/2:], inverse.Row(r)
		for c := range r {
			m := float64(alpha[r]*alpha[c]) - inv[c]
			gradient[1] -= float64(float64(m*s) * kappa[c])
			m = float64(m * slope[c])
			uc := q.rootShares[c*q.d : (c+1)*q.d]
			for i, u := range ur {
				gap := u - uc[i]
				moved[i] += float64(m * float64(gap*gap))
			}
		}
		m := float64(alpha[r]*alpha[r]) - inv[r]
		gradient[1] -= float64(float64(m*s) / 2)
		gradient[2] -= float64(float64(m*noise) / q.count[r] / 2)
	}
	for i, v := range moved {
		by := float64(2 * weight[i] * v)
		gradient[0] += by
		gradient[3+i] += by
	}
	// The deviations of replicates from their means add to the energy.
	if q.freedom > 0 {
		energy += float64(float64(q.freedom*theta[2])/2) + float64(q.squares/noise/2)
		gradient[2] += float64(q.freedom/2) - float64(q.squares/noise/2)
	}
	prior := func(k int, mean, sd float64) {
		z := (theta[k] - mean) / sd
		energy += float64(float64(z*z) / 2)
		gradient[k] += z / sd
	}
	prior(0, lengthMean, lengthSD)
	prior(1, signalMean, signalSD)
	prior(2, noiseMean, noiseSD)
	for k := range q.d {
		prior(3+k, 0, ownSD)
	}
	return energy
}
