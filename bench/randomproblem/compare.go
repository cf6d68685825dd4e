package randomproblem

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/testonly/stattest"
)

// A finding is a p-value and what it is of.
type finding struct {
	p  float64
	at string
}

// compare tests whether independent draws, numbers of states, follow the law. The
// p-value is corrected for all that is looked at.
//
// That is: single states, those that are expected less than twice pooled; each
// "at least as probable as"; the law of n; whether each ingredient is used; some
// random halves of the space, which see what is spread thinly; the means of the
// scores.
func (p *Problem) compare(e *Enumeration, draws []int) finding {
	var all []finding
	follows := func(what string, bins int, of func(s int) int) {
		counts, law := make([]int, bins), make([]float64, bins)
		for s, pi := range e.Pi {
			law[of(s)] += pi
		}
		for _, s := range draws {
			counts[of(s)]++
		}
		q, at := stattest.TestLaw(counts, law)
		all = append(all, finding{q, what + " " + at})
	}
	order := make([]int, len(e.Pi))
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case e.Pi[a] > e.Pi[b]:
			return -1
		case e.Pi[a] < e.Pi[b]:
			return 1
		}
		return 0
	})
	const single, pools = 60, 6
	bin := make([]int, len(e.Pi))
	for rank, s := range order {
		if bin[s] = rank; rank >= single || e.Pi[s]*float64(len(draws)) < 2 {
			bin[s] = single + rank%pools
		}
	}
	follows("state, from the most probable,", single+pools, func(s int) int { return bin[s] })
	follows("n", len(e.Law), func(s int) int { return e.Used[s] })
	for i, name := range p.Names {
		follows("use of "+name, 2, func(s int) int { return min(e.States[s][i], 1) })
	}
	d := newDice(p.Seed, 1<<40)
	half := make([]int, len(e.Pi))
	for k := range 8 {
		for s := range half {
			half[s] = d.IntN(2)
		}
		follows(fmt.Sprintf("random half %d", k+1), 2, func(s int) int { return half[s] })
	}
	for k, w := range p.Wishes {
		all = append(all, finding{e.meanTest(draws, k), "mean of " + w.Name})
	}
	worst := slices.MinFunc(all, func(a, b finding) int {
		if a.p < b.p {
			return -1
		}
		return 1
	})
	worst.p = min(1, worst.p*float64(len(all)))
	return worst
}

// meanTest returns a p-value for the mean score of a wish: by Bernstein's
// inequality the mean of m independent draws in [a, b] with variance v is t or
// more off with probability 2·exp(−m·t²/(2·v + 2/3·(b−a)·t)) at most.
func (e *Enumeration) meanTest(draws []int, wish int) float64 {
	top := math.Inf(-1)
	for s, pi := range e.Pi {
		if pi > 0 {
			top = max(top, e.Scores[s][wish])
		}
	}
	if math.IsInf(top, -1) {
		return 1 // of weight 0, and 0 everywhere
	}
	y := func(s int) float64 { return math.Exp(e.Scores[s][wish] - top) } // in 0..1
	mean, square := 0.0, 0.0
	for s, pi := range e.Pi {
		if pi > 0 {
			mean += pi * y(s)
			square += pi * y(s) * y(s)
		}
	}
	observed := 0.0
	for _, s := range draws {
		observed += min(y(s), 1)
	}
	t := math.Abs(observed/float64(len(draws)) - mean)
	if t < 1e-9 { // rounding
		return 1
	}
	variance := max(square-mean*mean, 0) + 1e-18
	return min(1, 2*math.Exp(-float64(len(draws))*t*t/(2*variance+2.0/3*t)))
}

// sampler draws states from the law.
type sampler struct{ below []float64 }

func (e *Enumeration) sampler() sampler {
	below, sum := make([]float64, len(e.Pi)), 0.0
	for s, pi := range e.Pi {
		sum += pi
		below[s] = sum
	}
	return sampler{below}
}

func (r sampler) draw(d dice) int {
	u := d.Float64() * r.below[len(r.below)-1]
	s, _ := slices.BinarySearch(r.below, u)
	for r.below[s] <= u { // so that a state without probability never comes up
		s++
	}
	return s
}
