package kir

import (
	"errors"
	"fmt"
)

// A Prior draws compositions independently from a target's sparsity law, with
// every rule kept and as if there were no wishes: what random compositions look
// like. It belongs to one goroutine.
type Prior struct {
	target *Target
	draws  exactScratch
	x      *Composition
	parts  []Part // of x, where rules are looked at
}

// NewPrior returns what draws from the sparsity law of a target.
func NewPrior(t *Target) *Prior {
	p := &Prior{target: t, x: newComposition(t.space.ingredients)}
	if t.space.rules != nil {
		p.draws.sampler = t.space.rules.sampler.Clone()
	}
	return p
}

// Draw returns a composition, which holds until the next call: n from the law,
// then one of X_n uniformly. Where rules cannot be counted it draws again until
// one keeps them, and fails with [ErrNoStart] after 10,000,000.
func (p *Prior) Draw(r *Rand) (*Composition, error) {
	t := p.target
	n := t.law.draw(r)
	const maxTries = 10_000_000
	for range maxTries {
		p.draws.draw(r, p.x, n, t.space.total)
		if t.space.Shares() == nil || t.space.rules.Keeps(p.drawn()) {
			return p.x, nil
		}
	}
	return nil, fmt.Errorf("%w: no composition of %d ingredients among %d keeps the rules", ErrNoStart, n, maxTries)
}

// drawn returns the parts of what was drawn, until the next.
func (p *Prior) drawn() []Part {
	p.parts = p.x.AppendParts(p.parts[:0])
	return p.parts
}

// ErrNoStart is returned when no composition of positive density was found to
// start a chain from.
var ErrNoStart = errors.New("no start of positive density was found")

// startTries is how many draws from the sparsity law a chain may take to find
// a composition that no property forbids.
const startTries = 100_000

// StartState draws the first state of a chain exactly from the sparsity law,
// again while a property is 0 there. It returns how many draws that took, and
// fails with [ErrNoStart] after 100,000.
func StartState(t *Target, r *Rand) (x *State, tries int, err error) {
	prior := NewPrior(t)
	x = newState(t, prior.x)
	for tries < startTries {
		tries++
		if _, err := prior.Draw(r); err != nil {
			return nil, tries, err
		}
		if err := x.Refresh(); err != nil {
			return nil, tries, err
		}
		if x.sum > negInf {
			return x, tries, nil
		}
	}
	return nil, tries, fmt.Errorf("%w among %d compositions drawn from the sparsity law: each has a property that is 0", ErrNoStart, startTries)
}
