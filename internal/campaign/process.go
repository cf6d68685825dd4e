package campaign

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A gaussianProcess is a Gaussian process on the roots of shares. Its kernel is Matérn with
// smoothness 5/2 and a length scale for each ingredient (Rasmussen and Williams 2006, chapters
// 2, 4 and 5). Length scales and noise maximise the posterior density on a grid, so that they
// are the same on every machine.
type gaussianProcess struct {
	total         int
	points        []point
	weight        []float64 // 1/length², by ingredient
	norm          []float64 // Σ weight·v² of each point
	noise         float64   // variance of a measurement, as a share of scale²
	ownNoise      []float64 // variance that each measurement states for itself, added to noise, as a share of scale²
	usualNoise    float64   // the same for a new measurement: the median of those stated
	scale         float64   // standard deviation of values
	mean          float64
	factor        portable.Lower // L of L·Lᵀ = K + noise·1
	alpha         []float64      // (K + noise·1)⁻¹ (y − mean)
	r2            float64
	intervalScale float64
}

// Limits of the size of a Gaussian process.
const (
	mostRows    = 600 // of more rows some are selected: see selectRows
	mostTuned   = 200 // rows from which length scales are chosen
	mostLengths = 24  // ingredients with a length scale of their own
	fewestUses  = 3   // recipes that must use an ingredient for its own length scale
)

// Priors of length scales and noise: lognormal, with these medians and standard deviations of
// the logarithm.
const (
	lengthMedian, lengthSpread = 0.7, 1.0
	noiseMedian, noiseSpread   = 0.05, 1.5
)

// newGaussianProcess fits a process to the values of recipes. sd has the standard deviations
// of the measurements: NaN where one is unknown, empty if all are. ingredients counts those that
// stand for conditions, too.
func newGaussianProcess(ctx context.Context, recipes []recipe, values, sd []float64, ingredients, total int) (*gaussianProcess, error) {
	g := &gaussianProcess{total: total, weight: make([]float64, ingredients), noise: noiseMedian}
	for i := range g.weight {
		g.weight[i] = 1 / (lengthMedian * lengthMedian)
	}
	rows := selectRows(values, mostRows)
	all := make([]point, len(recipes))
	for k, x := range recipes {
		all[k] = pointOf(x, total)
	}
	own, usual := noiseVariances(values, sd)
	g.usualNoise = usual
	tuned := selectRows(values, mostTuned)
	g.ownNoise = valuesAt(own, tuned)
	if err := g.tune(ctx, valuesAt(all, tuned), valuesAt(values, tuned)); err != nil {
		return nil, err
	}
	y := valuesAt(values, rows)
	g.points, g.ownNoise = valuesAt(all, rows), valuesAt(own, rows)
	g.mean = 0
	for _, v := range y {
		g.mean += v / float64(len(y))
	}
	for !g.fit(subtractMean(y, g.mean)) {
		g.noise = float64(g.noise * 2) // this ends: a matrix with a dominant diagonal has a factor
	}
	g.scoreLeaveOneOut(y)
	return g, nil
}

// maxOwnNoise bounds the variance that a measurement states, as a share of the variance of all
// values. Beyond it a measurement carries no information.
const maxOwnNoise = 1e6

// noiseVariances converts the standard deviations of measurements to variances, as shares of
// the variance of all values. Values without a standard deviation get usual, the median.
func noiseVariances(values, sd []float64) (own []float64, usual float64) {
	own = make([]float64, len(values))
	known := slices.DeleteFunc(slices.Sorted(slices.Values(sd)), math.IsNaN)
	if len(known) == 0 {
		return own, 0
	}
	mean, variance := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += float64((v-mean)*(v-mean)) / float64(len(values))
	}
	share := func(s float64) float64 { return min(float64(s*s)/variance, maxOwnNoise) }
	usual = share(known[len(known)/2])
	for k, s := range sd {
		if own[k] = usual; !math.IsNaN(s) {
			own[k] = share(s)
		}
	}
	return own, usual
}

func valuesAt[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for k, r := range at {
		out[k] = all[r]
	}
	return out
}

