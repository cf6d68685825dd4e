package campaign

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A gaussianProcess is a Gaussian process on the square roots of the ingredients' shares. The
// kernel is Matérn with smoothness 5/2 and one length scale per ingredient (Rasmussen and Williams
// 2006, chapters 2, 4 and 5). Length scales and noise maximise the posterior density on a grid, so
// results are the same on every machine.
type gaussianProcess struct {
	total                int                      // number of units that the amounts of a recipe sum to
	points               []point                  // training points, one per row
	inverseSquareLengths []float64                // by variable: 1/length², where length is the length scale
	squaredNorms         []float64                // by row: the weighted squared norm of the training point; see squaredNorm
	noiseRatio           float64                  // estimated variance of a measurement, divided by scale²
	statedNoiseRatios    []float64                // by row: the variance that the measurement itself states, divided by scale²; added to noiseRatio
	medianNoiseRatio     float64                  // median of all stated variances, divided by scale²; used for a new measurement
	scale                float64                  // prior standard deviation of the values
	mean                 float64                  // prior mean of the values
	cholesky             portable.LowerTriangular // Cholesky factor L with L·Lᵀ = K + noise·1, where K is the kernel matrix of the training points
	alpha                []float64                // the vector (K + noise·1)⁻¹ (y − mean), where K is the kernel matrix and y are the training values
	r2                   float64                  // share of the variance that leave-one-out predictions explain; NaN if not computable
	intervalScale        float64                  // factor that widens prediction intervals to the right coverage
}

// These limits bound the computing time of a Gaussian process.
const (
	maxRows             = 600 // maximum number of training rows; see selectRows
	maxTuningRows       = 200 // maximum number of rows from which length scales are chosen
	maxOwnLengths       = 24  // maximum number of variables that have a length scale of their own
	minUsesForOwnLength = 3   // a variable has its own length scale if at least this many training recipes use the variable
)

// The prior distributions of the length scales and of the noise are lognormal. The constants are
// their medians and the standard deviations of the logarithm.
const (
	lengthMedian, lengthLogSD = 0.7, 1.0
	noiseMedian, noiseLogSD   = 0.05, 1.5
)

// newGaussianProcess fits a Gaussian process to the values of recipes. The parameter sd has the
// standard deviation of each measurement, or NaN if unknown. An empty sd means that all are
// unknown. The number ingredients includes the additional ingredients that encode conditions.
func newGaussianProcess(ctx context.Context, recipes []recipe, values, sd []float64, ingredients, total int) (*gaussianProcess, error) {
	g := &gaussianProcess{total: total, inverseSquareLengths: make([]float64, ingredients), noiseRatio: noiseMedian}
	for i := range g.inverseSquareLengths {
		g.inverseSquareLengths[i] = 1 / (lengthMedian * lengthMedian)
	}
	rows := selectRows(values, maxRows)
	all := make([]point, len(recipes))
	for k, x := range recipes {
		all[k] = newPoint(x, total)
	}
	own, usual := noiseVariances(values, sd)
	g.medianNoiseRatio = usual
	tuned := selectRows(values, maxTuningRows)
	g.statedNoiseRatios = valuesAt(own, tuned)
	if err := g.tune(ctx, valuesAt(all, tuned), valuesAt(values, tuned)); err != nil {
		return nil, err
	}
	y := valuesAt(values, rows)
	g.points, g.statedNoiseRatios = valuesAt(all, rows), valuesAt(own, rows)
	g.mean = 0
	for _, v := range y {
		g.mean += v / float64(len(y))
	}
	for !g.fit(subtractMean(y, g.mean)) {
		g.noiseRatio = float64(g.noiseRatio * 2) // this ends: a matrix with a dominant diagonal has a factor
	}
	g.scoreLeaveOneOut(y)
	return g, nil
}

// maxStatedNoiseRatio bounds the variance that a measurement states, relative to the variance of
// all values. A measurement with a greater variance carries no information.
const maxStatedNoiseRatio = 1e6

// noiseVariances converts standard deviations of measurements to variances and divides them by the
// variance of all values. A measurement without a standard deviation gets the median variance,
// which is also the result usual.
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
	share := func(s float64) float64 { return min(float64(s*s)/variance, maxStatedNoiseRatio) }
	usual = share(known[len(known)/2])
	for k, s := range sd {
		if own[k] = usual; !math.IsNaN(s) {
			own[k] = share(s)
		}
	}
	return own, usual
}

// valuesAt returns the elements of all at the given indices.
func valuesAt[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for k, r := range at {
		out[k] = all[r]
	}
	return out
}

// subtractMean returns the values y minus the given mean.
func subtractMean(y []float64, mean float64) []float64 {
	c := make([]float64, len(y))
	for k, v := range y {
		c[k] = v - mean
	}
	return c
}

// selectRows returns the indices of at most limit rows, ascending. Half of the rows have the
// greatest values, because the campaign searches for the best recipe. The other half are spread
// evenly over the remaining values.
func selectRows(values []float64, limit int) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	if len(order) <= limit {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	top := limit / 2
	rest := order[top:]
	out := slices.Clone(order[:top])
	for k := range limit - top {
		out = append(out, rest[k*len(rest)/(limit-top)])
	}
	slices.Sort(out)
	return out
}

// kernel returns the prior correlation of the values at points x and y. The parameters normX and
// normY are the squared norms of the points; see squaredNorm.
func (g *gaussianProcess) kernel(x, y point, normX, normY float64) float64 {
	dot := 0.0
	for a, b := 0, 0; a < len(x) && b < len(y); {
		switch {
		case x[a].variable < y[b].variable:
			a++
		case x[a].variable > y[b].variable:
			b++
		default:
			dot += float64(g.inverseSquareLengths[x[a].variable] * float64(x[a].value*y[b].value))
			a++
			b++
		}
	}
	r := math.Sqrt(5 * max(normX+normY-float64(2*dot), 0))
	return float64((1 + r + float64(r*r)/3) * portable.Exp(-r))
}

