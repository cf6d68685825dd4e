package conflict

import (
	"context"
	"slices"

	"kir/internal/condition"
	"kir/internal/count"
)

// A verdict is an answer to whether some composition keeps rules.
type verdict int8

const (
	unknown       verdict = iota
	unsatisfiable         // it is proven that none does
	satisfiable           // one that does is known, or that there is one
)

// An asker answers whether rules can hold. After an error all its answers are
// unknown.
type asker struct {
	ctx           context.Context
	maxCandidates float64 // how many compositions are looked at one by one
	err           error

	questionCount, work float64 // questions, and about how many steps of 10⁻⁹ s they took
	blamedRules         []int   // rules that were proven at once to be impossible together, with those on amounts
}

// adviceBudget is how much work goes into finding fixes and into making a conflict
// smaller, in steps of some 10⁻⁹ s. Then the search for them ends.
const adviceBudget = 1e10

// isOverBudget says whether that has been done.
func (a *asker) isOverBudget() bool { return a.work > adviceBudget }

// ask answers whether some composition keeps a set and uses a number of
// ingredients that it asks for. hard is to look for one where none is at hand
// and it is not proven that there is none.
func (a *asker) ask(s question, hard bool) verdict {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err != nil {
		return unknown
	}
	a.questionCount++
	sizes := s.sizes()
	if len(sizes) == 0 {
		return unsatisfiable
	}
	c, err := s.conditions()
	if err != nil {
		a.err = err
		return unknown
	}
	space, all := c.Countable()
	can := a.reachableSizes(space, sizes[len(sizes)-1])
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return a.err != nil || !can[n] })
	switch {
	case a.err != nil:
		return unknown
	case len(sizes) == 0:
		return unsatisfiable
	case all:
		return satisfiable
	}
	p := newProver(a.ctx, c, sizes)
	impossible := p.isImpossible()
	a.work += float64(6 * float64(proofSteps-p.stepsLeft))
	switch {
	case impossible:
		a.blamedRules = p.blamedRules
		return unsatisfiable
	case p.solution != nil:
		return satisfiable
	}
	if e := condition.NewEnumeration(c, sizes); e.Candidates() <= a.maxCandidates {
		if v := a.enumerate(e); v != unknown {
			return v
		}
	}
	if !hard {
		return unknown
	}
	w := newWalk(c, sizes)
	found := w.findComposition(a.ctx)
	if a.work += w.work; found {
		return satisfiable
	}
	return unknown
}

// enumerate looks for a composition that keeps the conditions.
func (a *asker) enumerate(e *condition.Enumeration) verdict {
	found := false
	done := e.Each(a.ctx, func() bool { found = true; return false })
	a.work += e.Work()
	a.err = a.ctx.Err()
	switch {
	case a.err != nil:
	case found:
		return satisfiable
	case done:
		return unsatisfiable
	}
	return unknown
}

// reachableSizes returns for each n up to most, 0 for all, whether a space has
// compositions that use n ingredients.
func (a *asker) reachableSizes(s count.Space, most int) []bool {
	can, steps, err := count.Reachable(a.ctx, s, most)
	a.work += steps
	a.err = err
	return can
}
