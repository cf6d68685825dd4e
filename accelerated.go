package kir

// Accelerated is Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3).
//
// An iteration draws i uniformly among the used ingredients and j uniformly
// among the other N−1, and splits x_i + x_j anew from the target's exact
// conditional law along that line. The pair {i, j} comes up with probability
//
//	α(x) = 2/(n(N−1)) if both are used, 1/(n(N−1)) if one is,
//
// which the move may change, so the split x′ is accepted with probability
// min(1, α(x′)/α(x)). Only a split that merges two used ingredients into one
// can be rejected: α(x′)/α(x) is then n/(2(n−1)).
//
// |X_n| enters through ratios of neighbours, since a line meets only two
// sizes. n changes by at most 1, so the law of n must not have a gap.
//
// Rules may forbid so much that lines no longer connect what they allow, and
// that cannot be told in general. In a space with rules one iteration in 50 is
// therefore an independent draw from the sparsity law, accepted by the
// Metropolis–Hastings ratio, which connects everything.
type Accelerated struct {
	target *Target
}

// NewAccelerated returns the kernel, or an error that wraps [ErrReducible].
func NewAccelerated(t *Target) (*Accelerated, error) {
	if err := checkLines("accelerated", t); err != nil {
		return nil, err
	}
	return &Accelerated{t}, nil
}

// Advance makes iterations.
func (a *Accelerated) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.ready("accelerated", a.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	if x.Composition.N() == 1 {
		tally.Accepted += int64(iterations) // there is one composition, and it stays
		return nil
	}
	if len(x.terms) == 0 {
		a.advanceBare(r, x.Composition, iterations, tally)
		return nil
	}
	return a.advance(r, x, iterations, tally)
}

// advanceBare is advance without properties: a line then has two weights only.
func (a *Accelerated) advanceBare(r *Rand, x *Composition, iterations int, tally *Tally) {
	t := a.target
	accepted, updated := int64(0), int64(0)
	for range iterations {
		i, j, others := drawUsedPair(r, x)
		was := int(x.amounts[i])
		s := was + int(x.amounts[j])
		k := r.split(t.end[others], t.inner[others], t.perInner[others], s)
		if rejectMerge(r, x.used, others, k, s) {
			continue
		}
		accepted++
		if k != was {
			x.move(i, j, k)
			updated++
		}
	}
	tally.Accepted += accepted
	tally.Updated += updated
}

func (a *Accelerated) advance(r *Rand, x *State, iterations int, tally *Tally) error {
	t := a.target
	for range iterations {
		if t.space.rules != nil && r.Bernoulli(independentShare) {
			if err := x.countIndependent(r, tally); err != nil {
				return kernelError("accelerated", err)
			}
			continue
		}
		i, j, others := drawUsedPair(r, x.Composition)
		was := x.Composition.Amount(i)
		s := was + x.Composition.Amount(j)
		pieces, err := x.line(i, j)
		if err != nil {
			return kernelError("accelerated", err)
		}
		k, value := x.drawSplit(r, pieces, s, t.end[others], t.inner[others])
		if rejectMerge(r, x.Composition.used, others, k, s) {
			continue
		}
		tally.Accepted++
		if k != was {
			x.moveTo(i, j, k, value)
			tally.Updated++
		}
	}
	return nil
}

// drawUsedPair draws i uniformly among the used ingredients and j uniformly
// among all others, and counts the used ones that are neither.
func drawUsedPair(r *Rand, x *Composition) (i, j, others int) {
	p, q := r.pair(x.used, len(x.order)-1)
	if q >= p {
		q++
	}
	others = x.used - 1
	if q < x.used {
		others--
	}
	return int(x.order[p]), int(x.order[q]), others
}

// rejectMerge decides whether the split k of a line of sum s is rejected by
// the ratio of α, n ingredients being used now.
func rejectMerge(r *Rand, n, others, k, s int) bool {
	merges := others == n-2 && (k == 0 || k == s)
	return merges && !r.Bernoulli(float64(n)/float64(2*(n-1)))
}
