package campaign

import (
	"maps"
	"math"
	"slices"
	"sync"

	"kir/internal/portable"
	"kir/mcmc"
)

// An acquisition scores recipes by how much they are expected to add to a batch. A search maximises
// the score. The acquisition keeps the best recipes that the search visits.
type acquisition struct {
	score       func(recipe) float64 // log score of a recipe; a higher score is better
	isOfferable func(recipe) bool    // whether a batch may offer the recipe
	campaign    *Campaign

	mu         sync.Mutex
	bestOfCell map[string]candidate // by key of a cell: the candidate with the highest score in the cell
	cutoff     *candidate           // candidates that rank after cutoff are dropped; nil: no candidate is dropped
}

// maxKeptCandidates is the greatest number of recipes that an acquisition keeps. The space of
// recipes is divided into cells, and only the best recipe of each cell is kept. A cell is
// gridCellWidth wide in the square root of each ingredient's share.
const (
	maxKeptCandidates = 400
	gridCellWidth     = 0.05
)

// newAcquisition returns an acquisition that has kept no recipe yet. The function keeps reports
// whether a batch may offer a recipe.
func newAcquisition(c *Campaign, score func(recipe) float64, keeps func(recipe) bool) *acquisition {
	return &acquisition{score: score, isOfferable: keeps, campaign: c, bestOfCell: make(map[string]candidate)}
}

// buildAcquisition returns the acquisition that the search maximises. The parameter b is the
// greatest predicted utility of any trial.
func (ch *batchOptimizer) buildAcquisition(b float64) *acquisition {
	alone, learnt := ch.soleObjective(), ch.learntObjectives()
	score := func(x recipe) float64 {
		sum := 0.0
		if alone != nil {
			mean, sd := alone.model.Predict(x)
			sum = logExpectedImprovement(mean, sd, b)
		} else {
			for _, o := range learnt {
				sum += float64(o.weight * portable.Log(max(o.optimisticDesirability(x), math.SmallestNonzeroFloat64)))
			}
		}
		if ch.successModel != nil {
			p, _ := ch.successModel.Predict(x)
			sum += portable.Log(max(p, 1e-3))
		}
		if ch.ingredientCosts != nil {
			sum -= portable.Log(ch.costDivisor(x.parts))
		}
		return sum - float64(limitPenalty*ch.limitViolation(x))
	}
	return newAcquisition(ch.campaign, score, func(x recipe) bool { return ch.isOfferable(x) && ch.isFeasible(x) })
}

// cellKey returns the key of the cell that contains a recipe. Recipes with different conditions are
// in different cells.
func (a *acquisition) cellKey(x recipe) string {
	key := make([]byte, 0, 4*len(x.parts))
	for _, p := range x.parts {
		step := int(math.Sqrt(float64(p.Amount)/float64(a.campaign.Problem.Total))/gridCellWidth + 0.5)
		key = append(key, byte(p.Ingredient), byte(p.Ingredient>>8), byte(p.Ingredient>>16), byte(step))
	}
	return string(key) + codesKey(x.conditionCodes)
}

// recordCandidate keeps a recipe if the recipe is the best of its cell and among the best overall.
// The set of recipes kept in the end does not depend on the order of the calls.
func (a *acquisition) recordCandidate(x recipe, score float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	new := candidate{x, score}
	if math.IsNaN(score) || math.IsInf(score, -1) || a.cutoff != nil && compareCandidates(new, *a.cutoff) >= 0 {
		return
	}
	cell := a.cellKey(x)
	was, known := a.bestOfCell[cell]
	if known && compareCandidates(was, new) <= 0 || !a.isOfferable(x) {
		return
	}
	a.bestOfCell[cell] = candidate{x.clone(), score}
	if len(a.bestOfCell) < 2*maxKeptCandidates {
		return
	}
	all := slices.SortedFunc(maps.Values(a.bestOfCell), compareCandidates)
	for _, c := range all[maxKeptCandidates:] {
		delete(a.bestOfCell, a.cellKey(c.recipe))
	}
	a.cutoff = &all[maxKeptCandidates]
}

// sortedCandidates returns the kept candidates, best first.
func (a *acquisition) sortedCandidates() []candidate {
	all := slices.SortedFunc(maps.Values(a.bestOfCell), compareCandidates)
	return all[:min(len(all), maxKeptCandidates)]
}

// LogScore implements [mcmc.Property].
func (a *acquisition) LogScore(x *mcmc.Composition) float64 {
	r := a.campaign.recipeFromComposition(x)
	score := a.score(r)
	a.recordCandidate(r, score)
	return score
}

