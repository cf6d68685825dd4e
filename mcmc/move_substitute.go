package mcmc

import "kir/internal/portable"

// A substitution checks a number of candidates against the rules. Where rules leave sums little
// room, few candidates are allowed; where they leave more, fewer are needed.
const (
	screenedTight = 16
	screenedRoomy = 8
)

// substitute takes an absent ingredient j for a used one, i, and divides what i and another
// used one, k, had between j and k. i and k are drawn uniformly among the used ones, and
// candidates c_1..c_m each by q, see [State.drawNewcomer]; one that x uses beside i has no
// splits. With A(c) the number of splits of x_i + x_k between c and k, both used, that the
// rules allow, one of all the candidates' splits is drawn uniformly, and j is the candidate
// that it is of. If D of them are the other candidates', it is accepted with
//
//	min(1, q_i·(A(j) + D)/(q_j·(A(i) + D)) · Y(x′)/Y(x)).
//
// The flow from x to x′ by a place among the candidates that j stands at, and others given,
// is Y(x)·q_j/(A(j) + D) times this, but for factors that x and x′ share. On the way back i
// stands at the same place, and A(i) + D splits are drawn among: the flow is symmetric. Only
// what is drawn has to be scored. Where rules leave a sum or a total little room, hardly any
// ingredient can take another's place, and one candidate would mostly be in vain.
func (x *State) substitute(r *Rand) (outcome, error) {
	c := x.Composition
	if c.Used() < 2 {
		return stayed, nil
	}
	i, k := drawUsedTwo(r, c)
	had, s := c.Amount(i), c.Amount(i)+c.Amount(k)
	was := x.sum
	x.undo = x.undo[:0]
	x.resizeBy(i, k, 0)
	var candidates, splits [screenedTight]int
	m, there := screenedTight, 0
	switch {
	case r.oracle != nil:
		m = 2 // all outcomes are looked at, and must not be too many
	case x.target.tightSums == nil:
		m = screenedRoomy
	}
	for a := range m {
		candidates[a] = int(x.drawNewcomer(r))
		if c.amounts[candidates[a]] == 0 {
			splits[a], _ = x.allowedBetween(candidates[a], k, s, 0)
			there += splits[a]
		}
	}
	if there == 0 {
		x.takeBack(was)
		return rejected, nil
	}
	a, before := 0, 0
	if there > 1 {
		before = r.Intn(there)
	}
	for before >= splits[a] {
		before -= splits[a]
		a++
	}
	j := candidates[a]
	_, split := x.allowedBetween(j, k, s, before)
	if j == i && split == had {
		x.takeBack(was)
		return stayed, nil
	}
	back, _ := x.allowedBetween(i, k, s, 0)
	back += there - splits[a]
	x.resizeBy(j, k, split)
	if err := x.rescoreMoved(); err != nil {
		return rejected, err
	}
	x.visited.addComposition(c, x.sum)
	ratio := x.newcomerShare(i) / x.newcomerShare(j) * float64(there) / float64(back)
	if r.Bernoulli(portable.Exp(min(0, portable.Log(ratio)+float64(x.beta*(x.sum-was))))) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}

// allowedBetween counts the splits of the line of (i, j), of sum s, that the rules allow and that
// use both. It returns the count and the split that exactly before others precede.
func (x *State) allowedBetween(i, j, s, before int) (count, split int) {
	p := &x.termPieces
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

// drawNewcomer draws an ingredient to come in. Half of the draws follow how often warm-up met each,
// which slow chains underestimate. The others are uniform.
func (x *State) drawNewcomer(r *Rand) int32 {
	if r.Bernoulli(0.5) {
		return int32(x.memory.draw(r, x.Composition.N()))
	}
	return int32(r.Intn(x.Composition.N()))
}

// newcomerShare is twice the probability that [State.drawNewcomer] draws i.
func (x *State) newcomerShare(i int) float64 {
	n := x.Composition.N()
	return 1/float64(n) + x.memory.share(i, n)
}
