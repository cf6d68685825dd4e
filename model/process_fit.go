package model

import (
	"context"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/portable"
)

// The hyperparameters of a [Process]. They are logarithms, and hold for labels that are scaled to
// mean 0 and variance 1.
type hyperparameters struct {
	logLength float64 // log of the common length scale of all ingredients
	// logLengthRatios[i] is the log of the ratio of ingredient i's length scale to the common one.
	// It is 0 if the ingredient has no length scale of its own.
	logLengthRatios []float64
	logSignal       float64 // log of the variance of the random function (s in [Process])
	logNoise        float64 // log of the variance of the noise of a single row
}

// The means and standard deviations of the priors of the hyperparameters. The priors are normal
// distributions of the logarithms. A length scale of 0.7 is half of the greatest distance of two
// compositions. The length scales of ingredients differ by factors of about e^±0.5, so that a small
// dataset distinguishes ingredients only if it must. The noise is expected to be a third of the
// variance. A process that takes noise for signal predicts gains that do not exist.
const (
	logLengthPriorMean, logLengthPriorSD = -0.35667494393873245, 1.0 // prior of the log of the common length scale; the mean is log 0.7
	// lengthRatioPriorSD is for the log of the ratio of an ingredient's length scale to the common
	// one; the mean is 0.
	lengthRatioPriorSD                   = 0.5
	logSignalPriorMean, logSignalPriorSD = 0.0, 1.5                 // prior of the log of the variance of the random function
	logNoisePriorMean, logNoisePriorSD   = -1.2039728043259361, 1.0 // prior of the log of the noise variance; the mean is log 0.3
)

const (
	maxFittedCompositions = 250  // greatest number of compositions to which the hyperparameters are fitted
	maxFitIterations      = 60   // greatest number of iterations of the search for the hyperparameters
	fitTolerance          = 2e-3 // the search for the hyperparameters ends if the log density rises by less
	minNoiseShare         = 1e-7 // variance that is added to the noise of each composition, relative to that of the labels
	maxAbsHyperparameter  = 20   // greatest absolute value that the search for the hyperparameters tries
	// minRowsForOwnLength is the least number of compositions that have an ingredient if the
	// ingredient gets a length scale of its own.
	minRowsForOwnLength = 2
)

// A posterior computes the log density of the posterior distribution of the [hyperparameters], up
// to a constant. An active ingredient is one that has a length scale of its own.
type posterior struct {
	kernel           Kernel
	compositionCount int // number of compositions to which the hyperparameters are fitted
	ingredientCount  int // number of active ingredients, which have length scales of their own
	// rootShares holds the square roots of the shares of the active ingredients, one composition
	// after another.
	rootShares    []float64
	labels        []float64 // mean label of each composition, scaled to mean 0 and variance 1
	rowCounts     []float64 // number of rows with each composition
	meanVariances []float64 // variance, by errors of measurement, of each element of labels
	// replicateScatter is the sum of the squared deviations of the rows' labels from the mean label
	// of their composition.
	replicateScatter float64
	replicateFreedom float64 // number of degrees of freedom of replicateScatter

	covariance portable.LowerTriangular // covariance matrix of the compositions, later its Cholesky factor
	slopes     []float64                // derivative of each element of covariance, on and below the diagonal, with respect to d²
}

// fitHyperparameters returns the hyperparameters with the greatest posterior density.
func (p *Process) fitHyperparameters(ctx context.Context) (hyperparameters, error) {
	h := hyperparameters{logLength: logLengthPriorMean, logLengthRatios: make([]float64, len(p.ingredients)), logSignal: logSignalPriorMean, logNoise: logNoisePriorMean}
	var active []int32
	uses := make([]int, len(p.ingredients))
	for _, parts := range p.compositions {
		for _, q := range parts {
			uses[q.Ingredient]++
		}
	}
	for i, n := range uses {
		if n >= minRowsForOwnLength {
			active = append(active, int32(i))
		}
	}
	q := p.newPosterior(active)
	// The common length, the signal and the noise, then one for each ingredient.
	theta := make([]float64, 3+len(active))
	theta[0], theta[1], theta[2] = h.logLength, h.logSignal, h.logNoise
	value := func(x, g []float64) float64 {
		if browsersched.Err(ctx) != nil {
			clear(g)
			return math.Inf(1)
		}
		return q.negativeLogDensity(x, g)
	}
	minimize(theta, value, maxFitIterations, fitTolerance)
	if err := context.Cause(ctx); err != nil {
		return h, err
	}
	h.logLength, h.logSignal, h.logNoise = theta[0], theta[1], theta[2]
	for k, i := range active {
		h.logLengthRatios[i] = theta[3+k]
	}
	return h, nil
}

