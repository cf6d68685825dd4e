package property

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Comparisons is a preference model that was learnt from pairs of compositions. From each pair a person chose
// the composition that the person preferred. The model prefers x to y with the probability
//
//	Φ((u(x) − u(y))/1.702),  u(x) = wᵀφ(x).
//
// u is the utility of a composition, φ(x) its vector of features, w the learnt weights, and Φ the standard
// normal distribution function.
//
// This probability differs from the probability of Bradley and Terry (1952), 1/(1+e^{u(y)−u(x)}), by at most
// 0.0095.
//
// The utility u is linear in the square roots of shares. Without groups, φ has the feature √(x_i/M) for each
// ingredient. With groups, φ has 0.35·√(x_i/M) for each ingredient and √(share) for each group. The product of
// two such vectors is Hellinger's affinity, the similarity by which shortlists compare compositions. If all
// ingredients or none belong to a group, |φ(x)| is the same for all x. The prior is then equally uncertain
// about every composition. Square roots give small amounts weight: a dash of bitters changes u by a quarter of
// the effect of half a glass, not by a hundredth. The utility has no interactions, because twenty answers
// cannot identify them.
//
// The weights w have independent normal priors with a common variance. Of a few candidates, NewComparisons
// takes the variance with the largest evidence (marginal likelihood). Expectation propagation approximates the
// posterior by a normal distribution (Rasmussen and Williams 2006, algorithms 3.5 and 3.6, with differences of
// compositions as inputs). A weight without observations keeps its prior, so the predicted probabilities show
// how uncertain the model is.
type Comparisons struct {
	features           featureMap
	priorSD            float64     // prior standard deviation of a weight
	pairDifferences    [][]float64 // differences of feature vectors φ(better) − φ(worse), one row per pair
	precision          []float64   // item k is the precision (1/variance) of the normal distribution by which expectation propagation approximates the likelihood of answer k
	precisionTimesMean []float64   // item k is the mean of the normal distribution for answer k, multiplied by its precision
	// choleskyFactor is the Cholesky factor of I + √S·K·√S. S is the diagonal matrix of the precisions, and K is
	// the prior covariance of the utility differences of the pairs.
	choleskyFactor portable.LowerTriangular
	logEvidence    float64   // log marginal likelihood of all answers
	featureSums    []float64 // item f is the sum of feature f over all compared compositions
}

// A featureMap maps a composition to its feature vector: the square root of the share of each ingredient, then
// of each group. With groups, the features of single ingredients are multiplied by
// [featureMap.ingredientFactor].
type featureMap struct {
	ingredients, total int
	groupOf            []int // item i is the index of the group of ingredient i, −1 for none
	groupCount         int
}

// count returns the number of features, which is the length of a feature vector.
func (f *featureMap) count() int { return f.ingredients + f.groupCount }

// ingredientFactor returns the factor of √share in the features of single ingredients. The factor is 1 without
// groups. With groups it is 0.35, because each ingredient then also counts in the feature of its group.
func (f *featureMap) ingredientFactor() float64 {
	if f.groupCount > 0 {
		return 0.35
	}
	return 1
}

// vector returns φ(x), the feature vector of the composition x.
func (f *featureMap) vector(x *mcmc.Composition) []float64 {
	v := make([]float64, f.count())
	for _, i := range x.Ingredients() {
		amount := float64(x.Amount(int(i)))
		v[i] = float64(f.ingredientFactor() * math.Sqrt(amount/float64(f.total)))
		if g := f.groupOf[i]; g >= 0 {
			v[f.ingredients+g] += amount
		}
	}
	for g := range f.groupCount {
		v[f.ingredients+g] = math.Sqrt(v[f.ingredients+g] / float64(f.total))
	}
	return v
}

// A Pair is an answer to one comparison: the person preferred the composition Better to the composition Worse.
type Pair struct{ Better, Worse *mcmc.Composition }

// MaxPairs is the greatest number of pairs that a model can learn from. The time to fit grows with the third power
// of the number of pairs.
const MaxPairs = 500

// priorSDCandidates are the candidates for the prior standard deviation of a weight.
var priorSDCandidates = []float64{3, 6, 12, 24}

