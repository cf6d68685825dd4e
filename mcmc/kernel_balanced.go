package mcmc

import (
	"fmt"
	"slices"

	"kir/internal/portable"
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
//   - set: where there are conditions, one of them is drawn anew; see [State.drawCondition].
//   - along: where rules bound sums or totals, three ingredients or more change together so
//     that they stay within; see [State.onLattice], [State.compensate] and
//     [State.substitute].
//
// Warm-up learns how often each ingredient is used, for line and recall, and
// which mix pays; see [Chain.Warm]. The derivations are in docs/kernels.md.
type Balanced struct {
	target *Target
	first  *shares // the mix that is used until warm-up has tuned one
	fixed  bool    // the caller set the mix, and warm-up does not tune it

	constrainedShare float64 // share of along moves among all; 0 where rules bound no sum
}

// NewBalanced returns the kernel with a mix that suits the target and that warm-up tunes. It is
// valid for every target.
func NewBalanced(t *Target) (*Balanced, error) {
	b := &Balanced{target: t, first: initialMix(t)}
	switch {
	case t.equalityConstrained():
		b.constrainedShare = constrainedMoveShare
	case t.inequalityConstrained():
		b.constrainedShare = roomyShare
	}
	return b, nil
}

// NewBalancedMix returns the kernel with the caller's mix, which warm-up does not change. Without
// refresh and recall the moves may not reach everything that the target allows.
func NewBalancedMix(t *Target, m Mix) (*Balanced, error) {
	b := &Balanced{target: t, first: &shares{m.Line, m.Resize, m.Refresh, m.Recall}, fixed: true}
	sum := 0.0
	for k, w := range append(b.first[:], m.Along) {
		if err := checkWeight(w); err != nil {
			return nil, fmt.Errorf("balanced: the share of %s %w", moveNames()[k], err)
		}
		sum += w
	}
	if sum == 0 {
		return nil, fmt.Errorf("balanced: no move has a share above 0")
	}
	if t.equalityConstrained() || t.inequalityConstrained() {
		b.constrainedShare = m.Along / sum
	}
	return b, nil
}

// mix returns the mix for a state.
func (b *Balanced) mix(x *State) *shares {
	if !b.fixed && x.memory != nil && x.memory.tuned {
		return &x.memory.mix
	}
	return b.first
}

// constrainedShareOf returns the share of all moves that are along. If the mix makes many moves of
// whole compositions, these displace along moves as they displace lines.
func (b *Balanced) constrainedShareOf(mix *shares) float64 {
	if b.fixed || b.constrainedShare == 0 {
		return b.constrainedShare
	}
	few := mix[lineMove] + mix[resizeMove]
	return b.constrainedShare * few / (few + float64((1-b.constrainedShare)*(mix[refreshMove]+mix[recallMove])))
}

// Advance makes iterations, each of one move.
func (b *Balanced) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkReady("balanced", b.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	conditions := 0
	if c := b.target.space.conditions; c != nil {
		conditions = len(c.several)
	}
	mix, moves := b.mix(x), movesOf(tally, b.target.equalityConstrained() || b.target.inequalityConstrained(), conditions > 0)
	along, sets := b.constrainedShareOf(mix), setShare(conditions)
	mixAlone := along == 0 && sets == 0
	for range iterations {
		move := constrainedIndex
		switch {
		case mixAlone:
			move = mix.drawMove(r)
		case sets > 0 && r.Bernoulli(sets):
			move = setIndex
		case along == 0 || !r.Bernoulli(along):
			move = mix.drawMove(r)
		}
		var result outcome
		var err error
		switch move {
		case lineMove:
			result, err = b.line(r, x)
		case resizeMove:
			result, err = b.resize(r, x)
		case refreshMove:
			result, err = x.independentMove(r)
			x.wholeMoveCounts.refresh.count(result)
		case recallMove:
			result, err = x.recall(r)
			x.wholeMoveCounts.recall.count(result)
		case constrainedIndex:
			result, err = x.constrainedMove(r)
		case setIndex:
			result, err = x.drawCondition(r)
			move = len(moves) - 1 // with or without along
		}
		if err != nil {
			return kernelError("balanced", err)
		}
		count := &moves[move]
		count.Tried++
		if result.accepted() {
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

// resize reaches a new size by single splits or merges. The proposal's factor is
// (M−m)(N−m)/(m(m+1)) for each split from m. Without rules the product of these factors with
// |X_n|/|X_n′| is 1.
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
		x.resizeBy(i, c.drawAbsent(r), cut)
	}
	for c.Used() > to {
		i, j := drawUsedTwo(r, c)
		x.resizeBy(i, j, c.Amount(i)+c.Amount(j))
	}
	if len(x.terms) == 0 {
		return updated, nil
	}
	if err := x.rescoreMoved(); err != nil {
		return rejected, err
	}
	x.visited.addComposition(c, x.sum)
	logRatio := float64(x.beta * (x.sum - was))
	if t.space.rules != nil {
		logRatio += logCancelled(t, from, to)
	}
	if r.Bernoulli(portable.Exp(logRatio)) {
		return updated, nil
	}
	x.takeBack(was)
	return rejected, nil
}

// logCancelled is the factor of a resize from n to n′ that does not cancel where rules change |X_n|
// from its closed form C_n: log(C_n′/C_n · |X_n|/|X_n′|).
func logCancelled(t *Target, from, to int) float64 {
	space := Space{ingredients: t.space.ingredients, total: t.space.total}
	closed := 0.0
	for n := min(from, to); n < max(from, to); n++ {
		closed += portable.Log(space.Ratio(n))
	}
	if to < from {
		closed = -closed
	}
	ruled := t.LogLaw(to) - portable.Log(t.law.P(to)) - t.LogLaw(from) + portable.Log(t.law.P(from))
	return closed + ruled
}

// pairShare is the probability that line deliberately takes a used second ingredient, where there
// is one.
const pairShare = 0.2

// absentShare is the probability that line's second ingredient is an unused one, drawn among those
// that warm-up met most, in proportion to the odds of being used.
const absentShare = 0.8

// pairOfOne is the probability that line takes a given pair of which one of n used ingredients is a
// part, and whose unused ingredient is drawn with probability q.
func pairOfOne(n int, q float64) float64 {
	p := q / float64(n)
	if n > 1 {
		p = float64(p * (1 - pairShare))
	}
	return p
}

// pairOfTwo is the probability that line takes a given pair of two of n ≥ 2 used ingredients, drawn
// with probabilities q and p.
func pairOfTwo(n int, q, p float64) float64 {
	f := float64(n)
	return (2*pairShare/(f-1) + float64((1-pairShare)*(q+p))) / f
}

// drawPartner draws the two ingredients of a line. With probability pairShare the second is another
// used one, uniformly. Otherwise, with probability absentShare, it is an unused one, drawn by its
// odds. Otherwise it is any ingredient, as often as warm-up met it.
func (x *State) drawPartner(r *Rand) (i, j int) {
	c := x.Composition
	if len(c.list) > 1 && r.Bernoulli(pairShare) {
		return drawUsedTwo(r, c)
	}
	i = int(c.list[r.Intn(len(c.list))])
	if x.memory.ordered() && r.Bernoulli(absentShare) {
		if j, ok := x.memory.drawAbsent(r, c); ok {
			return i, j
		}
		return i, i
	}
	return i, x.memory.draw(r, c.N())
}

// partnerShares returns the probabilities that line draws i or j as the second ingredient, other
// than in a used pair: i if i is absent and j used, j if j is absent and i used, and either if both
// are used.
func (x *State) partnerShares(i, j int) (absentI, absentJ, usedI, usedJ float64) {
	m, n := x.memory, x.Composition.N()
	usedI, usedJ = m.share(i, n), m.share(j, n)
	if !m.ordered() {
		return usedI, usedJ, usedI, usedJ
	}
	usedI, usedJ = float64((1-absentShare)*usedI), float64((1-absentShare)*usedJ)
	absentI, absentJ = m.absentShares(x.Composition, i, j)
	return usedI + float64(absentShare*absentI), usedJ + float64(absentShare*absentJ), usedI, usedJ
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
	absentI, absentJ, usedI, usedJ := x.partnerShares(i, j)
	// At k = 0 ingredient i is absent.
	law := t.lines[others].splits(pairOfOne(others+1, absentI), pairOfOne(others+1, absentJ), pairOfTwo(others+2, usedI, usedJ))
	if x.usesEnvelope(r, c.Amount(i)+c.Amount(j)) {
		return x.takeAnotherCurved(r, i, j, &law)
	}
	pieces := &x.sumPieces
	if len(x.terms) == 0 {
		pieces.Reset()
		pieces.Add(0, 0)
	} else {
		var err error
		if pieces, err = x.lineOf(i, j, &law, true, c.Amount(i)); pieces == nil {
			return stayed, err
		}
	}
	return x.takeAnotherSplit(r, pieces, i, j, &law)
}

// takeAnotherSplit draws another split of the line of (i, j) with probability ∝ exp(β·value) times
// its mass in law. It moves there if the split is accepted.
func (x *State) takeAnotherSplit(r *Rand, p *Pieces, i, j int, law *splitLaw) (outcome, error) {
	was := x.Composition.Amount(i)
	line, err := x.weigh(p, i, j, law, was)
	if err != nil {
		return rejected, err
	}
	x.visited.addLine(x.Composition, p, i, j, law)
	if line.otherWeight == 0 {
		return stayed, nil
	}
	k, value, there := x.drawWeighed(r, p, was+x.Composition.Amount(j), &line, was)
	if there < line.omittedWeight && !r.Bernoulli(line.otherWeight/(line.otherWeight+(line.omittedWeight-there))) {
		return rejected, nil
	}
	return updated, x.moveTo(i, j, k, value)
}

// A Mix holds how often each move of [Balanced] is made, up to a common factor.
type Mix struct {
	Line, Resize, Refresh, Recall float64

	// Along applies only where rules bound sums or totals.
	Along float64
}

// The moves of Balanced, as indices into the mix and into moveNames.
const (
	lineMove = iota
	resizeMove
	refreshMove
	recallMove
	moveCount

	constrainedIndex = moveCount     // index of the along move, which is not part of the mix
	setIndex         = moveCount + 1 // index of the set move, which is not part of the mix
)

// moveNames are the names of Balanced's moves in a [Tally].
func moveNames() []string { return []string{"line", "resize", "refresh", "recall", "along", "set"} }

// movesOf returns a tally's counts of the moves of Balanced, with or without along and set.
func movesOf(t *Tally, along, set bool) []MoveTally {
	names := moveNames()
	if !set {
		names = names[:setIndex]
	}
	if !along {
		names = slices.Delete(names, constrainedIndex, constrainedIndex+1)
	}
	return t.Of(names...)
}

// shares is how often each move is made, up to a common factor.
type shares [moveCount]float64

// drawMove draws a move.
func (s *shares) drawMove(r *Rand) int {
	if s[0] == 0 && s[1] == 0 && s[3] == 0 {
		return refreshMove
	}
	return r.Categorical(s[:])
}

const (
	// drawnWhole is the average number of ingredients that refresh draws an iteration without
	// properties. It keeps an iteration's cost from growing with n.
	drawnWhole = 20

	// resizeShare is the number of resizes for each line.
	resizeShare = 0.15

	// wholeShare is the number of refreshes, and of recalls, for each line until warm-up has
	// measured their acceptance.
	wholeShare = 0.25

	// constrainedMoveShare is the share of along moves where rules fix a sum.
	constrainedMoveShare = 0.5

	// roomyShare is the share of along moves where rules bound sums or totals but leave them room.
	roomyShare = 0.2
)

// initialMix returns the mix that suits a target before warm-up has measured anything.
func initialMix(t *Target) *shares {
	if t.scored() {
		return &shares{lineMove: 1, resizeMove: resizeShare, refreshMove: wholeShare, recallMove: wholeShare}
	}
	whole := min(1, drawnWhole/t.law.Mean())
	return &shares{lineMove: 1 - whole, resizeMove: float64(resizeShare * whole * (1 - whole)), refreshMove: whole}
}