func subtractMean(y []float64, mean float64) []float64 {
	c := make([]float64, len(y))
	for k, v := range y {
		c[k] = v - mean
	}
	return c
}

// selectRows returns at most so many row indices, ascending. Half of them are the rows of the
// greatest values, because the search is for the best. The other half are spread evenly over
// the remaining values.
func selectRows(values []float64, most int) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	if len(order) <= most {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	top := most / 2
	rest := order[top:]
	out := slices.Clone(order[:top])
	for k := range most - top {
		out = append(out, rest[k*len(rest)/(most-top)])
	}
	slices.Sort(out)
	return out
}

// kernel returns the correlation of the values at two points. normX and normY are their Σ
// weight·v².
func (g *gaussianProcess) kernel(x, y point, normX, normY float64) float64 {
	dot := 0.0
	for a, b := 0, 0; a < len(x) && b < len(y); {
		switch {
		case x[a].i < y[b].i:
			a++
		case x[a].i > y[b].i:
			b++
		default:
			dot += float64(g.weight[x[a].i] * float64(x[a].v*y[b].v))
			a++
			b++
		}
	}
	r := math.Sqrt(5 * max(normX+normY-float64(2*dot), 0))
	return float64((1 + r + float64(r*r)/3) * portable.Exp(-r))
}

// normOf returns Σ weight·v² of a point.
func (g *gaussianProcess) normOf(x point) float64 {
	sum := 0.0
	for _, c := range x {
		sum += float64(g.weight[c.i] * float64(c.v*c.v))
	}
	return sum
}

// fit factors the covariance matrix of the points, solves it for centred values and sets the
// scale of greatest likelihood. It returns false if the matrix has no factor.
func (g *gaussianProcess) fit(y []float64) bool {
	n := len(y)
	g.norm = g.norm[:0]
	for _, x := range g.points {
		g.norm = append(g.norm, g.normOf(x))
	}
	if len(g.alpha) != n {
		g.factor = portable.NewLower(n)
	}
	for i := range n {
		row := g.factor.Row(i)
		for j := range i {
			row[j] = g.kernel(g.points[i], g.points[j], g.norm[i], g.norm[j])
		}
		row[i] = 1 + g.noise + g.ownNoise[i]
	}
	if !g.factor.Factor() {
		return false
	}
	g.alpha = slices.Clone(y)
	g.factor.Solve(g.alpha)
	sum := 0.0
	for i := range n {
		sum += float64(y[i] * g.alpha[i])
	}
	g.scale = math.Sqrt(max(sum/float64(n), 1e-12))
	return true
}

// logPosterior returns the log posterior density of length scales and noise, at the best
// scale.
func (g *gaussianProcess) logPosterior(tuned [][]int) float64 {
	d := float64(-float64(len(g.alpha))*portable.Log(g.scale)) - float64(g.factor.LogDeterminant()/2)
	for _, group := range tuned {
		t := float64((float64(-portable.Log(g.weight[group[0]])/2) - portable.Log(lengthMedian)) / lengthSpread)
		d -= float64(t * t / 2)
	}
	t := portable.Log(g.noise/noiseMedian) / noiseSpread
	return d - float64(t*t/2)
}

// tune chooses length scales and noise from some of the points.
func (g *gaussianProcess) tune(ctx context.Context, points []point, values []float64) error {
	g.points = points
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	y := subtractMean(values, mean)
	groups := g.groups()
	for !g.fit(y) {
		g.noise = float64(g.noise * 2)
	}
	a := coordinateAscent{process: g, values: y, groups: groups, best: g.logPosterior(groups)}
	return a.run(ctx)
}

// groups returns groups of ingredients that share a length scale. Each often used ingredient
// is a group of its own; all others form one group.
func (g *gaussianProcess) groups() [][]int {
	uses := make([]int, len(g.weight))
	for _, x := range g.points {
		for _, c := range x {
			uses[c.i]++
		}
	}
	order := make([]int, len(uses))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return uses[b] - uses[a] })
	var groups [][]int
	var rest []int
	for _, i := range order {
		if len(groups) < mostLengths && uses[i] >= fewestUses {
			groups = append(groups, []int{i})
		} else {
			rest = append(rest, i)
		}
	}
	if rest != nil {
		groups = append(groups, rest)
	}
	return groups
}

