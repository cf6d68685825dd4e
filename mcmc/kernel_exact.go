package mcmc

import (
	"fmt"
	"slices"
)

// Exact is a kernel that draws compositions independently from y_sparse(n)/|X_n|. This law is the
// target if there are no objectives and bounds. It draws n, then n ingredients, then the n−1 cuts
// between their units. Since its draws are independent, no kernel is better for such a target.
// Every chain draws its first state in the same way.
type Exact struct {
	target *Target
}

// NewExact returns the kernel. It fails if the target has an objective of positive weight, a bound,
// or rules that cannot be counted.
func NewExact(t *Target) (*Exact, error) {
	for _, w := range t.objectives {
		if w.Weight > 0 {
			return nil, fmt.Errorf("exact: draws follow the sparsity law alone and the target has the objective %q; use balanced", w.Name)
		}
	}
	if len(t.bounds) > 0 {
		return nil, fmt.Errorf("exact: draws follow the sparsity law alone and the target has the bound %q; use balanced", t.bounds[0].Name)
	}
	if t.space.UncountedRuleShares() != nil {
		return nil, fmt.Errorf("exact: some of the rules cannot be counted, and so not drawn from; use balanced")
	}
	return &Exact{t}, nil
}

// Advance makes one independent draw per iteration and adds the outcomes to the tally.
func (e *Exact) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable("exact", e.target); err != nil {
		return err
	}
	for range iterations {
		result, err := x.independentMove(r)
		if err != nil {
			return wrapKernelError("exact", err)
		}
		if result == outcomeUpdated {
			tally.Updated++
		}
	}
	tally.Iterations += int64(iterations)
	tally.Accepted += int64(iterations)
	return nil
}

// drawExact makes y an independent draw from y_sparse(n)/|X_n|, and draws the values of the
// conditions of y by their probabilities.
func (x *State) drawExact(r *Rand, y *Composition) {
	n := x.target.law.draw(r)
	if x.target.space.conditions == nil {
		x.drawer.uniformDrawer.draw(r, y, n, x.target.space.total)
		return
	}
	x.drawer.draw(r, y, n)
}

// replaceByDraw replaces the composition of a state without scored properties by an independent
// draw. It reports whether the composition changed. It draws in place: with a million ingredients
// most of the time goes into cache misses, and copying from a candidate would double them.
func (x *State) replaceByDraw(r *Rand) (changed bool) {
	c := x.Composition
	x.previousParts = x.previousParts[:0]
	for _, i := range c.Ingredients() {
		x.previousParts = append(x.previousParts, Part{Ingredient: int(i), Amount: int(c.amounts[i])})
	}
	if c.conditions != nil {
		x.previousConditions = append(x.previousConditions[:0], c.conditions...)
	}
	x.logRecallCached = false
	x.drawExact(r, c)
	if c.Used() != len(x.previousParts) || c.conditions != nil && !slices.Equal(c.conditions, x.previousConditions) {
		return true
	}
	for _, p := range x.previousParts {
		if c.Amount(p.Ingredient) != p.Amount {
			return true
		}
	}
	return false
}

// independentMove is a Metropolis–Hastings move whose candidate [State.drawExact] draws,
// independently of the state. From any state it can reach everything that the target allows.
func (x *State) independentMove(r *Rand) (moveOutcome, error) {
	if len(x.terms) == 0 {
		return acceptedOutcome(x.replaceByDraw(r)), nil // accepted always: the target is the law that is drawn from
	}
	// logShare is log(P/g) without the properties, with g the probability that drawExact draws y.
	result, _, err := x.wholeMove(r, func() float64 { return x.target.logDrawRatio(x.Composition.Used()) }, func(y *Composition) (float64, bool) {
		x.drawExact(r, y)
		return x.target.logDrawRatio(y.Used()), true
	})
	return result, err
}

// independentMoveShare is the share of independent moves in the kernels accelerated and gibbs, in a
// space with rules.
const independentMoveShare = 0.02

// tryIndependent makes, in a space with rules, an occasional iteration of the kernels accelerated
// and gibbs that changes more than two amounts. This is an independent move or, if rules fix a sum
// or leave it little room, a move of several ingredients that nearly keeps the sum. tryIndependent
// reports whether it made a move.
func (x *State) tryIndependent(r *Rand, tally *Tally) (made bool, err error) {
	if x.target.space.rules == nil {
		return false, nil
	}
	result := outcomeUnchanged
	switch {
	case r.Bernoulli(independentMoveShare):
		result, err = x.independentMove(r)
	case x.target.equalityConstrained() && r.Bernoulli(constrainedMoveShare):
		result, err = x.constrainedMove(r)
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	tally.Accepted += oneIf(result.isAccepted())
	tally.Updated += oneIf(result == outcomeUpdated)
	return true, nil
}
