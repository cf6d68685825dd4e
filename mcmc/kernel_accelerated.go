package mcmc

// acceleratedKernel is the kernel of Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3).
//
// An iteration draws an ingredient i uniformly among the n used ingredients, and an ingredient j
// uniformly among the other N−1. It divides x_i + x_j again by the target's exact conditional law.
// The pair {i, j} is drawn with probability
//
//	α(x) = 2/(n(N−1)) if both are used, 1/(n(N−1)) if one is.
//
// The move may change α, so the new state x′ is accepted with probability min(1, α(x′)/α(x)). Only
// a move that merges two used ingredients into one can be rejected: α(x′)/α(x) is then n/(2(n−1)).
//
// A move needs only the ratios |X_{n+1}|/|X_n|, since n changes by at most 1. So the law of n must
// have mass on every n from its smallest to its largest.
//
// In a space with rules, such moves may not reach everything that is allowed, and in general this
// cannot be decided. There, one iteration in 50 is an independent draw from the sparsity law,
// accepted by the Metropolis–Hastings ratio, which can reach every allowed composition. If rules
// fix a sum or leave it little room, half of the other iterations change several ingredients, as in
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

// Advance makes the given number of iterations and adds their outcomes to the tally.
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
	if len(x.terms) == 0 && !conditions {
		a.advanceUnscored(r, x.Composition, iterations, tally)
		return nil
	}
	return a.advanceScored(r, x, iterations, tally)
}

// advanceUnscored makes iterations in a space without rules, for a target without objectives and
// bounds. Then all splits but the two ends of a line have the same weight.
//
// With many ingredients, j is rarely used and the split is rarely inside the line, but the end at
// which it falls is unpredictable. So the code for this frequent case does not branch on the end.
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

// advanceScored makes iterations for a target with objectives, bounds, rules or conditions.
func (a *acceleratedKernel) advanceScored(r *Rand, x *State, iterations int, tally *Tally) error {
	t := a.target
	for range iterations {
		if made, err := x.tryIndependent(r, tally); err != nil {
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
		others := x.Composition.Used() - 1
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
		if used && (k == 0 || k == s) && rejectMerge(r, x.Composition.Used()) {
			continue
		}
		tally.Accepted++
		if k != was {
			if err := x.moveTo(i, j, k, value); err != nil {
				return wrapKernelError("accelerated", err)
			}
			tally.Updated++
		}
	}
	return nil
}

// rejectMerge decides at random whether to reject a move that merges two of n used ingredients. It
// rejects with probability 1 − n/(2(n−1)).
func rejectMerge(r *Rand, n int) bool {
	return !r.Bernoulli(float64(n) / float64(2*(n-1)))
}
