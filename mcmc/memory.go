package mcmc

import "slices"

// A warmupMemory is what a chain has learnt in warm-up: which ingredients its states used, how many
// ingredients, and how much of each. A nil or empty memory has met no state.
//
// Warm-up has rounds, each twice as long as the round before. The states that a round meets are
// used once the round ends. So the states on the way from the start lose their influence.
type warmupMemory struct {
	adaptiveProposal // the law of compositions learnt from the states of the last round

	tunedMoveShares moveShares // how often to make each kind of move after warm-up
	moveSharesTuned bool       // whether warm-up has set tunedMoveShares

	warmupRound            int              // number of the current round of warm-up, from 0
	roundIterationCount    int              // number of iterations in the current round
	metStates              stateList        // compositions met in the current round of warm-up
	lastRoundMoveCounts    wholeMoveTallies // counts of the moves to whole new compositions in the round before
	currentRoundMoveCounts wholeMoveTallies // counts of the moves to whole new compositions in the current round

	cycleIterationCount int       // number of warm-up iterations since the last cold phase began; see [Balanced.Warm]
	coldState           stateList // the composition before the last hot phase, as a list with one element; empty if there was no hot phase

	coldConditions []int32 // coldConditions[c] is the index of the value of condition c before the last hot phase
}

// wholeMoveTallies counts the outcomes of the two kinds of move to a whole new composition, refresh
// and recall; see [Balanced].
type wholeMoveTallies struct{ refreshTally, recallTally wholeMoveTally }

// add adds the counts of v to w.
func (w *wholeMoveTallies) add(v wholeMoveTallies) {
	w.refreshTally.add(v.refreshTally)
	w.recallTally.add(v.recallTally)
}

// A wholeMoveTally counts the outcomes of one kind of move to a whole new composition: how often it
// was tried, how often its candidate had positive density, and how often the candidate was
// accepted.
type wholeMoveTally struct{ triedCount, candidateCount, acceptedCount int64 }

// countOutcome counts one move with the given outcome.
func (t *wholeMoveTally) countOutcome(o moveOutcome) {
	t.triedCount++
	t.candidateCount += oneIf(o != outcomeInfeasible)
	t.acceptedCount += oneIf(o.isAccepted())
}

// add adds the counts of u to t.
func (t *wholeMoveTally) add(u wholeMoveTally) {
	t.triedCount += u.triedCount
	t.candidateCount += u.candidateCount
	t.acceptedCount += u.acceptedCount
}

// efficiency returns the share of tries whose candidate had positive density, times the square of
// the acceptance rate of these candidates.
func (t wholeMoveTally) efficiency() float64 {
	share := (float64(t.candidateCount) + 0.5) / (float64(t.triedCount) + 0.5)
	rate := (float64(t.acceptedCount) + 0.5) / (float64(t.candidateCount) + 1)
	return float64(share * rate * rate)
}

const (
	firstRoundIterations = 512     // number of iterations in the first round of warm-up
	maxMetStates         = 8192    // greatest number of states that a round of warm-up records
	maxMetIngredients    = 1 << 15 // recording in a round stops when the recorded states use this number of ingredients, summed over the states

	// Warm-up sets how many refresh and recall moves are made for each line move. If states use n
	// ingredients on average, the number is wholeMoveFactor/n times the larger
	// [wholeMoveTally.efficiency] of refresh and recall.
	wholeMoveFactor          = 75
	minWholeMovesFactor      = 0.1 // divided by n, the least number of refresh and recall moves for each line move
	maxWholeMovesPerLineMove = 10  // greatest number of refresh and recall moves for each line move
)

// hasRankedIngredients reports whether the memory knows which ingredients the met states use most.
func (m *warmupMemory) hasRankedIngredients() bool { return m != nil && len(m.rankedIngredients) > 0 }

// drawIngredient draws one of n ingredients. With probability uniformDrawShare, or if no state was
// met, all ingredients are equally likely. Otherwise an ingredient is drawn in proportion to the
// number of met states that use it.
func (m *warmupMemory) drawIngredient(r *Rand, n int) int {
	if m == nil || len(m.ingredients) == 0 || r.Bernoulli(uniformDrawShare) {
		return r.Intn(n)
	}
	return int(m.ingredients[r.Intn(len(m.ingredients))])
}

// ingredientProbability returns the probability that drawIngredient draws ingredient i out of n
// ingredients.
func (m *warmupMemory) ingredientProbability(i, n int) float64 {
	if m == nil || len(m.ingredients) == 0 {
		return 1 / float64(n)
	}
	return uniformDrawShare/float64(n) + (1-uniformDrawShare)*float64(m.useCounts[i])/float64(len(m.ingredients))
}

// tuneMoveShares sets how often each kind of move is made after warm-up. The argument used is the mean
// number of used ingredients. The argument resizes says whether there are resize moves.
//
// A whole new composition costs about as much as a line move for each of its ingredients, so it is
// efficient only if it is often accepted. If it is rarely accepted, the chain stays long in the few
// states that it hardly ever proposes. So the shares of refresh and recall rise with the squares of
// their acceptance rates. A forbidden candidate only costs time, so the share of allowed candidates
// counts once. Refresh and recall also change the number of ingredients, so they reduce resize
// moves as they reduce line moves.
func (m *warmupMemory) tuneMoveShares(used float64, resizes bool) {
	both := m.lastRoundMoveCounts
	both.add(m.currentRoundMoveCounts)
	refresh, recall := both.refreshTally.efficiency(), both.recallTally.efficiency()
	whole := max(min(wholeMoveFactor*max(refresh, recall)/used, maxWholeMovesPerLineMove), minWholeMovesFactor/used)
	m.tunedMoveShares = moveShares{
		lineMove:    1,
		refreshMove: whole * refresh / (refresh + recall),
		recallMove:  whole * recall / (refresh + recall),
	}
	if resizes {
		m.tunedMoveShares[resizeMove] = resizeShare / (1 + whole)
	}
	m.moveSharesTuned = true
}

// clone returns a copy of the memory for another state of the target t.
func (m *warmupMemory) clone(t *Target) *warmupMemory {
	c := *m
	c.metStates, c.coldState, c.adaptiveProposal = stateList{}, stateList{}, adaptiveProposal{}
	c.learnFrom(t, &m.stateList)
	c.metStates.addAll(&m.metStates)
	c.coldState.addAll(&m.coldState)
	c.coldConditions = slices.Clone(m.coldConditions)
	return &c
}
