package kir

import (
	"fmt"
	"math"
)

// Balanced is a mix of moves, each of which is reversible with respect to the
// target by itself:
//
//   - line: a used ingredient and another one, used or not, divide their sum
//     anew. In one move that is a transfer between two used ingredients, the
//     exchange of one for another, a split or a merge; see [Balanced.line].
//   - resize: a new size n′ is drawn from y_sparse and reached by |n′−n| random
//     splits or merges. The proposal cancels |X_n′|/|X_n| and y_sparse, so that
//     the acceptance is the ratio of the properties alone, and gaps in the law
//     of n are crossed.
//   - refresh: a new composition drawn as [Exact] does. It connects all that
//     the target allows.
//   - recall: a new composition of ingredients and of a size that are drawn as
//     often as warm-up met them.
//
// Warm-up learns how often each ingredient is used, for line and recall, and
// which mix pays; see [Chain.Warm]. The derivations are in docs/kernels.md.
type Balanced struct {
	target *Target
	first  *shares // the mix, until it is tuned
	fixed  bool    // it is not tuned

	// What the number of ingredients contributes to the probability of being
	// drawn by recall, log n!/C(M−1, n−1), from the law's first size on, up to
	// a constant.
	logOrders []float64
}

// A Mix is how often each move of [Balanced] is made, up to a common factor.
type Mix struct {
	Line, Resize, Refresh, Recall float64
}

// The moves of Balanced, as indices into the mix and into a tally's moves.
const (
	lineMove = iota
	resizeMove
	refreshMove
	recallMove
	moveCount
)

// BalancedMoves are the names of the moves of [Balanced], in the order in
// which a [Tally] counts them.
func BalancedMoves() []string { return []string{"line", "resize", "refresh", "recall"} }

// shares is how often each move is made, up to a common factor.
type shares [moveCount]float64

// pick draws a move.
func (s *shares) pick(r *Rand) int {
	if s[0] == 0 && s[1] == 0 && s[3] == 0 {
		return refreshMove
	}
	return r.Categorical(s[:])
}

// NewBalanced returns the kernel with the mix that suits the target and that
// warm-up tunes. It is valid for every target.
func NewBalanced(t *Target) (*Balanced, error) {
	b := &Balanced{target: t, first: untuned(t)}
	b.prepare()
	return b, nil
}

// NewBalancedMix returns the kernel with a mix of the caller's own, which
// stays as it is. Without refresh and recall the moves may not reach
// everything that the target allows.
func NewBalancedMix(t *Target, m Mix) (*Balanced, error) {
	b := &Balanced{target: t, first: &shares{m.Line, m.Resize, m.Refresh, m.Recall}, fixed: true}
	sum := 0.0
	for k, w := range b.first {
		if err := checkWeight(w); err != nil {
			return nil, fmt.Errorf("balanced: the share of %s %w", BalancedMoves()[k], err)
		}
		sum += w
	}
	if sum == 0 {
		return nil, fmt.Errorf("balanced: no move has a share above 0")
	}
	b.prepare()
	return b, nil
}

// prepare fills in what follows from the target.
func (b *Balanced) prepare() {
	t := b.target
	b.logOrders = make([]float64, len(t.law.p))
	for k := 1; k < len(b.logOrders); k++ {
		n := float64(t.law.lo + k - 1)
		b.logOrders[k] = b.logOrders[k-1] + math.Log((n+1)*n/(float64(t.space.total)-n))
	}
}

const (
	// drawnWhole is how many ingredients refresh draws an iteration, on
	// average, without properties; so an iteration's cost does not grow with n.
	drawnWhole = 20

	// resizeShare is how often resize is made for each line.
	resizeShare = 0.15

	// wholeShare is how often refresh, and recall, are made for each line until
	// warm-up has measured what they are worth.
	wholeShare = 0.25
)

// untuned returns the mix that suits a target as far as is known before warm-up.
func untuned(t *Target) *shares {
	if t.scored() {
		return &shares{lineMove: 1, resizeMove: resizeShare, refreshMove: wholeShare, recallMove: wholeShare}
	}
	whole := min(1, drawnWhole/t.law.Mean())
	return &shares{lineMove: 1 - whole, resizeMove: resizeShare * whole * (1 - whole), refreshMove: whole}
}

// mix returns the mix for a state.
func (b *Balanced) mix(x *State) *shares {
	if !b.fixed && x.memory != nil && x.memory.tuned {
		return &x.memory.mix
	}
	return b.first
}

