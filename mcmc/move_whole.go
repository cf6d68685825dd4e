package mcmc

import "kir/internal/portable"

// wholeMove proposes a whole new composition, independently of the state, and accepts it by the
// Metropolis–Hastings ratio.
//
// The function drawCandidate writes a candidate into y, which it draws with some probability g. It
// returns log(P/g) of the candidate, where P is the target without the properties, up to a
// constant. It returns ok = false if there is no candidate. The function stateLogWeight returns
// log(P/g) of the current state. If the candidate is accepted, the result logWeight is its
// log(P/g).
func (x *State) wholeMove(r *Rand, stateLogWeight func() float64, drawCandidate func(y *Composition) (logWeight float64, ok bool)) (result moveOutcome, logWeight float64, err error) {
	if x.target.batchSize > 1 {
		return x.batchedWholeMove(r, stateLogWeight, drawCandidate)
	}
	logWeight, ok := drawCandidate(x.candidateComposition())
	if !ok {
		return outcomeInfeasible, 0, nil
	}
	value, err := x.scoreCandidate()
	if err != nil || value == negInf {
		return outcomeInfeasible, 0, err
	}
	if !r.Bernoulli(portable.Exp(logWeight - stateLogWeight() + float64(x.beta*(value-x.logScore)))) {
		return outcomeRejected, 0, nil
	}
	return acceptedOutcome(x.acceptCandidate(value)), logWeight, nil
}

// batchedWholeMove is [State.wholeMove] with a batch of K candidates. With w = P/g it chooses one
// candidate y in proportion to w, and accepts y with probability
//
//	min(1, (W − w(x)) / (W − w(y))),  W = Σ w of the state x and of all candidates.
//
// The candidates are independent of the state. Each of the K+1 compositions could be the state;
// then P of this composition times g of the others is proportional to its w. So moves among the K+1
// compositions that leave w invariant leave P invariant (Tjelmeland 2004, Calderhead 2014). These
// moves are those of Liu (1996), which never propose the current state. A missing candidate has w =
// 0.
func (x *State) batchedWholeMove(r *Rand, stateLogWeight func() float64, drawCandidate func(y *Composition) (logWeight float64, ok bool)) (result moveOutcome, logWeight float64, err error) {
	b := x.resetBatch()
	for k, y := range b.candidates {
		b.logDrawWeights[k] = negInf
		log, ok := drawCandidate(y)
		if ok && (x.target.space.rules == nil || x.target.space.rules.LogScore(y) > negInf) {
			b.logDrawWeights[k] = log
			b.allowedCandidates = append(b.allowedCandidates, y)
		}
	}
	for _, t := range x.scoredTerms {
		if p, ok := t.objective.Property.(BatchProperty); ok && len(b.allowedCandidates) > 1 {
			p.Prefetch(b.allowedCandidates)
		}
	}
	stay := stateLogWeight() + float64(x.beta*x.logScore)
	top, found := stay, false
	for k, y := range b.candidates {
		b.logWeights[k] = negInf
		if b.logDrawWeights[k] == negInf {
			continue
		}
		x.candidateComposition().CopyFrom(y)
		value, err := x.scoreCandidate()
		if err != nil {
			return outcomeRejected, 0, err
		}
		if value > negInf {
			b.logWeights[k], found = b.logDrawWeights[k]+float64(x.beta*value), true
		}
		b.logScores[k] = value
		top = max(top, b.logWeights[k])
	}
	if !found {
		return outcomeInfeasible, 0, nil
	}
	rest := 0.0
	for k, log := range b.logWeights {
		b.weights[k] = portable.Exp(log - top)
		rest += b.weights[k]
	}
	if rest == 0 {
		return outcomeRejected, 0, nil
	}
	k := r.Categorical(b.weights)
	if w := portable.Exp(stay - top); b.weights[k] < w && !r.Bernoulli(rest/(rest+(w-b.weights[k]))) {
		return outcomeRejected, 0, nil
	}
	x.candidateComposition().CopyFrom(b.candidates[k])
	if _, err := x.scoreCandidate(); err != nil { // its scorers follow it
		return outcomeRejected, 0, err
	}
	return acceptedOutcome(x.acceptCandidate(b.logScores[k])), b.logDrawWeights[k], nil
}

// A batch holds several candidates for a new composition that are drawn together, and their
// weights. P is the density of the target, and g the probability of drawing the candidate.
type batch struct {
	candidates        []*Composition // all candidates
	allowedCandidates []*Composition // the candidates that keep the rules
	logDrawWeights    []float64      // logDrawWeights[k] is log(P/g) of candidate k without the properties; −Inf for a missing candidate
	logWeights        []float64      // logWeights[k] is log(P/g) of candidate k with the properties
	weights           []float64      // weights[k] is the weight P/g of candidate k, divided by the greatest weight of all candidates and the state
	logScores         []float64      // logScores[k] is the log score of candidate k
}

// resetBatch returns the batch of the state, with an empty list of allowed candidates. It makes the
// batch at the first call.
func (x *State) resetBatch() *batch {
	if x.batch == nil {
		k := x.target.batchSize
		x.batch = &batch{logDrawWeights: make([]float64, k), logWeights: make([]float64, k), weights: make([]float64, k), logScores: make([]float64, k)}
		for range k {
			x.batch.candidates = append(x.batch.candidates, newComposition(x.Composition.N()))
		}
	}
	x.batch.allowedCandidates = x.batch.allowedCandidates[:0]
	return x.batch
}
