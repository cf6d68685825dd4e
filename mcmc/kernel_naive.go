package mcmc

import "kir/internal/portable"

// naive is the paper's naive sampler (Obara, Morimura and Yanagisawa 2019, §4.2):
// Metropolis–Hastings with a candidate drawn uniformly from X, independently of the state. Most
// compositions in X use many ingredients, so in a large space it accepts almost no candidate.
type naive struct {
	target *Target
	sizes  []float64 // ∝ |X_n| for n = 1, 2, …: how many ingredients a candidate uses
}

// newNaive returns the kernel. It leaves every target invariant and in theory reaches all of it,
// across gaps, disconnected components and rules. But it draws sizes in proportion to |X_n|. A size
// that holds less than 2⁻⁵³ of X lies below the resolution of a random number and is practically
// never proposed.
func newNaive(t *Target) (*naive, error) {
	sizes := t.space.LogCounts(t.space.MaxUsed())[1:]
	if t.space.rules != nil {
		// Draw uniformly from the countable compositions, and reject those that break uncounted
		// rules.
		for k := range sizes {
			sizes[k] = t.space.logDrawable(k + 1)
		}
	}
	top := negInf
	for _, c := range sizes {
		top = max(top, c)
	}
	for k := range sizes {
		sizes[k] = portable.Exp(sizes[k] - top)
	}
	return &naive{t, sizes}, nil
}

// Advance makes iterations.
//
// It draws a candidate's number of ingredients first. Without properties that number alone decides.
// The candidate itself is made only if it may be accepted.
func (m *naive) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady("naive", m.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	for range iterations {
		if made, err := x.trySet(r, tally); err != nil {
			return kernelError("naive", err)
		} else if made {
			continue
		}
		n := 1
		if len(m.sizes) > 1 {
			n += r.Categorical(m.sizes)
		}
		logRatio := m.target.LogLaw(n) - m.target.LogLaw(x.Composition.Used())
		bare := len(x.terms) == 0
		if logRatio == negInf || bare && !r.Bernoulli(portable.Exp(logRatio)) {
			continue
		}
		y, value := x.candidate(), 0.0
		x.exact.draw(r, y, n)
		if !bare {
			var err error
			if value, err = x.scoreCandidate(); err != nil {
				return kernelError("naive", err)
			}
			if !r.Bernoulli(portable.Exp(logRatio + float64(x.beta*(value-x.sum)))) {
				continue
			}
		}
		tally.Accepted++
		tally.Updated += oneIf(x.takeCandidate(value))
	}
	return nil
}
