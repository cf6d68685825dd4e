package ehvi

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// A plainProcess is a Gaussian process as BoTorch's SingleTaskGP has it by default: a Matérn kernel of
// smoothness 5/2 on the shares, a length for each ingredient, standardised values, and lognormal
// priors of the lengths and of the noise. The most likely lengths and noise are taken.
type plainProcess struct {
	x         [][]float64
	y         []float64 // standardised
	mean, sd  float64   // of the values
	lengths   []float64
	noise     float64 // variance
	cholesky  mat.Cholesky
	corrected *mat.VecDense // (K + noise)⁻¹ y
}

// newPlainProcess fits a process to values.
func newPlainProcess(x [][]float64, values []float64) (*plainProcess, error) {
	g := &plainProcess{x: x, lengths: make([]float64, len(x[0]))}
	g.mean, g.sd = stat.MeanStdDev(values, nil)
	if g.sd == 0 {
		g.sd = 1
	}
	for _, v := range values {
		g.y = append(g.y, (v-g.mean)/g.sd)
	}
	// The priors' medians are exp(√2)·√d of a length and exp(−4) of the noise, and the standard
	// deviations of the logarithms √3 and 1. The climb begins at the modes.
	d := float64(len(g.lengths))
	centre := math.Sqrt2 + math.Log(d)/2
	at := make([]float64, len(g.lengths)+1) // logarithms
	for i := range at {
		at[i] = centre - 3
	}
	at[len(at)-1] = -5
	problem := optimize.Problem{
		Func: func(at []float64) float64 {
			loss, _ := g.loss(at, centre, false)
			return loss
		},
		Grad: func(grad, at []float64) {
			_, slope := g.loss(at, centre, true)
			copy(grad, slope)
		},
	}
	found, err := optimize.Minimize(problem, at, &optimize.Settings{MajorIterations: 60, GradientThreshold: 1e-3}, &optimize.LBFGS{})
	if found == nil {
		return nil, err
	}
	if loss, _ := g.loss(found.X, centre, false); math.IsInf(loss, 1) { // err alone says that the climb ended early
		return nil, fmt.Errorf("a process has no fit at %v: %w", found.X, err)
	}
	return g, nil
}

// loss sets lengths and noise from their logarithms and returns the negative logarithm of their
// density, and its slope if wanted.
func (g *plainProcess) loss(at []float64, centre float64, wanted bool) (loss float64, slope []float64) {
	n, d := len(g.y), len(g.lengths)
	for i := range g.lengths {
		g.lengths[i] = math.Exp(at[i])
	}
	g.noise = math.Exp(at[d]) + 1e-6
	k := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a {
			k.SetSym(a, b, g.kernel(g.x[a], g.x[b]))
		}
		k.SetSym(a, a, 1+g.noise)
	}
	slope = make([]float64, d+1)
	if !g.cholesky.Factorize(k) {
		return math.Inf(1), slope
	}
	g.corrected = mat.NewVecDense(n, nil)
	y := mat.NewVecDense(n, g.y)
	if err := g.cholesky.SolveVecTo(g.corrected, y); err != nil {
		return math.Inf(1), slope
	}
	loss = mat.Dot(y, g.corrected)/2 + g.cholesky.LogDet()/2
	for i := range d {
		t := at[i] - centre
		loss += t*t/6 + at[i] // the density of the length itself, not of its logarithm
		slope[i] = t/3 + 1
	}
	t := at[d] + 4
	loss += t*t/2 + at[d]
	slope[d] = t + 1
	if !wanted {
		return loss, slope
	}
	var inverse mat.SymDense
	if err := g.cholesky.InverseTo(&inverse); err != nil {
		return math.Inf(1), slope
	}
	for a := range n {
		for b := range a + 1 {
			w := inverse.At(a, b) - g.corrected.AtVec(a)*g.corrected.AtVec(b)
			if a == b {
				slope[d] += w / 2 * math.Exp(at[d])
				continue
			}
			r := math.Sqrt(5 * g.squared(g.x[a], g.x[b]))
			by := w * 5 / 3 * (1 + r) * math.Exp(-r)
			for i := range d {
				z := (g.x[a][i] - g.x[b][i]) / g.lengths[i]
				slope[i] += by * z * z
			}
		}
	}
	return loss, slope
}

// squared is the squared distance of two recipes in lengths.
func (g *plainProcess) squared(x, y []float64) (sum float64) {
	for i, v := range x {
		z := (v - y[i]) / g.lengths[i]
		sum += z * z
	}
	return sum
}

func (g *plainProcess) kernel(x, y []float64) float64 {
	r := math.Sqrt(5 * g.squared(x, y))
	return (1 + r + r*r/3) * math.Exp(-r)
}

// A posterior is what a process says of some recipes, and learns of them as they are chosen.
type posterior struct {
	process  *plainProcess
	x        [][]float64
	mean, sd []float64   // in the unit of the values; without the noise of a measurement
	root     [][]float64 // by recipe: L⁻¹k of the trials, and one more of each recipe that was believed
}

// predict returns the joint prediction of recipes.
func (g *plainProcess) predict(x [][]float64) *posterior {
	p := &posterior{process: g, x: x, mean: make([]float64, len(x)), sd: make([]float64, len(x)), root: make([][]float64, len(x))}
	var lower mat.TriDense
	g.cholesky.LTo(&lower)
	n := len(g.x)
	for k := range x {
		v := make([]float64, n)
		for a := range v {
			v[a] = g.kernel(x[k], g.x[a])
			p.mean[k] += v[a] * g.corrected.AtVec(a)
		}
		left := 1.0
		for a := range v {
			for b := range a {
				v[a] -= lower.At(a, b) * v[b]
			}
			v[a] /= lower.At(a, a)
			left -= v[a] * v[a]
		}
		p.root[k], p.mean[k], p.sd[k] = v, g.mean+g.sd*p.mean[k], g.sd*math.Sqrt(max(left, 1e-9))
	}
	return p
}

// believe takes the mean of a recipe for its measurement. The means of the others stay, and their
// standard deviations shrink.
func (p *posterior) believe(at int) {
	g := p.process
	left := g.noise + p.sd[at]*p.sd[at]/(g.sd*g.sd)
	chosen := p.root[at]
	for k := range p.root {
		c := g.kernel(p.x[k], p.x[at])
		for a, v := range chosen {
			c -= v * p.root[k][a]
		}
		c /= math.Sqrt(left)
		p.root[k] = append(p.root[k], c)
		s := p.sd[k] / g.sd
		p.sd[k] = g.sd * math.Sqrt(max(s*s-c*c, 1e-9))
	}
}
