package mcmc

// accelerated is Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3).
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
// Metropolis–Hastings ratio, which connects everything. Where rules fix a sum
// or leave it little room, half of the others are moves of several ingredients, as in
// [Balanced].
type accelerated struct {
	target *Target
}

// newAccelerated returns the kernel, or an error that wraps [ErrReducible].
func newAccelerated(t *Target) (*accelerated, error) {
	if err := checkLines("accelerated", t); err != nil {
		return nil, err
	}
	return &accelerated{t}, nil
}

// Advance makes iterations.
func (a *accelerated) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady("accelerated", a.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	conditions := a.target.space.conditions.hasFree()
	if x.Composition.N() == 1 && !conditions {
		tally.Accepted += int64(iterations) // the space has one composition, which stays
		return nil
	}
	if len(x.terms) == 0 && !conditions {
		a.advanceBare(r, x.Composition, iterations, tally)
		return nil
	}
	return a.advance(r, x, iterations, tally)
}

// advanceBare is Advance without properties: a line then has two weights only.
//
// Among many ingredients j is rarely used and the split is rarely inside, but which end it takes is
// unpredictable. Only this case is fast: it has no branch that depends on the end.
func (a *accelerated) advanceBare(r *Rand, x *Composition, iterations int, tally *Tally) {
	lines := a.target.lines
	rejected, stayed := 0, 0
	for range iterations {
		p, j, used := drawUsedPair(r, x)
		i := x.list[p]
		was := int(x.amounts[i])
		if !used {
			k := r.split(&lines[len(x.list)-1], was)
			if uint(k-1) >= uint(was-1) { // k is 0 or was; one code path serves both ends
				passes := (k - 1) >> 63 // all ones if j takes it all, else 0
				x.passOn(p, i, j, int32(was), int32(passes))
				stayed += 1 + passes
			} else {
				x.amounts[i], x.amounts[j] = int32(k), int32(was-k)
				x.appendUsed(j)
			}
			continue
		}
		s := was + int(x.amounts[j])
		k := r.split(&lines[len(x.list)-2], s)
		switch {
		case k == was:
			stayed++
		case k != 0 && k != s:
			x.amounts[i], x.amounts[j] = int32(k), int32(s-k)
		case rejectMerge(r, len(x.list)):
			rejected++
		default:
			x.move(int(i), int(j), k)
		}
	}
	tally.Accepted += int64(iterations - rejected)
	tally.Updated += int64(iterations - rejected - stayed)
}

func (a *accelerated) advance(r *Rand, x *State, iterations int, tally *Tally) error {
	t := a.target
	for range iterations {
		if made, err := x.tryIndependent(r, tally); err != nil {
			return kernelError("accelerated", err)
		} else if made {
			continue
		}
		if made, err := x.trySet(r, tally); err != nil {
			return kernelError("accelerated", err)
		} else if made {
			continue
		}
		if x.Composition.N() == 1 {
			tally.Accepted++
			continue
		}
		p, second, used := drawUsedPair(r, x.Composition)
		i, j := int(x.Composition.list[p]), int(second)
		others := x.Composition.Used() - 1
		if used {
			others--
		}
		was := x.Composition.Amount(i)
		s := was + x.Composition.Amount(j)
		law := t.lines[others].splits(1, 1, 1)
		k, value, err := x.drawSplit(r, i, j, &law)
		if err != nil {
			return kernelError("accelerated", err)
		}
		if used && (k == 0 || k == s) && rejectMerge(r, x.Composition.Used()) {
			continue
		}
		tally.Accepted++
		if k != was {
			if err := x.moveTo(i, j, k, value); err != nil {
				return kernelError("accelerated", err)
			}
			tally.Updated++
		}
	}
	return nil
}

// rejectMerge decides, by the ratio of α, whether to reject a split that merges two of n used
// ingredients.
func rejectMerge(r *Rand, n int) bool {
	return !r.Bernoulli(float64(n) / float64(2*(n-1)))
}
