package mcmc

import (
	"fmt"
	"slices"
)

// Exact draws compositions independently from y_sparse(n)/|X_n|: the target when there are no
// objectives. It draws n, then n ingredients, then the n−1 cuts. Since its draws are independent,
// no kernel is better for such a target. It also draws the first state of every chain.
type Exact struct {
	target *Target
}

// NewExact returns the kernel for a target without objectives and bounds.
func NewExact(t *Target) (*Exact, error) {
	for _, w := range t.objectives {
		if w.Weight > 0 {
			return nil, fmt.Errorf("exact: draws follow the sparsity law alone and the target has the objective %q; use balanced", w.Name)
		}
	}
	if len(t.bounds) > 0 {
		return nil, fmt.Errorf("exact: draws follow the sparsity law alone and the target has the bound %q; use balanced", t.bounds[0].Name)
	}
	if t.space.Shares() != nil {
		return nil, fmt.Errorf("exact: some of the rules cannot be counted, and so not drawn from; use balanced")
	}
	return &Exact{t}, nil
}

// Advance makes one independent draw an iteration.
func (e *Exact) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady("exact", e.target); err != nil {
		return err
	}
	for range iterations {
		result, err := x.independentMove(r)
		if err != nil {
			return kernelError("exact", err)
		}
		if result == updated {
			tally.Updated++
		}
	}
	tally.Iterations += int64(iterations)
	tally.Accepted += int64(iterations)
	return nil
}

// drawExact makes y an independent draw from y_sparse(n)/|X_n|, and of the conditions from p.
func (x *State) drawExact(r *Rand, y *Composition) {
	n := x.target.law.draw(r)
	if x.target.space.conditions == nil {
		x.exact.exactScratch.draw(r, y, n, x.target.space.total)
		return
	}
	x.exact.draw(r, y, n)
}

// drawAnew replaces the composition of a state without terms by an independent draw. It reports
// whether the composition changed. Among a million ingredients cache misses take most of the time,
// and copying from a candidate would double them.
func (x *State) drawAnew(r *Rand) (changed bool) {
	c := x.Composition
	x.previousParts = x.previousParts[:0]
	for _, i := range c.Ingredients() {
		x.previousParts = append(x.previousParts, Part{Ingredient: int(i), Amount: int(c.amounts[i])})
	}
	if c.conditions != nil {
		x.wasConditions = append(x.wasConditions[:0], c.conditions...)
	}
	x.recalled = false
	x.drawExact(r, c)
	if c.Used() != len(x.previousParts) || c.conditions != nil && !slices.Equal(c.conditions, x.wasConditions) {
		return true
	}
	for _, p := range x.previousParts {
		if c.Amount(p.Ingredient) != p.Amount {
			return true
		}
	}
	return false
}

// independentMove is a Metropolis–Hastings move whose candidate comes from [State.drawExact],
// independently of the state. From any state it can reach everything that the target allows.
func (x *State) independentMove(r *Rand) (outcome, error) {
	if len(x.terms) == 0 {
		return acceptedOutcome(x.drawAnew(r)), nil // accepted always: the target is the law that is drawn from
	}
	// logShare is log(P/g) without the properties, with g the probability that drawExact draws y.
	result, _, err := x.wholeMove(r, func() float64 { return x.target.logShare(x.Composition.Used()) }, func(y *Composition) (float64, bool) {
		x.drawExact(r, y)
		return x.target.logShare(y.Used()), true
	})
	return result, err
}

// independentShare is the share of independent moves in kernels that move along lines, in a space
// with rules.
const independentShare = 0.02

// tryIndependent makes the occasional non-line move of a line kernel in a space with rules, as an
// iteration of its own. It is an independent move or, where rules fix a sum, one along that sum. It
// reports whether it made a move.
func (x *State) tryIndependent(r *Rand, tally *Tally) (made bool, err error) {
	if x.target.space.rules == nil {
		return false, nil
	}
	result := stayed
	switch {
	case r.Bernoulli(independentShare):
		result, err = x.independentMove(r)
	case x.target.equalityConstrained() && r.Bernoulli(constrainedMoveShare):
		result, err = x.constrainedMove(r)
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	tally.Accepted += oneIf(result.accepted())
	tally.Updated += oneIf(result == updated)
	return true, nil
}
