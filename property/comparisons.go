package property

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"kir/internal/portable"
	"kir/mcmc"
)

// Comparisons are what is learnt from pairs of compositions of which one was liked
// better: a Bradley–Terry model (1952), in which x is preferred to y with the
// probability
//
//	σ(u(x) − u(y)),  u(x) = wᵀφ(x),  σ(t) = 1/(1+e^{−t}),
//
// linear in the roots of shares: φ has √(x_i/M) of each ingredient and, with groups,
// √ of the share of each group. Products of such features are Hellinger's affinity,
// the measure of likeness that shortlists use, so that |φ(x)| is the same for all x,
// and a prior of equal variances says of no composition that more is known of it. A
// dash of bitters moves u by a quarter of what half a glass does, not by a
// hundredth. Linear, for twenty answers do not tell of interactions.
//
// The weights have independent normal priors of one variance, that of largest
// evidence among a few, and their posterior is taken as normal (expectation propagation;
// Rasmussen and Williams 2006, algorithms 3.5 and 3.6, with differences of compositions
// for inputs). What is not observed keeps its prior, so that a share says how little is
// known.
type Comparisons struct {
	features features
	scale    float64    // standard deviation of a weight a priori
	d        *mat.Dense // φ(better) − φ(worse), a row a pair
	// Of each answer, the precision of the normal law that stands for it, and that
	// times its mean; then the factor of I + √S·K·√S.
	precision, shift []float64
	factor           mat.Cholesky
	evidence         float64
	sums             []float64 // of the features of all that were compared
}

// features are what a composition is told by.
type features struct {
	n, total int
	group    []int // of each ingredient, −1 for none
	groups   int
}

// count returns how many features there are.
func (f *features) count() int { return f.n + f.groups }

// own is how much an ingredient's own weight counts beside its group's.
func (f *features) own() float64 {
	if f.groups > 0 {
		return 0.35
	}
	return 1
}

// of returns the features of a composition.
func (f *features) of(x *mcmc.Composition) []float64 {
	v := make([]float64, f.count())
	for _, i := range x.Ingredients() {
		amount := float64(x.Amount(int(i)))
		v[i] = float64(f.own() * math.Sqrt(amount/float64(f.total)))
		if g := f.group[i]; g >= 0 {
			v[f.n+g] += amount
		}
	}
	for g := range f.groups {
		v[f.n+g] = math.Sqrt(v[f.n+g] / float64(f.total))
	}
	return v
}

// A Pair is two compositions, the first of which was liked better.
type Pair struct{ Better, Worse *mcmc.Composition }

// MaxPairs bounds how many comparisons are learnt from: the time grows with the
// third power.
const MaxPairs = 500

// scales are the standard deviations of a weight that are tried.
var scales = []float64{3, 6, 12, 24}

// NewComparisons learns from pairs of compositions of total units of n ingredients.
// group is the group of each ingredient, −1 for none; nil: there are no groups.
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
	d, sums := mat.NewDense(len(pairs), f.count(), nil), make([]float64, f.count())
	for k, p := range pairs {
		a, b := f.of(p.Better), f.of(p.Worse)
		for c := range a {
			d.Set(k, c, a[c]-b[c])
			sums[c] += a[c] + b[c]
		}
	}
	c, err := learn(f, d)
	if err != nil {
		return nil, err
	}
	c.sums = sums
	return c, nil
}

