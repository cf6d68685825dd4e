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
// 2006, chapters 2, 4 and 5). The length scales and the noise are chosen to maximise the posterior
// density. They are always multiplied by the same fixed factors, so results are the same on every
// machine.
type gaussianProcess struct {
	totalUnits           int                      // sum of the amounts of a recipe in units
	points               []point                  // training points; points[i] is row i
	inverseSquareLengths []float64                // item v is 1/length², where length is the length scale of variable v
	squaredNorms         []float64                // item i is the weighted squared norm of points[i]; see squaredNorm
	noiseRatio           float64                  // estimated variance of the measurement noise, divided by priorSD²
	statedNoiseRatios    []float64                // item i is the variance that is stated for measurement i, divided by priorSD²; it is added to noiseRatio
	medianNoiseRatio     float64                  // median of statedNoiseRatios; used for a new measurement
	priorSD              float64                  // standard deviation of the values under the prior distribution
	priorMean            float64                  // mean of the values under the prior distribution
	cholesky             portable.LowerTriangular // Cholesky factor L with L·Lᵀ = K + noise·1, where K is the kernel matrix of the training points
	alpha                []float64                // the vector (K + noise·1)⁻¹ (y − mean), where K is the kernel matrix and y are the training values
	r2                   float64                  // R² of leave-one-out predictions, that is, the share of the variance that they explain; NaN if not computable
	intervalScale        float64                  // factor that widens prediction intervals until they contain the intended share of the measurements
}

// These limits bound the computing time of a Gaussian process.
const (
	maxRows             = 600 // maximum number of training rows; see selectTrainingRows
	maxTuningRows       = 200 // maximum number of training rows that are used to choose the length scales
	maxOwnLengths       = 24  // maximum number of variables that have a length scale of their own
	minUsesForOwnLength = 3   // minimum number of training recipes with a variable for the variable to have its own length scale
)

// The prior distributions of the length scales and of the noise ratio are lognormal.
const (
	lengthMedian = 0.7  // median of the prior distribution of a length scale
	lengthLogSD  = 1.0  // standard deviation of the logarithm of a length scale
	noiseMedian  = 0.05 // median of the prior distribution of noiseRatio
	noiseLogSD   = 1.5  // standard deviation of the logarithm of noiseRatio
)

// newGaussianProcess fits a Gaussian process to the values of recipes. The slice measurementSD has
// the standard deviation of each measurement, or NaN if unknown. An empty slice means that all are
// unknown. The parameter variables is the number of ingredients, including the additional
// ingredients that encode conditions. The amounts of each recipe sum to total.
func newGaussianProcess(ctx context.Context, recipes []recipe, values, measurementSD []float64, variables, total int) (*gaussianProcess, error) {
	g := &gaussianProcess{totalUnits: total, inverseSquareLengths: make([]float64, variables), noiseRatio: noiseMedian}
	for i := range g.inverseSquareLengths {
		g.inverseSquareLengths[i] = 1 / (lengthMedian * lengthMedian)
	}
	rows := selectTrainingRows(values, maxRows)
	all := make([]point, len(recipes))
	for k, x := range recipes {
		all[k] = newPoint(x, total)
	}
	own, usual := relativeNoiseVariances(values, measurementSD)
	g.medianNoiseRatio = usual
	tuned := selectTrainingRows(values, maxTuningRows)
	g.statedNoiseRatios = elementsAt(own, tuned)
	if err := g.tuneLengthsAndNoise(ctx, elementsAt(all, tuned), elementsAt(values, tuned)); err != nil {
		return nil, err
	}
	y := elementsAt(values, rows)
	g.points, g.statedNoiseRatios = elementsAt(all, rows), elementsAt(own, rows)
	g.priorMean = 0
	for _, v := range y {
		g.priorMean += v / float64(len(y))
	}
	for !g.fit(subtractMean(y, g.priorMean)) {
		g.noiseRatio = float64(g.noiseRatio * 2) // this ends: a matrix with a dominant diagonal has a factor
	}
	g.assessByLeavingOneOut(y)
	return g, nil
}

// maxStatedNoiseRatio is the upper bound for the stated variance of a measurement, divided by the
// variance of all values. A measurement with a greater variance carries no information.
const maxStatedNoiseRatio = 1e6

// relativeNoiseVariances squares the standard deviations of measurements and divides the squares by
// the variance of all values. The result median is the median of these ratios. It also replaces the
// ratio of each measurement whose standard deviation is unknown.
func relativeNoiseVariances(values, sd []float64) (variances []float64, median float64) {
	variances = make([]float64, len(values))
	known := slices.DeleteFunc(slices.Sorted(slices.Values(sd)), math.IsNaN)
	if len(known) == 0 {
		return variances, 0
	}
	mean, variance := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += float64((v-mean)*(v-mean)) / float64(len(values))
	}
	share := func(s float64) float64 { return min(float64(s*s)/variance, maxStatedNoiseRatio) }
	median = share(known[len(known)/2])
	for k, s := range sd {
		if variances[k] = median; !math.IsNaN(s) {
			variances[k] = share(s)
		}
	}
	return variances, median
}

