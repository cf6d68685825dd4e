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
	maxPairsTogether = 12 // largest number of listed pairs that are used together more often than expected
	maxPairsApart    = 8  // largest number of listed pairs that are used together less often than expected
	// minPairStandardErrors is a number of standard errors. A pair of ingredients is listed only if
	// its lift differs by more from the expected lift; see [isLiftSignificant]. If errors are
	// normal, one pair in 16,000 is listed by chance: at most 0.3 of the 4,950 pairs of 100
	// ingredients.
	minPairStandardErrors = 4
	// minPairLiftFactor is the least factor by which the lift of a listed pair must differ from the
	// expected lift, even after it is moved by two standard errors toward the expected lift. With
	// many draws even tiny differences are significant.
	minPairLiftFactor = 1.05
)

// newPairs finds the pairs of ingredients that draws use together significantly more or less often
// than expected; see [report.Pair]. It counts a pair only if some batches of draws contain both,
// since otherwise the pair has no standard error.
//
// Each list is ordered by the ratio of lift and expected lift, after the lift is moved by two
// standard errors toward the expected lift. So a large but uncertain lift does not come first.
func newPairs(p *compile.Problem, g *gatheredDraws, probabilities []float64, unlisted run.UnlistedIngredients) *report.Pairs {
	out := &report.Pairs{Among: g.pairedSlotCount, Together: []report.Pair{}, Apart: []report.Pair{}}
	for _, b := range g.batches {
		out.Draws += b.draws
	}
	draws := float64(out.Draws)
	used := make([]float64, g.pairedSlotCount)
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
	for i := range g.pairedSlotCount {
		for j := range i {
			with, both := 0, 0.0
			for k, b := range g.batches {
				counts[k] = b.countDrawsUsingBoth(i, j)
				both += float64(counts[k])
				if counts[k] > 0 {
					with++
				}
			}
			if with < minBatchesWithEvent {
				continue
			}
			lift := both * draws / (used[i] * used[j])
			se := jackknifeError(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return (both - float64(counts[k])) * (draws - float64(b.draws)) / ((used[i] - float64(b.drawsUsing[i])) * (used[j] - float64(b.drawsUsing[j])))
			})
			expected := 1 + float64(kappa*(1-used[i]/draws)*(1-used[j]/draws))
			if lift > expected {
				se = max(se, chanceLiftError(expected, used[i], used[j]/draws))
			}
			if !(expected > 0) || !(se > 0) || !isLiftSignificant(lift, se, expected) {
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
			if f.factor >= minPairLiftFactor {
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

// chanceLiftError returns the standard error of a pair's lift, for independent draws whose true
// lift is the expected lift. It is needed if all draws with the first ingredient happen to use the
// second: the draws themselves then show no error.
//
// The parameter firstDraws is the number of draws that use the first ingredient, and secondShare is
// the share of all draws that use the second. A draw with the first ingredient uses the second with
// probability expected·secondShare.
func chanceLiftError(expected, firstDraws, secondShare float64) float64 {
	q := min(1, expected*secondShare)
	return math.Sqrt(q*(1-q)/firstDraws) / secondShare
}

// isLiftSignificant reports whether the lift of a pair differs by more than minPairStandardErrors
// standard errors from the expected lift. The lift of a rare pair is computed from few draws, and
// its distribution is skewed. So a lift above the expected lift is compared directly. A lift below
// is compared by its logarithm, whose standard error is se/lift. In each case the more cautious
// comparison is used.
func isLiftSignificant(lift, se, expected float64) bool {
	if lift >= expected {
		return lift-expected > minPairStandardErrors*se
	}
	return portable.Log(expected/lift) > minPairStandardErrors*se/lift
}

// competitionFactor returns κ, which measures how strongly ingredients compete for the places in a
// composition.
//
// Let P_i be the share of draws that use ingredient i, and v_i = P_i(1−P_i). The covariance of the
// uses of ingredients i and j is taken to be κ·v_i·v_j with
//
// κ = (Var(n) − Σ_k v_k) / ((Σ_k v_k)² − Σ_k v_k²).
//
// So variances and covariances add up to the variance of the number of ingredients n, and the lift
// of a pair is 1 + κ(1−P_i)(1−P_j).
//
// For n of N equally likely ingredients the lift is exact, N/(N−1) · E[n(n−1)]/E[n]². For a fixed n
// and any P it is the large-sample form of sampling with given inclusion probabilities (Hájek 1964,
// Asymptotic theory of rejective sampling). For independent uses κ is 0.
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
