package kir

import "math"

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
	pieces := &x.acc
	if len(x.terms) == 0 {
		pieces.Reset()
		pieces.Add(0, 0)
	} else {
		var err error
		if pieces, err = x.line(i, j); err != nil {
			return rejected, err
		}
	}
	// At k = 0 ingredient i is the one that is not used.
	zero := t.lines[others].end * pairOfOne(others+1, qi)
	full := t.lines[others].end * pairOfOne(others+1, qj)
	inner := t.lines[others].inner * pairOfTwo(others+2, qi, qj)
	x.finds.seeLine(c, pieces, i, j, zero, full, inner)
	return x.leave(r, pieces, i, j, zero, full, inner), nil
}

// leave draws another split of the line of (i, j) in proportion to
// exp(beta·value) times the weight zero at k = 0, full at k = s and inner
// between, and moves there if it is accepted.
func (x *State) leave(r *Rand, p *Pieces, i, j int, zero, full, inner float64) outcome {
	was := x.Composition.Amount(i)
	s := was + x.Composition.Amount(j)
	n := len(p.starts)
	top := negInf
	for q, v := range p.values {
		from, to := innerSplits(p, q, s)
		if v > top && (inner > 0 && from < to || zero > 0 && q == 0 || full > 0 && q == n-1) {
			top = v
		}
	}

	// Choices: the two ends, then what each piece holds between them; less the
	// present split, whose weight is here.
	if cap(x.weights) < n+2 {
		x.weights = make([]float64, 2*(n+2))
	}
	w := x.weights[:n+2]
	w[0] = zero * math.Exp(x.beta*(p.values[0]-top))
	w[1] = full * math.Exp(x.beta*(p.values[n-1]-top))
	here := 0.0
	switch was {
	case 0:
		here, w[0] = w[0], 0
	case s:
		here, w[1] = w[1], 0
	}
	rest := w[0] + w[1]
	at := -1 // the piece of the present split, if that is no end
	for q := range n {
		from, to := innerSplits(p, q, s)
		if from >= to || inner == 0 {
			w[q+2] = 0
			continue
		}
		each := inner * math.Exp(x.beta*(p.values[q]-top))
		if from <= was && was < to {
			at, here = q, each
			w[q+2] = each * float64(to-from-1)
		} else {
			w[q+2] = each * float64(to-from)
		}
		rest += w[q+2]
	}
	if rest == 0 {
		return stayed
	}

	var k int
	var value, there float64
	switch choice := r.Categorical(w); choice {
	case 0:
		k, value, there = 0, p.values[0], w[0]
	case 1:
		k, value, there = s, p.values[n-1], w[1]
	default:
		q := choice - 2
		from, to := innerSplits(p, q, s)
		value = p.values[q]
		if q == at {
			to--
		}
		k, there = from, w[choice]/float64(to-from)
		if to-from > 1 {
			k += r.Intn(to - from)
		}
		if q == at && k >= was {
			k++
		}
	}
	if there < here && !r.Bernoulli(rest/(rest+(here-there))) {
		return rejected
	}
	x.moveTo(i, j, k, value)
	return updated
}
