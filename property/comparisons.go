package property

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// Comparisons is a preference model learnt from pairs of compositions: a person liked one of each
// pair better. The model prefers x to y with the probability
//
//	Φ((u(x) − u(y))/1.702),  u(x) = wᵀφ(x).
//
// This equals that of Bradley and Terry (1952), 1/(1+e^{u(y)−u(x)}), to 0.0095.
//
// u is linear in the roots of shares. φ has √(x_i/M) of each ingredient; with groups it has 0.35
// times that, and √ of the share of each group. Products of such features are Hellinger's affinity,
// the similarity that shortlists use. Hence |φ(x)| is the same for all x, and the prior is equally
// uncertain about every composition. A dash of bitters moves u by a quarter of the effect of half a
// glass, not by a hundredth. u has no interactions, because twenty answers cannot identify them.
//
// The weights have independent normal priors of one variance. That variance is the one of largest
// evidence among a few. Expectation propagation approximates the posterior as normal (Rasmussen and
// Williams 2006, algorithms 3.5 and 3.6, with differences of compositions for inputs). A weight
// without observations keeps its prior, so the probabilities show how uncertain the model is.
type Comparisons struct {
	features features
	scale    float64     // prior standard deviation of a weight
	d        [][]float64 // differences of feature vectors φ(better) − φ(worse), one row per pair
	// The next three fields are results of expectation propagation. precision and shift describe, for each pair, the
	// normal law that approximates its likelihood: its precision, and precision times mean. factor is the Cholesky
	// factor of I + √S·K·√S, where S is diagonal with the precisions and K is the prior covariance of the
	// pairs' utility differences.
	precision, shift []float64
	factor           portable.Lower
	evidence         float64
	sums             []float64 // sums of the features of all compared compositions
}

// features maps a composition to its feature vector: √share of each ingredient, then √share of each group.
type features struct {
	n, total int
	group    []int // group of each ingredient, −1 for none
	groups   int
}

// count returns the number of features.
func (f *features) count() int { return f.n + f.groups }

// ownFactor returns the factor on √share in the features of single ingredients. It is below 1 if there are groups,
// because an ingredient then also counts in its group's feature.
func (f *features) ownFactor() float64 {
	if f.groups > 0 {
		return 0.35
	}
	return 1
}

// vector returns the features φ(x) of a composition.
func (f *features) vector(x *mcmc.Composition) []float64 {
	v := make([]float64, f.count())
	for _, i := range x.Ingredients() {
		amount := float64(x.Amount(int(i)))
		v[i] = float64(f.ownFactor() * math.Sqrt(amount/float64(f.total)))
		if g := f.group[i]; g >= 0 {
			v[f.n+g] += amount
		}
	}
	for g := range f.groups {
		v[f.n+g] = math.Sqrt(v[f.n+g] / float64(f.total))
	}
	return v
}

// A Pair is an answer to one comparison: the person preferred Better to Worse.
type Pair struct{ Better, Worse *mcmc.Composition }

// MaxPairs is the greatest number of pairs a model accepts, because the time to fit grows with the third power of the
// number.
const MaxPairs = 500

// scales are the candidates for the prior standard deviation of a weight.
var scales = []float64{3, 6, 12, 24}

