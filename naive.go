package kir

import "math"

// Naive is the paper's naive sampler (Obara, Morimura and Yanagisawa 2019,
// §4.2): Metropolis–Hastings with a candidate drawn uniformly from X,
// whatever the state. As X is mostly made of compositions with many
// ingredients, it accepts next to nothing in a large space.
type Naive struct {
	Metropolis
}

// NewNaive returns the kernel. It is valid for every target.
func NewNaive(t *Target) (*Naive, error) {
	return &Naive{Metropolis{name: "naive", target: t, proposal: newUniformProposal(t.space)}}, nil
}

// uniformProposal draws uniformly from X.
type uniformProposal struct {
	sizes []float64 // ∝ |X_n| for n = 1, 2, …
}

func newUniformProposal(s *Space) uniformProposal {
	sizes := s.LogCounts(s.MaxUsed())[1:]
	top := negInf
	for _, c := range sizes {
		top = max(top, c)
	}
	for k := range sizes {
		sizes[k] = math.Exp(sizes[k] - top)
	}
	return uniformProposal{sizes}
}

func (u uniformProposal) Propose(r *Rand, x, y *Composition) (float64, error) {
	n := 1
	if len(u.sizes) > 1 {
		n += r.Categorical(u.sizes)
	}
	var e exactScratch
	e.draw(r, y, n, x.total)
	return 0, nil
}