// NewComparisons learns a preference model from pairs of compositions. n is the number of ingredients and total the
// units of each composition. group holds the index of the group of each ingredient, −1 for none; a nil group means
// that there are no groups.
func NewComparisons(n, total int, group []int, pairs []Pair) (*Comparisons, error) {
	f := featureMap{ingredients: n, total: total, groupOf: group}
	if group == nil {
		f.groupOf = make([]int, n)
		for i := range f.groupOf {
			f.groupOf[i] = -1
		}
	}
	for _, g := range f.groupOf {
		f.groupCount = max(f.groupCount, g+1)
	}
	if len(pairs) < 1 || len(pairs) > MaxPairs {
		return nil, fmt.Errorf("there are %d comparisons: there must be from 1 to %d", len(pairs), MaxPairs)
	}
	d, sums := newMatrix(len(pairs), f.count()), make([]float64, f.count())
	for k, p := range pairs {
		a, b := f.vector(p.Better), f.vector(p.Worse)
		for c := range a {
			d[k][c] = a[c] - b[c]
			sums[c] += a[c] + b[c]
		}
	}
	c, err := learnComparisons(f, d)
	if err != nil {
		return nil, err
	}
	c.featureSums = sums
	return c, nil
}

// learnComparisons fits the model with each candidate of the prior standard deviation, and returns the fit with
// the largest evidence. Row k of differences is φ(better) − φ(worse), the difference of the feature vectors of
// pair k.
func learnComparisons(f featureMap, differences [][]float64) (*Comparisons, error) {
	var best *Comparisons
	for _, scale := range priorSDCandidates {
		c := &Comparisons{features: f, priorSD: scale, pairDifferences: differences}
		if err := c.fit(); err != nil {
			return nil, err
		}
		if best == nil || c.logEvidence > best.logEvidence {
			best = c
		}
	}
	return best, nil
}

// probitScale is κ in Φ(t/κ), the probability that a person prefers a composition whose utility is greater by
// t. Φ(t/κ) differs from the logistic function of t by at most 0.0095. Integrals of Φ over a normal
// distribution have closed forms, unlike integrals of the logistic function.
const probitScale = 1.702

// Expectation propagation ends after maxSweeps sweeps over the pairs. It ends earlier if a sweep changes the
// precision of each pair by a fraction of less than sweepTolerance.
const (
	maxSweeps      = 60
	sweepTolerance = 1e-6
)

// fit runs expectation propagation to convergence and sets precision, precisionTimesMean, choleskyFactor and
// logEvidence. The likelihoods are nearly step functions, so the posterior is skewed and its mode lies at its
// edge. Laplace's method, which expands around the mode, would give probabilities far too close to ½ for new
// pairs.
func (c *Comparisons) fit() error {
	n := len(c.pairDifferences)
	k := newMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			k[i][j] = float64(float64(c.priorSD*c.priorSD) * portable.Dot(c.pairDifferences[i], c.pairDifferences[j]))
			k[j][i] = k[i][j]
		}
		k[i][i] += 1e-6 // keeps k positive definite if a person compared equal compositions
	}
	sigma := newMatrix(n, n) // covariance of the approximate posterior, whose mean is sigma·shift
	for i := range n {
		copy(sigma[i], k[i])
	}
	c.precision, c.precisionTimesMean = make([]float64, n), make([]float64, n)
	cavityAt, cavity, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for range maxSweeps {
		moved := 0.0
		for i := range n {
			v := sigma[i][i]
			cavity[i] = 1/v - c.precision[i]
			cavityAt[i] = (portable.Dot(sigma[i], c.precisionTimesMean)/v - c.precisionTimesMean[i]) / cavity[i]
			variance := 1 / cavity[i]
			root := math.Sqrt(probitScale*probitScale + variance)
			z[i] = cavityAt[i] / root
			ratio := portable.Exp(logNormalDensity(z[i]) - logNormalCDF(z[i]))
			at := cavityAt[i] + variance*ratio/root
			left := variance - variance*variance*ratio*(z[i]+ratio)/(root*root)
			step := max(1/left-cavity[i], 1e-12) - c.precision[i]
			c.precision[i] += step
			c.precisionTimesMean[i] = at/left - float64(cavityAt[i]*cavity[i])
			moved = max(moved, math.Abs(step)/(c.precision[i]+sweepTolerance))
			column, by := slices.Clone(sigma[i]), -step/(1+float64(step*v))
			for q, row := range sigma {
				portable.AddScaled(row, float64(by*column[q]), column)
			}
		}
		if err := c.recomputePosterior(k, sigma); err != nil {
			return err
		}
		if moved < sweepTolerance {
			break
		}
	}
	c.logEvidence = 0
	for i := range n {
		mean := portable.Dot(sigma[i], c.precisionTimesMean)
		c.logEvidence -= portable.Log(c.choleskyFactor.Row(i)[i])
		both := c.precision[i] + cavity[i]
		c.logEvidence += logNormalCDF(z[i]) + float64(portable.Log1p(c.precision[i]/cavity[i])/2) + float64(c.precisionTimesMean[i]*(mean-c.precisionTimesMean[i]/both)/2) +
			float64(cavityAt[i]*cavity[i]/both*(float64(c.precision[i]*cavityAt[i])-float64(2*c.precisionTimesMean[i]))/2)
	}
	return nil
}

