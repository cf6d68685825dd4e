package report

import (
	"math"

	"kir/recipe"
	"kir/run"
)

const (
	// mostDiverse is how many compositions the diverse shortlist has.
	mostDiverse = 50
	// scoreShare is λ of maximal marginal relevance: how much the score counts
	// beside being different.
	scoreShare = 0.7
)

// diverse chooses compositions that score well and differ from each other, by
// maximal marginal relevance (Carbonell and Goldstein 1998), greedily: the next
// one is that with the largest
//
//	λ·score(x)/score(best) − (1−λ)·max_y overlap(x, y),
//
// y being those chosen before, λ = 0.7, and overlap the share of common
// ingredients |X∩Y|/min(|X|, |Y|). The first is the best. Of equals the one with
// the higher score, then density, then the earlier draw is taken. A shorter list
// is the beginning of a longer one.
func diverse(pool []run.Best, most int) []run.Best {
	if len(pool) == 0 {
		return nil
	}
	sets := make([][]int, len(pool))
	best := math.Inf(-1)
	for k, b := range pool {
		sets[k] = setOf(b.Parts)
		best = max(best, b.LogScore)
	}
	relevance := make([]float64, len(pool))
	for k, b := range pool {
		relevance[k] = math.Exp(b.LogScore - best) // 1 where all are −∞ or equal
		if math.IsInf(best, -1) {
			relevance[k] = 1
		}
	}
	nearest := make([]float64, len(pool)) // the largest overlap with what was chosen
	taken := make([]bool, len(pool))
	var chosen []run.Best
	for len(chosen) < min(most, len(pool)) {
		at, value := -1, math.Inf(-1)
		for k := range pool {
			if taken[k] {
				continue
			}
			if v := scoreShare*relevance[k] - (1-scoreShare)*nearest[k]; v > value {
				at, value = k, v
			}
		}
		taken[at] = true
		chosen = append(chosen, pool[at])
		for k := range pool {
			if !taken[k] {
				nearest[k] = max(nearest[k], recipe.Overlap(sets[k], sets[at]))
			}
		}
	}
	return chosen
}
