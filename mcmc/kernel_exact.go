package mcmc

import (
	"fmt"
	"slices"
)

// Exact is a kernel whose draws are independent. Every composition of n ingredients is drawn with
// probability y_sparse(n)/|X_n|, which is the target if there are no objectives and bounds. Exact
// draws n, then n ingredients, then the n−1 cuts between their units. Since its draws are
// independent, no kernel is better for such a target. Every chain draws its first state in the same
// way.
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

// Advance makes one independent draw per iteration and counts the outcomes in the tally.
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

// drawExact makes y an independent draw. A composition of n ingredients has probability
// y_sparse(n)/|X_n|, and the values of the conditions have their own probabilities. If some rules
// cannot be counted, y may break these rules; see [Target.logDrawRatio].
func (x *State) drawExact(r *Rand, y *Composition) {
	n := x.target.law.draw(r)
	if x.target.space.conditions == nil {
		x.drawer.uniformDrawer.draw(r, y, n, x.target.space.total)
		return
	}
	x.drawer.draw(r, y, n)
}

// replaceByIndependentDraw replaces the composition of a state without properties and rules by an independent
// draw. It reports whether the composition changed. It draws in place: with a million ingredients
// most of the time goes into cache misses, and copying from a candidate would double them.
func (x *State) replaceByIndependentDraw(r *Rand) (changed bool) {
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
	if c.UsedCount() != len(x.previousParts) || c.conditions != nil && !slices.Equal(c.conditions, x.previousConditions) {
		return true
	}
	for _, p := range x.previousParts {
		if c.Amount(p.Ingredient) != p.Amount {
			return true
		}
	}
	return false
}

// independentMove is a Metropolis–Hastings move. Its candidate is an independent draw by
// [State.drawExact], so it can reach from any state everything that the target allows.
func (x *State) independentMove(r *Rand) (moveOutcome, error) {
	if len(x.scoredTerms) == 0 {
		return acceptedOutcome(x.replaceByIndependentDraw(r)), nil // accepted always: the target is the law that is drawn from
	}
	// logShare is log(P/g) without the properties, with g the probability that drawExact draws y.
	result, _, err := x.wholeMove(r, func() float64 { return x.target.logDrawRatio(x.Composition.UsedCount()) }, func(y *Composition) (float64, bool) {
		x.drawExact(r, y)
		return x.target.logDrawRatio(y.UsedCount()), true
	})
	return result, err
}

// independentMoveShare is the share of iterations of the kernels accelerated and gibbs that propose
// an independent composition, in a space with rules.
const independentMoveShare = 0.02

// tryMultiIngredientMove sometimes makes a move that changes more than two amounts, as an iteration
// of the kernels accelerated and gibbs. It never does so in a space without rules. The move
// proposes an independent composition. If rules fix a sum or leave it little room, it may instead
// change several ingredients that nearly keep the sum. The result made reports whether a move was
// made.
func (x *State) tryMultiIngredientMove(r *Rand, tally *Tally) (made bool, err error) {
	if x.target.space.rules == nil {
		return false, nil
	}
	result := outcomeUnchanged
	switch {
	case r.Bernoulli(independentMoveShare):
		result, err = x.independentMove(r)
	case x.target.hasFixedOrTightSums() && r.Bernoulli(tightSumMoveShare):
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
