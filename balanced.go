package kir

import (
	"fmt"
	"math"
)

// Balanced is a fixed mix of moves, each of which is reversible with respect
// to the target by itself:
//
//   - transfer: two used ingredients divide their sum anew, both staying used,
//     from the exact conditional law. n stays; always accepted.
//   - exchange: an absent ingredient takes the place and the amount of a used
//     one. n stays.
//   - resize: a new size n′ is drawn from y_sparse and reached by |n′−n| random
//     splits or merges. The proposal cancels |X_n′|/|X_n| and y_sparse, so that
//     the acceptance is the ratio of the properties alone, and gaps in the law
//     of n are crossed.
//   - step: one split or merge, the split drawn along the line in proportion
//     to the properties, which accepts more often than resize when they are
//     sharp.
//   - refresh: a new composition drawn as [Exact] does. Rarely accepted when
//     properties are sharp, it connects all that the target allows.
//
// The derivations are in docs/kernels.md.
type Balanced struct {
	target *Target
	mix    []float64 // in the order of the moves
}

// A Mix is how often each move of [Balanced] is made, up to a common factor.
type Mix struct {
	Transfer, Exchange, Resize, Step, Refresh float64
}

// The moves of Balanced, as indices into the mix and into a tally's moves.
const (
	transferMove = iota
	exchangeMove
	resizeMove
	stepMove
	refreshMove
	moveCount
)

// BalancedMoves are the names of the moves of [Balanced], in the order in
// which a [Tally] counts them.
func BalancedMoves() []string {
	return []string{"transfer", "exchange", "resize", "step", "refresh"}
}

// DefaultMix is the mix that [NewBalanced] takes for a target.
func DefaultMix(t *Target) Mix {
	if len(t.wishes) == 0 {
		return Mix{Transfer: 0.3, Exchange: 0.3, Resize: 0.3, Refresh: 0.1}
	}
	return Mix{Transfer: 0.3, Exchange: 0.3, Resize: 0.08, Step: 0.3, Refresh: 0.02}
}

// NewBalanced returns the kernel with the default mix. It is valid for every
// target.
func NewBalanced(t *Target) (*Balanced, error) { return NewBalancedMix(t, DefaultMix(t)) }

// NewBalancedMix returns the kernel with a mix of the caller's own. Without
// refresh the moves may not reach everything that the target allows.
func NewBalancedMix(t *Target, m Mix) (*Balanced, error) {
	mix := []float64{m.Transfer, m.Exchange, m.Resize, m.Step, m.Refresh}
	sum := 0.0
	for k, w := range mix {
		if err := checkWeight(w); err != nil {
			return nil, fmt.Errorf("balanced: the share of %s %w", BalancedMoves()[k], err)
		}
		sum += w
	}
	if sum == 0 {
		return nil, fmt.Errorf("balanced: no move has a share above 0")
	}
	return &Balanced{t, mix}, nil
}

// Advance makes iterations, each of one move.
func (b *Balanced) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.ready("balanced", b.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	for range iterations {
		move := r.Categorical(b.mix)
		var result outcome
		var err error
		switch move {
		case transferMove:
			result, err = b.transfer(r, x)
		case exchangeMove:
			result, err = b.exchange(r, x)
		case resizeMove:
			result, err = b.resize(r, x)
		case stepMove:
			result, err = b.step(r, x)
		case refreshMove:
			result, err = b.refresh(r, x)
		}
		if err != nil {
			return kernelError("balanced", err)
		}
		count := &tally.Moves[move]
		count.Tried++
		if result != rejected {
			tally.Accepted++
			count.Accepted++
		}
		if result == updated {
			tally.Updated++
			count.Updated++
		}
	}
	return nil
}

// An outcome is what became of a move.
type outcome int8

const (
	rejected outcome = iota
	stayed           // accepted, and the composition is the same
	updated
)

// changed is the outcome of an accepted move.
func changed(yes bool) outcome {
	if yes {
		return updated
	}
	return stayed
}

