package campaign

import (
	"math"
	"slices"
)

// A warp maps the values of a label to normal scores by their ranks, so that a model of
// them neither bends to a few that are far off nor depends on the scale that the label
// happens to have: a turbidity of 5,000 is as bad as one of 500 where the best is 14.
type warp struct {
	values, scores []float64 // of the distinct values, ascending
}

// newWarp returns the warp of measured values.
func newWarp(values []float64) *warp {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	w := new(warp)
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		p := float64(from+to) / 2 / n // the middle of their ranks
		w.values = append(w.values, sorted[from])
		w.scores = append(w.scores, math.Sqrt2*math.Erfinv(2*p-1))
		from = to
	}
	return w
}

// tail is from which score on, up to the last, the slope beyond the last is taken.
const tail = 0.8

// score returns the normal score of a value.
func (w *warp) score(v float64) float64 { return interpolate(w.values, w.scores, v) }

// value returns the value of a normal score.
func (w *warp) value(z float64) float64 { return interpolate(w.scores, w.values, z) }

// interpolate follows the line through points whose xs ascend, and beyond its ends goes on
// as it did over the last fifth of the points.
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
