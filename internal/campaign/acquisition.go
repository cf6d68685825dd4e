package campaign

import (
	"maps"
	"math"
	"slices"
	"sync"

	"kir/internal/portable"
	"kir/mcmc"
)

// An acquisition gives each recipe a score for how much the recipe is expected to add to a batch. A
// search maximises the score. The acquisition keeps the best recipes that the search visits.
type acquisition struct {
	score       func(recipe) float64 // returns the log score of a recipe; a higher score is better
	isOfferable func(recipe) bool    // reports whether a batch may offer the recipe
	campaign    *Campaign

	mu              sync.Mutex
	bestByCell      map[string]candidate // maps the key of a cell to the candidate with the highest score in the cell; see cellKey
	cutoffCandidate *candidate           // best candidate dropped so far; candidates that rank after it are dropped at once; nil: none dropped yet
}

// maxKeptCandidates is the greatest number of recipes that an acquisition keeps. A grid divides the
// space of recipes into cells, and only the best recipe of each cell is kept. The coordinate of an
// ingredient in the grid is the square root of the ingredient's share. Along each coordinate, a
// cell is gridCellWidth wide.
const (
	maxKeptCandidates = 400
	gridCellWidth     = 0.05
)

// newAcquisition returns an acquisition that has kept no recipe yet. The function mayOffer reports
// whether a batch may offer a recipe.
func newAcquisition(c *Campaign, score func(recipe) float64, mayOffer func(recipe) bool) *acquisition {
	return &acquisition{score: score, isOfferable: mayOffer, campaign: c, bestByCell: make(map[string]candidate)}
}

// buildAcquisition returns the acquisition that the search maximises. The parameter bestUtility is
// the greatest predicted utility of any trial.
func (ch *batchOptimizer) buildAcquisition(bestUtility float64) *acquisition {
	alone, learnt := ch.soleObjective(), ch.learntObjectives()
	score := func(x recipe) float64 {
		sum := 0.0
		if alone != nil {
			mean, sd := alone.model.Predict(x)
			sum = logExpectedImprovement(mean, sd, bestUtility)
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

// cellKey returns the key of the grid cell that contains a recipe; see [gridCellWidth]. Recipes
// with different conditions are in different cells.
func (a *acquisition) cellKey(x recipe) string {
	key := make([]byte, 0, 4*len(x.parts))
	for _, p := range x.parts {
		step := int(math.Sqrt(float64(p.Amount)/float64(a.campaign.Problem.Total))/gridCellWidth + 0.5)
		key = append(key, byte(p.Ingredient), byte(p.Ingredient>>8), byte(p.Ingredient>>16), byte(step))
	}
	return string(key) + conditionCodesKey(x.conditionCodes)
}

// recordCandidate keeps a recipe if no recipe in the same cell has a higher score and the recipe is
// among the best overall. The order of the calls does not change which recipes are kept in the end.
func (a *acquisition) recordCandidate(x recipe, score float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	new := candidate{x, score}
	if math.IsNaN(score) || math.IsInf(score, -1) || a.cutoffCandidate != nil && compareCandidates(new, *a.cutoffCandidate) >= 0 {
		return
	}
	cell := a.cellKey(x)
	was, known := a.bestByCell[cell]
	if known && compareCandidates(was, new) <= 0 || !a.isOfferable(x) {
		return
	}
	a.bestByCell[cell] = candidate{x.clone(), score}
	if len(a.bestByCell) < 2*maxKeptCandidates {
		return
	}
	all := slices.SortedFunc(maps.Values(a.bestByCell), compareCandidates)
	for _, c := range all[maxKeptCandidates:] {
		delete(a.bestByCell, a.cellKey(c.recipe))
	}
	a.cutoffCandidate = &all[maxKeptCandidates]
}

// sortedCandidates returns the kept candidates, best first.
func (a *acquisition) sortedCandidates() []candidate {
	all := slices.SortedFunc(maps.Values(a.bestByCell), compareCandidates)
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
// some of the possible divisions and forbids all others:
//
//   - the two extremes, where one of the ingredients gets the whole joint amount
//   - the current division
//   - divisions at distances of 1, 2, 4, ... units from the current division
//   - [evenSplitCount] evenly spaced divisions
//
// The scores are exact, but they serve a local search. Draws from them do not follow the
// distribution of the scores.
type neighbourhoodScorer struct {
	acquisition  *acquisition
	composition  *mcmc.Composition
	scoredRecipe recipe // recipe that was scored last
	positions    []int  // positions to score, ascending; a position is an amount of the first ingredient or the index of a condition's value
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

// Values implements [mcmc.ConditionScorer]. Only some values of a condition are scored, chosen by
// index as [neighbourhoodScorer.Line] chooses divisions by amount.
func (l *neighbourhoodScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	l.copyConditions()
	l.scoredRecipe.parts = sortParts(l.composition.AppendParts(l.scoredRecipe.parts[:0]))
	l.scoreNeighbours(l.composition.Condition(c), l.acquisition.campaign.Problem.Conditions[c].Len()-1, p, func(v int) {
		l.scoredRecipe.offeredValues[c] = int32(v)
		l.scoredRecipe.conditionCodes = l.acquisition.campaign.Problem.AppendCodes(l.scoredRecipe.conditionCodes[:0], l.scoredRecipe.offeredValues)
	})
}

// scoreNeighbours scores some of the positions from 0 to last and forbids the other positions. A
// position is one division of two ingredients' joint amount, or one value of a condition. Scored
// are positions near the position current and evenly spaced positions. The function moveTo changes
// the recipe to the recipe at a position.
func (l *neighbourhoodScorer) scoreNeighbours(current, last int, p *mcmc.PiecewiseConstant, moveTo func(at int)) {
	l.positions = append(l.positions[:0], 0, current, last)
	for step := 1; step < last; step *= 2 {
		l.positions = append(l.positions, current-step, current+step)
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
		moveTo(k)
		score := l.acquisition.score(l.scoredRecipe)
		l.acquisition.recordCandidate(l.scoredRecipe, score)
		p.Add(k, score)
		next = k + 1
	}
}

// copyConditions copies the conditions of the composition to scoredRecipe.
func (l *neighbourhoodScorer) copyConditions() {
	if l.composition.Conditions() > 0 {
		l.scoredRecipe.offeredValues = l.composition.AppendConditions(l.scoredRecipe.offeredValues[:0])
		l.scoredRecipe.conditionCodes = l.acquisition.campaign.Problem.AppendCodes(l.scoredRecipe.conditionCodes[:0], l.scoredRecipe.offeredValues)
	}
}

// replaceAmounts copies the amounts of the composition to scoredRecipe, except that ingredient i
// gets amountI and ingredient j gets amountJ.
func (l *neighbourhoodScorer) replaceAmounts(i, j, amountI, amountJ int) {
	l.scoredRecipe.parts = l.scoredRecipe.parts[:0]
	for _, o := range l.composition.Ingredients() {
		if k := int(o); k != i && k != j {
			l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: k, Amount: l.composition.Amount(k)})
		}
	}
	if amountI > 0 {
		l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: i, Amount: amountI})
	}
	if amountJ > 0 {
		l.scoredRecipe.parts = append(l.scoredRecipe.parts, mcmc.Part{Ingredient: j, Amount: amountJ})
	}
	sortParts(l.scoredRecipe.parts)
}
