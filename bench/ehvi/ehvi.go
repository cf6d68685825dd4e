// Package ehvi chooses batches for two objectives by the exact expected improvement of the hypervolume.
package ehvi

import (
	"math"

	"kir/internal/pareto"
)

// Choose takes the greatest expected improvement of the hypervolume among all recipes of a pool
// (Emmerich, Giannakoglou and Naujoks 2006) and returns their indices: a process of its own for each
// measured loss, the exact values of a second loss that is known, and the front of what was measured.
// x has the shares of what was tried, losses its two losses; known has the second losses of the pool, nil
// if they are measured. The reference is a tenth of the front's width beyond its worst. The next recipe of a
// batch believes the means of those before.
func Choose(x, losses, pool [][]float64, known []float64, n int) ([]int, error) {
	var means, sds [2][]float64
	var learnt []*posterior
	for d := range 2 {
		if d == 1 && known != nil {
			means[d], sds[d] = known, make([]float64, len(pool))
			continue
		}
		var values []float64
		for _, point := range losses {
			values = append(values, point[d])
		}
		g, err := newPlainProcess(x, values)
		if err != nil {
			return nil, err
		}
		of := g.predict(pool)
		learnt = append(learnt, of)
		means[d], sds[d] = of.mean, of.sd
	}
	front := LowerFront(losses)
	ideal, nadir := pareto.Bounds(front)
	if len(front) == 1 {
		ideal, nadir = pareto.Bounds(losses)
	}
	reference := pareto.HypervolumeReference(ideal, nadir)
	var out []int
	used := make([]bool, len(pool))
	for len(out) < min(n, len(pool)) {
		at, most := -1, math.Inf(-1)
		for k := range pool {
			if used[k] {
				continue
			}
			if gain := expectedVolumeGain(front, reference, [2]float64{means[0][k], means[1][k]}, [2]float64{sds[0][k], sds[1][k]}); gain > most {
				at, most = k, gain
			}
		}
		used[at] = true
		out = append(out, at)
		front = LowerFront(append(front, []float64{means[0][at], means[1][at]}))
		for _, of := range learnt {
			of.believe(at)
		}
	}
	return out, nil
}

// LowerFront returns the points that no other beats, by their first loss.
func LowerFront(points [][]float64) (front [][]float64) {
	for _, k := range pareto.NonDominated(points) {
		front = append(front, points[k])
	}
	return front
}

// expectedVolumeGain is how much a point with two independent normal losses is expected to add to
// the hypervolume of a front, which is sorted by the first loss. Between the first losses of two
// neighbours of the front, the point adds what it is below the second loss of the first of them.
func expectedVolumeGain(front [][]float64, reference []float64, mean, sd [2]float64) (sum float64) {
	// below is the expected distance of loss d below a level.
	below := func(d int, level float64) float64 {
		if sd[d] == 0 {
			return max(level-mean[d], 0)
		}
		z := (level - mean[d]) / sd[d]
		return sd[d] * (math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + z*math.Erfc(-z/math.Sqrt2)/2)
	}
	from, height := 0.0, reference[1] // the expected length up to the left end of the strip, and its upper end
	for _, p := range front {
		if p[0] >= reference[0] {
			break
		}
		to := below(0, p[0])
		sum += (to - from) * below(1, height)
		from, height = to, min(height, p[1])
	}
	return sum + (below(0, reference[0])-from)*below(1, height)
}
