package mcmc

import (
	"fmt"
	"slices"

	"kir/internal/portable"
)

// Balanced is a kernel that mixes several kinds of move. Each kind by itself is reversible with
// respect to the target:
//
//   - line divides the joint amount of a used ingredient and another ingredient, used or not, anew.
//     This can transfer units, exchange one ingredient for another, split one in two, or merge two;
//     see [Balanced.moveOnLine].
//   - resize draws a new number n′ of ingredients from y_sparse and reaches n′ by |n′−n| random
//     splits or merges. The proposal cancels |X_n′|/|X_n| and y_sparse. So the acceptance ratio
//     consists of the properties alone, and n can cross a gap in the law of n.
//   - refresh proposes an independent composition, drawn as [Exact] draws. It can reach everything
//     that the target allows.
//   - recall proposes a new composition. Its ingredients and their number are drawn as often as
//     warm-up met them.
//   - set draws the value of one condition anew, if there are conditions; see
//     [State.drawCondition].
//   - along changes three or more ingredients together so that bounded sums or totals stay within
//     their bounds. It is used only if rules bound such sums; see [State.latticeMove],
//     [State.compensatedExchange] and [State.substituteIngredient].
//
// Warm-up learns how often each ingredient is used, for line and recall, and which mix of moves is
// efficient; see [Chain.Warm]. The derivations are in docs/kernels.md.
type Balanced struct {
	target   *Target
	startMix *moveShares // the mix of moves until warm-up has tuned one
	mixFixed bool        // whether the caller set the mix, so that warm-up does not tune it

	constrainedShare float64 // share of along moves among all moves; 0 if rules bound no sum
}

// NewBalanced returns the kernel with a mix of moves that suits the target and that warm-up tunes.
// It is valid for every target.
func NewBalanced(t *Target) (*Balanced, error) {
	b := &Balanced{target: t, startMix: initialMix(t)}
	switch {
	case t.equalityConstrained():
		b.constrainedShare = constrainedMoveShare
	case t.inequalityConstrained():
		b.constrainedShare = boundedMoveShare
	}
	return b, nil
}

// NewBalancedMix returns the kernel with the caller's mix of moves, which warm-up does not change.
// If neither refresh nor recall has a positive share, the kernel may not reach everything that the
// target allows.
func NewBalancedMix(t *Target, m MoveMix) (*Balanced, error) {
	b := &Balanced{target: t, startMix: &moveShares{m.Line, m.Resize, m.Refresh, m.Recall}, mixFixed: true}
	sum := 0.0
	for k, w := range append(b.startMix[:], m.Constrained) {
		if err := checkWeight(w); err != nil {
			return nil, fmt.Errorf("balanced: the share of %s %w", moveNames()[k], err)
		}
		sum += w
	}
	if sum == 0 {
		return nil, fmt.Errorf("balanced: no move has a share above 0")
	}
	if t.equalityConstrained() || t.inequalityConstrained() {
		b.constrainedShare = m.Constrained / sum
	}
	return b, nil
}

// mix returns the mix of moves for a state: the mix that warm-up has tuned, or else the initial
// mix.
func (b *Balanced) mix(x *State) *moveShares {
	if !b.mixFixed && x.memory != nil && x.memory.mixTuned {
		return &x.memory.moveMix
	}
	return b.startMix
}

// constrainedShareOf returns the share of along moves among all moves, given the mix of the other
// moves. If a tuned mix makes many moves to whole new compositions, along moves become rarer, just
// as line moves do.
func (b *Balanced) constrainedShareOf(mix *moveShares) float64 {
	if b.mixFixed || b.constrainedShare == 0 {
		return b.constrainedShare
	}
	few := mix[lineMove] + mix[resizeMove]
	return b.constrainedShare * few / (few + float64((1-b.constrainedShare)*(mix[refreshMove]+mix[recallMove])))
}

