package kir

// pairShare is how often line takes a second ingredient that is used, on
// purpose, where there is one.
const pairShare = 0.2

// pairOfOne is the probability that line takes a pair of which one
// ingredient is used, of n, and the other is not and is drawn with
// probability q.
func pairOfOne(n int, q float64) float64 {
	p := q / float64(n)
	if n > 1 {
		p *= 1 - pairShare
	}
	return p
}

// pairOfTwo is the probability that line takes a pair of two used ingredients,
// of n ≥ 2, that are drawn with probabilities q and p.
func pairOfTwo(n int, q, p float64) float64 {
	f := float64(n)
	return (2*pairShare/(f-1) + (1-pairShare)*(q+p)) / f
}

// drawPartner draws the second ingredient of a line: another used one,
// uniformly, with probability pairShare; else any, as often as warm-up met it.
func (x *State) drawPartner(r *Rand) (i, j int) {
	c := x.Composition
	if len(c.list) > 1 && r.Bernoulli(pairShare) {
		return drawUsedTwo(r, c)
	}
	i = int(c.list[r.Intn(len(c.list))])
	return i, x.memory.draw(r, c.N())
}

// line divides the sum of a pair anew. The first ingredient is uniform among
// the used ones, the second as [State.drawPartner] has it; if it is the first
// one again, nothing happens. With α(x) the probability that the pair is
// taken at x, the split k that the chain stands on is left for another one
// with probability ∝ w(k′) = P(k′)·α(k′), k′ ≠ k, and
//
//	min(1, (W − w(k)) / (W − w(k′))),  W = Σ w,
//
// is the probability that it is accepted: Gibbs sampling that does not
// propose what it has (Liu 1996).
//
// α takes one value at either end and one between: with m other ingredients
// used, the ends have m+1 and what lies between has m+2.
func (b *Balanced) line(r *Rand, x *State) (outcome, error) {
	c, t := x.Composition, b.target
	i, j := x.drawPartner(r)
	if i == j {
		return stayed, nil
	}
	others := c.Used() - 1
	if c.amounts[j] > 0 {
		others--
	}
	qi, qj := x.memory.share(i, c.N()), x.memory.share(j, c.N())
	// At k = 0 ingredient i is the one that is not used.
	law := t.lines[others].splits(pairOfOne(others+1, qi), pairOfOne(others+1, qj), pairOfTwo(others+2, qi, qj))
	pieces := &x.acc
	if len(x.terms) == 0 {
		pieces.Reset()
		pieces.Add(0, 0)
	} else {
		var err error
		if pieces, err = x.line(i, j, &law); err != nil {
			return rejected, err
		}
	}
	return x.leave(r, pieces, i, j, &law)
}

// leave draws another split of the line of (i, j) in proportion to exp(β·value)
// times what the law gives it, and moves there if it is accepted.
func (x *State) leave(r *Rand, p *Pieces, i, j int, law *splitLaw) (outcome, error) {
	was := x.Composition.Amount(i)
	line, err := x.weigh(p, i, j, law, was)
	if err != nil {
		return rejected, err
	}
	x.finds.seeLine(x.Composition, p, i, j, law)
	if line.rest == 0 {
		return stayed, nil
	}
	k, value, there := x.drawWeighed(r, p, was+x.Composition.Amount(j), &line, was)
	if there < line.here && !r.Bernoulli(line.rest/(line.rest+(line.here-there))) {
		return rejected, nil
	}
	x.moveTo(i, j, k, value)
	return updated, nil
}
