package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// A Proposal draws candidates for the general Metropolis–Hastings algorithm. One proposal serves
// all chains at once.
type Proposal interface {
	// Propose changes y, which begins as a copy of x, into a candidate. It returns log q(x|y) − log
	// q(y|x), where q(y|x) is the probability of proposing y at x. −Inf means that y cannot lead
	// back to x.
	Propose(r *Rand, x, y *Composition) (logRatio float64, err error)
}

// Metropolis is the general Metropolis–Hastings algorithm (Obara, Morimura and
// Yanagisawa 2019, Algorithm 1) with a proposal of the user's own: a candidate
// y is accepted with probability
//
//	min(1, P(y)·q(x|y) / (P(x)·q(y|x))).
//
// Whether the chain reaches everything that the target allows is up to the
// proposal.
type Metropolis struct {
	name     string
	target   *Target
	proposal Proposal
}

// NewMetropolis returns the kernel of a proposal. Its errors begin with the name.
func NewMetropolis(name string, t *Target, p Proposal) *Metropolis {
	return &Metropolis{name, t, p}
}

// Advance makes iterations. It returns an error if a candidate is not in the space or a log ratio
// is NaN or +Inf.
func (m *Metropolis) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady(m.name, m.target); err != nil {
		return err
	}
	for range iterations {
		if made, err := x.trySet(r, tally); err != nil {
			return kernelError(m.name, err)
		} else if made {
			tally.Iterations++
			continue
		}
		y := x.candidate()
		y.CopyFrom(x.Composition)
		logRatio, err := m.proposal.Propose(r, x.Composition, y)
		if err != nil {
			return kernelError(m.name, fmt.Errorf("the proposal at %v failed: %w", x.Composition, err))
		}
		if badScore(logRatio) {
			return kernelError(m.name, fmt.Errorf("the proposal at %v gave %v a log ratio of %v: it must be a number below +Inf", x.Composition, y, logRatio))
		}
		if err := m.target.space.Contains(y); err != nil {
			return kernelError(m.name, fmt.Errorf("the proposal at %v left the space: %w", x.Composition, err))
		}
		tally.Iterations++
		logRatio += m.target.LogLaw(y.Used()) - m.target.LogLaw(x.Composition.Used())
		if c := m.target.space.conditions; c != nil {
			logRatio += c.logLaw(y) - c.logLaw(x.Composition)
		}
		if logRatio == negInf {
			continue // rejected, whatever the score of y
		}
		value, err := x.scoreCandidate()
		if err != nil {
			return kernelError(m.name, err)
		}
		if !r.Bernoulli(portable.Exp(logRatio + float64(x.beta*(value-x.sum)))) {
			continue
		}
		tally.Accepted++
		tally.Updated += oneIf(x.takeCandidate(value))
	}
	return nil
}
