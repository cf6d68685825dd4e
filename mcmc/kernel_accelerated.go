package mcmc

// acceleratedKernel is the kernel of Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3).
//
// An iteration draws an ingredient i uniformly among the n used ingredients, and an ingredient j
// uniformly among the other N−1. It divides their joint amount x_i + x_j again by the target's
// exact conditional distribution. The pair {i, j} is drawn with probability
//
//	α(x) = 2/(n(N−1)) if i and j are both used, 1/(n(N−1)) if only one is used.
//
// The move may change α, so the new state x′ is accepted with probability min(1, α(x′)/α(x)). Only
// a move that merges two used ingredients into one can be rejected: α(x′)/α(x) is then n/(2(n−1)).
//
// A move needs only the ratios |X_{n+1}|/|X_n| of the numbers of compositions with n+1 and n
// ingredients, since n changes by at most 1. So the law of n must have mass on every n from its
// smallest to its largest.
//
// In a space with rules, such moves may not reach every allowed composition, and in general this
// cannot be decided. So one iteration in 50 is an independent draw from the sparsity law, accepted
// by the Metropolis–Hastings ratio, which can reach every allowed composition. If rules fix a sum
// or leave it little room, half of the other iterations change several ingredients, as in
// [Balanced].
type acceleratedKernel struct {
	target *Target
}

// newAcceleratedKernel returns the kernel, or an error that wraps [ErrReducible] if the kernel cannot
// reach all states of the target.
func newAcceleratedKernel(t *Target) (*acceleratedKernel, error) {
	if err := checkIrreducible("accelerated", t); err != nil {
		return nil, err
	}
	return &acceleratedKernel{t}, nil
}

// Advance makes the given number of iterations and counts their outcomes in the tally.
func (a *acceleratedKernel) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable("accelerated", a.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	conditions := a.target.space.conditions.hasMultiValuedCondition()
	if x.Composition.N() == 1 && !conditions {
		tally.Accepted += int64(iterations) // the space has one composition, which stays
		return nil
	}
	if len(x.scoredTerms) == 0 && !conditions {
		a.advanceUnscored(r, x.Composition, iterations, tally)
		return nil
	}
	return a.advanceScored(r, x, iterations, tally)
}

// advanceUnscored makes iterations for a target without rules, objectives and bounds. Then all
// divisions of two ingredients' joint amount that use both ingredients have the same weight.
//
// With many ingredients, a move mostly gives all units to one of the two ingredients, and it is
// unpredictable to which. So the code for this frequent case does not branch on the result.
func (a *acceleratedKernel) advanceUnscored(r *Rand, x *Composition, iterations int, tally *Tally) {
	lines := a.target.lineLaws
	rejected, stayed := 0, 0
	for range iterations {
		p, j, used := drawUsedAndOther(r, x)
		i := x.used[p]
		was := int(x.amounts[i])
		if !used {
			k := r.drawSplit(&lines[len(x.used)-1], was)
			if uint(k-1) >= uint(was-1) { // k is 0 or was; one code path serves both ends
				passes := (k - 1) >> 63 // all ones if j takes it all, else 0
				x.passAllUnits(p, i, j, int32(was), int32(passes))
				stayed += 1 + passes
			} else {
				x.amounts[i], x.amounts[j] = int32(k), int32(was-k)
				x.appendUsed(j)
			}
			continue
		}
		s := was + int(x.amounts[j])
		k := r.drawSplit(&lines[len(x.used)-2], s)
		switch {
		case k == was:
			stayed++
		case k != 0 && k != s:
			x.amounts[i], x.amounts[j] = int32(k), int32(s-k)
		case rejectMerge(r, len(x.used)):
			rejected++
		default:
			x.moveUnchecked(int(i), int(j), k)
		}
	}
	tally.Accepted += int64(iterations - rejected)
	tally.Updated += int64(iterations - rejected - stayed)
}

// advanceScored makes iterations for a target that has objectives, bounds, rules or conditions.
func (a *acceleratedKernel) advanceScored(r *Rand, x *State, iterations int, tally *Tally) error {
	t := a.target
	for range iterations {
		if made, err := x.tryMultiIngredientMove(r, tally); err != nil {
			return wrapKernelError("accelerated", err)
		} else if made {
			continue
		}
		if made, err := x.trySetMove(r, tally); err != nil {
			return wrapKernelError("accelerated", err)
		} else if made {
			continue
		}
		if x.Composition.N() == 1 {
			tally.Accepted++
			continue
		}
		p, second, used := drawUsedAndOther(r, x.Composition)
		i, j := int(x.Composition.used[p]), int(second)
		others := x.Composition.UsedCount() - 1
		if used {
			others--
		}
		was := x.Composition.Amount(i)
		s := was + x.Composition.Amount(j)
		law := t.lineLaws[others].scaledSplitLaw(1, 1, 1)
		k, value, err := x.drawSplit(r, i, j, &law)
		if err != nil {
			return wrapKernelError("accelerated", err)
		}
		if used && (k == 0 || k == s) && rejectMerge(r, x.Composition.UsedCount()) {
			continue
		}
		tally.Accepted++
		if k != was {
			if err := x.moveToSplit(i, j, k, value); err != nil {
				return wrapKernelError("accelerated", err)
			}
			tally.Updated++
		}
	}
	return nil
}

// rejectMerge decides at random whether to reject a move of [acceleratedKernel] that merges two of
// n used ingredients. It returns true with probability 1 − n/(2(n−1)).
func rejectMerge(r *Rand, n int) bool {
	return !r.Bernoulli(float64(n) / float64(2*(n-1)))
}
