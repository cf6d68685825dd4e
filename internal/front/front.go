// Package front compares points that are judged by several losses at once, each the better
// the lower it is: which of them no other beats, how much they dominate together, which are
// spread evenly, and where the knees are. It knows nothing of compositions.
//
// # Ties
//
// Losses are compared as they are. Two recipes that cost the same may have costs that differ
// in the last bit, since their sums were rounded in another order; then the better of the two
// in all else does not dominate the other. Whoever compares losses that were computed calls
// [MergeTies] first, which makes them equal.
package front

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

// compare orders points by their losses, the first loss first.
func compare(a, b []float64) int { return slices.Compare(a, b) }

// Tie is how far apart losses may be, as a share of the larger, that are the same but for
// rounding: a sum of n terms of one sign is off by n·2⁻⁵³ at most, which is less up to n = 4,500.
const Tie = 1e-12

// MergeTies returns points whose losses are equal where they were the same but for rounding.
// sizes are how large the figures are that a loss is a difference of, by loss: what is less
// than [Tie] of that apart is the same, too. nil: losses are no differences.
//
// "Nearly equal" is not transitive, and so dominance by nearly equal losses is not: a chain of
// points could replace each other until the last is worse than the first. So the losses of all
// points are looked at together. Sorted, those between which no gap is wider than rounding are
// one class, and all of a class become its least. That is an equivalence, which keeps the
// order of losses, so that dominance among merged points is a partial order; and losses that
// are nearly equal are never apart, so that of merged points none of which dominates another
// none is at least as good in every loss, to within rounding, as another. Of n points a loss
// moves by n·1e-12 of itself at most, and that only where they are as close to each other as
// that all the way.
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
// losses. Of equal points it is the first.
func Minimal(points [][]float64) []int {
	order := make([]int, len(points))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(points[a], points[b]) })
	if len(points) > 0 && len(points[0]) == 2 {
		return staircase(points, order)
	}
	// What comes earlier in this order is never dominated by what comes later.
	var kept []int
	for _, k := range order {
		if !slices.ContainsFunc(kept, func(other int) bool { return weaklyDominates(points[other], points[k]) }) {
			kept = append(kept, k)
		}
	}
	return kept
}

// staircase is Minimal for two losses, of points in order.
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

// Scaled returns points with each loss as a share of the way from ideal to nadir, 0 where
// these are equal.
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

// Distance is Euclid's between two points.
func Distance(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += float64((v - b[k]) * (v - b[k]))
	}
	return math.Sqrt(sum)
}

// SelectSpread returns the indices of at most count points that lie evenly over all of them, in
// ascending order: the best of each loss, and then, one after another, that which is
// furthest from the ones chosen. Points are to be scaled. must are chosen before any.
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

// best returns the point that is best in loss d, and of those the one whose other losses
// sum to the least.
func best(points [][]float64, d int) int {
	at := 0
	for k, p := range points {
		if c := cmp.Or(cmp.Compare(p[d], points[at][d]), cmp.Compare(sum(p), sum(points[at]))); c < 0 {
			at = k
		}
	}
	return at
}

// Best returns, for each loss, the point that is best in it.
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

// What makes a knee: how far below the plane it is, and how far from a deeper one.
const (
	kneeDepth = 0.05
	kneeApart = 0.3
	mostKnees = 3
)

// Knees returns the points of a scaled front at which giving a little of any loss begins to
// cost much of another, the deepest first: those furthest below the plane through the
// points that are worst in one loss and best in all others, none within 0.3 of a deeper one.
// There is none where nothing lies more than 0.05 below it. (Das 1999, "On characterizing
// the knee of the Pareto curve".)
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
		// The plane through the best of each loss, which are seldom worst in only one: its
		// level is their mean.
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
		// A point on the slope of a deeper one is no knee of its own.
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
