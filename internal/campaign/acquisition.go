package campaign

import (
	"maps"
	"math"
	"slices"
	"sync"

	"kir/internal/portable"
	"kir/mcmc"
)

// An acquisition scores recipes by how much they may be expected to add to a batch. The search
// uses it as an objective, and it keeps the best recipes that the search visits.
type acquisition struct {
	score       func(recipe) float64 // log score of a recipe
	isOfferable func(recipe) bool    // whether a batch may offer the recipe
	c           *Campaign

	mu   sync.Mutex
	seen map[string]candidate // the best recipe of each cell
	bar  *candidate           // candidates that rank after this one are dropped; nil: none is
}

// maxCandidates limits how many recipes an acquisition keeps. An acquisition keeps only the
// best recipe of each cell. Cells are cellWidth wide in roots of shares.
const (
	maxCandidates = 400
	cellWidth     = 0.05
)

func newAcquisition(c *Campaign, score func(recipe) float64, keeps func(recipe) bool) *acquisition {
	return &acquisition{score: score, isOfferable: keeps, c: c, seen: make(map[string]candidate)}
}

// buildAcquisition returns the acquisition to search with. b is the best predicted utility of
// a trial.
func (ch *batchOptimizer) buildAcquisition(b float64) *acquisition {
	alone, learnt := ch.soleObjective(), ch.learntObjectives()
	score := func(x recipe) float64 {
		sum := 0.0
		if alone != nil {
			mean, sd := alone.model.Predict(x)
			sum = logImprovement(mean, sd, b)
		} else {
			for _, o := range learnt {
				sum += float64(o.weight * portable.Log(max(o.optimisticDesirability(x), math.SmallestNonzeroFloat64)))
			}
		}
		if ch.success != nil {
			p, _ := ch.success.Predict(x)
			sum += portable.Log(max(p, 1e-3))
		}
		if ch.cost != nil {
			sum -= portable.Log(ch.costDivisor(x.parts))
		}
		return sum - float64(limitPenalty*ch.limitViolation(x))
	}
	return newAcquisition(ch.c, score, func(x recipe) bool { return ch.isOfferable(x) && ch.isFeasible(x) })
}

// cell returns a key for the cell of a recipe.
func (a *acquisition) cell(x recipe) string {
	key := make([]byte, 0, 4*len(x.parts))
	for _, p := range x.parts {
		step := int(math.Sqrt(float64(p.Amount)/float64(a.c.Problem.Total))/cellWidth + 0.5)
		key = append(key, byte(p.Ingredient), byte(p.Ingredient>>8), byte(p.Ingredient>>16), byte(step))
	}
	return string(key) + codesKey(x.codes)
}

// recordCandidate keeps a recipe if it is the best of its cell and among the best overall. The
// recipes kept in the end do not depend on the order of the calls.
func (a *acquisition) recordCandidate(x recipe, score float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	new := candidate{x, score}
	if math.IsNaN(score) || math.IsInf(score, -1) || a.bar != nil && compareCandidates(new, *a.bar) >= 0 {
		return
	}
	cell := a.cell(x)
	was, known := a.seen[cell]
	if known && compareCandidates(was, new) <= 0 || !a.isOfferable(x) {
		return
	}
	a.seen[cell] = candidate{x.clone(), score}
	if len(a.seen) < 2*maxCandidates {
		return
	}
	all := slices.SortedFunc(maps.Values(a.seen), compareCandidates)
	for _, c := range all[maxCandidates:] {
		delete(a.seen, a.cell(c.recipe))
	}
	a.bar = &all[maxCandidates]
}

// sorted returns the kept candidates, the best first.
func (a *acquisition) sorted() []candidate {
	all := slices.SortedFunc(maps.Values(a.seen), compareCandidates)
	return all[:min(len(all), maxCandidates)]
}

// LogScore implements [mcmc.Property].
func (a *acquisition) LogScore(x *mcmc.Composition) float64 {
	r := a.c.recipeOf(x)
	score := a.score(r)
	a.recordCandidate(r, score)
	return score
}

