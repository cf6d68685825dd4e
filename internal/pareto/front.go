// Package pareto compares points that have several losses, where a lower loss is better. It finds
// the points that no other point dominates, their hypervolume, an evenly spread selection of them,
// and their knees. The package is independent of recipes.
//
// # Ties
//
// Losses are compared exactly. Two recipes of equal cost may have computed costs that differ in the
// last bit, because their sums were rounded in different orders. The recipe that is better in all
// other losses would then not dominate. Callers that compare computed losses should first call
// [MergeTies], which makes such losses equal.
package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Dominates reports whether point a is at least as good as point b in every loss, and better in at
// least one loss.
func Dominates(a, b []float64) bool {
	better := false
	for k, v := range a {
		if v > b[k] {
			return false
		}
		better = better || v < b[k]
	}
	return better
}

// weaklyDominates reports whether point a is at least as good as point b in every loss.
func weaklyDominates(a, b []float64) bool {
	for k, v := range a {
		if v > b[k] {
			return false
		}
	}
	return true
}

// compareLexicographically compares two points by the first loss in which they differ. The result
// is −1, 0 or 1.
func compareLexicographically(a, b []float64) int { return slices.Compare(a, b) }

// TieTolerance is the greatest difference of two equal losses that rounding can cause, as a share
// of the larger loss. If a loss is a sum of n terms of the same sign, rounding changes the sum by
// at most n·2⁻⁵³ of itself. For n ≤ 4,500, two sums thus differ by less than TieTolerance.
const TieTolerance = 1e-12

// MergeTies returns copies of the points in which nearly equal losses are equal. Two losses are
// nearly equal if rounding can cause their difference: see [TieTolerance].
//
// The parameter sizes is for losses that are differences of larger numbers. If loss d is such a
// difference, sizes[d] is the size of the larger numbers, and the tolerance is relative to
// sizes[d]. If no loss is a difference, sizes may be nil.
//
// "Nearly equal" is not transitive. If points were compared with a tolerance, a chain of points
// could replace each other until the last point is worse than the first. MergeTies therefore sorts
// the values of each loss. It divides the sorted values into classes: a class ends where the gap to
// the next value is wider than the tolerance. Each value becomes the least value of its class.
//
// Merging keeps the order of losses, so that dominance among the merged points is a partial order.
// If no merged point dominates another, then no point is at least as good as another in every loss,
// up to rounding. Among n points, a loss changes by at most n·1e-12 of itself, and by so much only
// along an unbroken chain of nearly equal values.
func MergeTies(points [][]float64, sizes []float64) [][]float64 {
	out := make([][]float64, len(points))
	for k, p := range points {
		out[k] = slices.Clone(p)
	}
	if len(points) == 0 {
		return out
	}
	order := make([]int, len(points))
	for k := range order {
		order[k] = k
	}
	for d := range points[0] {
		size := 0.0
		if sizes != nil {
			size = sizes[d]
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(points[a][d], points[b][d]) })
		for at := 1; at < len(order); at++ {
			before, here := points[order[at-1]][d], points[order[at]][d]
			if gap := here - before; !math.IsInf(gap, 0) && gap <= float64(TieTolerance*max(math.Abs(before), math.Abs(here), size)) {
				out[order[at]][d] = out[order[at-1]][d]
			}
		}
	}
	return out
}

// NonDominated returns the indices of the points that no other point dominates, in lexicographic
// order of the losses of the points. Of several equal points, it returns only the first.
func NonDominated(points [][]float64) []int {
	order := make([]int, len(points))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareLexicographically(points[a], points[b]) })
	if len(points) > 0 && len(points[0]) == 2 {
		return nonDominatedOfTwoLosses(points, order)
	}
	// Points are in lexicographic order, so no point is dominated by a later one.
	var kept []int
	for _, k := range order {
		if !slices.ContainsFunc(kept, func(other int) bool { return weaklyDominates(points[other], points[k]) }) {
			kept = append(kept, k)
		}
	}
	return kept
}

// nonDominatedOfTwoLosses computes the result of [NonDominated] for points with two losses. The
// parameter order lists the indices of the points in lexicographic order.
func nonDominatedOfTwoLosses(points [][]float64, order []int) (kept []int) {
	least := math.Inf(1)
	for at, k := range order {
		if p := points[k]; p[1] < least || at == 0 {
			least = p[1]
			kept = append(kept, k)
		}
	}
	return kept
}

// Bounds returns two points: ideal holds the least value of each loss, and nadir holds the greatest
// value of each loss.
func Bounds(points [][]float64) (ideal, nadir []float64) {
	for k, p := range points {
		if k == 0 {
			ideal, nadir = slices.Clone(p), slices.Clone(p)
			continue
		}
		for d, v := range p {
			ideal[d], nadir[d] = min(ideal[d], v), max(nadir[d], v)
		}
	}
	return ideal, nadir
}

// ScaleLosses returns copies of the points in which each loss is scaled linearly: its ideal value
// becomes 0, and its nadir value becomes 1. A loss whose ideal and nadir values are equal becomes
// 0. For ideal and nadir see [Bounds].
func ScaleLosses(points [][]float64, ideal, nadir []float64) [][]float64 {
	out := make([][]float64, len(points))
	for k, p := range points {
		out[k] = make([]float64, len(p))
		for d, v := range p {
			if width := nadir[d] - ideal[d]; width > 0 {
				out[k][d] = (v - ideal[d]) / width
			}
		}
	}
	return out
}