// recomputePosterior recomputes choleskyFactor and the posterior covariance of the utility differences from the
// precisions and the prior covariance. It thus removes the rounding errors that rank-one updates of the
// posterior covariance accumulate.
func (c *Comparisons) recomputePosterior(priorCovariance, posteriorCovariance [][]float64) error {
	n := len(c.precision)
	b := portable.NewLower(n)
	for i := range n {
		row := b.Row(i)
		for j := range row {
			row[j] = float64(math.Sqrt(c.precision[i]) * priorCovariance[i][j] * math.Sqrt(c.precision[j]))
		}
		row[i]++
	}
	if !b.Factor() {
		return errors.New("the comparisons cannot be told apart in floating point")
	}
	c.choleskyFactor = b
	rows := c.solveFactor(priorCovariance)
	for i := range n {
		copy(posteriorCovariance[i], priorCovariance[i])
	}
	for _, row := range rows {
		for i, v := range row {
			portable.AddScaled(posteriorCovariance[i], -v, row)
		}
	}
	return nil
}

// solveFactor returns L⁻¹·√S·m for a matrix m with one row per pair. S is the diagonal matrix of the
// precisions, and L is the Cholesky factor of I + √S·K·√S; see [Comparisons].
func (c *Comparisons) solveFactor(m [][]float64) [][]float64 {
	rows := newMatrix(len(m), len(m[0]))
	for i, row := range rows {
		portable.AddScaled(row, math.Sqrt(c.precision[i]), m[i])
		factor := c.choleskyFactor.Row(i)
		for j, f := range factor[:i] {
			portable.AddScaled(row, -f, rows[j])
		}
		for q := range row {
			row[q] /= factor[i]
		}
	}
	return rows
}

// logNormalDensity returns the log of the standard normal density at z.
func logNormalDensity(z float64) float64 { return float64(-z*z/2) - float64(portable.Log(2*math.Pi)/2) }

// logNormalCDF returns log Φ(z), the log of the standard normal distribution function at z.
func logNormalCDF(z float64) float64 {
	if z < -30 { // below −38 erfc underflows to 0, so an asymptotic formula is used from −30 on
		return logNormalDensity(z) - portable.Log(-z)
	}
	return portable.Log(float64(portable.Erfc(-z/math.Sqrt2) / 2))
}

// posteriorWeights returns the posterior mean of the weights w. It also returns a matrix R with one row per
// pair, by which posterior variances are computed: Var wᵀz = priorSD²·|z|² − |R·z|² for every vector z of
// features.
func (c *Comparisons) posteriorWeights() (mean []float64, rows [][]float64) {
	m := len(c.pairDifferences[0])
	scaled := newMatrix(len(c.pairDifferences), m)
	for k, row := range scaled {
		portable.AddScaled(row, float64(c.priorSD*c.priorSD), c.pairDifferences[k])
	}
	rows = c.solveFactor(scaled)
	// The posterior mean of the pairs' utility differences is K·precisionTimesMean minus the part that the factor explains. The
	// loop below takes the same part off the weights.
	mean = make([]float64, m)
	for k, row := range scaled {
		portable.AddScaled(mean, c.precisionTimesMean[k], row)
	}
	d := newMatrix(len(c.pairDifferences), 1)
	for k, row := range c.pairDifferences {
		d[k][0] = portable.Dot(row, mean)
	}
	for k, of := range c.solveFactor(d) {
		portable.AddScaled(mean, -of[0], rows[k])
	}
	return mean, rows
}