// Advance makes iterations, each of one move.
func (b *Balanced) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.ready("balanced", b.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	mix := b.mix(x)
	for range iterations {
		move := mix.pick(r)
		var result outcome
		var err error
		switch move {
		case lineMove:
			result, err = b.line(r, x)
		case resizeMove:
			result, err = b.resize(r, x)
		case refreshMove:
			result, err = x.independent(r)
		case recallMove:
			result, err = b.recall(r, x)
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

// resize reaches a new size by single splits or merges. The proposal's factors
// are (M−m)(N−m)/(m(m+1)) for each split from m, and without rules their
// product with |X_n|/|X_n′| is 1.
func (b *Balanced) resize(r *Rand, x *State) (outcome, error) {
	t, c := b.target, x.Composition
	if len(t.law.p) == 1 {
		return stayed, nil
	}
	from, to := c.Used(), t.law.draw(r)
	if to == from {
		return stayed, nil
	}
	was := x.sum
	x.undo = x.undo[:0]
	for c.Used() < to {
		i, cut := drawCut(r, c)
		x.resizeBy(i, c.absent(r), cut)
	}
	for c.Used() > to {
		i, j := drawUsedTwo(r, c)
		x.resizeBy(i, j, c.Amount(i)+c.Amount(j))
	}
	if len(x.terms) == 0 {
		return updated, nil
	}
	if err := x.rescore(); err != nil {
		return rejected, err
	}
	x.finds.see(c, x.sum)
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

// resizeBy makes one split or merge of a resize, which can be taken back.
func (x *State) resizeBy(i, j, k int) {
	if len(x.terms) > 0 {
		x.undo = append(x.undo, undo{int32(i), int32(j), x.Composition.amounts[i]})
	}
	x.moveUnscored(i, j, k)
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

// drawUsedTwo draws an ordered pair of used ingredients; there are at least 2.
func drawUsedTwo(r *Rand, c *Composition) (i, j int) {
	p, q := r.pair(len(c.list), len(c.list)-1)
	if q >= p {
		q++
	}
	return int(c.list[p]), int(c.list[q])
}

// drawCut draws one of the M−n places between units where no used ingredient
// ends yet, uniformly: the ingredient that it divides and the units before it.
func drawCut(r *Rand, c *Composition) (i, units int) {
	at := 0
	if places := c.total - c.Used(); places > 1 {
		at = r.Intn(places)
	}
	for _, i := range c.list {
		if inner := int(c.amounts[i]) - 1; at < inner {
			return int(i), at + 1
		} else {
			at -= inner
		}
	}
	panic("kir: a composition with fewer units than its total")
}

// recall is a Metropolis–Hastings move whose candidate has a size n and n
// ingredients drawn as often as warm-up met them, independently, and amounts
// uniform among all. It is no candidate if an ingredient comes twice; else it
// is proposed with probability
//
//	g(x) = size(n) · n! Π_{i used} q_i / C(M−1, n−1).
func (b *Balanced) recall(r *Rand, x *State) (outcome, error) {
	y := x.other().composition
	y.clear()
	for range b.recallSize(r, x.memory) {
		i := x.memory.draw(r, y.N())
		if y.amounts[i] > 0 {
			return rejected, nil
		}
		y.amounts[i] = 1
		y.use(int32(i))
	}
	x.exact.drawAmounts(r, y, b.target.space.total)
	value, err := x.scoreOther()
	if err != nil || value == negInf {
		return rejected, err
	}
	atY := b.target.LogLaw(y.Used()) - b.logRecall(x.memory, y)
	atX := b.target.LogLaw(x.Composition.Used()) - b.logRecall(x.memory, x.Composition)
	if !r.Bernoulli(math.Exp(atY - atX + x.beta*(value-x.sum))) {
		return rejected, nil
	}
	return x.takeOther(value), nil
}

// recallSize draws a size as often as warm-up met it, or from y_sparse.
func (b *Balanced) recallSize(r *Rand, m *memory) int {
	if m == nil || len(m.sizes) == 0 || r.Bernoulli(unmet) {
		return b.target.law.draw(r)
	}
	return int(m.sizes[r.Intn(len(m.sizes))])
}

// logRecall is log g(x) up to a constant.
func (b *Balanced) logRecall(m *memory, x *Composition) float64 {
	n := x.Used()
	size := b.target.law.P(n)
	if m != nil && len(m.sizes) > 0 {
		size = unmet*size + (1-unmet)*float64(m.sizeCount[n-b.target.law.lo])/float64(len(m.sizes))
	}
	log := math.Log(size) + b.logOrders[n-b.target.law.lo]
	q := 1.0
	for _, i := range x.list {
		if q *= m.share(int(i), x.N()); q < 1e-200 {
			log += math.Log(q)
			q = 1
		}
	}
	return log + math.Log(q)
}
