package campaign

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"kir/mcmc"
)

// An acquisition is what is looked for: how much a recipe may be expected to add. Walks
// score lines by it, and it keeps the best that they have seen.
type acquisition struct {
	score       func(parts []mcmc.Part) float64 // log score; parts are by ingredient
	isOfferable func(parts []mcmc.Part) bool    // whether a recipe may be offered
	total       int

	mu   sync.Mutex
	seen map[string]candidate // by cell
	bar  *candidate           // what comes after it is not kept; nil: all is
}

// A candidate is a recipe that may be chosen, and its log score.
type candidate struct {
	parts []mcmc.Part
	score float64
}

// maxCandidates is how many recipes an acquisition keeps, and cellWidth the width of the cells,
// in roots of shares, of which it keeps the best each.
const (
	maxCandidates = 400
	cellWidth     = 0.05
)

func newAcquisition(total int, score func([]mcmc.Part) float64, keeps func([]mcmc.Part) bool) *acquisition {
	return &acquisition{score: score, isOfferable: keeps, total: total, seen: make(map[string]candidate)}
}

// cell names the cell of a recipe.
func (a *acquisition) cell(parts []mcmc.Part) string {
	key := make([]byte, 0, 4*len(parts))
	for _, p := range parts {
		step := int(math.Sqrt(float64(p.Amount)/float64(a.total))/cellWidth + 0.5)
		key = append(key, byte(p.Ingredient), byte(p.Ingredient>>8), byte(p.Ingredient>>16), byte(step))
	}
	return string(key)
}

// recordCandidate keeps a recipe if it is the best of its cell and among the best of all. What is
// kept in the end does not depend on the order.
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

// sorted returns what was kept, the best first.
func (a *acquisition) sorted() []candidate {
	all := slices.SortedFunc(maps.Values(a.seen), compareCandidates)
	return all[:min(len(all), maxCandidates)]
}

// compareCandidates orders candidates, the best first. No two are alike, so that those that
// are kept depend on no order in which walks have come by.
func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), compareParts(a.parts, b.parts))
}

func compareParts(a, b []mcmc.Part) int {
	return slices.CompareFunc(a, b, func(p, q mcmc.Part) int {
		return cmp.Or(cmp.Compare(p.Ingredient, q.Ingredient), cmp.Compare(p.Amount, q.Amount))
	})
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

// A neighbourhoodScorer scores lines at some of their splits: both ends, where the recipe is, steps of
// 1, 2, 4, ... from there, and some evenly in between. The others it forbids. That is no
// law to draw from; it is a neighbourhood to search, and each score is exact.
type neighbourhoodScorer struct {
	a     *acquisition
	x     *mcmc.Composition
	parts []mcmc.Part
	at    []int
}

// evenSplits is how many splits of a line are looked at whatever the recipe.
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

// replaceAmounts makes parts those of the recipe with other amounts of two ingredients.
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
