package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Hypervolume returns the exact hypervolume of the points with respect to a reference point
// (Zitzler and Thiele 1998). It is the volume of the region of all locations that are better than
// the reference in each loss, and that at least one point weakly dominates.
//
// For two losses the time is O(n·log n). For more losses, the points are taken one by one, and the
// volumes that only the new point dominates are added (While, Bradstreet and Barone 2012). This is
// fast for hundreds of points and up to four losses.
func Hypervolume(points [][]float64, reference []float64) float64 {
	var inside [][]float64
	for _, p := range points {
		in := true
		for d, v := range p {
			in = in && v < reference[d]
		}
		if in {
			inside = append(inside, p)
		}
	}
	return volumeOfNonDominated(nonDominatedPoints(inside), reference)
}

// nonDominatedPoints returns the points that no other point dominates, in lexicographic order.
func nonDominatedPoints(points [][]float64) [][]float64 {
	kept := make([][]float64, 0, len(points))
	for _, k := range NonDominated(points) {
		kept = append(kept, points[k])
	}
	return kept
}

// volumeOfNonDominated returns the hypervolume of points that do not dominate each other. The
// points must be in lexicographic order, and better than the reference in each loss.
func volumeOfNonDominated(points [][]float64, reference []float64) float64 {
	switch {
	case len(points) == 0:
		return 0
	case len(reference) == 1:
		return reference[0] - points[0][0]
	case len(reference) == 2:
		sum, above := 0.0, reference[1]
		for _, p := range points { // The points are sorted: the first loss rises, the second falls.
			sum += float64((reference[0] - p[0]) * (above - p[1]))
			above = p[1]
		}
		return sum
	}
	// Go through the points from the worst last loss on. Each adds the volume that later
	// points do not dominate. Later points are at least as good in the last loss, so that loss
	// drops out of the comparison.
	last := len(reference) - 1
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b []float64) int { return cmp.Compare(b[last], a[last]) })
	sum := 0.0
	for k, p := range points {
		box := 1.0
		for d := range last {
			box = float64(box * (reference[d] - p[d]))
		}
		limited := make([][]float64, 0, len(points)-k-1)
		for _, q := range points[k+1:] {
			limit := make([]float64, last)
			for d := range limit {
				limit[d] = max(q[d], p[d])
			}
			limited = append(limited, limit)
		}
		sum += float64((box - volumeOfNonDominated(nonDominatedPoints(limited), reference[:last])) * (reference[last] - p[last]))
	}
	return sum
}

// VolumeGain returns by how much the hypervolume of the other points would increase if the given
// point were added to them: see [Hypervolume].
func VolumeGain(point []float64, others [][]float64, reference []float64) float64 {
	box := 1.0
	for d, v := range point {
		if v >= reference[d] {
			return 0
		}
		box = float64(box * (reference[d] - v))
	}
	limited := make([][]float64, 0, len(others))
	for _, q := range others {
		limit := make([]float64, len(q))
		inside := true
		for d := range limit {
			limit[d] = max(q[d], point[d])
			inside = inside && limit[d] < reference[d]
		}
		if inside {
			limited = append(limited, limit)
		}
	}
	return max(box-volumeOfNonDominated(nonDominatedPoints(limited), reference), 0)
}

// HypervolumeReference returns a reference point for [Hypervolume]. Each loss of the reference
// exceeds the nadir by a tenth of the range from ideal to nadir. If ideal and nadir are equal, the
// range is taken to be the absolute value of the nadir, but at least 1. For ideal and nadir see
// [Bounds].
func HypervolumeReference(ideal, nadir []float64) []float64 {
	out := make([]float64, len(nadir))
	for d, v := range nadir {
		width := v - ideal[d]
		if !(width > 0) {
			width = max(math.Abs(v), 1)
		}
		out[d] = v + float64(width/10)
	}
	return out
}