// Scorer implements [mcmc.LineProperty].
func (a *acquisition) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &neighbourhoodScorer{acquisition: a, composition: x}
}

// A neighbourhoodScorer scores how two ingredients may divide their joint amount. It scores only
// some of the possible divisions and forbids all other divisions. Scored are both extremes, the
// current division, divisions at distances 1, 2, 4, ... from the current division, and
// [evenSplitCount] evenly spaced divisions. The scores are exact, but they serve a local search and
// not a draw from a distribution.
type neighbourhoodScorer struct {
	acquisition  *acquisition
	composition  *mcmc.Composition
	scoredRecipe recipe // the recipe scored last
	positions    []int  // positions to score, ascending: amounts of the first ingredient, or indices of a condition's values
}

// evenSplitCount is the number of evenly spaced divisions that a [neighbourhoodScorer] scores.
const evenSplitCount = 5

func (l *neighbourhoodScorer) Reset()            {}
func (l *neighbourhoodScorer) Moved(_, _ int)    {}
func (l *neighbourhoodScorer) ConditionSet(int)  {}
func (l *neighbourhoodScorer) LogScore() float64 { return l.acquisition.LogScore(l.composition) }

// Line implements [mcmc.Scorer].
func (l *neighbourhoodScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	here := l.composition.Amount(i)
	s := here + l.composition.Amount(j)
	l.copyConditions()
	l.scoreNeighbours(here, s, p, func(k int) { l.replaceAmounts(i, j, k, s-k) })
}

// Values implements [mcmc.ConditionScorer]. It treats the values of a condition like the divisions
// of two ingredients' joint amount.
func (l *neighbourhoodScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	l.copyConditions()
	l.scoredRecipe.parts = sortParts(l.composition.AppendParts(l.scoredRecipe.parts[:0]))
	l.scoreNeighbours(l.composition.Condition(c), l.acquisition.campaign.Problem.Conditions[c].Len()-1, p, func(v int) {
		l.scoredRecipe.offeredValues[c] = int32(v)
		l.scoredRecipe.conditionCodes = l.acquisition.campaign.Problem.AppendCodes(l.scoredRecipe.conditionCodes[:0], l.scoredRecipe.offeredValues)
	})
}

// scoreNeighbours scores some of the positions 0 to last and forbids the others. It scores
// positions near the current position, which is the parameter here, and evenly spaced positions.
// The function set changes the recipe to the recipe at a position.
func (l *neighbourhoodScorer) scoreNeighbours(here, last int, p *mcmc.PiecewiseConstant, set func(at int)) {
	l.positions = append(l.positions[:0], 0, here, last)
	for step := 1; step < last; step *= 2 {
		l.positions = append(l.positions, here-step, here+step)
	}
	for k := 1; k <= evenSplitCount; k++ {
		l.positions = append(l.positions, k*last/(evenSplitCount+1))
	}
	slices.Sort(l.positions)
	next := 0
	for _, k := range slices.Compact(l.positions) {
		if k < 0 || k > last {
			continue
		}
		if k > next {
			p.Add(next, math.Inf(-1))
		}
		set(k)
		score := l.acquisition.score(l.scoredRecipe)
		l.acquisition.recordCandidate(l.scoredRecipe, score)
		p.Add(k, score)
		next = k + 1
	}
}

// copyConditions copies the conditions of the composition to the recipe.
func (l *neighbourhoodScorer) copyConditions() {
	if l.composition.Conditions() > 0 {
		l.scoredRecipe.offeredValues = l.composition.AppendConditions(l.scoredRecipe.offeredValues[:0])
		l.scoredRecipe.conditionCodes = l.acquisition.campaign.Problem.AppendCodes(l.scoredRecipe.conditionCodes[:0], l.scoredRecipe.offeredValues)
	}
}

// replaceAmounts sets the recipe's parts to the parts of the composition, except that ingredient i
// has the amount ofI and ingredient j the amount ofJ.
func (l *neighbourhoodScorer) replaceAmounts(i, j, ofI, ofJ int) {
	l.scoredRecipe.parts = l.scoredRecipe.parts[:0]
	for _, o := range l.composition.Ingredients() {
		if k := int(o); k != i && k != j {
			l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: k, Amount: l.composition.Amount(k)})
		}
	}
	if ofI > 0 {
		l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: i, Amount: ofI})
	}
	if ofJ > 0 {
		l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: j, Amount: ofJ})
	}
	sortParts(l.scoredRecipe.parts)
}