// Advance makes the given number of iterations, each of one move, and adds their outcomes to the
// tally.
func (b *Balanced) Advance(r *Rand, x *State, iterations int, tally *Tally) error {
	if err := x.checkMovable("balanced", b.target); err != nil {
		return err
	}
	tally.Iterations += int64(iterations)
	conditions := 0
	if c := b.target.space.conditions; c != nil {
		conditions = len(c.multiValuedConditions)
	}
	mix, moves := b.mix(x), moveTallies(tally, b.target.equalityConstrained() || b.target.inequalityConstrained(), conditions > 0)
	along, sets := b.constrainedShareOf(mix), setMoveShare(conditions)
	mixAlone := along == 0 && sets == 0
	for range iterations {
		move := constrainedMoveIndex
		switch {
		case mixAlone:
			move = mix.drawMove(r)
		case sets > 0 && r.Bernoulli(sets):
			move = setMoveIndex
		case along == 0 || !r.Bernoulli(along):
			move = mix.drawMove(r)
		}
		var result moveOutcome
		var err error
		switch move {
		case lineMove:
			result, err = b.moveOnLine(r, x)
		case resizeMove:
			result, err = b.moveBySize(r, x)
		case refreshMove:
			result, err = x.independentMove(r)
			x.wholeMoveCounts.refresh.countOutcome(result)
		case recallMove:
			result, err = x.moveByRecall(r)
			x.wholeMoveCounts.recall.countOutcome(result)
		case constrainedMoveIndex:
			result, err = x.constrainedMove(r)
		case setMoveIndex:
			result, err = x.drawCondition(r)
			move = len(moves) - 1 // with or without along
		}
		if err != nil {
			return wrapKernelError("balanced", err)
		}
		count := &moves[move]
		count.Tried++
		if result.isAccepted() {
			tally.Accepted++
			count.Accepted++
		}
		if result == outcomeUpdated {
			tally.Updated++
			count.Updated++
		}
	}
	return nil
}

// moveBySize is the resize move: it draws a new number of ingredients and reaches it by single
// splits or merges of ingredients. Each split at m ingredients contributes the factor
// (M−m)(N−m)/(m(m+1)) to the proposal ratio. Without rules the product of these factors with
// |X_n|/|X_n′| is 1.
func (b *Balanced) moveBySize(r *Rand, x *State) (moveOutcome, error) {
	t, c := b.target, x.Composition
	if len(t.law.probabilities) == 1 {
		return outcomeUnchanged, nil
	}
	from, to := c.Used(), t.law.draw(r)
	if to == from {
		return outcomeUnchanged, nil
	}
	was := x.logScore
	x.undoMoves = x.undoMoves[:0]
	for c.Used() < to {
		i, cut := drawCutPlace(r, c)
		x.moveUndoably(i, c.drawAbsent(r), cut)
	}
	for c.Used() > to {
		i, j := drawTwoUsed(r, c)
		x.moveUndoably(i, j, c.Amount(i)+c.Amount(j))
	}
	if len(x.terms) == 0 {
		return outcomeUpdated, nil
	}
	if err := x.rescoreAfterMoves(); err != nil {
		return outcomeRejected, err
	}
	x.visited.addComposition(c, x.logScore)
	logRatio := float64(x.beta * (x.logScore - was))
	if t.space.rules != nil {
		logRatio += logUncancelledFactor(t, from, to)
	}
	if r.Bernoulli(portable.Exp(logRatio)) {
		return outcomeUpdated, nil
	}
	x.undoAll(was)
	return outcomeRejected, nil
}