// Scorer implements [mcmc.LineProperty].
func (a *acquisition) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &neighbourhoodScorer{a: a, x: x}
}

// A neighbourhoodScorer scores a line at some of its splits only and forbids the others. It
// scores both ends, the current split, splits at distances 1, 2, 4, ... from it, and some
// evenly spaced ones. The result is not a distribution to draw from. It is a neighbourhood to
// search, with exact scores.
type neighbourhoodScorer struct {
	a      *acquisition
	x      *mcmc.Composition
	recipe recipe // scored last; its conditions are those of x
	splits []int
}

// evenSplits is the number of evenly spaced splits scored on every line.
const evenSplits = 5

func (l *neighbourhoodScorer) Reset()            {}
func (l *neighbourhoodScorer) Moved(_, _ int)    {}
func (l *neighbourhoodScorer) ConditionSet(int)  {}
func (l *neighbourhoodScorer) LogScore() float64 { return l.a.LogScore(l.x) }

// Line implements [mcmc.Scorer].
func (l *neighbourhoodScorer) Line(i, j int, p *mcmc.Pieces) {
	here := l.x.Amount(i)
	s := here + l.x.Amount(j)
	l.takeConditions()
	l.score(here, s, p, func(k int) { l.replaceAmounts(i, j, k, s-k) })
}

// Values implements [mcmc.ConditionScorer]: the values of a condition are a line, too.
func (l *neighbourhoodScorer) Values(c int, p *mcmc.Pieces) {
	l.takeConditions()
	l.recipe.parts = sortParts(l.x.AppendParts(l.recipe.parts[:0]))
	l.score(l.x.Condition(c), l.a.c.Problem.Conditions[c].Len()-1, p, func(v int) {
		l.recipe.offered[c] = int32(v)
		l.recipe.codes = l.a.c.Problem.AppendCodes(l.recipe.codes[:0], l.recipe.offered)
	})
}

// score adds the scores near here, and of some evenly spaced places, of a line from 0 to last. set
// changes the recipe to that of a place.
func (l *neighbourhoodScorer) score(here, last int, p *mcmc.Pieces, set func(at int)) {
	l.splits = append(l.splits[:0], 0, here, last)
	for step := 1; step < last; step *= 2 {
		l.splits = append(l.splits, here-step, here+step)
	}
	for k := 1; k <= evenSplits; k++ {
		l.splits = append(l.splits, k*last/(evenSplits+1))
	}
	slices.Sort(l.splits)
	next := 0
	for _, k := range slices.Compact(l.splits) {
		if k < 0 || k > last {
			continue
		}
		if k > next {
			p.Add(next, math.Inf(-1))
		}
		set(k)
		score := l.a.score(l.recipe)
		l.a.recordCandidate(l.recipe, score)
		p.Add(k, score)
		next = k + 1
	}
}

// takeConditions gives the recipe the conditions of x.
func (l *neighbourhoodScorer) takeConditions() {
	if l.x.Conditions() > 0 {
		l.recipe.offered = l.x.AppendConditions(l.recipe.offered[:0])
		l.recipe.codes = l.a.c.Problem.AppendCodes(l.recipe.codes[:0], l.recipe.offered)
	}
}

// replaceAmounts sets the parts to those of x with other amounts of two ingredients.
func (l *neighbourhoodScorer) replaceAmounts(i, j, ofI, ofJ int) {
	l.recipe.parts = l.recipe.parts[:0]
	for _, o := range l.x.Ingredients() {
		if k := int(o); k != i && k != j {
			l.recipe.parts = append(l.recipe.parts, mcmc.Part{Ingredient: k, Amount: l.x.Amount(k)})
		}
	}
	if ofI > 0 {
		l.recipe.parts = append(l.recipe.parts, mcmc.Part{Ingredient: i, Amount: ofI})
	}
	if ofJ > 0 {
		l.recipe.parts = append(l.recipe.parts, mcmc.Part{Ingredient: j, Amount: ofJ})
	}
	sortParts(l.recipe.parts)
}