// learn takes the scale of largest evidence.
func learn(f features, d *mat.Dense) (*Comparisons, error) {
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

// curve is κ of Φ(t/κ), which is σ(t) to 0.0095 everywhere: with it all integrals
// over a normal law are known in closed form.
const curve = 1.702

// mostSweeps and settled bound how long expectation propagation goes on: until no
// answer's precision moves by more than that share.
const (
	mostSweeps = 60
	settled    = 1e-6
)

// fit finds the normal law that expectation propagation settles at. The answers
// are nearly steps, so that the posterior is lopsided: its mode, where Laplace's
// method looks, lies at its edge, and what that says of a new pair is far too timid.
func (c *Comparisons) fit() error {
	n, _ := c.d.Dims()
	var k mat.Dense
	k.Mul(c.d, c.d.T())
	k.Scale(float64(c.scale*c.scale), &k)
	for i := range n {
		k.Set(i, i, k.At(i, i)+1e-6) // of equals, too, an answer may be given
	}
	sigma := mat.DenseCopyOf(&k) // of the approximation, and its mean
	mean := mat.NewVecDense(n, nil)
	c.precision, c.shift = make([]float64, n), make([]float64, n)
	cavityAt, cavity, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for range mostSweeps {
		moved := 0.0
		for i := range n {
			v := sigma.At(i, i)
			cavity[i] = 1/v - c.precision[i]
			cavityAt[i] = (mean.AtVec(i)/v - c.shift[i]) / cavity[i]
			variance := 1 / cavity[i]
			root := math.Sqrt(curve*curve + variance)
			z[i] = cavityAt[i] / root
			ratio := portable.Exp(logDensity(z[i]) - logNormal(z[i]))
			at := cavityAt[i] + variance*ratio/root
			left := variance - variance*variance*ratio*(z[i]+ratio)/(root*root)
			step := max(1/left-cavity[i], 1e-12) - c.precision[i]
			c.precision[i] += step
			c.shift[i] = at/left - float64(cavityAt[i]*cavity[i])
			moved = max(moved, math.Abs(step)/(c.precision[i]+settled))
			column := mat.VecDenseCopyOf(sigma.ColView(i))
			sigma.RankOne(sigma, -step/(1+float64(step*v)), column, column)
			mean.MulVec(sigma, mat.NewVecDense(n, c.shift))
		}
		if err := c.refactor(&k, sigma, mean); err != nil {
			return err
		}
		if moved < settled {
			break
		}
	}
	c.evidence = -c.factor.LogDet() / 2
	for i := range n {
		both := c.precision[i] + cavity[i]
		c.evidence += logNormal(z[i]) + portable.Log1p(c.precision[i]/cavity[i])/2 + c.shift[i]*(mean.AtVec(i)-c.shift[i]/both)/2 +
			cavityAt[i]*cavity[i]/both*(float64(c.precision[i]*cavityAt[i])-float64(2*c.shift[i]))/2
	}
	return nil
}

// refactor computes the law anew from the answers' precisions and shifts, as
// updates of rank one lose digits.
func (c *Comparisons) refactor(k, sigma *mat.Dense, mean *mat.VecDense) error {
	n := len(c.precision)
	b := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := float64(math.Sqrt(c.precision[i]) * k.At(i, j) * math.Sqrt(c.precision[j]))
			if i == j {
				v++
			}
			b.SetSym(i, j, v)
		}
	}
	if !c.factor.Factorize(b) {
		return errors.New("the comparisons cannot be told apart in floating point")
	}
	rows := c.solved(k)
	sigma.Mul(rows.T(), rows)
	sigma.Sub(k, sigma)
	mean.MulVec(sigma, mat.NewVecDense(n, c.shift))
	return nil
}

// solved returns L⁻¹·S·m of a matrix m with a row an answer, S the roots of the
// precisions and L the factor.
func (c *Comparisons) solved(m mat.Matrix) *mat.Dense {
	rows := mat.DenseCopyOf(m)
	for i, p := range c.precision {
		row := rows.RawRowView(i)
		for j := range row {
			row[j] = float64(row[j] * math.Sqrt(p))
		}
	}
	var l mat.TriDense
	c.factor.LTo(&l)
	if err := rows.Solve(&l, rows); err != nil {
		// I + … has no eigenvalue below 1.
		panic("property: the factor of comparisons is singular: " + err.Error())
	}
	return rows
}

// logDensity is the log of the standard normal density, and logNormal that of its
// distribution function.
func logDensity(z float64) float64 { return -z*z/2 - portable.Log(2*math.Pi)/2 }

func logNormal(z float64) float64 {
	if z < -30 { // erfc is 0 from −38 on
		return logDensity(z) - portable.Log(-z)
	}
	return portable.Log(portable.Erfc(-z/math.Sqrt2) / 2)
}

