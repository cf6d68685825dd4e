package mcmc

// gibbs is the paper's Gibbs sampler (Obara, Morimura and Yanagisawa 2019, §4.2). It takes a pair
// of ingredients, uniform among all pairs, and splits their sum anew by the target's exact
// conditional law along that line. The split is always accepted. Most pairs are of absent
// ingredients, so most moves change nothing.
//
// n changes by at most 1, so the law of n must not have a gap. In a space with rules some
// iterations are other moves, as in accelerated.
type gibbs struct {
	target *Target
}

// newGibbs returns the kernel, or an error that wraps [ErrReducible].
func newGibbs(t *Target) (*gibbs, error) {
	if err := checkLines("gibbs", t); err != nil {
		return nil, err
	}
	return &gibbs{t}, nil
}

// Advance makes iterations.
func (g *gibbs) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady("gibbs", g.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	t := g.target
	if x.Composition.N() == 1 && !t.space.conditions.hasFree() {
		tally.Accepted += int64(iterations)
		return nil
	}
	for range iterations {
		if made, err := x.tryIndependent(r, tally); err != nil {
			return kernelError("gibbs", err)
		} else if made {
			continue
		}
		if made, err := x.trySet(r, tally); err != nil {
			return kernelError("gibbs", err)
		} else if made {
			continue
		}
		tally.Accepted++
		if x.Composition.N() == 1 {
			continue
		}
		c := x.Composition // read in each iteration: an independent move replaces the composition
		i, j := r.pair(c.N(), c.N()-1)
		if j >= i {
			j++
		}
		was := c.Amount(i)
		s := was + c.Amount(j)
		if s == 0 {
			continue
		}
		others := c.Used()
		if was > 0 {
			others--
		}
		if s > was {
			others--
		}
		if len(x.terms) == 0 {
			if k := r.split(&t.lines[others], s); k != was {
				c.move(i, j, k)
				tally.Updated++
			}
			continue
		}
		law := t.lines[others].splits(1, 1, 1)
		k, value, err := x.drawSplit(r, i, j, &law)
		if err != nil {
			return kernelError("gibbs", err)
		}
		if k != was {
			if err := x.moveTo(i, j, k, value); err != nil {
				return kernelError("gibbs", err)
			}
			tally.Updated++
		}
	}
	return nil
}
