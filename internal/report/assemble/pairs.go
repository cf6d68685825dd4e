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
	maxPairsTogether = 12
	maxPairsApart    = 8
	// minPairErrors is the number of standard errors by which the lift of a listed pair must differ
	// from the expected lift; see [isSignificant]. With a normal error, chance lists one pair in
	// 16,000: at most 0.3 of the 4,950 pairs of 100 ingredients.
	minPairErrors = 4
	// minPairEffect is the factor by which the lift, moved by two standard errors toward the
	// expected lift, must still differ from the expected lift. With many draws even tiny
	// differences are significant.
	minPairEffect = 1.05
)

// newPairs finds the pairs of ingredients whose lift differs significantly from the expected lift.
// Each list is ordered by the ratio of lift and expected lift, after the lift is moved by two
// standard errors toward the expected lift. So a large but uncertain lift does not come first.
// Pairs must occur together in some batches, since other pairs have no standard error.
func newPairs(p *compile.Problem, g *gatheredDraws, probabilities []float64, unlisted run.UnlistedIngredients) *report.Pairs {
	out := &report.Pairs{Among: g.pairedCount, Together: []report.Pair{}, Apart: []report.Pair{}}
	for _, b := range g.batches {
		out.Draws += b.draws
	}
	draws := float64(out.Draws)
	used := make([]float64, g.pairedCount)
	for i := range used {
		for _, b := range g.batches {
			used[i] += float64(b.drawsUsing[i])
		}
	}
	kappa := g.competitionFactor(probabilities, unlisted)
	type found struct {
		report.Pair
		factor float64
	}
	var together, apart []found
	counts := make([]int, len(g.batches))
	for i := range g.pairedCount {
		for j := range i {
			with, both := 0, 0.0
			for k, b := range g.batches {
				counts[k] = b.countBoth(i, j)
				both += float64(counts[k])
				if counts[k] > 0 {
					with++
				}
			}
			if with < minBatches {
				continue
			}
			lift := both * draws / (used[i] * used[j])
			se := jackknife(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return (both - float64(counts[k])) * (draws - float64(b.draws)) / ((used[i] - float64(b.drawsUsing[i])) * (used[j] - float64(b.drawsUsing[j])))
			})
			expected := 1 + float64(kappa*(1-used[i]/draws)*(1-used[j]/draws))
			if lift > expected {
				se = max(se, chanceLiftError(expected, used[i], used[j]/draws))
			}
			if !(expected > 0) || !(se > 0) || !isSignificant(lift, se, expected) {
				continue
			}
			// The more frequent ingredient, which has the lower slot, is first.
			f := found{Pair: report.Pair{
				First: p.Ingredients[g.slotIngredients[j]], Second: p.Ingredients[g.slotIngredients[i]],
				Probability: report.Number(both / draws), Lift: report.Number(lift), MCSE: report.Number(se), Expected: report.Number(expected),
			}}
			to := &together
			if f.factor = (lift - float64(2*se)) / expected; lift < expected {
				f.factor = expected / (lift + float64(2*se))
				to = &apart
			}
			if f.factor >= minPairEffect {
				*to = append(*to, f)
			}
		}
	}
	for _, l := range []struct {
		from []found
		to   *[]report.Pair
		most int
	}{{together, &out.Together, maxPairsTogether}, {apart, &out.Apart, maxPairsApart}} {
		slices.SortStableFunc(l.from, func(a, b found) int { return cmp.Compare(b.factor, a.factor) })
		for _, f := range l.from[:min(len(l.from), l.most)] {
			*l.to = append(*l.to, f.Pair)
		}
	}
	return out
}

// chanceLiftError returns the standard error of a pair's lift if the lift is the expected lift and
// draws are independent. The parameter rare is the number of draws that use the first ingredient,
// and share the share of all draws that use the second. A draw with the first ingredient then uses
// the second with probability q = expected·share. This error is needed if all draws with the first
// ingredient happen to use the second: the draws themselves then show no error.
func chanceLiftError(expected, rare, share float64) float64 {
	q := min(1, expected*share)
	return math.Sqrt(q*(1-q)/rare) / share
}

// isSignificant reports whether a lift surely differs from the expected lift. The lift of a rare
// pair is a count of few events, whose distribution is skewed. So a lift above the expected lift is
// compared on the linear scale, and a lift below by its logarithm, whose standard error is se/lift.
// Each choice is the more careful one on its side.
func isSignificant(lift, se, expected float64) bool {
	if lift >= expected {
		return lift-expected > minPairErrors*se
	}
	return portable.Log(expected/lift) > minPairErrors*se/lift
}

// competitionFactor returns κ, the strength of the competition of ingredients for places in a
// composition. With P_i the share of draws that use ingredient i and v_i = P_i(1−P_i), the
// covariance of the uses of ingredients i and j is taken to be κ·v_i·v_j with
//
//	κ = (Var(n) − Σ_k v_k) / ((Σ_k v_k)² − Σ_k v_k²).
//
// So variances and covariances add up to the variance of the number of ingredients n, and the lift
// of a pair is 1 + κ(1−P_i)(1−P_j). For n of N equally likely ingredients that is exact, N/(N−1) ·
// E[n(n−1)]/E[n]². For a fixed n and any P it is the large-sample form of sampling with given
// inclusion probabilities (Hájek 1964, Asymptotic theory of rejective sampling). For independent
// uses κ is 0.
func (g *gatheredDraws) competitionFactor(probabilities []float64, unlisted run.UnlistedIngredients) float64 {
	sum, squares := unlisted.Variance, unlisted.SquaredVariance
	for _, p := range probabilities {
		v := float64(p * (1 - p))
		sum += v
		squares += float64(v * v)
	}
	var count, n, n2 float64
	for _, used := range g.series[0].valuesByChain {
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
