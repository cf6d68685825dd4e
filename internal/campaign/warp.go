package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// A warp converts the values of a label to scores that a model can fit. A score is the mean of two
// numbers:
//
//   - the normal score of the value's rank, that is, the quantile of the standard normal
//     distribution at the rank
//   - the distance of the value from the median in robust standard deviations, softly bounded
//
// A few extreme values then do not distort the model, and distances between the best values still
// count. For example, if the best turbidity is 14, a turbidity of 5,000 is about as bad as a
// turbidity of 500.
type warp struct {
	useLog bool      // whether values are replaced by their logarithms before the conversion
	values []float64 // distinct measured values, ascending; logarithms of the values if useLog is true
	scores []float64 // item k is the score of values[k]
}

// newWarp returns the warp for the measured values, of which there must be at least one. The
// parameter log says whether the warp uses the logarithms of values.
func newWarp(values []float64, log bool) *warp {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	w := &warp{useLog: log}
	for k, v := range sorted {
		sorted[k] = logOrSame(v, w.useLog)
	}
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		p := float64(from+to) / 2 / n // the middle of their ranks
		w.values = append(w.values, sorted[from])
		w.scores = append(w.scores, portable.NormalQuantile(p))
		from = to
	}
	middle := medianOfSorted(sorted)
	off := make([]float64, len(sorted))
	for k, v := range sorted {
		off[k] = math.Abs(v - middle)
	}
	slices.Sort(off)
	if spread := float64(normalSDPerMAD * medianOfSorted(off)); spread > 0 {
		for k, v := range w.values {
			w.scores[k] = float64((w.scores[k] + float64(softBound*tanh((v-middle)/spread/softBound))) / 2)
		}
	}
	return w
}

// tanh returns the hyperbolic tangent of x.
func tanh(x float64) float64 {
	e := portable.Expm1(float64(-2 * math.Abs(x)))
	return math.Copysign(-e/(2+e), x)
}

const (
	normalSDPerMAD = 1.4826 // ratio of the standard deviation of a normal distribution to its median absolute deviation
	softBound      = 3      // soft bound of the distance from the median, in robust standard deviations
)

// medianOfSorted returns the median of numbers that are sorted in ascending order.
func medianOfSorted(sorted []float64) float64 {
	n := len(sorted)
	return float64((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

// upperTailStart is the fraction of the points of an interpolated function after which the upper
// tail starts. Above the last point, the function continues with the mean slope of the upper tail.
// Below the first point, it continues with the mean slope of a lower tail of the same size.
const upperTailStart = 0.8

// score converts a value v of the label to a score.
func (w *warp) score(v float64) float64 {
	return interpolate(w.values, w.scores, logOrSame(v, w.useLog))
}

// scoreSD returns the standard deviation of the score of a value v that has the standard deviation
// sd.
func (w *warp) scoreSD(v, sd float64) float64 {
	at := logOrSame(v, w.useLog)
	if w.useLog {
		sd /= v
	}
	return float64(math.Abs(interpolate(w.values, w.scores, at+sd)-interpolate(w.values, w.scores, at-sd)) / 2)
}

// value converts a score z to the value of the label. It is the inverse of [warp.score].
func (w *warp) value(z float64) float64 {
	v := interpolate(w.scores, w.values, z)
	if w.useLog {
		return portable.Exp(v)
	}
	return v
}

// intervalScore converts a value v of the label to a score, for the ends of prediction intervals.
// Between the measured values it equals [warp.score]. Beyond them it follows the flatter of two
// lines: that of [warp.score], and the line through the outermost score with the slope of
// [warp.centralSlope]. Recipes that come from the worse part of what there is have values that
// crowd below their best, so that the slope near the best is steep and says nothing about how far
// better recipes can be. The slope among central values is then flatter, and an interval that
// reaches beyond all measured values becomes wider.
func (w *warp) intervalScore(v float64) float64 {
	at, score, last := logOrSame(v, w.useLog), w.score(v), len(w.values)-1
	switch slope := w.centralSlope(); {
	case at > w.values[last]:
		return min(score, w.scores[last]+float64(slope*(at-w.values[last])))
	case at < w.values[0]:
		return max(score, w.scores[0]+float64(slope*(at-w.values[0])))
	}
	return score
}

// intervalValue converts a score z to the value of the label. It is the inverse of
// [warp.intervalScore].
func (w *warp) intervalValue(z float64) float64 {
	v, last := interpolate(w.scores, w.values, z), len(w.values)-1
	switch slope := w.centralSlope(); {
	case z > w.scores[last]:
		v = max(v, w.values[last]+(z-w.scores[last])/slope)
	case z < w.scores[0]:
		v = min(v, w.values[0]+(z-w.scores[0])/slope)
	}
	if w.useLog {
		return portable.Exp(v)
	}
	return v
}

// centralSlope returns the mean slope of the scores without the lowest and the highest fifth; see
// [upperTailStart]. There must be at least two different values.
func (w *warp) centralSlope() float64 {
	n := len(w.values)
	tail := int((1 - upperTailStart) * float64(n))
	return (w.scores[n-1-tail] - w.scores[tail]) / (w.values[n-1-tail] - w.values[tail])
}

// logOrSame returns the logarithm of v if useLog is true, and v otherwise. The logarithm of a
// negative v or of 0 is −∞.
func logOrSame(v float64, useLog bool) float64 {
	if useLog {
		return portable.Log(max(v, 0))
	}
	return v
}

// interpolate returns the value at x of the piecewise linear function through the points (xs[k],
// ys[k]). The numbers in xs must be ascending. Beyond the first and the last point, the function
// continues with the mean slope of the nearest fifth of the points.
func interpolate(xs, ys []float64, x float64) float64 {
	n := len(xs)
	if n == 1 {
		return ys[0]
	}
	k, _ := slices.BinarySearch(xs, x)
	a, b := k-1, k
	switch {
	case k == 0:
		a, b = 0, max(1, int((1-upperTailStart)*float64(n)))
	case k == n:
		a, b = min(n-2, int(upperTailStart*float64(n))), n-1
	}
	slope := (ys[b] - ys[a]) / (xs[b] - xs[a])
	if k == n {
		return ys[b] + float64(slope*(x-xs[b]))
	}
	return ys[a] + float64(slope*(x-xs[a]))
}