// elementsAt returns the elements of a slice at the given indices.
func elementsAt[T any](all []T, indices []int) []T {
	out := make([]T, len(indices))
	for k, r := range indices {
		out[k] = all[r]
	}
	return out
}

// subtractMean returns a copy of y with mean subtracted from every element.
func subtractMean(y []float64, mean float64) []float64 {
	c := make([]float64, len(y))
	for k, v := range y {
		c[k] = v - mean
	}
	return c
}

// selectTrainingRows returns the indices of at most maxCount rows, ascending. Half of these rows
// have the greatest values, because the campaign searches for the best recipe. The values of the
// other half are spread evenly over the remaining values.
func selectTrainingRows(values []float64, maxCount int) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	if len(order) <= maxCount {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	top := maxCount / 2
	rest := order[top:]
	out := slices.Clone(order[:top])
	for k := range maxCount - top {
		out = append(out, rest[k*len(rest)/(maxCount-top)])
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

// squaredNorm returns Σ (v/length)² over the coordinates v of point p, where length is the length
// scale of the coordinate.
func (g *gaussianProcess) squaredNorm(p point) float64 {
	sum := 0.0
	for _, c := range p {
		sum += float64(g.inverseSquareLengths[c.variable] * float64(c.value*c.value))
	}
	return sum
}

// fit fits the process to the values y, from which the mean was subtracted. It computes the
// Cholesky factor, alpha and the most likely priorSD. It returns false if the matrix has no Cholesky
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
	g.priorSD = math.Sqrt(max(sum/float64(n), 1e-12))
	return true
}

// logPosterior returns the log posterior density of the length scales and the noise, with the most
// likely priorSD. Each element of groups lists the variables that share a length scale.
func (g *gaussianProcess) logPosterior(groups [][]int) float64 {
	d := float64(-float64(len(g.alpha))*portable.Log(g.priorSD)) - float64(g.cholesky.LogDeterminant()/2)
	for _, group := range groups {
		t := float64((float64(-portable.Log(g.inverseSquareLengths[group[0]])/2) - portable.Log(lengthMedian)) / lengthLogSD)
		d -= float64(t * t / 2)
	}
	t := portable.Log(g.noiseRatio/noiseMedian) / noiseLogSD
	return d - float64(t*t/2)
}

// tuneLengthsAndNoise chooses the length scales and the noise that fit the given points and values
// best. The points are a part of the training data.
func (g *gaussianProcess) tuneLengthsAndNoise(ctx context.Context, points []point, values []float64) error {
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
	return a.maximizeDensity(ctx)
}

// lengthScaleGroups divides the variables into groups that share a length scale. Each variable that
// many recipes use forms its own group. All other variables form one group.
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

// assessByLeavingOneOut sets r2 and intervalScale from leave-one-out predictions of the values y.
func (g *gaussianProcess) assessByLeavingOneOut(y []float64) {
	n := len(y)
	off, all := 0.0, 0.0
	ratios := make([]float64, n)
	inverse := g.cholesky.Inverse()
	for i := range n {
		precision := inverse.Row(i)[i]
		e := g.alpha[i] / precision
		ratios[i] = math.Abs(e) / (g.priorSD / math.Sqrt(precision))
		off += float64(e * e)
		all += float64((y[i] - g.priorMean) * (y[i] - g.priorMean))
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
	minRowsToCalibrate     = 10                 // minimum number of training rows to estimate intervalScale; with fewer rows it is 1
	intervalCoverage       = 0.9                // probability that a prediction interval contains the measurement
	coverageNormalQuantile = 1.6448536269514722 // number of standard deviations around the mean that contain 90 % of a normal distribution
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
	return v, g.priorMean + mean
}

// Predict implements [Surrogate].
func (g *gaussianProcess) Predict(x recipe) (mean, sd float64) {
	v, mean := g.whitenedCovariance(newPoint(x, g.totalUnits))
	left := 1.0
	for _, f := range v {
		left -= float64(f * f)
	}
	return mean, float64(g.priorSD * math.Sqrt(max(left, 1e-10)))
}

// Draws implements [Surrogate].
func (g *gaussianProcess) Draws(xs []recipe, count int, r *mcmc.Rand) [][]float64 {
	m := len(xs)
	points, norms := make([]point, m), make([]float64, m)
	half, means := make([][]float64, m), make([]float64, m)
	for a, x := range xs {
		points[a] = newPoint(x, g.totalUnits)
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
			draws[s][a] = means[a] + float64(g.priorSD*v)
		}
	}
	return draws
}

// Noise implements [Surrogate].
func (g *gaussianProcess) Noise() float64 {
	return float64(g.priorSD * math.Sqrt(g.noiseRatio+g.medianNoiseRatio))
}

// R2 implements [Surrogate].
func (g *gaussianProcess) R2() float64 { return g.r2 }

// IntervalScale implements [Surrogate].
func (g *gaussianProcess) IntervalScale() float64 { return g.intervalScale }
