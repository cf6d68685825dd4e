package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// A warp converts the values of a label to scores that a model can fit. A score is the mean of two
// numbers. The first number is the normal score of the value's rank. The second number is the
// distance from the median in robust standard deviations, softly bounded. A few extreme values then
// do not distort the model, and distances between the best values still count. For example, a
// turbidity of 5,000 is about as bad as a turbidity of 500 if the best turbidity is 14.
type warp struct {
	useLog         bool      // whether the warp converts logarithms of values
	values, scores []float64 // the distinct measured values, ascending, and their scores; with useLog, values has logarithms
}

// newWarp returns the warp for the measured values, of which there must be at least one.
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

// tanh is the hyperbolic tangent.
func tanh(x float64) float64 {
	e := portable.Expm1(float64(-2 * math.Abs(x)))
	return math.Copysign(-e/(2+e), x)
}

const (
	normalSDPerMAD = 1.4826 // standard deviation of a normal distribution divided by its median absolute deviation
	softBound      = 3      // distances beyond this many standard deviations hardly count
)

// medianOfSorted returns the median of numbers that are sorted in ascending order.
func medianOfSorted(sorted []float64) float64 {
	n := len(sorted)
	return float64((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

// tailStart is the fraction of the points after which the upper tail starts. Extrapolation uses the
// mean slope of the first or last 1 − tailStart of the points.
const tailStart = 0.8

// score returns the score of a value v of the label.
func (w *warp) score(v float64) float64 {
	return interpolate(w.values, w.scores, logOrSame(v, w.useLog))
}

// scoreSD converts sd, the standard deviation of a value v, to the standard deviation of the score
// of v.
func (w *warp) scoreSD(v, sd float64) float64 {
	at := logOrSame(v, w.useLog)
	if w.useLog {
		sd /= v
	}
	return float64(math.Abs(interpolate(w.values, w.scores, at+sd)-interpolate(w.values, w.scores, at-sd)) / 2)
}

// value returns the value of the label whose score is z. It is the inverse of score.
func (w *warp) value(z float64) float64 {
	v := interpolate(w.scores, w.values, z)
	if w.useLog {
		return portable.Exp(v)
	}
	return v
}

// logOrSame returns the logarithm of v if log is true, and v otherwise. The logarithm of a v ≤ 0 is
// −∞.
func logOrSame(v float64, log bool) float64 {
	if log {
		return portable.Log(max(v, 0))
	}
	return v
}

// interpolate evaluates the piecewise linear function through the points (xs, ys) at x. The xs must
// be ascending. Beyond the first or last point, the function continues with the mean slope of the
// first or last fifth of the points.
func interpolate(xs, ys []float64, x float64) float64 {
	n := len(xs)
	if n == 1 {
		return ys[0]
	}
	k, _ := slices.BinarySearch(xs, x)
	a, b := k-1, k
	switch {
	case k == 0:
		a, b = 0, max(1, int((1-tailStart)*float64(n)))
	case k == n:
		a, b = min(n-2, int(tailStart*float64(n))), n-1
	}
	slope := (ys[b] - ys[a]) / (xs[b] - xs[a])
	if k == n {
		return ys[b] + float64(slope*(x-xs[b]))
	}
	return ys[a] + float64(slope*(x-xs[a]))
}
