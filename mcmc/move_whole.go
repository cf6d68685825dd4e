package mcmc

import "kir/internal/portable"

// wholeMove is a move to a composition y that draw makes, independently of the state, with
// probability g. draw returns log(P/g) of y, up to a constant and without the properties, and may
// report that there is no candidate. here returns log(P/g) of the state. A single candidate is
// accepted by the Metropolis–Hastings ratio. logWeight is that of the chain's composition after the
// move, if the candidate was accepted.
func (x *State) wholeMove(r *Rand, here func() float64, draw func(y *Composition) (logWeight float64, ok bool)) (result outcome, logWeight float64, err error) {
	if x.target.batch > 1 {
		return x.wholeMoveOfBatch(r, here, draw)
	}
	logWeight, ok := draw(x.candidate())
	if !ok {
		return infeasible, 0, nil
	}
	value, err := x.scoreCandidate()
	if err != nil || value == negInf {
		return infeasible, 0, err
	}
	if !r.Bernoulli(portable.Exp(logWeight - here() + float64(x.beta*(value-x.sum)))) {
		return rejected, 0, nil
	}
	return acceptedOutcome(x.takeCandidate(value)), logWeight, nil
}

// wholeMoveOfBatch is [State.wholeMove] with a batch of K candidates. It chooses one other than the
// state in proportion to w = P/g, and accepts it with probability
//
//	min(1, (W − w(x)) / (W − w(y))),  W = Σ w of the state and of all candidates.
//
// The candidates are independent of the state. So for each of the K+1 that could be the state, P of
// it times g of the others is proportional to its w. Moves among them that leave w invariant
// therefore leave P invariant (Tjelmeland 2004, Calderhead 2014). These are the moves of Liu
// (1996), which never propose the current state. A missing candidate has w = 0.
func (x *State) wholeMoveOfBatch(r *Rand, here func() float64, draw func(y *Composition) (logWeight float64, ok bool)) (result outcome, logWeight float64, err error) {
	b := x.batched()
	for k, y := range b.candidates {
		b.drawn[k] = negInf
		log, ok := draw(y)
		if ok && (x.target.space.rules == nil || x.target.space.rules.LogScore(y) > negInf) {
			b.drawn[k] = log
			b.wanted = append(b.wanted, y)
		}
	}
	for _, t := range x.terms {
		if p, ok := t.objective.Property.(BatchProperty); ok && len(b.wanted) > 1 {
			p.Prefetch(b.wanted)
		}
	}
	stay := here() + float64(x.beta*x.sum)
	top, found := stay, false
	for k, y := range b.candidates {
		b.logs[k] = negInf
		if b.drawn[k] == negInf {
			continue
		}
		x.candidate().CopyFrom(y)
		value, err := x.scoreCandidate()
		if err != nil {
			return rejected, 0, err
		}
		if value > negInf {
			b.logs[k], found = b.drawn[k]+float64(x.beta*value), true
		}
		b.values[k] = value
		top = max(top, b.logs[k])
	}
	if !found {
		return infeasible, 0, nil
	}
	rest := 0.0
	for k, log := range b.logs {
		b.weights[k] = portable.Exp(log - top)
		rest += b.weights[k]
	}
	if rest == 0 {
		return rejected, 0, nil
	}
	k := r.Categorical(b.weights)
	if w := portable.Exp(stay - top); b.weights[k] < w && !r.Bernoulli(rest/(rest+(w-b.weights[k]))) {
		return rejected, 0, nil
	}
	x.candidate().CopyFrom(b.candidates[k])
	if _, err := x.scoreCandidate(); err != nil { // its scorers follow it
		return rejected, 0, err
	}
	return acceptedOutcome(x.takeCandidate(b.values[k])), b.drawn[k], nil
}

// A batch holds several candidates and their weights.
type batch struct {
	candidates, wanted []*Composition
	drawn              []float64 // log(P/g) without the properties; −Inf for a missing candidate
	logs               []float64 // log(P/g) with the properties
	weights, values    []float64
}

// batched returns the state's batch, reset.
func (x *State) batched() *batch {
	if x.batch == nil {
		k := x.target.batch
		x.batch = &batch{drawn: make([]float64, k), logs: make([]float64, k), weights: make([]float64, k), values: make([]float64, k)}
		for range k {
			x.batch.candidates = append(x.batch.candidates, newComposition(x.Composition.N()))
		}
	}
	x.batch.wanted = x.batch.wanted[:0]
	return x.batch
}
