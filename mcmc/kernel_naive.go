package mcmc

import "kir/internal/portable"

// naive is the paper's naive sampler (Obara, Morimura and Yanagisawa 2019,
// §4.2): Metropolis–Hastings with a candidate drawn uniformly from X,
// whatever the state. As X is mostly made of compositions with many
// ingredients, it accepts next to nothing in a large space.
type naive struct {
	target *Target
	sizes  []float64 // ∝ |X_n| for n = 1, 2, …: how many ingredients a candidate uses
}

// newNaive returns the kernel. It leaves every target as it is, and by its
// formulas reaches all of it: gaps, islands and rules are nothing to it. But
// candidates come as X has them, and a size that holds less than 2⁻⁵³ of X lies
// below what a random number resolves: it is as good as never proposed.
func newNaive(t *Target) (*naive, error) {
	sizes := t.space.LogCounts(t.space.MaxUsed())[1:]
	if t.space.rules != nil {
		// Uniform on what can be drawn; rules that cannot be counted reject.
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
// A candidate is only made when it may be accepted: how many ingredients it
// uses comes first, and without properties decides alone.
func (m *naive) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.ready("naive", m.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	for range iterations {
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
		x.exact.draw(r, y, n, m.target.space.total)
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
