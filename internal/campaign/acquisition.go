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
	score       func(parts []mcmc.Part) float64 // log score of a recipe; parts are sorted by ingredient
	isOfferable func(parts []mcmc.Part) bool    // whether a batch may offer the recipe
	total       int

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

func newAcquisition(total int, score func([]mcmc.Part) float64, keeps func([]mcmc.Part) bool) *acquisition {
	return &acquisition{score: score, isOfferable: keeps, total: total, seen: make(map[string]candidate)}
}

// buildAcquisition returns the acquisition to search with. b is the best predicted utility of
// a trial.
func (ch *batchOptimizer) buildAcquisition(b float64) *acquisition {
	alone, learnt := ch.soleObjective(), ch.learntObjectives()
	score := func(x []mcmc.Part) float64 {
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
			sum -= portable.Log(ch.costDivisor(x))
		}
		return sum - float64(limitPenalty*ch.limitViolation(x))
	}
	return newAcquisition(ch.c.Problem.Total, score, func(x []mcmc.Part) bool { return ch.isOfferable(x) && ch.isFeasible(x) })
}

// cell returns a key for the cell of a recipe.
func (a *acquisition) cell(parts []mcmc.Part) string {
	key := make([]byte, 0, 4*len(parts))
	for _, p := range parts {
		step := int(math.Sqrt(float64(p.Amount)/float64(a.total))/cellWidth + 0.5)
		key = append(key, byte(p.Ingredient), byte(p.Ingredient>>8), byte(p.Ingredient>>16), byte(step))
	}
	return string(key)
}

// recordCandidate keeps a recipe if it is the best of its cell and among the best overall. The
// recipes kept in the end do not depend on the order of the calls.
func (a *acquisition) recordCandidate(parts []mcmc.Part, score float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	new := candidate{parts, score}
	if math.IsNaN(score) || math.IsInf(score, -1) || a.bar != nil && compareCandidates(new, *a.bar) >= 0 {
		return
	}
	cell := a.cell(parts)
	was, known := a.seen[cell]
	if known && compareCandidates(was, new) <= 0 || !a.isOfferable(parts) {
		return
	}
	a.seen[cell] = candidate{slices.Clone(parts), score}
	if len(a.seen) < 2*maxCandidates {
		return
	}
	all := slices.SortedFunc(maps.Values(a.seen), compareCandidates)
	for _, c := range all[maxCandidates:] {
		delete(a.seen, a.cell(c.parts))
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
	parts := sortParts(x.Parts())
	score := a.score(parts)
	a.recordCandidate(parts, score)
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
	a     *acquisition
	x     *mcmc.Composition
	parts []mcmc.Part
	at    []int
}

// evenSplits is the number of evenly spaced splits scored on every line.
const evenSplits = 5

func (l *neighbourhoodScorer) Reset()            {}
func (l *neighbourhoodScorer) Moved(_, _ int)    {}
func (l *neighbourhoodScorer) LogScore() float64 { return l.a.LogScore(l.x) }

// Line implements [mcmc.Scorer].
func (l *neighbourhoodScorer) Line(i, j int, p *mcmc.Pieces) {
	here := l.x.Amount(i)
	s := here + l.x.Amount(j)
	l.at = append(l.at[:0], 0, here, s)
	for step := 1; step < s; step *= 2 {
		l.at = append(l.at, here-step, here+step)
	}
	for k := 1; k <= evenSplits; k++ {
		l.at = append(l.at, k*s/(evenSplits+1))
	}
	slices.Sort(l.at)
	next := 0
	for _, k := range slices.Compact(l.at) {
		if k < 0 || k > s {
			continue
		}
		if k > next {
			p.Add(next, math.Inf(-1))
		}
		l.replaceAmounts(i, j, k, s-k)
		score := l.a.score(l.parts)
		l.a.recordCandidate(l.parts, score)
		p.Add(k, score)
		next = k + 1
	}
}

// replaceAmounts sets parts to the recipe with other amounts of two ingredients.
func (l *neighbourhoodScorer) replaceAmounts(i, j, ofI, ofJ int) {
	l.parts = l.parts[:0]
	for _, o := range l.x.Ingredients() {
		if k := int(o); k != i && k != j {
			l.parts = append(l.parts, mcmc.Part{Ingredient: k, Amount: l.x.Amount(k)})
		}
	}
	if ofI > 0 {
		l.parts = append(l.parts, mcmc.Part{Ingredient: i, Amount: ofI})
	}
	if ofJ > 0 {
		l.parts = append(l.parts, mcmc.Part{Ingredient: j, Amount: ofJ})
	}
	sortParts(l.parts)
}
