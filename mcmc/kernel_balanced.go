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
//   - resize draws a new number n′ of ingredients from the sparsity law y_sparse and reaches n′ by
//     |n′−n| random splits or merges. The proposal probability cancels |X_n′|/|X_n| and y_sparse.
//     So the acceptance ratio consists of the properties alone, and n can cross a gap in the law of
//     n.
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
	target            *Target
	untunedMoveShares *moveShares // how often to make each kind of move until warm-up has tuned the shares
	moveSharesFixed   bool        // whether the caller chose the shares of the moves; warm-up then does not tune them

	constrainedMoveShare float64 // share of moves that change several ingredients to keep bounded sums; 0 if rules bound no sum
}

// NewBalanced returns the kernel with a mix of moves that suits the target. Warm-up tunes the mix.
// The kernel is valid for every target.
func NewBalanced(t *Target) (*Balanced, error) {
	b := &Balanced{target: t, untunedMoveShares: initialMoveShares(t)}
	switch {
	case t.hasFixedOrTightSums():
		b.constrainedMoveShare = tightSumMoveShare
	case t.hasOnlyRoomySums():
		b.constrainedMoveShare = roomySumMoveShare
	}
	return b, nil
}

// NewBalancedMix returns the kernel with the caller's mix of moves, which warm-up does not change.
// The kernel may fail to reach some allowed compositions if the shares of refresh and recall are
// both 0.
func NewBalancedMix(t *Target, m MoveMix) (*Balanced, error) {
	b := &Balanced{target: t, untunedMoveShares: &moveShares{m.Line, m.Resize, m.Refresh, m.Recall}, moveSharesFixed: true}
	sum := 0.0
	for k, w := range append(b.untunedMoveShares[:], m.Constrained) {
		if err := checkWeight(w); err != nil {
			return nil, fmt.Errorf("balanced: the share of %s %w", moveNames()[k], err)
		}
		sum += w
	}
	if sum == 0 {
		return nil, fmt.Errorf("balanced: no move has a share above 0")
	}
	if t.hasFixedOrTightSums() || t.hasOnlyRoomySums() {
		b.constrainedMoveShare = m.Constrained / sum
	}
	return b, nil
}

// currentMoveShares returns how often to make each kind of move in a chain with state x. The shares
// are those that warm-up has tuned, or the initial shares if warm-up has tuned none.
func (b *Balanced) currentMoveShares(x *State) *moveShares {
	if !b.moveSharesFixed && x.memory != nil && x.memory.moveSharesTuned {
		return &x.memory.tunedMoveShares
	}
	return b.untunedMoveShares
}

// constrainedMoveShareFor returns the share of along moves among all moves. The argument mix says how
// often the other moves are made. If warm-up has tuned the mix to many refresh and recall moves,
// along moves become rarer, as line moves do.
func (b *Balanced) constrainedMoveShareFor(mix *moveShares) float64 {
	if b.moveSharesFixed || b.constrainedMoveShare == 0 {
		return b.constrainedMoveShare
	}
	few := mix[lineMove] + mix[resizeMove]
	return b.constrainedMoveShare * few / (few + float64((1-b.constrainedMoveShare)*(mix[refreshMove]+mix[recallMove])))
}

// Advance makes the given number of iterations, each of one move, and counts their outcomes in the
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
	mix, moves := b.currentMoveShares(x), moveTallies(tally, b.target.hasFixedOrTightSums() || b.target.hasOnlyRoomySums(), conditions > 0)
	along, sets := b.constrainedMoveShareFor(mix), setMoveShare(conditions)
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
			result, err = b.moveToNewSize(r, x)
		case refreshMove:
			result, err = x.independentMove(r)
			x.wholeMoveCounts.refreshTally.countOutcome(result)
		case recallMove:
			result, err = x.moveByRecall(r)
			x.wholeMoveCounts.recallTally.countOutcome(result)
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

