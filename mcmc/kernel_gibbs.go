package mcmc

// gibbsKernel is the Gibbs sampler of Obara, Morimura and Yanagisawa (2019, §4.2). It draws two
// ingredients uniformly among all ingredients and divides their joint amount again by the target's
// exact conditional distribution. The result is always accepted. Most pairs are of two unused
// ingredients, so most iterations change nothing.
//
// The number n of used ingredients changes by at most 1, so the law of n must have mass on every n
// from its smallest to its largest. In a space with rules some iterations are other moves, as in
// [acceleratedKernel].
type gibbsKernel struct {
	target *Target
}

// newGibbsKernel returns the kernel, or an error that wraps [ErrReducible] if the kernel cannot reach all
// states of the target.
func newGibbsKernel(t *Target) (*gibbsKernel, error) {
	if err := checkIrreducible("gibbs", t); err != nil {
		return nil, err
	}
	return &gibbsKernel{t}, nil
}

// Advance makes the given number of iterations and counts their outcomes in the tally.
func (g *gibbsKernel) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable("gibbs", g.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	t := g.target
	if x.Composition.N() == 1 && !t.space.conditions.hasMultiValuedCondition() {
		tally.Accepted += int64(iterations)
		return nil
	}
	for range iterations {
		if made, err := x.tryMultiIngredientMove(r, tally); err != nil {
			return wrapKernelError("gibbs", err)
		} else if made {
			continue
		}
		if made, err := x.trySetMove(r, tally); err != nil {
			return wrapKernelError("gibbs", err)
		} else if made {
			continue
		}
		tally.Accepted++
		if x.Composition.N() == 1 {
			continue
		}
		c := x.Composition // read in each iteration: an independent move replaces the composition
		i, j := r.intnPair(c.N(), c.N()-1)
		if j >= i {
			j++
		}
		was := c.Amount(i)
		s := was + c.Amount(j)
		if s == 0 {
			continue
		}
		others := c.UsedCount()
		if was > 0 {
			others--
		}
		if s > was {
			others--
		}
		if len(x.scoredTerms) == 0 {
			if k := r.drawSplit(&t.lineLaws[others], s); k != was {
				c.moveUnchecked(i, j, k)
				tally.Updated++
			}
			continue
		}
		law := t.lineLaws[others].scaledSplitLaw(1, 1, 1)
		k, value, err := x.drawSplit(r, i, j, &law)
		if err != nil {
			return wrapKernelError("gibbs", err)
		}
		if k != was {
			if err := x.moveToSplit(i, j, k, value); err != nil {
				return wrapKernelError("gibbs", err)
			}
			tally.Updated++
		}
	}
	return nil
}
