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
	err           error   // first error of a question

	questionCount, work float64 // number of questions, and their total work in nanoseconds
	blamedRules         []int   // indices of the rules that the last proof showed to conflict; rules on single amounts may be missing
}

// maxAdviceWork is the maximum total work of all questions, in nanoseconds. Beyond the budget no further changes
// and no smaller conflicts are looked for.
const maxAdviceWork = 1e10

// isOverBudget reports whether the work exceeds maxAdviceWork.
func (a *asker) isOverBudget() bool { return a.work > maxAdviceWork }

// ask decides whether some composition keeps the rules of s with a permitted number of used ingredients. If hard
// is true and all other methods fail, ask also looks for a composition by a random walk.
func (a *asker) ask(s question, hard bool) verdict {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err != nil {
		return unknown
	}
	a.questionCount++
	sizes := s.usedCounts()
	if len(sizes) == 0 {
		return unsatisfiable
	}
	c, err := s.conditions()
	if err != nil {
		a.err = err
		return unknown
	}
	space, all := c.CountableSpace()
	can := a.reachableUsedCounts(space, sizes[len(sizes)-1])
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
	done := e.VisitAll(a.ctx, func() bool { found = true; return false })
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

// reachableUsedCounts returns, for n = 0..maxSize, whether the space has compositions of n used ingredients. A
// maxSize of 0 means all n.
func (a *asker) reachableUsedCounts(s count.Space, maxSize int) []bool {
	can, steps, err := count.ReachableUsedCounts(a.ctx, s, maxSize)
	a.work += steps
	a.err = err
	return can
}