// NewComparisons learns from pairs of compositions of total units of n ingredients. group is the
// group of each ingredient, −1 for none; nil means that there are no groups.
func NewComparisons(n, total int, group []int, pairs []Pair) (*Comparisons, error) {
	f := features{n: n, total: total, group: group}
	if group == nil {
		f.group = make([]int, n)
		for i := range f.group {
			f.group[i] = -1
		}
	}
	for _, g := range f.group {
		f.groups = max(f.groups, g+1)
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
	c.sums = sums
	return c, nil
}

// learnComparisons fits the model at each candidate of the prior standard deviation and returns the fit with the
// largest evidence.
func learnComparisons(f features, d [][]float64) (*Comparisons, error) {
	var best *Comparisons
	for _, scale := range scales {
		c := &Comparisons{features: f, scale: scale, d: d}
		if err := c.fit(); err != nil {
			return nil, err
		}
		if best == nil || c.evidence > best.evidence {
			best = c
		}
	}
	return best, nil
}

// probitScale is κ in the likelihood Φ(t/κ) of an answer whose utility difference is t. Φ(t/κ) differs from the
// logistic function of t by at most 0.0095. A probit, unlike the logistic function, has closed-form integrals over a
// normal law.
const probitScale = 1.702

// Expectation propagation ends after maxSweeps sweeps over the pairs. It ends earlier if in one sweep no pair's
// precision changes by more than the relative sweepTolerance.
const (
	maxSweeps      = 60
	sweepTolerance = 1e-6
)

// fit runs expectation propagation to convergence and sets precision, shift, factor and evidence. The likelihoods are
// nearly steps, so the posterior is skewed and its mode lies at its edge. Laplace's method, which expands around the
// mode, would predict new pairs far too timidly.
func (c *Comparisons) fit() error {
	n := len(c.d)
	k := newMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			k[i][j] = float64(float64(c.scale*c.scale) * portable.Dot(c.d[i], c.d[j]))
			k[j][i] = k[i][j]
		}
		k[i][i] += 1e-6 // keeps k positive definite if a person compared equal compositions
	}
	sigma := newMatrix(n, n) // covariance of the approximate posterior, whose mean is sigma·shift
	for i := range n {
		copy(sigma[i], k[i])
	}
	c.precision, c.shift = make([]float64, n), make([]float64, n)
	cavityAt, cavity, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for range maxSweeps {
		moved := 0.0
		for i := range n {
			v := sigma[i][i]
			cavity[i] = 1/v - c.precision[i]
			cavityAt[i] = (portable.Dot(sigma[i], c.shift)/v - c.shift[i]) / cavity[i]
			variance := 1 / cavity[i]
			root := math.Sqrt(probitScale*probitScale + variance)
			z[i] = cavityAt[i] / root
			ratio := portable.Exp(logDensity(z[i]) - logNormal(z[i]))
			at := cavityAt[i] + variance*ratio/root
			left := variance - variance*variance*ratio*(z[i]+ratio)/(root*root)
			step := max(1/left-cavity[i], 1e-12) - c.precision[i]
			c.precision[i] += step
			c.shift[i] = at/left - float64(cavityAt[i]*cavity[i])
			moved = max(moved, math.Abs(step)/(c.precision[i]+sweepTolerance))
			column, by := slices.Clone(sigma[i]), -step/(1+float64(step*v))
			for q, row := range sigma {
				portable.AddScaled(row, float64(by*column[q]), column)
			}
		}
		if err := c.refactor(k, sigma); err != nil {
			return err
		}
		if moved < sweepTolerance {
			break
		}
	}
	c.evidence = 0
	for i := range n {
		mean := portable.Dot(sigma[i], c.shift)
		c.evidence -= portable.Log(c.factor.Row(i)[i])
		both := c.precision[i] + cavity[i]
		c.evidence += logNormal(z[i]) + float64(portable.Log1p(c.precision[i]/cavity[i])/2) + float64(c.shift[i]*(mean-c.shift[i]/both)/2) +
			float64(cavityAt[i]*cavity[i]/both*(float64(c.precision[i]*cavityAt[i])-float64(2*c.shift[i]))/2)
	}
	return nil
}

// refactor recomputes the factor and the covariance sigma from precision and shift. It corrects the rounding errors
// that rank-one updates of sigma accumulate.
func (c *Comparisons) refactor(k, sigma [][]float64) error {
	n := len(c.precision)
	b := portable.NewLower(n)
	for i := range n {
		row := b.Row(i)
		for j := range row {
			row[j] = float64(math.Sqrt(c.precision[i]) * k[i][j] * math.Sqrt(c.precision[j]))
		}
		row[i]++
	}
	if !b.Factor() {
		return errors.New("the comparisons cannot be told apart in floating point")
	}
	c.factor = b
	rows := c.solveFactor(k)
	for i := range n {
		copy(sigma[i], k[i])
	}
	for _, row := range rows {
		for i, v := range row {
			portable.AddScaled(sigma[i], -v, row)
		}
	}
	return nil
}

// solveFactor returns L⁻¹·S·m for a matrix m with one row per pair. S is the diagonal matrix of the roots of the
// precisions, and L is c.factor.
func (c *Comparisons) solveFactor(m [][]float64) [][]float64 {
	rows := newMatrix(len(m), len(m[0]))
	for i, row := range rows {
		portable.AddScaled(row, math.Sqrt(c.precision[i]), m[i])
		factor := c.factor.Row(i)
		for j, f := range factor[:i] {
			portable.AddScaled(row, -f, rows[j])
		}
		for q := range row {
			row[q] /= factor[i]
		}
	}
	return rows
}

// logDensity is the log of the standard normal density, and logNormal that of its
// distribution function.
func logDensity(z float64) float64 { return float64(-z*z/2) - float64(portable.Log(2*math.Pi)/2) }

