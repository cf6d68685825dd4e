package assemble

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
)

const (
	shownTogether = 12
	shownApart    = 8
	// pairErrors is the number of standard errors by which a listed pair's lift must differ from
	// the expected one, see [isSignificant]. With a normal error, chance lists one pair in 16,000:
	// at most 0.3 of the 4,950 pairs of 100 ingredients.
	pairErrors = 4
	// pairEffect is the factor by which the lift must also differ, two standard errors nearer. With
	// many draws even tiny differences are significant.
	pairEffect = 1.05
)

// newPairs finds the pairs whose lift differs significantly from the expected one. It orders each
// list by the ratio of the two, taken at the end of the two-standard-error interval nearer to the
// expected lift. So a large but uncertain lift does not come first. Pairs must occur together in
// some batches, since other pairs have no standard error.
func newPairs(p *compile.Problem, g *gathered, probabilities []float64, unlisted run.Unlisted) *report.Pairs {
	out := &report.Pairs{Among: g.paired, Together: []report.Pair{}, Apart: []report.Pair{}}
	for _, b := range g.batches {
		out.Draws += b.draws
	}
	draws := float64(out.Draws)
	used := make([]float64, g.paired)
	for i := range used {
		for _, b := range g.batches {
			used[i] += float64(b.used[i])
		}
	}
	kappa := g.competition(probabilities, unlisted)
	type found struct {
		report.Pair
		factor float64
	}
	var together, apart []found
	counts := make([]int, len(g.batches))
	for i := range g.paired {
		for j := range i {
			with, both := 0, 0.0
			for k, b := range g.batches {
				counts[k] = b.countBoth(i, j)
				both += float64(counts[k])
				if counts[k] > 0 {
					with++
				}
			}
			if with < leastBatches {
				continue
			}
			lift := both * draws / (used[i] * used[j])
			se := jackknife(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return (both - float64(counts[k])) * (draws - float64(b.draws)) / ((used[i] - float64(b.used[i])) * (used[j] - float64(b.used[j])))
			})
			expected := 1 + float64(kappa*(1-used[i]/draws)*(1-used[j]/draws))
			if lift > expected {
				se = max(se, chanceError(expected, used[i], used[j]/draws))
			}
			if !(expected > 0) || !(se > 0) || !isSignificant(lift, se, expected) {
				continue
			}
			// The more frequent ingredient, which has the lower slot, is first.
			f := found{Pair: report.Pair{
				First: p.Ingredients[g.slots[j]], Second: p.Ingredients[g.slots[i]],
				Probability: report.Number(both / draws), Lift: report.Number(lift), MCSE: report.Number(se), Expected: report.Number(expected),
			}}
			to := &together
			if f.factor = (lift - float64(2*se)) / expected; lift < expected {
				f.factor = expected / (lift + float64(2*se))
				to = &apart
			}
			if f.factor >= pairEffect {
				*to = append(*to, f)
			}
		}
	}
	for _, l := range []struct {
		from []found
		to   *[]report.Pair
		most int
	}{{together, &out.Together, shownTogether}, {apart, &out.Apart, shownApart}} {
		slices.SortStableFunc(l.from, func(a, b found) int { return cmp.Compare(b.factor, a.factor) })
		for _, f := range l.from[:min(len(l.from), l.most)] {
			*l.to = append(*l.to, f.Pair)
		}
	}
	return out
}

// chanceError returns the standard error of a lift if it is the expected one and
// the draws that use the first ingredient, rare of them, are independent: each
// uses the second, which a share of all draws uses, with probability
// q = expected·share. If it happens that all of them do, the draws themselves show
// no error at all.
func chanceError(expected, rare, share float64) float64 {
	q := min(1, expected*share)
	return math.Sqrt(q*(1-q)/rare) / share
}

// isSignificant reports whether a lift surely differs from the expected one. Lifts of rare
// pairs are counts of few events, whose law is skewed: a lift above is compared
// as it is and one below by its logarithm, whose standard error is se/lift. Each
// is the more careful choice on its side.
func isSignificant(lift, se, expected float64) bool {
	if lift >= expected {
		return lift-expected > pairErrors*se
	}
	return portable.Log(expected/lift) > pairErrors*se/lift
}

// competition returns κ, by which ingredients compete for places. With v_i =
// P_i(1−P_i), the covariances of the uses of two ingredients are taken to be
//
//	κ·v_i·v_j,  κ = (Var(n) − Σ_k v_k) / ((Σ_k v_k)² − Σ_k v_k²),
//
// so that they add up with the v_k to the variance of n, which makes the lift of
// a pair 1 + κ(1−P_i)(1−P_j). For n of N equally likely ingredients that is
// exact, N/(N−1) · E[n(n−1)]/E[n]²; for a fixed n and any P it is the large-sample
// form of sampling with given inclusion probabilities (Hájek 1964, Asymptotic
// theory of rejective sampling). It is 0 for independent uses.
func (g *gathered) competition(probabilities []float64, unlisted run.Unlisted) float64 {
	sum, squares := unlisted.Variance, unlisted.Variance2
	for _, p := range probabilities {
		v := float64(p * (1 - p))
		sum += v
		squares += float64(v * v)
	}
	var count, n, n2 float64
	for _, used := range g.series[0].chains {
		for _, u := range used {
			count++
			n += u
			n2 += float64(u * u)
		}
	}
	if d := float64(sum*sum) - squares; d > 1e-12*sum*sum {
		return (n2/count - float64(n/count*(n/count)) - sum) / d
	}
	return 0 // fewer than two ingredients are used in some draws and not in others
}
