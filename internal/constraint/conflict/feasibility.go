package conflict

import (
	"context"
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
)

// A verdict is the answer to the question whether some composition keeps the rules: yes, no or unknown.
type verdict int8

const (
	unknown       verdict = iota
	unsatisfiable         // it is proven that no composition keeps the rules
	satisfiable           // it is proven that some composition keeps the rules
)

// An asker decides whether sets of rules can hold. After an error all its answers are unknown.
type asker struct {
	ctx           context.Context
	maxCandidates float64 // greatest number of compositions to enumerate one by one
	err           error

	questionCount, work float64 // number of questions, and their work in steps of about 10⁻⁹ s
	blamedRules         []int   // rules that the last proof showed to conflict, apart from rules on single amounts
}

// adviceBudget is the greatest work for finding changes and smaller conflicts, in steps of about 10⁻⁹ s.
const adviceBudget = 1e10

// isOverBudget reports whether adviceBudget is spent.
func (a *asker) isOverBudget() bool { return a.work > adviceBudget }

// ask decides whether some composition keeps the rules of s with a permitted number of ingredients. If hard is true
// and all else fails, it also looks for a composition by a random walk.
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
	if e := constraint.NewEnumeration(c, sizes); e.Candidates() <= a.maxCandidates {
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

// enumerate decides by enumeration whether some composition keeps the conditions.
func (a *asker) enumerate(e *constraint.Enumeration) verdict {
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

// reachableSizes reports, for n = 0..most, whether the space has compositions of n ingredients. A most of 0 means all
// n.
func (a *asker) reachableSizes(s count.Space, most int) []bool {
	can, steps, err := count.Reachable(a.ctx, s, most)
	a.work += steps
	a.err = err
	return can
}