func logNormal(z float64) float64 {
	if z < -30 { // below −38 erfc underflows to 0, so an asymptotic formula is used from −30 on
		return logDensity(z) - portable.Log(-z)
	}
	return portable.Log(float64(portable.Erfc(-z/math.Sqrt2) / 2))
}

// weights returns the posterior mean of the weights w. It also returns a matrix R, one row per pair, with Var wᵀz =
// scale²·|z|² − |R·z|² for every feature vector z.
func (c *Comparisons) weights() (mean []float64, rows [][]float64) {
	m := len(c.d[0])
	scaled := newMatrix(len(c.d), m)
	for k, row := range scaled {
		portable.AddScaled(row, float64(c.scale*c.scale), c.d[k])
	}
	rows = c.solveFactor(scaled)
	// The posterior mean of the pairs' utility differences is K·shift less the part that the factor explains. The
	// loop below takes the same part off the weights.
	mean = make([]float64, m)
	for k, row := range scaled {
		portable.AddScaled(mean, c.shift[k], row)
	}
	d := newMatrix(len(c.d), 1)
	for k, row := range c.d {
		d[k][0] = portable.Dot(row, mean)
	}
	for k, of := range c.solveFactor(d) {
		portable.AddScaled(mean, -of[0], rows[k])
	}
	return mean, rows
}

// A PreferencePosterior is the posterior of the weights of [Comparisons], in the form in which predictions are cheap.
type PreferencePosterior struct {
	features     features
	scale        float64
	mean         []float64
	rows         [][]float64
	meanFeatures []float64 // mean feature vector of all compared compositions
}

// Posterior returns the posterior of the weights.
func (c *Comparisons) Posterior() *PreferencePosterior {
	mean, rows := c.weights()
	usual := make([]float64, len(c.sums))
	for q, sum := range c.sums {
		usual[q] = sum / float64(2*len(rows))
	}
	return &PreferencePosterior{c.features, c.scale, mean, rows, usual}
}

// difference returns the posterior mean and standard deviation of u(x) − u(y), the difference of two utilities. x
// and y are feature vectors.
func (t *PreferencePosterior) difference(x, y []float64) (mean, sd float64) {
	z := make([]float64, len(x))
	square := 0.0
	for q := range z {
		z[q] = x[q] - y[q]
		mean += float64(t.mean[q] * z[q])
		square += float64(z[q] * z[q])
	}
	variance := float64(t.scale * t.scale * square)
	for _, row := range t.rows {
		dot := portable.Dot(row, z)
		variance -= float64(dot * dot)
	}
	return mean, math.Sqrt(max(0, variance))
}

// PreferenceProbability returns the posterior predictive probability that a person prefers x to y.
func (t *PreferencePosterior) PreferenceProbability(x, y *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.vector(x), t.features.vector(y))
	return portable.Exp(logNormal(mean / math.Sqrt(probitScale*probitScale+float64(sd*sd))))
}

// LogPrefersToMean returns the log of the probability that a person prefers x to a hypothetical composition with the
// mean features of all compared ones.
func (t *PreferencePosterior) LogPrefersToMean(x *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.vector(x), t.meanFeatures)
	return logNormal(mean / math.Sqrt(probitScale*probitScale+float64(sd*sd)))
}

// Information returns how many nats about the preferences the answer to "x or y?" is expected to give. It is the
// entropy of the answer less the expected entropy given the utilities (Houlsby et al. 2011, "Bayesian active learning
// for classification and preference learning").
func (t *PreferencePosterior) Information(x, y *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.vector(x), t.features.vector(y))
	chance := 0.0
	for k := -normalPoints; k <= normalPoints; k++ {
		z := float64(float64(k) * normalStep)
		chance += float64(float64(normalStep*portable.Exp(logDensity(z))) * coinEntropy(portable.Exp(logNormal((mean+float64(sd*z))/probitScale))))
	}
	return coinEntropy(portable.Exp(logNormal(mean/math.Sqrt(probitScale*probitScale+float64(sd*sd))))) - chance
}

// coinEntropy returns the entropy of a coin that shows heads with probability p, in nats.
func coinEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return float64(-p*portable.Log(p)) - float64((1-p)*portable.Log1p(-p))
}

// normalStep is the spacing of the points at which a mean over the standard normal law is summed. For a smooth
// function the error of the sum falls with the step as exp(−2π²/step²).
const (
	normalStep   = 0.4
	normalPoints = 20 // number of points on each side of 0
)
