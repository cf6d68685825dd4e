package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// A Proposal draws candidates for the Metropolis–Hastings algorithm. All chains may use the same
// proposal at the same time.
type Proposal interface {
	// Propose turns y, which is a copy of x before the call, into a candidate. It returns log
	// q(x|y) − log q(y|x), where q(y|x) is the probability of proposing y at x. It returns −Inf if
	// x can never be proposed at y.
	Propose(r *Rand, x, y *Composition) (logRatio float64, err error)
}

// Metropolis is the general Metropolis–Hastings kernel (Obara, Morimura and Yanagisawa 2019,
// Algorithm 1) with a proposal of the user's own. A candidate y is accepted with probability
//
//	min(1, P(y)·q(x|y) / (P(x)·q(y|x))).
//
// The proposal decides whether the chain can reach everything that the target allows.
type Metropolis struct {
	name     string
	target   *Target
	proposal Proposal
}

// NewMetropolis returns the kernel that uses the proposal p. The given name begins the error
// messages of the kernel.
func NewMetropolis(name string, t *Target, p Proposal) *Metropolis {
	return &Metropolis{name, t, p}
}

// Advance makes the given number of iterations. It returns an error if a candidate is not in the
// space, or if the log ratio of a proposal is NaN or +Inf.
func (m *Metropolis) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable(m.name, m.target); err != nil {
		return err
	}
	for range iterations {
		if made, err := x.trySetMove(r, tally); err != nil {
			return wrapKernelError(m.name, err)
		} else if made {
			tally.Iterations++
			continue
		}
		y := x.candidateComposition()
		y.CopyFrom(x.Composition)
		logRatio, err := m.proposal.Propose(r, x.Composition, y)
		if err != nil {
			return wrapKernelError(m.name, fmt.Errorf("the proposal at %v failed: %w", x.Composition, err))
		}
		if isInvalidScore(logRatio) {
			return wrapKernelError(m.name, fmt.Errorf("the proposal at %v gave %v a log ratio of %v: it must be a number below +Inf", x.Composition, y, logRatio))
		}
		if err := m.target.space.Contains(y); err != nil {
			return wrapKernelError(m.name, fmt.Errorf("the proposal at %v left the space: %w", x.Composition, err))
		}
		tally.Iterations++
		logRatio += m.target.LogLaw(y.UsedCount()) - m.target.LogLaw(x.Composition.UsedCount())
		if c := m.target.space.conditions; c != nil {
			logRatio += c.logProbability(y) - c.logProbability(x.Composition)
		}
		if logRatio == negInf {
			continue // rejected, whatever the score of y
		}
		value, err := x.scoreCandidate()
		if err != nil {
			return wrapKernelError(m.name, err)
		}
		if !r.Bernoulli(portable.Exp(logRatio + float64(x.beta*(value-x.logScore)))) {
			continue
		}
		tally.Accepted++
		tally.Updated += oneIf(x.acceptCandidate(value))
	}
	return nil
}