// Distance returns the Euclidean distance between two points.
func Distance(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64((v - b[k]) * (v - b[k]))
	}
	return math.Sqrt(sum)
}

// SelectSpread selects at most count points that are evenly spread, and returns their indices in
// ascending order. It first selects the best point of each loss, and then the points with the
// indices in required. It then repeatedly adds the point that is farthest from all selected points.
// The points should be scaled: see [ScaleLosses].
func SelectSpread(points [][]float64, count int, required ...int) []int {
	if len(points) <= count {
		all := make([]int, len(points))
		for k := range all {
			all[k] = k
		}
		return all
	}
	chosen := make([]bool, len(points))
	apart := make([]float64, len(points))
	for k := range apart {
		apart[k] = math.Inf(1)
	}
	left := count
	take := func(at int) {
		if chosen[at] || left == 0 {
			return
		}
		chosen[at] = true
		left--
		for k, p := range points {
			apart[k] = min(apart[k], Distance(p, points[at]))
		}
	}
	for d := range points[0] {
		take(bestInLoss(points, d))
	}
	for _, k := range required {
		take(k)
	}
	for left > 0 {
		at := -1
		for k := range points {
			if !chosen[k] && (at < 0 || apart[k] > apart[at]) {
				at = k
			}
		}
		take(at)
	}
	var out []int
	for k := range points {
		if chosen[k] {
			out = append(out, k)
		}
	}
	return out
}

// SelectLayers selects at most count points that few others dominate, and returns their indices. It
// first selects the points that no other point dominates, then those that no remaining point
// dominates, and so on (Goldberg 1989). Of the last layer, which may be too large, it selects points
// that are evenly spread: see [SelectSpread].
func SelectLayers(points [][]float64, count int) []int {
	var out []int
	rest := make([]int, len(points))
	for k := range rest {
		rest[k] = k
	}
	for len(out) < count && len(rest) > 0 {
		of := make([][]float64, len(rest))
		for at, k := range rest {
			of[at] = points[k]
		}
		layer := NonDominated(of)
		front := make([][]float64, len(layer))
		for n, at := range layer {
			front[n] = of[at]
		}
		ideal, nadir := Bounds(front)
		for _, n := range SelectSpread(ScaleLosses(front, ideal, nadir), count-len(out)) {
			out = append(out, rest[layer[n]])
		}
		slices.Sort(layer)
		for _, at := range slices.Backward(layer) {
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return out
}

// bestInLoss returns the index of the point with the least value of loss d. Of several such points,
// it takes the one with the least sum of losses.
func bestInLoss(points [][]float64, d int) int {
	at := 0
	for k, p := range points {
		if c := cmp.Or(cmp.Compare(p[d], points[at][d]), cmp.Compare(sumOfLosses(p), sumOfLosses(points[at]))); c < 0 {
			at = k
		}
	}
	return at
}

// BestInEachLoss returns, for each loss, the index of the point with the least value of that loss.
func BestInEachLoss(points [][]float64) []int {
	if len(points) == 0 {
		return nil
	}
	out := make([]int, len(points[0]))
	for d := range out {
		out[d] = bestInLoss(points, d)
	}
	return out
}

// sumOfLosses returns the sum of the losses of a point.
func sumOfLosses(p []float64) (s float64) {
	for _, v := range p {
		s += v
	}
	return s
}

// Limits on the knees that [Knees] returns.
const (
	minKneeDepth    = 0.05 // least depth of a knee below the plane
	minKneeDistance = 0.3  // least distance of a knee from any deeper point
	maxKnees        = 3    // greatest number of knees
)

// Knees returns the indices of at most three knees of a front, the deepest knee first. A front is a
// set of points that do not dominate each other. Its losses must be scaled: see [ScaleLosses]. At a
// knee, a small improvement of one loss begins to cost much of another loss.
//
// The knees are the points farthest below a plane (Das 1999, "On characterizing the knee of the
// Pareto curve"). For two losses, it is the line through (0, 1) and (1, 0). For more losses, it is
// a plane of constant sum of losses. This sum is the mean over the best points of each loss. A knee
// is at least 0.05 below the plane, at least 0.3 from any deeper point, and not the best point of a
// loss. There may be no knee.
func Knees(points [][]float64) []int {
	if len(points) < 3 {
		return nil
	}
	depth := make([]float64, len(points))
	order := make([]int, len(points))
	for k, p := range points {
		depth[k] = float64((1 - sumOfLosses(p)) / math.Sqrt(float64(len(p))))
		order[k] = k
	}
	if len(points[0]) > 2 {
		// With more than two losses, the best points of each loss are seldom worst in only
		// one. The plane then has the mean level of these best points.
		level := 0.0
		ends := BestInEachLoss(points)
		for _, k := range ends {
			level += sumOfLosses(points[k]) / float64(len(ends))
		}
		for k, p := range points {
			depth[k] = float64((level - sumOfLosses(p)) / math.Sqrt(float64(len(p))))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(depth[b], depth[a]) })
	var knees []int
	for _, k := range order {
		if depth[k] < minKneeDepth || len(knees) == maxKnees {
			break
		}
		if slices.Contains(BestInEachLoss(points), k) {
			continue
		}
		// A point near a deeper one lies on that one's slope and is not a knee.
		alone := true
		for other, p := range points {
			if depth[other] > depth[k] && Distance(p, points[k]) < minKneeDistance {
				alone = false
				break
			}
		}
		if alone {
			knees = append(knees, k)
		}
	}
	return knees
}