// squaredNorm returns Σ v²/length² over the coordinates v of a point, where length is the length
// scale of the coordinate.
func (g *gaussianProcess) squaredNorm(x point) float64 {
	sum := 0.0
	for _, c := range x {
		sum += float64(g.inverseSquareLengths[c.variable] * float64(c.value*c.value))
	}
	return sum
}

// fit factors the covariance matrix of the training points, computes alpha from the centred values
// y and sets the scale of greatest likelihood. It returns false if the matrix has no Cholesky
// factor.
func (g *gaussianProcess) fit(y []float64) bool {
	n := len(y)
	g.squaredNorms = g.squaredNorms[:0]
	for _, x := range g.points {
		g.squaredNorms = append(g.squaredNorms, g.squaredNorm(x))
	}
	if len(g.alpha) != n {
		g.cholesky = portable.NewLower(n)
	}
	for i := range n {
		row := g.cholesky.Row(i)
		for j := range i {
			row[j] = g.kernel(g.points[i], g.points[j], g.squaredNorms[i], g.squaredNorms[j])
		}
		row[i] = 1 + g.noiseRatio + g.statedNoiseRatios[i]
	}
	if !g.cholesky.Factor() {
		return false
	}
	g.alpha = slices.Clone(y)
	g.cholesky.Solve(g.alpha)
	sum := 0.0
	for i := range n {
		sum += float64(y[i] * g.alpha[i])
	}
	g.scale = math.Sqrt(max(sum/float64(n), 1e-12))
	return true
}

// logPosterior returns the log posterior density of the length scales and the noise. The parameter
// tuned has the groups of variables that share a length scale. The scale is the most likely scale.
func (g *gaussianProcess) logPosterior(tuned [][]int) float64 {
	d := float64(-float64(len(g.alpha))*portable.Log(g.scale)) - float64(g.cholesky.LogDeterminant()/2)
	for _, group := range tuned {
		t := float64((float64(-portable.Log(g.inverseSquareLengths[group[0]])/2) - portable.Log(lengthMedian)) / lengthLogSD)
		d -= float64(t * t / 2)
	}
	t := portable.Log(g.noiseRatio/noiseMedian) / noiseLogSD
	return d - float64(t*t/2)
}

// tune chooses the length scales and the noise. The given points and values are a selection of the
// training data.
func (g *gaussianProcess) tune(ctx context.Context, points []point, values []float64) error {
	g.points = points
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	y := subtractMean(values, mean)
	groups := g.lengthScaleGroups()
	for !g.fit(y) {
		g.noiseRatio = float64(g.noiseRatio * 2)
	}
	a := coordinateAscent{process: g, centredValues: y, lengthScaleGroups: groups, bestLogDensity: g.logPosterior(groups)}
	return a.run(ctx)
}

// lengthScaleGroups divides the variables into groups that share a length scale. Each often used
// variable forms its own group, and all other variables form one group.
func (g *gaussianProcess) lengthScaleGroups() [][]int {
	uses := make([]int, len(g.inverseSquareLengths))
	for _, x := range g.points {
		for _, c := range x {
			uses[c.variable]++
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
		if len(groups) < maxOwnLengths && uses[i] >= minUsesForOwnLength {
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

// scoreLeaveOneOut sets r2 and intervalScale from leave-one-out predictions of the values y.
func (g *gaussianProcess) scoreLeaveOneOut(y []float64) {
	n := len(y)
	off, all := 0.0, 0.0
	ratios := make([]float64, n)
	inverse := g.cholesky.Inverse()
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
	if n >= minRowsToCalibrate {
		slices.Sort(ratios)
		at := min(int(math.Ceil(intervalCoverage*float64(n+1)))-1, n-1)
		g.intervalScale = min(max(ratios[at]/coverageNormalQuantile, minIntervalScale), maxIntervalScale)
	}
}

const (
	minRowsToCalibrate     = 10                 // with fewer rows, intervalScale is 1
	intervalCoverage       = 0.9                // probability that a prediction interval contains the measurement
	coverageNormalQuantile = 1.6448536269514722 // 90 % of a normal distribution lie within this many standard deviations of the mean
	minIntervalScale       = 0.8                // lower bound of intervalScale
	maxIntervalScale       = 3                  // upper bound of intervalScale
)

// whitenedCovariance returns the vector v = L⁻¹·k, where k is the covariance of point x with the
// training points. It also returns the predicted mean at x.
func (g *gaussianProcess) whitenedCovariance(x point) (v []float64, mean float64) {
	norm := g.squaredNorm(x)
	v = make([]float64, len(g.points))
	for i := range v {
		v[i] = g.kernel(x, g.points[i], norm, g.squaredNorms[i])
		mean += float64(v[i] * g.alpha[i])
	}
	g.cholesky.Forward(v)
	return v, g.mean + mean
}

// Predict implements [Surrogate].
func (g *gaussianProcess) Predict(x recipe) (mean, sd float64) {
	v, mean := g.whitenedCovariance(newPoint(x, g.total))
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
		points[a] = newPoint(x, g.total)
		norms[a] = g.squaredNorm(points[a])
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
func (g *gaussianProcess) Noise() float64 {
	return float64(g.scale * math.Sqrt(g.noiseRatio+g.medianNoiseRatio))
}

// R2 implements [Surrogate].
func (g *gaussianProcess) R2() float64 { return g.r2 }

// IntervalScale implements [Surrogate].
func (g *gaussianProcess) IntervalScale() float64 { return g.intervalScale }
