package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// A warp maps the values of a label to scores that a model can fit. Half of a score is the
// normal score of the value's rank. The other half is its distance from the median in robust
// standard deviations, softly bounded. So a few extreme values do not bend the model, and the
// distances between the best values still count. For example, a turbidity of 5,000 is about as
// bad as one of 500 if the best is 14. With log, a warp maps logarithms.
type warp struct {
	log            bool
	values, scores []float64 // of the distinct values (with log: their logarithms), ascending
}

// newWarp returns the warp for measured values, at least one.
func newWarp(values []float64, log bool) *warp {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	w := &warp{log: log}
	for k, v := range sorted {
		sorted[k] = logOrSame(v, w.log)
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
	middle := median(sorted)
	off := make([]float64, len(sorted))
	for k, v := range sorted {
		off[k] = math.Abs(v - middle)
	}
	slices.Sort(off)
	if spread := float64(normalMAD * median(off)); spread > 0 {
		for k, v := range w.values {
			w.scores[k] = float64((w.scores[k] + float64(softLimit*tanh((v-middle)/spread/softLimit))) / 2)
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
	normalMAD = 1.4826 // standard deviation of a normal law over its median absolute deviation
	softLimit = 3      // distances beyond this many standard deviations hardly count
)

// median returns the median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return float64((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

// tail says where extrapolation starts: it uses the slope over the last 1 − tail of the
// points.
const tail = 0.8

// score returns the score of a value.
func (w *warp) score(v float64) float64 { return interpolate(w.values, w.scores, logOrSame(v, w.log)) }

// scoreSD converts the standard deviation sd of a value to that of its score.
func (w *warp) scoreSD(v, sd float64) float64 {
	at := logOrSame(v, w.log)
	if w.log {
		sd /= v
	}
	return float64(math.Abs(interpolate(w.values, w.scores, at+sd)-interpolate(w.values, w.scores, at-sd)) / 2)
}

// value returns the value that has a score.
func (w *warp) value(z float64) float64 {
	v := interpolate(w.scores, w.values, z)
	if w.log {
		return portable.Exp(v)
	}
	return v
}

// logOrSame returns v, or with log its logarithm, which is −∞ for v ≤ 0.
func logOrSame(v float64, log bool) float64 {
	if log {
		return portable.Log(max(v, 0))
	}
	return v
}

// interpolate evaluates the piecewise linear function through points with ascending xs. Beyond
// its ends it continues with the slope over the last fifth of the points.
func interpolate(xs, ys []float64, x float64) float64 {
	n := len(xs)
	if n == 1 {
		return ys[0]
	}
	k, _ := slices.BinarySearch(xs, x)
	a, b := k-1, k
	switch {
	case k == 0:
		a, b = 0, max(1, int((1-tail)*float64(n)))
	case k == n:
		a, b = min(n-2, int(tail*float64(n))), n-1
	}
	slope := (ys[b] - ys[a]) / (xs[b] - xs[a])
	if k == n {
		return ys[b] + float64(slope*(x-xs[b]))
	}
	return ys[a] + float64(slope*(x-xs[a]))
}
