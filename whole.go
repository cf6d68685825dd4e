package kir

import "math"

// whole is a move to a composition that draw draws whatever the state is, with
// probability g; it may also say that it has none. logWeight is log(P/g) up to a
// constant and to the properties. One candidate is accepted by the Metropolis–Hastings
// ratio.
func (x *State) whole(r *Rand, draw func(y *Composition) bool, logWeight func(y *Composition) float64) (outcome, error) {
	if x.target.batch > 1 {
		return x.oneOf(r, draw, logWeight)
	}
	y := x.candidate()
	if !draw(y) {
		return rejected, nil
	}
	value, err := x.scoreCandidate()
	if err != nil || value == negInf {
		return rejected, err
	}
	if !r.Bernoulli(math.Exp(logWeight(y) - logWeight(x.Composition) + x.beta*(value-x.sum))) {
		return rejected, nil
	}
	return changed(x.takeCandidate(value)), nil
}

// oneOf is whole with a batch of K candidates, of which another one than the state is
// chosen in proportion to w = P/g and accepted with probability
//
//	min(1, (W − w(x)) / (W − w(y))),  W = Σ w of the state and of all candidates.
//
// The candidates are independent of the state. So P of the state and g of the others
// together are, for each of the K+1 that the state could be, in proportion to its w, and
// moves among them that leave w as it is leave P as it is (Tjelmeland 2004, Calderhead
// 2014); these are those of Liu (1996), which never propose what is there. What is no
// candidate has a w of 0.
func (x *State) oneOf(r *Rand, draw func(y *Composition) bool, logWeight func(y *Composition) float64) (outcome, error) {
	b := x.batched()
	for k := range b.candidates {
		y := b.candidates[k]
		b.logs[k] = negInf
		if draw(y) && (x.target.space.rules == nil || x.target.space.rules.LogScore(y) > negInf) {
			b.logs[k] = logWeight(y)
			b.wanted = append(b.wanted, y)
		}
	}
	for _, t := range x.terms {
		if p, ok := t.wish.Property.(BatchProperty); ok && len(b.wanted) > 1 {
			p.Prefetch(b.wanted)
		}
	}
	here := logWeight(x.Composition) + x.beta*x.sum
	top := here
	for k, y := range b.candidates {
		if b.logs[k] == negInf {
			continue
		}
		x.candidate().CopyFrom(y)
		value, err := x.scoreCandidate()
		if err != nil {
			return rejected, err
		}
		if b.logs[k] = negInf; value > negInf {
			b.logs[k] = logWeight(y) + x.beta*value
		}
		b.values[k] = value
		top = max(top, b.logs[k])
	}
	rest := 0.0
	for k, log := range b.logs {
		b.weights[k] = math.Exp(log - top)
		rest += b.weights[k]
	}
	if rest == 0 {
		return rejected, nil
	}
	k := r.Categorical(b.weights)
	if w := math.Exp(here - top); b.weights[k] < w && !r.Bernoulli(rest/(rest+(w-b.weights[k]))) {
		return rejected, nil
	}
	x.candidate().CopyFrom(b.candidates[k])
	if _, err := x.scoreCandidate(); err != nil { // its scorers follow it
		return rejected, err
	}
	return changed(x.takeCandidate(b.values[k])), nil
}

// A batch is several candidates and what is made of them.
type batch struct {
	candidates, wanted    []*Composition
	logs, weights, values []float64
}

// batched returns the state's batch, of which nothing is wanted yet.
func (x *State) batched() *batch {
	if x.batch == nil {
		k := x.target.batch
		x.batch = &batch{logs: make([]float64, k), weights: make([]float64, k), values: make([]float64, k)}
		for range k {
			x.batch.candidates = append(x.batch.candidates, newComposition(x.Composition.N()))
		}
	}
	x.batch.wanted = x.batch.wanted[:0]
	return x.batch
}