// scoreLeaveOneOut sets r2 and intervalScale from leave-one-out predictions.
func (g *gaussianProcess) scoreLeaveOneOut(y []float64) {
	n := len(y)
	off, all := 0.0, 0.0
	ratios := make([]float64, n)
	inverse := g.factor.Inverse()
	for i := range n {
		precision := inverse.Row(i)[i]
		e := g.alpha[i] / precision
		ratios[i] = math.Abs(e) / (g.scale / math.Sqrt(precision))
		off += float64(e * e)
		all += float64((y[i] - g.mean) * (y[i] - g.mean))
	}
	g.r2 = math.NaN()
	if n > 2 && all > 0 {
		// The mean of the other values misses a left-out value by n/(n−1) times as much.
		m := float64(n) / float64(n-1)
		g.r2 = 1 - off/(float64(all*float64(m*m)))
	}
	g.intervalScale = 1
	if n >= fewestJudged {
		slices.Sort(ratios)
		at := min(int(math.Ceil(coverage*float64(n+1)))-1, n-1)
		g.intervalScale = min(max(ratios[at]/coverageNormal, leastWiden), mostWiden)
	}
}

const (
	fewestJudged   = 10
	coverage       = 0.9
	coverageNormal = 1.6448536269514722 // 90 % of a normal law lie within this many standard deviations
	leastWiden     = 0.8
	mostWiden      = 3
)

// whitenedCovariance returns L⁻¹·k, where k is the covariance of a point with the rows, and
// the mean at the point.
func (g *gaussianProcess) whitenedCovariance(x point) (v []float64, mean float64) {
	norm := g.normOf(x)
	v = make([]float64, len(g.points))
	for i := range v {
		v[i] = g.kernel(x, g.points[i], norm, g.norm[i])
		mean += float64(v[i] * g.alpha[i])
	}
	g.factor.Forward(v)
	return v, g.mean + mean
}

// Predict implements [Surrogate].
func (g *gaussianProcess) Predict(x recipe) (mean, sd float64) {
	v, mean := g.whitenedCovariance(pointOf(x, g.total))
	left := 1.0
	for _, f := range v {
		left -= float64(f * f)
	}
	return mean, float64(g.scale * math.Sqrt(max(left, 1e-10)))
}

// Draws implements [Surrogate].
func (g *gaussianProcess) Draws(xs []recipe, count int, r *mcmc.Rand) [][]float64 {
	m := len(xs)
	points, norms := make([]point, m), make([]float64, m)
	half, means := make([][]float64, m), make([]float64, m)
	for a, x := range xs {
		points[a] = pointOf(x, g.total)
		norms[a] = g.normOf(points[a])
		half[a], means[a] = g.whitenedCovariance(points[a])
	}
	factor := make([][]float64, m)
	for a := range m {
		factor[a] = make([]float64, a+1)
		for b := 0; b <= a; b++ {
			v := g.kernel(points[a], points[b], norms[a], norms[b])
			if a == b {
				v = 1 + 1e-6
			}
			for t, f := range half[a] {
				v -= float64(f * half[b][t])
			}
			for t := range b {
				v -= float64(factor[a][t] * factor[b][t])
			}
			if a == b {
				factor[a][a] = math.Sqrt(max(v, 1e-9))
			} else {
				factor[a][b] = v / factor[b][b]
			}
		}
	}
	draws := make([][]float64, count)
	e := make([]float64, m)
	for s := range draws {
		for a := range e {
			e[a] = drawNormal(r)
		}
		draws[s] = make([]float64, m)
		for a := range m {
			v := 0.0
			for b, f := range factor[a] {
				v += float64(f * e[b])
			}
			draws[s][a] = means[a] + float64(g.scale*v)
		}
	}
	return draws
}

// Noise implements [Surrogate].
func (g *gaussianProcess) Noise() float64 { return float64(g.scale * math.Sqrt(g.noise+g.usualNoise)) }

// R2 implements [Surrogate].
func (g *gaussianProcess) R2() float64 { return g.r2 }

// IntervalScale implements [Surrogate].
func (g *gaussianProcess) IntervalScale() float64 { return g.intervalScale }
