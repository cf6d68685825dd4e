package report

import (
	"cmp"
	"math"
	"slices"

	"kir/problem"
)

// Pairs says which ingredients go together.
type Pairs struct {
	// Random is the lift that a pair would have if the draws' numbers of
	// ingredients were what they are and the ingredients picked blindly. It is
	// below 1, as two ingredients of a sparse composition compete for a place.
	Random   Number `json:"random"`
	Among    int    `json:"among"`    // ingredients looked at, the most frequent ones
	Draws    int    `json:"draws"`    // draws looked at
	Together []Pair `json:"together"` // used together more often than at random, the surest first
	Apart    []Pair `json:"apart"`    // less often
}

// A Pair is two ingredients and their lift, P(both)/(P(first)·P(second)).
type Pair struct {
	First       string `json:"first"`
	Second      string `json:"second"`
	Probability Number `json:"probability"` // that both are used
	Lift        Number `json:"lift"`
	MCSE        Number `json:"mcse"` // of the lift
}

const (
	shownTogether = 12
	shownApart    = 8
	// pairErrors is by how many standard errors a pair's lift must differ from
	// that of random pairs to be told of, see [differs]. With a normal error,
	// chance alone tells of one in 16,000: of at most 0.3 pairs among the 4,950
	// of 100 ingredients.
	pairErrors = 4
)

// newPairs finds the pairs whose lift differs surely from the random one. Each
// list is ordered by the end of the interval of two standard errors that is
// nearer to the random lift, so that a large but unsure lift does not come
// first. Pairs must occur together in some batches: of others no standard error
// can be told.
func newPairs(p *problem.Problem, g *gathered) *Pairs {
	out := &Pairs{Random: Number(g.randomLift(len(p.Ingredients))), Among: g.paired, Together: []Pair{}, Apart: []Pair{}}
	draws := 0
	for _, b := range g.batches {
		draws += b.draws
	}
	out.Draws = draws
	type found struct {
		Pair
		bound float64 // two standard errors towards the random lift, as a ratio to it
	}
	var together, apart []found
	counts := make([]int, len(g.batches))
	for i := range g.paired {
		for j := range i {
			with, both := 0, 0
			for k, b := range g.batches {
				counts[k] = b.together(i, j)
				both += counts[k]
				if counts[k] > 0 {
					with++
				}
			}
			if with < leastBatches {
				continue
			}
			first, second := int64(0), int64(0)
			for _, b := range g.batches {
				first += b.used[i]
				second += b.used[j]
			}
			lift := float64(both) * float64(draws) / (float64(first) * float64(second))
			se := jackknife(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return float64(both-counts[k]) * float64(draws-b.draws) / (float64(first-b.used[i]) * float64(second-b.used[j]))
			})
			random := float64(out.Random)
			if !differs(lift, se, random) {
				continue
			}
			// The more frequent ingredient, which has the lower slot, is first.
			f := found{Pair: Pair{
				First: p.Ingredients[g.slots[j]], Second: p.Ingredients[g.slots[i]],
				Probability: Number(float64(both) / float64(draws)), Lift: Number(lift), MCSE: Number(se),
			}}
			if lift > random {
				f.bound = (lift - 2*se) / random
				together = append(together, f)
			} else {
				f.bound = random / (lift + 2*se)
				apart = append(apart, f)
			}
		}
	}
	for _, l := range []struct {
		from []found
		to   *[]Pair
		most int
	}{{together, &out.Together, shownTogether}, {apart, &out.Apart, shownApart}} {
		slices.SortStableFunc(l.from, func(a, b found) int { return cmp.Compare(b.bound, a.bound) })
		for _, f := range l.from[:min(len(l.from), l.most)] {
			*l.to = append(*l.to, f.Pair)
		}
	}
	return out
}

// differs says whether a lift surely differs from the random one. Lifts of rare
// pairs are counts of few events, whose law is skewed: a lift above is compared
// as it is and one below by its logarithm, whose standard error is se/lift. Each
// is the more careful choice on its side.
func differs(lift, se, random float64) bool {
	if lift >= random {
		return lift-random > pairErrors*se
	}
	return math.Log(random/lift) > pairErrors*se/lift
}

// randomLift returns the lift of a pair when n of N ingredients are picked
// blindly, n being distributed as in the draws:
//
//	N/(N−1) · E[n(n−1)]/E[n]².
func (g *gathered) randomLift(ingredients int) float64 {
	if ingredients < 2 {
		return math.NaN()
	}
	var n, pairs float64
	for _, used := range g.series[0].chains {
		for _, u := range used {
			n += u
			pairs += u * (u - 1)
		}
	}
	count := 0.0
	for _, used := range g.series[0].chains {
		count += float64(len(used))
	}
	return float64(ingredients) / float64(ingredients-1) * (pairs / count) / ((n / count) * (n / count))
}