// newPosterior returns the posterior of the hyperparameters, given the compositions of the data. If
// there are too many compositions, it takes an evenly spread subset. The parameter active lists the
// ingredients that have length scales of their own.
func (p *Process) newPosterior(active []int32) *posterior {
	some := make([]int, 0, len(p.compositions))
	for r := range p.compositions {
		// Takes the first composition of each of maxFittedCompositions equal parts.
		if n := len(p.compositions); n <= maxFittedCompositions || r*maxFittedCompositions/n != (r-1)*maxFittedCompositions/n || r == 0 {
			some = append(some, r)
		}
	}
	q := &posterior{kernel: p.options.Kernel, compositionCount: len(some), ingredientCount: len(active)}
	q.rootShares = make([]float64, q.compositionCount*q.ingredientCount)
	for k, r := range some {
		for _, part := range p.compositions[r] {
			if at, found := slices.BinarySearch(active, part.Ingredient); found {
				q.rootShares[k*q.ingredientCount+at] = math.Sqrt(float64(part.Amount) / float64(p.amountDivisor(part.Ingredient)))
			}
		}
		q.labels = append(q.labels, (p.meanLabels[r]-p.labelMean)/p.labelSD)
		q.rowCounts, q.meanVariances = append(q.rowCounts, p.rowCounts[r]), append(q.meanVariances, p.meanVariances[r])
	}
	if !p.hasSD { // with known measurement errors, replicates differ by these as well
		q.replicateScatter, q.replicateFreedom = p.replicateScatter()
	}
	q.replicateScatter /= float64(p.labelSD * p.labelSD)
	q.covariance = portable.NewLower(q.compositionCount)
	q.slopes = make([]float64, q.compositionCount*(q.compositionCount+1)/2)
	return q
}

// negativeLogDensity returns minus the log density at the hyperparameters theta, and writes its
// gradient. The elements of theta are the log of the common length scale, the log of the signal
// variance, the log of the noise variance, and the log length ratio of each active ingredient. If
// the density cannot be computed, the result is +Inf.
func (q *posterior) negativeLogDensity(theta, gradient []float64) float64 {
	for _, v := range theta {
		if math.Abs(v) > maxAbsHyperparameter {
			clear(gradient)
			return math.Inf(1)
		}
	}
	s, noise := exp(theta[1]), exp(theta[2])
	weight := make([]float64, q.ingredientCount)
	for i := range weight {
		weight[i] = exp(float64(-2 * (theta[0] + theta[3+i])))
	}
	correlation := portable.NewLower(q.compositionCount)
	for r := range q.compositionCount {
		ur := q.rootShares[r*q.ingredientCount : (r+1)*q.ingredientCount]
		row, slope, kappa := q.covariance.Row(r), q.slopes[r*(r+1)/2:], correlation.Row(r)
		for c := range r {
			uc := q.rootShares[c*q.ingredientCount : (c+1)*q.ingredientCount]
			square := 0.0
			for i, u := range ur {
				gap := u - uc[i]
				square += float64(float64(gap*gap) * weight[i])
			}
			value, by := q.kernel.correlation(square)
			kappa[c], row[c], slope[c] = value, float64(s*value), float64(s*by)
		}
		kappa[r], row[r], slope[r] = 1, float64(s*1)+noise/q.rowCounts[r]+q.meanVariances[r]+minNoiseShare, 0
	}
	if !q.covariance.Factor() {
		clear(gradient)
		return math.Inf(1)
	}
	alpha := slices.Clone(q.labels)
	q.covariance.Solve(alpha)
	energy := float64((portable.Dot(q.labels, alpha) + q.covariance.LogDeterminant()) / 2)
	inverse := q.covariance.Inverse()

	// ∂energy/∂θ = −½ Σ (α·αᵀ − K⁻¹)∘∂K/∂θ.
	clear(gradient)
	moved := make([]float64, q.ingredientCount) // by ingredient: Σ (…)·s·κ′·(u − u′)², over pairs
	for r := range q.compositionCount {
		ur := q.rootShares[r*q.ingredientCount : (r+1)*q.ingredientCount]
		kappa, slope, inv := correlation.Row(r), q.slopes[r*(r+1)/2:], inverse.Row(r)
		for c := range r {
			m := float64(alpha[r]*alpha[c]) - inv[c]
			gradient[1] -= float64(float64(m*s) * kappa[c])
			m = float64(m * slope[c])
			uc := q.rootShares[c*q.ingredientCount : (c+1)*q.ingredientCount]
			for i, u := range ur {
				gap := u - uc[i]
				moved[i] += float64(m * float64(gap*gap))
			}
		}
		m := float64(alpha[r]*alpha[r]) - inv[r]
		gradient[1] -= float64(float64(m*s) / 2)
		gradient[2] -= float64(float64(m*noise) / q.rowCounts[r] / 2)
	}
	for i, v := range moved {
		by := float64(2 * weight[i] * v)
		gradient[0] += by
		gradient[3+i] += by
	}
	// The deviations of replicates from their means add to the energy.
	if q.replicateFreedom > 0 {
		energy += float64(float64(q.replicateFreedom*theta[2])/2) + float64(q.replicateScatter/noise/2)
		gradient[2] += float64(q.replicateFreedom/2) - float64(q.replicateScatter/noise/2)
	}
	prior := func(k int, mean, sd float64) {
		z := (theta[k] - mean) / sd
		energy += float64(float64(z*z) / 2)
		gradient[k] += z / sd
	}
	prior(0, logLengthPriorMean, logLengthPriorSD)
	prior(1, logSignalPriorMean, logSignalPriorSD)
	prior(2, logNoisePriorMean, logNoisePriorSD)
	for k := range q.ingredientCount {
		prior(3+k, 0, lengthRatioPriorSD)
	}
	return energy
}
