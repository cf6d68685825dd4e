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

// An asker decides whether sets of rules can hold. After an error the answer to every further question is
// unknown.
type asker struct {
	ctx           context.Context
	maxCandidates float64 // maximum number of compositions to enumerate one by one
	firstError    error   // first error of a question

	questionCount, work float64 // number of questions asked, and their total time in nanoseconds
	blamedRules         []int   // indices of the rules that the last proof showed to conflict; the list may lack rules on single amounts
}

// maxQuestionNanoseconds is the maximum total time of all questions, in nanoseconds. When the time is used up, the
// explainer looks for no further changes and no smaller conflicts.
const maxQuestionNanoseconds = 1e10

// isOverBudget reports whether all questions so far took more than maxQuestionNanoseconds.
func (a *asker) isOverBudget() bool { return a.work > maxQuestionNanoseconds }

// ask decides whether some composition keeps the rules of s with a permitted number of used ingredients. If all
// other methods fail and alsoWalk is true, ask also looks for a composition by a random [walk].
func (a *asker) ask(s question, alsoWalk bool) verdict {
	if a.firstError == nil {
		a.firstError = a.ctx.Err()
	}
	if a.firstError != nil {
		return unknown
	}
	a.questionCount++
	sizes := s.usedCounts()
	if len(sizes) == 0 {
		return unsatisfiable
	}
	c, err := s.conditions()
	if err != nil {
		a.firstError = err
		return unknown
	}
	space, all := c.CountableSpace()
	can := a.reachableUsedCounts(space, sizes[len(sizes)-1])
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return a.firstError != nil || !can[n] })
	switch {
	case a.firstError != nil:
		return unknown
	case len(sizes) == 0:
		return unsatisfiable
	case all:
		return satisfiable
	}
	p := newProver(a.ctx, c, sizes)
	impossible := p.isImpossible()
	a.work += float64(6 * float64(maxProofSteps-p.stepsLeft))
	switch {
	case impossible:
		a.blamedRules = p.blamedRules
		return unsatisfiable
	case p.solution != nil:
		return satisfiable
	}
	if e := constraint.NewEnumeration(c, sizes); e.CandidateBound() <= a.maxCandidates {
		if v := a.enumerate(e); v != unknown {
			return v
		}
	}
	if !alsoWalk {
		return unknown
	}
	w := newWalk(c, sizes)
	found := w.findComposition(a.ctx)
	if a.work += w.work; found {
		return satisfiable
	}
	return unknown
}

// enumerate decides whether some composition keeps the conditions, by visiting the compositions of the
// enumeration e.
func (a *asker) enumerate(e *constraint.Enumeration) verdict {
	found := false
	done := e.VisitAll(a.ctx, func() bool { found = true; return false })
	a.work += e.Work()
	a.firstError = a.ctx.Err()
	switch {
	case a.firstError != nil:
	case found:
		return satisfiable
	case done:
		return unsatisfiable
	}
	return unknown
}

// reachableUsedCounts returns a slice whose item n tells whether the space has compositions of n used
// ingredients. The slice has the items 0 to maxSize; a maxSize of 0 means all n.
func (a *asker) reachableUsedCounts(s count.Space, maxSize int) []bool {
	can, steps, err := count.ReachableUsedCounts(a.ctx, s, maxSize)
	a.work += steps
	a.firstError = err
	return can
}