// logUncancelledFactor returns the log of the factor in the acceptance ratio of a resize that rules
// leave uncancelled. If C_n is |X_n| without rules, it is log(C_n′/C_n · |X_n|/|X_n′|) for a resize
// from n to n′.
func logUncancelledFactor(t *Target, from, to int) float64 {
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

// usedPairShare is the probability that a line move deliberately takes two used ingredients, if
// there are two.
const usedPairShare = 0.2

// absentPartnerShare is the probability that a line move takes an unused ingredient as its second
// ingredient. It is one of those that warm-up met most, drawn in proportion to its odds of being
// used.
const absentPartnerShare = 0.8

// oneUsedPairProbability returns the probability that a line move takes a given pair of a used and
// an unused ingredient. There are n used ingredients. The argument q is the probability with which
// the unused ingredient is drawn as the second ingredient.
func oneUsedPairProbability(n int, q float64) float64 {
	p := q / float64(n)
	if n > 1 {
		p = float64(p * (1 - usedPairShare))
	}
	return p
}

// twoUsedPairProbability returns the probability that a line move takes a given pair of used
// ingredients. There are n ≥ 2 used ingredients. The arguments q and p are the probabilities with
// which each of the two is drawn as the second ingredient.
func twoUsedPairProbability(n int, q, p float64) float64 {
	f := float64(n)
	return (2*usedPairShare/(f-1) + float64((1-usedPairShare)*(q+p))) / f
}

// drawLinePair draws the two ingredients of a line move. The first is used. With probability
// usedPairShare the second is another used ingredient, drawn uniformly. Otherwise, with probability
// absentPartnerShare, it is an unused ingredient, drawn by its odds. Otherwise it is any
// ingredient, drawn as often as warm-up met it. The two are equal if no other ingredient was drawn.
func (x *State) drawLinePair(r *Rand) (i, j int) {
	c := x.Composition
	if len(c.used) > 1 && r.Bernoulli(usedPairShare) {
		return drawTwoUsed(r, c)
	}
	i = int(c.used[r.Intn(len(c.used))])
	if x.memory.hasOrder() && r.Bernoulli(absentPartnerShare) {
		if j, ok := x.memory.drawAbsent(r, c); ok {
			return i, j
		}
		return i, i
	}
	return i, x.memory.drawIngredient(r, c.N())
}

// partnerProbabilities returns the probabilities with which a line move draws i or j as its second
// ingredient, apart from the share usedPairShare of deliberate pairs. The result absentI is for i
// if i is unused and j used, and absentJ for j if j is unused and i used. The results usedI and
// usedJ are for i and j if both are used.
func (x *State) partnerProbabilities(i, j int) (absentI, absentJ, usedI, usedJ float64) {
	m, n := x.memory, x.Composition.N()
	usedI, usedJ = m.probability(i, n), m.probability(j, n)
	if !m.hasOrder() {
		return usedI, usedJ, usedI, usedJ
	}
	usedI, usedJ = float64((1-absentPartnerShare)*usedI), float64((1-absentPartnerShare)*usedJ)
	absentI, absentJ = m.absentProbabilities(x.Composition, i, j)
	return usedI + float64(absentPartnerShare*absentI), usedJ + float64(absentPartnerShare*absentJ), usedI, usedJ
}

// moveOnLine is the line move: it divides the joint amount of a pair of ingredients anew, as
// [State.drawLinePair] draws the pair. It does nothing if the two are equal. Let α(k) be the
// probability of drawing this pair if the first ingredient has k units, and w(k) = P(k)·α(k). From
// the current k, another k′ ≠ k is proposed with probability ∝ w(k′), and accepted with probability
//
//	min(1, (W − w(k)) / (W − w(k′))),  W = Σ w.
//
// This is Gibbs sampling that never proposes the current state (Liu 1996).
//
// If m other ingredients are used, m+1 are used if one of the pair gets all units, and m+2
// otherwise. So α has one value for each of these ends and one for all k between.
func (b *Balanced) moveOnLine(r *Rand, x *State) (moveOutcome, error) {
	c, t := x.Composition, b.target
	i, j := x.drawLinePair(r)
	if i == j {
		return outcomeUnchanged, nil
	}
	others := c.Used() - 1
	if c.amounts[j] > 0 {
		others--
	}
	absentI, absentJ, usedI, usedJ := x.partnerProbabilities(i, j)
	// At k = 0 ingredient i is absent.
	law := t.lineLaws[others].scaledSplitLaw(oneUsedPairProbability(others+1, absentI), oneUsedPairProbability(others+1, absentJ), twoUsedPairProbability(others+2, usedI, usedJ))
	if x.usesEnvelope(r, c.Amount(i)+c.Amount(j)) {
		return x.moveToAnotherSplitByEnvelope(r, i, j, &law)
	}
	pieces := &x.sumPieces
	if len(x.terms) == 0 {
		pieces.Reset()
		pieces.Add(0, 0)
	} else {
		var err error
		if pieces, err = x.partialLineScores(i, j, &law, true, c.Amount(i)); pieces == nil {
			return outcomeUnchanged, err
		}
	}
	return x.moveToAnotherSplit(r, pieces, i, j, &law)
}

// moveToAnotherSplit draws another division of the joint amount of i and j, with probability ∝
// exp(β·value) times its mass in law. It moves there if the division is accepted. The argument p
// holds the values.
func (x *State) moveToAnotherSplit(r *Rand, p *PiecewiseConstant, i, j int, law *splitLaw) (moveOutcome, error) {
	was := x.Composition.Amount(i)
	line, err := x.weighSplits(p, i, j, law, was)
	if err != nil {
		return outcomeRejected, err
	}
	x.visited.addLine(x.Composition, p, i, j, law)
	if line.otherWeight == 0 {
		return outcomeUnchanged, nil
	}
	k, value, there := x.drawWeighedSplit(r, p, was+x.Composition.Amount(j), &line, was)
	if there < line.omittedWeight && !r.Bernoulli(line.otherWeight/(line.otherWeight+(line.omittedWeight-there))) {
		return outcomeRejected, nil
	}
	return outcomeUpdated, x.moveTo(i, j, k, value)
}

// A MoveMix says how often [Balanced] makes each kind of move. The shares are relative to their sum.
type MoveMix struct {
	Line, Resize, Refresh, Recall float64

	// Constrained has an effect only if rules bound sums or totals.
	Constrained float64
}

// The moves of Balanced, as indices into the mix and into moveNames.
const (
	lineMove    = iota // index of the line move in a mix and in moveNames
	resizeMove         // index of the resize move
	refreshMove        // index of the refresh move
	recallMove         // index of the recall move
	moveCount          // number of kinds of move in a mix

	constrainedMoveIndex = moveCount     // index of the along move, which is not part of a mix
	setMoveIndex         = moveCount + 1 // index of the set move, which is not part of a mix
)

// moveNames returns the names of the moves of Balanced, as a [Tally] lists them.
func moveNames() []string { return []string{"line", "resize", "refresh", "recall", "along", "set"} }

// moveTallies returns the counts of the moves of Balanced in a tally. The arguments say whether
// there are along moves and set moves.
func moveTallies(t *Tally, along, set bool) []MoveTally {
	names := moveNames()
	if !set {
		names = names[:setMoveIndex]
	}
	if !along {
		names = slices.Delete(names, constrainedMoveIndex, constrainedMoveIndex+1)
	}
	return t.MovesNamed(names...)
}

// moveShares says how often each move is made, by move, relative to the sum of all shares.
type moveShares [moveCount]float64

// drawMove draws the index of a move in proportion to the shares.
func (s *moveShares) drawMove(r *Rand) int {
	if s[0] == 0 && s[1] == 0 && s[3] == 0 {
		return refreshMove
	}
	return r.Categorical(s[:])
}

const (
	// refreshIngredientsPerIteration is the mean number of ingredients that refresh draws per iteration if
	// there are no properties. It bounds the cost of an iteration when compositions use many
	// ingredients.
	refreshIngredientsPerIteration = 20

	// resizeShare is the number of resize moves per line move.
	resizeShare = 0.15

	// wholeMoveShare is the number of refresh moves, and also of recall moves, per line move, until
	// warm-up has measured their acceptance rates.
	wholeMoveShare = 0.25

	// constrainedMoveShare is the share of along moves among all moves if rules fix a sum or leave
	// it little room.
	constrainedMoveShare = 0.5

	// boundedMoveShare is the share of along moves among all moves if rules bound sums or totals
	// but leave them room.
	boundedMoveShare = 0.2
)

// initialMix returns the mix of moves that suits a target before warm-up has measured anything.
func initialMix(t *Target) *moveShares {
	if t.isScored() {
		return &moveShares{lineMove: 1, resizeMove: resizeShare, refreshMove: wholeMoveShare, recallMove: wholeMoveShare}
	}
	whole := min(1, refreshIngredientsPerIteration/t.law.Mean())
	return &moveShares{lineMove: 1 - whole, resizeMove: float64(resizeShare * whole * (1 - whole)), refreshMove: whole}
}