// A PreferencePosterior is the posterior distribution of the weights of [Comparisons], in a form from which
// predictions are cheap.
type PreferencePosterior struct {
	features      featureMap
	priorSD       float64
	weightMeans   []float64
	reductionRows [][]float64 // matrix R of [Comparisons.posteriorWeights], by which variances are reduced
	meanFeatures  []float64   // mean feature vector of all compared compositions
}

// Posterior returns the posterior of the weights.
func (c *Comparisons) Posterior() *PreferencePosterior {
	mean, rows := c.posteriorWeights()
	usual := make([]float64, len(c.featureSums))
	for q, sum := range c.featureSums {
		usual[q] = sum / float64(2*len(rows))
	}
	return &PreferencePosterior{c.features, c.priorSD, mean, rows, usual}
}

// utilityDifference returns the posterior mean and standard deviation of u(x) − u(y), the difference of two
// utilities. The arguments x and y are feature vectors.
func (t *PreferencePosterior) utilityDifference(x, y []float64) (mean, sd float64) {
	z := make([]float64, len(x))
	square := 0.0
	for q := range z {
		z[q] = x[q] - y[q]
		mean += float64(t.weightMeans[q] * z[q])
		square += float64(z[q] * z[q])
	}
	variance := float64(t.priorSD * t.priorSD * square)
	for _, row := range t.reductionRows {
		dot := portable.Dot(row, z)
		variance -= float64(dot * dot)
	}
	return mean, math.Sqrt(max(0, variance))
}

// PreferenceProbability returns the predicted probability that a person prefers composition x to composition y,
// averaged over the posterior distribution of the weights.
func (t *PreferencePosterior) PreferenceProbability(x, y *mcmc.Composition) float64 {
	mean, sd := t.utilityDifference(t.features.vector(x), t.features.vector(y))
	return portable.Exp(logNormalCDF(mean / math.Sqrt(probitScale*probitScale+float64(sd*sd))))
}

// LogProbabilityOverMean returns the log of the probability that a person prefers composition x to an average
// composition. The features of the average composition are the mean features of all compared compositions.
func (t *PreferencePosterior) LogProbabilityOverMean(x *mcmc.Composition) float64 {
	mean, sd := t.utilityDifference(t.features.vector(x), t.meanFeatures)
	return logNormalCDF(mean / math.Sqrt(probitScale*probitScale+float64(sd*sd)))
}

// Information returns how many nats of information about the utilities the answer to "x or y?" is expected to
// give, for compositions x and y. The result is the entropy of the answer minus the expected entropy of the
// answer given the utilities (Houlsby et al. 2011, "Bayesian active learning for classification and preference
// learning").
func (t *PreferencePosterior) Information(x, y *mcmc.Composition) float64 {
	mean, sd := t.utilityDifference(t.features.vector(x), t.features.vector(y))
	chance := 0.0
	for k := -normalPointsPerSide; k <= normalPointsPerSide; k++ {
		z := float64(float64(k) * normalStep)
		chance += float64(float64(normalStep*portable.Exp(logNormalDensity(z))) * coinEntropy(portable.Exp(logNormalCDF((mean+float64(sd*z))/probitScale))))
	}
	return coinEntropy(portable.Exp(logNormalCDF(mean/math.Sqrt(probitScale*probitScale+float64(sd*sd))))) - chance
}

// coinEntropy returns the entropy, in nats, of a coin that shows heads with probability p.
func coinEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return float64(-p*portable.Log(p)) - float64((1-p)*portable.Log1p(-p))
}

// Means over the standard normal distribution are computed as weighted sums over equally spaced points with the
// distance normalStep. For a smooth function the error of the sum is about exp(−2π²/normalStep²).
const (
	normalStep          = 0.4
	normalPointsPerSide = 20 // number of points on each side of 0 at which the function is evaluated
)