// weights returns the mean of w, and rows R with Var wᵀz = scale²·|z|² − |R·z|².
func (c *Comparisons) weights() (mean []float64, rows *mat.Dense) {
	_, m := c.d.Dims()
	scaled := mat.DenseCopyOf(c.d)
	scaled.Scale(float64(c.scale*c.scale), scaled)
	rows = c.solved(scaled)
	// The mean of what the answers are of is K·shift less its part along rows.
	var all, d, along mat.VecDense
	shift := mat.NewVecDense(len(c.shift), c.shift)
	all.MulVec(scaled.T(), shift)
	d.MulVec(c.d, &all)
	var of mat.Dense
	of.CloneFrom(c.solved(&d))
	along.MulVec(rows.T(), of.ColView(0))
	mean = make([]float64, m)
	for q := range mean {
		mean[q] = all.AtVec(q) - along.AtVec(q)
	}
	return mean, rows
}

// Taste is a posterior in the form that tells of many compositions.
type Taste struct {
	features features
	scale    float64
	mean     []float64
	rows     *mat.Dense
	usual    []float64 // the mean features of what was compared
}

// Taste returns the posterior.
func (c *Comparisons) Taste() *Taste {
	mean, rows := c.weights()
	n, m := rows.Dims()
	usual := make([]float64, m)
	for q, sum := range c.sums {
		usual[q] = sum / float64(2*n)
	}
	return &Taste{c.features, c.scale, mean, rows, usual}
}

// LogUsual returns the log of the probability with which x is liked better than what
// has the mean features of all that were compared.
func (t *Taste) LogUsual(x *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.of(x), t.usual)
	return logNormal(mean / math.Sqrt(curve*curve+float64(sd*sd)))
}

// Scale is the standard deviation of a weight a priori that was chosen.
func (c *Comparisons) Scale() float64 { return c.scale }

// difference returns the mean and the standard deviation of u(x) − u(y).
func (t *Taste) difference(x, y []float64) (mean, sd float64) {
	n, m := t.rows.Dims()
	z := make([]float64, m)
	square := 0.0
	for q := range z {
		z[q] = x[q] - y[q]
		mean += float64(t.mean[q] * z[q])
		square += float64(z[q] * z[q])
	}
	variance := float64(t.scale * t.scale * square)
	for k := range n {
		dot := 0.0
		row := t.rows.RawRowView(k)
		for q, v := range z {
			dot += float64(row[q] * v)
		}
		variance -= float64(dot * dot)
	}
	return mean, math.Sqrt(max(0, variance))
}

// Prefers returns the probability with which x is liked better than y, integrated
// over the posterior.
func (t *Taste) Prefers(x, y *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.of(x), t.features.of(y))
	return portable.Exp(logNormal(mean / math.Sqrt(curve*curve+float64(sd*sd))))
}

// Information returns what the answer to "x or y" is expected to tell of the taste,
// in nats: the entropy of the answer less what of it is chance (Houlsby et al. 2011,
// "Bayesian active learning for classification and preference learning").
func (t *Taste) Information(x, y *mcmc.Composition) float64 {
	mean, sd := t.difference(t.features.of(x), t.features.of(y))
	chance := 0.0
	for k, z := range hermiteAt {
		chance += float64(hermiteWeight[k] * entropy(portable.Exp(logNormal((mean+float64(sd*z))/curve))))
	}
	return entropy(portable.Exp(logNormal(mean/math.Sqrt(curve*curve+float64(sd*sd))))) - chance
}

// entropy is that of a coin.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return float64(-p*portable.Log(p)) - float64((1-p)*portable.Log1p(-p))
}

// standardNormal returns points and weights of the Gauss–Hermite rule for the
// standard normal law.
func standardNormal(points int) (at, weight []float64) {
	at, weight = make([]float64, points), make([]float64, points)
	quad.Hermite{}.FixedLocations(at, weight, math.Inf(-1), math.Inf(1))
	for k := range at {
		weight[k] /= math.Sqrt(math.Pi)
		at[k] = float64(at[k] * math.Sqrt2)
	}
	return at, weight
}

var hermiteAt, hermiteWeight = standardNormal(40)