// moveToNewSize is the resize move of [Balanced]. It draws a new number of ingredients and reaches
// it by single splits or merges of ingredients. Each split at m ingredients contributes the factor
// (M−m)(N−m)/(m(m+1)) to the proposal ratio. Without rules the product of these factors with
// |X_n|/|X_n′| is 1.
func (b *Balanced) moveToNewSize(r *Rand, x *State) (moveOutcome, error) {
	t, c := b.target, x.Composition
	if len(t.law.probabilities) == 1 {
		return outcomeUnchanged, nil
	}
	from, to := c.UsedCount(), t.law.draw(r)
	if to == from {
		return outcomeUnchanged, nil
	}
	was := x.logScore
	x.undoMoves = x.undoMoves[:0]
	for c.UsedCount() < to {
		i, cut := drawCutPlace(r, c)
		x.moveUndoably(i, c.drawAbsent(r), cut)
	}
	for c.UsedCount() > to {
		i, j := drawTwoUsed(r, c)
		x.moveUndoably(i, j, c.Amount(i)+c.Amount(j))
	}
	if len(x.scoredTerms) == 0 {
		return outcomeUpdated, nil
	}
	if err := x.rescoreAfterMoves(); err != nil {
		return outcomeRejected, err
	}
	x.visitedStates.addComposition(c, x.logScore)
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

// logUncancelledFactor returns the log of a factor in the acceptance ratio of a resize move from n
// = oldSize to n′ = newSize ingredients. Without rules the factor is 1. With rules it is C_n′/C_n ·
// |X_n|/|X_n′|, where |X_n| is the number of allowed compositions with n ingredients, and C_n that
// number without rules.
func logUncancelledFactor(t *Target, oldSize, newSize int) float64 {
	space := Space{ingredients: t.space.ingredients, total: t.space.total}
	closed := 0.0
	for n := min(oldSize, newSize); n < max(oldSize, newSize); n++ {
		closed += portable.Log(space.Ratio(n))
	}
	if newSize < oldSize {
		closed = -closed
	}
	ruled := t.LogLaw(newSize) - portable.Log(t.law.P(newSize)) - t.LogLaw(oldSize) + portable.Log(t.law.P(oldSize))
	return closed + ruled
}

// usedPairShare is the probability that a line move draws both ingredients among the used ones, if
// there are two. (Other line moves may also draw two used ingredients, by chance.)
const usedPairShare = 0.2

// absentPartnerShare is the probability that a line move draws its second ingredient among the
// unused ones, if it does not draw both among the used ones. The ingredient is one of those that
// warm-up met most, drawn in proportion to the odds that a state uses it.
const absentPartnerShare = 0.8

// oneUsedPairProbability returns the probability that a line move draws a given pair of
// ingredients, one used and one unused. The number of used ingredients is n. The argument q is the
// probability that the unused one is drawn as the second ingredient.
func oneUsedPairProbability(n int, q float64) float64 {
	p := q / float64(n)
	if n > 1 {
		p = float64(p * (1 - usedPairShare))
	}
	return p
}

// twoUsedPairProbability returns the probability that a line move draws a given pair of used
// ingredients. The number of used ingredients is n ≥ 2. The arguments q and p are the probabilities
// that the one or the other is drawn as the second ingredient.
func twoUsedPairProbability(n int, q, p float64) float64 {
	f := float64(n)
	return (2*usedPairShare/(f-1) + float64((1-usedPairShare)*(q+p))) / f
}

// drawLinePair draws two ingredients whose joint amount a line move divides. The first ingredient
// is used. The second is
//
//   - with probability usedPairShare, another used ingredient, drawn uniformly;
//   - otherwise, with probability absentPartnerShare, an unused ingredient, drawn by its odds of
//     being used;
//   - otherwise any ingredient, drawn as often as warm-up met it.
//
// The two results are equal if no other ingredient was drawn.
func (x *State) drawLinePair(r *Rand) (i, j int) {
	c := x.Composition
	if len(c.used) > 1 && r.Bernoulli(usedPairShare) {
		return drawTwoUsed(r, c)
	}
	i = int(c.used[r.Intn(len(c.used))])
	if x.memory.hasRankedIngredients() && r.Bernoulli(absentPartnerShare) {
		if j, ok := x.memory.drawAbsent(r, c); ok {
			return i, j
		}
		return i, i
	}
	return i, x.memory.drawIngredient(r, c.N())
}

// partnerProbabilities returns the probabilities with which a line move draws i or j as its second
// ingredient, if it does not deliberately take two used ingredients:
//
//   - absentI: the probability of i if i is unused and j is used;
//   - absentJ: the probability of j if j is unused and i is used;
//   - usedI and usedJ: the probabilities of i and of j if both are used.
func (x *State) partnerProbabilities(i, j int) (absentI, absentJ, usedI, usedJ float64) {
	m, n := x.memory, x.Composition.N()
	usedI, usedJ = m.ingredientProbability(i, n), m.ingredientProbability(j, n)
	if !m.hasRankedIngredients() {
		return usedI, usedJ, usedI, usedJ
	}
	usedI, usedJ = float64((1-absentPartnerShare)*usedI), float64((1-absentPartnerShare)*usedJ)
	absentI, absentJ = m.absentProbabilities(x.Composition, i, j)
	return usedI + float64(absentPartnerShare*absentI), usedJ + float64(absentPartnerShare*absentJ), usedI, usedJ
}

// moveOnLine is the line move of [Balanced]. It divides the joint amount of two ingredients anew,
// which [State.drawLinePair] draws. It does nothing if the two are equal. Let α(k) be the
// probability of drawing this pair if the first ingredient has k units, and w(k) = P(k)·α(k). From
// the current k, another k′ ≠ k is proposed with probability ∝ w(k′), and accepted with probability
//
//	min(1, (W − w(k)) / (W − w(k′))),  W = Σ w.
//
// This is Gibbs sampling that never proposes the current state (Liu 1996).
//
// Let m be the number of other used ingredients. If one of the pair gets all units, m+1 ingredients
// are used, and otherwise m+2. So α has one value for each of the two ends and one for all k
// between.
func (b *Balanced) moveOnLine(r *Rand, x *State) (moveOutcome, error) {
	c, t := x.Composition, b.target
	i, j := x.drawLinePair(r)
	if i == j {
		return outcomeUnchanged, nil
	}
	others := c.UsedCount() - 1
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
	if len(x.scoredTerms) == 0 {
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

// moveToAnotherSplit draws another division of the joint amount of the ingredients i and j, and
// moves there if the division is accepted. The probability of a division is ∝ exp(β·score) times
// its weight in law. The argument p holds the log scores of all divisions.
func (x *State) moveToAnotherSplit(r *Rand, p *PiecewiseConstant, i, j int, law *splitLaw) (moveOutcome, error) {
	was := x.Composition.Amount(i)
	line, err := x.weighSplits(p, i, j, law, was)
	if err != nil {
		return outcomeRejected, err
	}
	x.visitedStates.addLine(x.Composition, p, i, j, law)
	if line.otherSplitsWeight == 0 {
		return outcomeUnchanged, nil
	}
	k, value, there := x.drawWeighedSplit(r, p, was+x.Composition.Amount(j), &line, was)
	if there < line.omittedSplitWeight && !r.Bernoulli(line.otherSplitsWeight/(line.otherSplitsWeight+(line.omittedSplitWeight-there))) {
		return outcomeRejected, nil
	}
	return outcomeUpdated, x.moveToSplit(i, j, k, value)
}

// A MoveMix says how often [Balanced] makes each kind of move. A move is made in proportion to its
// share; the shares need not add up to 1.
type MoveMix struct {
	Line, Resize, Refresh, Recall float64

	// Constrained is the share of along moves. It has an effect only if rules bound sums or totals.
	Constrained float64
}

// The kinds of move of Balanced, as indices into [moveShares] and into the result of moveNames.
const (
	lineMove    = iota // index of the line move
	resizeMove         // index of the resize move
	refreshMove        // index of the refresh move
	recallMove         // index of the recall move
	moveCount          // number of kinds of move in a [moveShares]

	constrainedMoveIndex = moveCount     // index of the along move in moveNames; it is not part of a [moveShares]
	setMoveIndex         = moveCount + 1 // index of the set move in moveNames; it is not part of a [moveShares]
)

// moveNames returns the names of the moves of Balanced, as a [Tally] lists them.
func moveNames() []string { return []string{"line", "resize", "refresh", "recall", "along", "set"} }

// moveTallies returns the counts of the kinds of move of [Balanced] in the tally t. The arguments
// along and set say whether to include the along move and the set move.
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

// moveShares says how often [Balanced] makes each kind of move, such as element lineMove for the
// line move. The elements are relative to their sum.
type moveShares [moveCount]float64

// drawMove draws the index of a kind of move in proportion to the shares.
func (s *moveShares) drawMove(r *Rand) int {
	if s[0] == 0 && s[1] == 0 && s[3] == 0 {
		return refreshMove
	}
	return r.Categorical(s[:])
}

const (
	// refreshIngredientsPerIteration limits the share of refresh moves in a target without
	// properties. Refresh moves draw this number of ingredients per iteration on average. So an
	// iteration takes little time even if compositions use many ingredients.
	refreshIngredientsPerIteration = 20

	// resizeShare is the number of resize moves for each line move.
	resizeShare = 0.15

	// wholeMoveShare is the number of refresh moves for each line move, and also the number of
	// recall moves for each line move, until warm-up has measured their acceptance rates.
	wholeMoveShare = 0.25

	// tightSumMoveShare is the share of along moves among all moves if rules fix a sum or leave
	// it little room.
	tightSumMoveShare = 0.5

	// roomySumMoveShare is the share of along moves among all moves if rules bound sums or totals
	// but leave them room.
	roomySumMoveShare = 0.2
)

// initialMoveShares returns how often to make each kind of move before warm-up has measured anything.
func initialMoveShares(t *Target) *moveShares {
	if t.isScored() {
		return &moveShares{lineMove: 1, resizeMove: resizeShare, refreshMove: wholeMoveShare, recallMove: wholeMoveShare}
	}
	whole := min(1, refreshIngredientsPerIteration/t.law.Mean())
	return &moveShares{lineMove: 1 - whole, resizeMove: float64(resizeShare * whole * (1 - whole)), refreshMove: whole}
}
