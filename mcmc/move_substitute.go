package mcmc

import "kir/internal/portable"

// substitute takes an absent ingredient j for a used one, i, and divides what i and another
// used one, k, had between j and k. i and k are drawn uniformly among the used ones, j by
// [State.drawNewcomer]. Of the A splits of x_i + x_k between j and k, both used, that the
// rules allow, one is drawn uniformly; there are B between i and k, among them the present
// one. So the candidate is accepted with
//
//	min(1, q_i·A/(q_j·B) · Y(x′)/Y(x)),
//
// where q is the probability by which j is drawn. Where rules leave a sum or a total little
// room, a new amount is what lets another ingredient keep it.
func (x *State) substitute(r *Rand) (outcome, error) {
	c := x.Composition
	if c.Used() < 2 {
		return stayed, nil
	}
	i, k := drawUsedTwo(r, c)
	j := int(x.drawNewcomer(r))
	if c.amounts[j] > 0 {
		return stayed, nil
	}
	s := c.Amount(i) + c.Amount(k)
	back, _ := x.allowedBetween(i, k, s, 0)
	was := x.sum
	x.undo = x.undo[:0]
	x.resizeBy(i, j, 0)
	there, _ := x.allowedBetween(j, k, s, 0)
	if there == 0 {
		x.takeBack(was)
		return rejected, nil
	}
	at := 0
	if there > 1 {
		at = r.Intn(there)
	}
	_, split := x.allowedBetween(j, k, s, at)
	x.resizeBy(j, k, split)
	if err := x.rescoreMoved(); err != nil {
		return rejected, err
	}
	x.finds.see(c, x.sum)
	ratio := x.newcomerShare(i) / x.newcomerShare(j) * float64(there) / float64(back)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(ratio)+float64(x.beta*(x.sum-was))))) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}

// allowedBetween counts the splits of the line of (i, j), of sum s, that the rules allow and
// that use both, and returns the one that so many others are before.
func (x *State) allowedBetween(i, j, s, before int) (count, split int) {
	p := &x.one
	p.Reset()
	x.terms[0].scorer.Line(i, j, p)
	for q, v := range p.values {
		if v == negInf {
			continue
		}
		from, to := innerSplits(p, q, s)
		if to <= from {
			continue
		}
		if before >= count && before < count+to-from {
			split = from + before - count
		}
		count += to - from
	}
	return count, split
}

// drawNewcomer draws an ingredient to come in: half of the time as often as warm-up met it,
// which where chains are slow is not often enough, else uniformly.
func (x *State) drawNewcomer(r *Rand) int32 {
	j := int32(r.Intn(x.Composition.N()))
	if r.Bernoulli(0.5) {
		j = int32(x.memory.draw(r, x.Composition.N()))
	}
	return j
}

// newcomerShare is twice the probability that [State.drawNewcomer] draws i.
func (x *State) newcomerShare(i int) float64 {
	n := x.Composition.N()
	return 1/float64(n) + x.memory.share(i, n)
}