// usedPair draws an ordered pair of used ingredients; there are at least 2.
func usedPair(r *Rand, x *Composition) (i, j int) {
	p, q := r.pair(x.used, x.used-1)
	if q >= p {
		q++
	}
	return int(x.order[p]), int(x.order[q])
}

// usedAndAbsent draws a used and an absent ingredient; there are some of each.
func usedAndAbsent(r *Rand, x *Composition) (i, j int) {
	p, q := r.pair(x.used, len(x.order)-x.used)
	return int(x.order[p]), int(x.order[x.used+q])
}

func (b *Balanced) transfer(r *Rand, x *State) (outcome, error) {
	c := x.Composition
	if c.used < 2 {
		return stayed, nil
	}
	i, j := usedPair(r, c)
	was := c.Amount(i)
	s := was + c.Amount(j)
	if len(x.terms) == 0 {
		k := 1
		if s > 2 {
			k += r.Intn(s - 1)
		}
		c.move(i, j, k)
		return changed(k != was), nil
	}
	pieces, err := x.line(i, j)
	if err != nil {
		return rejected, err
	}
	k, value := x.drawSplit(r, pieces, s, 0, 1)
	if k != was {
		x.moveTo(i, j, k, value)
	}
	return changed(k != was), nil
}

func (b *Balanced) exchange(r *Rand, x *State) (outcome, error) {
	c := x.Composition
	if c.used == c.N() {
		return stayed, nil
	}
	i, j := usedAndAbsent(r, c)
	if len(x.terms) == 0 {
		c.move(i, j, 0)
		return updated, nil
	}
	value, err := x.at(i, j, 0)
	if err != nil {
		return rejected, err
	}
	if !r.Bernoulli(math.Exp(x.beta * (value - x.sum))) {
		return rejected, nil
	}
	x.moveTo(i, j, 0, value)
	return updated, nil
}

// resize reaches a new size by single splits or merges. The proposal's factors
// are (M−m)(N−m)/(m(m+1)) for each split from m, and without rules their
// product with |X_n|/|X_n′| is 1.
func (b *Balanced) resize(r *Rand, x *State) (outcome, error) {
	t, c := b.target, x.Composition
	if len(t.law.p) == 1 {
		return stayed, nil
	}
	to := t.law.lo + r.Categorical(t.law.p)
	if to == c.used {
		return stayed, nil
	}
	was, from := x.sum, c.used
	x.undo = x.undo[:0]
	for c.used < to {
		i, cut := drawCut(r, c)
		j := int(c.order[c.used])
		if rest := c.N() - c.used; rest > 1 {
			j = int(c.order[c.used+r.Intn(rest)])
		}
		x.undo = append(x.undo, undo{int32(i), int32(j), c.amounts[i]})
		x.moveUnscored(i, j, cut)
	}
	for c.used > to {
		i, j := usedPair(r, c)
		x.undo = append(x.undo, undo{int32(i), int32(j), c.amounts[i]})
		x.moveUnscored(i, j, c.Amount(i)+c.Amount(j))
	}
	if len(x.terms) == 0 {
		return updated, nil
	}
	if err := x.rescore(); err != nil {
		return rejected, err
	}
	logRatio := x.beta * (x.sum - was)
	if t.space.rules != nil {
		logRatio += logCancelled(t, from, to)
	}
	if r.Bernoulli(math.Exp(logRatio)) {
		return updated, nil
	}
	for k := len(x.undo) - 1; k >= 0; k-- {
		u := x.undo[k]
		x.moveUnscored(int(u.i), int(u.j), int(u.k))
	}
	x.sum = was
	return rejected, nil
}

