package mcmc

import "kir/internal/portable"

// naiveKernel is the naive sampler of Obara, Morimura and Yanagisawa (2019, §4.2). It is a
// Metropolis–Hastings kernel whose candidates are uniform on all compositions, independently of the
// state. Most compositions use many ingredients, so in a large space it accepts almost no
// candidate.
type naiveKernel struct {
	target      *Target
	sizeWeights []float64 // sizeWeights[n−1] is proportional to the number of compositions with n ingredients
}

// newNaiveKernel returns the kernel, which leaves every target invariant. In theory it can reach
// everything that a target allows. But it draws the number n of ingredients in proportion to |X_n|,
// the number of compositions with n ingredients. If these are less than a fraction 2⁻⁵³ of all
// compositions, n is practically never drawn, because random numbers have no finer resolution.
func newNaiveKernel(t *Target) (*naiveKernel, error) {
	sizes := t.space.LogCounts(t.space.MaxUsed())[1:]
	if t.space.rules != nil {
		// Draw uniformly from the countable compositions, and reject those that break uncounted
		// rules.
		for k := range sizes {
			sizes[k] = t.space.logDrawableCount(k + 1)
		}
	}
	top := negInf
	for _, c := range sizes {
		top = max(top, c)
	}
	for k := range sizes {
		sizes[k] = portable.Exp(sizes[k] - top)
	}
	return &naiveKernel{t, sizes}, nil
}

// Advance makes the given number of iterations and counts their outcomes in the tally.
//
// It first draws the number of ingredients of a candidate. Without properties this number alone
// decides on acceptance. The ingredients and amounts are drawn only if the candidate may be
// accepted.
func (m *naiveKernel) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable("naive", m.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	for range iterations {
		if made, err := x.trySetMove(r, tally); err != nil {
			return wrapKernelError("naive", err)
		} else if made {
			continue
		}
		n := 1
		if len(m.sizeWeights) > 1 {
			n += r.Categorical(m.sizeWeights)
		}
		logRatio := m.target.LogLaw(n) - m.target.LogLaw(x.Composition.UsedCount())
		bare := len(x.scoredTerms) == 0
		if logRatio == negInf || bare && !r.Bernoulli(portable.Exp(logRatio)) {
			continue
		}
		y, value := x.candidateComposition(), 0.0
		x.drawer.draw(r, y, n)
		if !bare {
			var err error
			if value, err = x.scoreCandidate(); err != nil {
				return wrapKernelError("naive", err)
			}
			if !r.Bernoulli(portable.Exp(logRatio + float64(x.beta*(value-x.logScore)))) {
				continue
			}
		}
		tally.Accepted++
		tally.Updated += oneIf(x.acceptCandidate(value))
	}
	return nil
}
