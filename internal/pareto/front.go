// Package pareto compares points in several losses, where lower is better. It finds the points
// that no other dominates, their hypervolume, an even selection of them and their knees. The
// package knows nothing of recipes.
//
// # Ties
//
// Losses are compared exactly. Two recipes of equal cost may have computed costs that differ
// in the last bit, because their sums were rounded in different orders. Then the recipe that
// is better in all other losses would not dominate. Callers that compare computed losses call
// [MergeTies] first, which makes such losses equal.
package pareto

import (
	"cmp"
	"math"
	"slices"
)

// Dominates reports whether a is at least as good as b in every loss and better in one.
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

// weaklyDominates reports whether a is at least as good as b in every loss.
func weaklyDominates(a, b []float64) bool {
	for k, v := range a {
		if v > b[k] {
			return false
		}
	}
	return true
}

// compare orders points lexicographically by their losses.
func compare(a, b []float64) int { return slices.Compare(a, b) }

// Tie is the greatest difference, as a share of the larger loss, that rounding explains. A sum
// of n terms of one sign is off by at most n·2⁻⁵³, which is less than Tie up to n = 4,500.
const Tie = 1e-12

// MergeTies returns the points with losses made equal where they differ only by rounding. If a
// loss is a difference of larger figures, sizes has the size of those figures, by loss. Losses
// closer than [Tie] times that size are equal, too. nil means that no loss is a difference.
//
// "Nearly equal" is not transitive, and so dominance by nearly equal losses is not either. A
// chain of points could replace each other until the last is worse than the first. MergeTies
// therefore sorts each loss over all points. Losses that are not separated by a gap wider than
// rounding form a class, and each takes the least loss of its class. This is an equivalence
// that keeps the order of losses, so dominance among merged points is a partial order. Nearly
// equal losses always share a class. So if no merged point dominates another, none is at least
// as good as another in every loss to within rounding. Among n points a loss moves by at most
// n·1e-12 of itself, and only along an unbroken chain of such near ties.
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
			if gap := here - before; !math.IsInf(gap, 0) && gap <= float64(Tie*max(math.Abs(before), math.Abs(here), size)) {
				out[order[at]][d] = out[order[at-1]][d]
			}
		}
	}
	return out
}

// Minimal returns the indices of the points that no other dominates, in the order of their
// losses. Of equal points it returns the first.
func Minimal(points [][]float64) []int {
	order := make([]int, len(points))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(points[a], points[b]) })
	if len(points) > 0 && len(points[0]) == 2 {
		return staircase(points, order)
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

// staircase is [Minimal] for two losses. order lists the points in lexicographic order.
func staircase(points [][]float64, order []int) (kept []int) {
	least := math.Inf(1)
	for at, k := range order {
		if p := points[k]; p[1] < least || at == 0 {
			least = p[1]
			kept = append(kept, k)
		}
	}
	return kept
}

// Bounds returns the least and the greatest of each loss.
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

// Scaled returns the points with each loss mapped linearly so that ideal is 0 and nadir is 1.
// A loss whose ideal and nadir are equal becomes 0.
func Scaled(points [][]float64, ideal, nadir []float64) [][]float64 {
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

// SelectSpread returns the indices of at most count points that are spread evenly, in
// ascending order. It chooses the best point of each loss, then the points of must. After that
// it repeatedly adds the point farthest from all chosen ones. Points should be scaled.
func SelectSpread(points [][]float64, count int, must ...int) []int {
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
		take(best(points, d))
	}
	for _, k := range must {
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

// best returns the index of the best point in loss d. Ties go to the point with the least sum of losses.
func best(points [][]float64, d int) int {
	at := 0
	for k, p := range points {
		if c := cmp.Or(cmp.Compare(p[d], points[at][d]), cmp.Compare(sum(p), sum(points[at]))); c < 0 {
			at = k
		}
	}
	return at
}

// Best returns, for each loss, the index of the point that is best in it.
func Best(points [][]float64) []int {
	if len(points) == 0 {
		return nil
	}
	out := make([]int, len(points[0]))
	for d := range out {
		out[d] = best(points, d)
	}
	return out
}

func sum(p []float64) (s float64) {
	for _, v := range p {
		s += v
	}
	return s
}

// These are the thresholds of a knee: its depth below the plane of [Knees], its distance from any deeper point, and
// the greatest number of knees.
const (
	kneeDepth = 0.05
	kneeApart = 0.3
	mostKnees = 3
)

// Knees returns the knees of a scaled front, the deepest first. At a knee, improving any loss
// a little begins to cost much of another. Knees are the points furthest below the plane
// through the points that are worst in one loss and best in all others. A knee is more than
// 0.05 below that plane and at least 0.3 from any deeper point; there may be none. (Das 1999,
// "On characterizing the knee of the Pareto curve".)
func Knees(points [][]float64) []int {
	if len(points) < 3 {
		return nil
	}
	depth := make([]float64, len(points))
	order := make([]int, len(points))
	for k, p := range points {
		depth[k] = float64((1 - sum(p)) / math.Sqrt(float64(len(p))))
		order[k] = k
	}
	if len(points[0]) > 2 {
		// With more than two losses, the best points of each loss are seldom worst in only
		// one. The plane then has the mean level of these best points.
		level := 0.0
		ends := Best(points)
		for _, k := range ends {
			level += sum(points[k]) / float64(len(ends))
		}
		for k, p := range points {
			depth[k] = float64((level - sum(p)) / math.Sqrt(float64(len(p))))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(depth[b], depth[a]) })
	var knees []int
	for _, k := range order {
		if depth[k] < kneeDepth || len(knees) == mostKnees {
			break
		}
		if slices.Contains(Best(points), k) {
			continue
		}
		// A point near a deeper one lies on that one's slope and is not a knee.
		alone := true
		for other, p := range points {
			if depth[other] > depth[k] && Distance(p, points[k]) < kneeApart {
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