// logCancelled is what of a resize from n to n′ does not cancel where rules
// make |X_n| something else than its closed form C_n:
// log(C_n′/C_n · |X_n|/|X_n′|).
func logCancelled(t *Target, from, to int) float64 {
	space := Space{ingredients: t.space.ingredients, total: t.space.total}
	closed := 0.0
	for n := min(from, to); n < max(from, to); n++ {
		closed += math.Log(space.Ratio(n))
	}
	if to < from {
		closed = -closed
	}
	ruled := t.LogLaw(to) - math.Log(t.law.P(to)) - t.LogLaw(from) + math.Log(t.law.P(from))
	return closed + ruled
}

// drawCut draws one of the M−n places between units where no used ingredient
// ends yet, uniformly: the ingredient that it divides and the units before it.
func drawCut(r *Rand, c *Composition) (i, units int) {
	at := 0
	if places := c.total - c.used; places > 1 {
		at = r.Intn(places)
	}
	for _, i := range c.Ingredients() {
		if inner := int(c.amounts[i]) - 1; at < inner {
			return int(i), at + 1
		} else {
			at -= inner
		}
	}
	panic("kir: a composition with fewer units than its total")
}

// step splits or merges once. A split of i with an absent j is drawn along
// the line in proportion to Y, the properties' product; with
// G = Σ_{0<k<s} Y(k) it is accepted with
//
//	min(1, π(n+1)/π(n) · (N−n)·G/((n+1)·Y(x))),  π(n) = y_sparse(n)/|X_n|,
//
// and a merge with the inverse ratio.
func (b *Balanced) step(r *Rand, x *State) (outcome, error) {
	t, c := b.target, x.Composition
	n := c.used
	if r.Bernoulli(0.5) {
		if t.law.P(n+1) == 0 {
			return rejected, nil
		}
		i, j := usedAndAbsent(r, c)
		s := c.Amount(i)
		if s < 2 {
			return rejected, nil
		}
		pieces, sumInner, err := x.inner(i, j, s)
		if err != nil || sumInner == negInf {
			return rejected, err
		}
		k, value := x.drawSplit(r, pieces, s, 0, 1)
		logRatio := t.LogLaw(n+1) - t.LogLaw(n) + math.Log(float64(c.N()-n)/float64(n+1)) + sumInner - x.beta*x.sum
		if !r.Bernoulli(math.Exp(logRatio)) {
			return rejected, nil
		}
		x.moveTo(i, j, k, value)
		return updated, nil
	}
	if n < 2 || t.law.P(n-1) == 0 {
		return rejected, nil
	}
	i, j := usedPair(r, c)
	s := c.Amount(i) + c.Amount(j)
	pieces, sumInner, err := x.inner(i, j, s)
	if err != nil {
		return rejected, err
	}
	value := pieces.values[len(pieces.values)-1]
	logRatio := t.LogLaw(n-1) - t.LogLaw(n) - math.Log(float64(c.N()-n+1)/float64(n)) + x.beta*value - sumInner
	if !r.Bernoulli(math.Exp(logRatio)) {
		return rejected, nil
	}
	x.moveTo(i, j, s, value)
	return updated, nil
}

// inner returns the pieces of a line of sum s ≥ 2 and log Σ_{0<k<s} Y(k).
func (x *State) inner(i, j, s int) (*Pieces, float64, error) {
	pieces := &x.acc
	if len(x.terms) == 0 {
		pieces.Reset()
		pieces.Add(0, 0)
	} else {
		var err error
		if pieces, err = x.line(i, j); err != nil {
			return nil, 0, err
		}
	}
	top := negInf
	for q, v := range pieces.values {
		if from, to := innerSplits(pieces, q, s); from < to {
			top = max(top, v)
		}
	}
	if top == negInf {
		return pieces, negInf, nil
	}
	sum := 0.0
	for q, v := range pieces.values {
		if from, to := innerSplits(pieces, q, s); from < to {
			sum += float64(to-from) * math.Exp(x.beta*(v-top))
		}
	}
	return pieces, x.beta*top + math.Log(sum), nil
}

func (b *Balanced) refresh(r *Rand, x *State) (outcome, error) { return x.independent(r) }
