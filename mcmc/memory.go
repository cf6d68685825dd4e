package mcmc

import "slices"

// A warmupMemory is what a chain has learnt in warm-up: which ingredients its states used, how many
// of them, and how much of each. A nil or empty memory has met no state.
//
// Warm-up has rounds, each twice as long as the round before. The states that a round meets are
// used once the round ends. So the states on the way from the start lose their influence.
type warmupMemory struct {
	adaptiveProposal // the law of compositions learnt from the states of the last round

	moveMix  moveShares // how often to make each kind of move after warm-up
	mixTuned bool       // whether moveMix is set

	// The current round of warm-up: its number, its iterations so far, and the states it met.
	// lastMoves and currentMoves count the moves to whole new compositions in the round before and
	// in the current round.
	warmupRound, roundIterationCount int
	metStates                        stateList
	lastMoves, currentMoves          wholeMoveTallies

	cycleIterations int       // iterations of warm-up since the current cold phase began; see [Balanced.Warm]
	coldState       stateList // the composition before the last hot phase, as a list of one; empty before the first hot phase

	coldConditions []int32 // by condition: the index of its value before the last hot phase
}

// wholeMoveTallies counts the two kinds of move to a whole new composition.
type wholeMoveTallies struct{ refresh, recall wholeMoveTally }

// add adds the counts of v to w.
func (w *wholeMoveTallies) add(v wholeMoveTallies) {
	w.refresh.add(v.refresh)
	w.recall.add(v.recall)
}

// A wholeMoveTally counts one kind of move to a whole new composition: how often it was tried, how
// often its candidate was allowed, and how often the candidate was accepted.
type wholeMoveTally struct{ tried, candidates, accepted int64 }

// countOutcome adds one move with the given outcome.
func (t *wholeMoveTally) countOutcome(o moveOutcome) {
	t.tried++
	t.candidates += oneIf(o != outcomeInfeasible)
	t.accepted += oneIf(o.isAccepted())
}

// add adds the counts of u to t.
func (t *wholeMoveTally) add(u wholeMoveTally) {
	t.tried += u.tried
	t.candidates += u.candidates
	t.accepted += u.accepted
}

// efficiency returns the share of tries with an allowed candidate, times the square of the
// acceptance rate of allowed candidates.
func (t wholeMoveTally) efficiency() float64 {
	share := (float64(t.candidates) + 0.5) / (float64(t.tried) + 0.5)
	rate := (float64(t.accepted) + 0.5) / (float64(t.candidates) + 1)
	return float64(share * rate * rate)
}

const (
	firstRoundIterations = 512     // number of iterations in the first round of warm-up
	maxMetStates         = 8192    // greatest number of states that a round records
	maxMetIngredients    = 1 << 15 // limit of the used ingredients of all recorded states together; no state is recorded beyond it

	// These constants set how many refresh and recall moves are made per line move. If states use n
	// ingredients on average, the number is wholeMoveFactor/n times the larger
	// [wholeMoveTally.efficiency] of the two. It is at most maxWholeMoves and at least minWholeMoves/n.
	wholeMoveFactor = 75
	minWholeMoves   = 0.1
	maxWholeMoves   = 10
)

// hasOrder reports whether the memory knows which ingredients are used most.
func (m *warmupMemory) hasOrder() bool { return m != nil && len(m.rankedIngredients) > 0 }

// drawIngredient draws one of n ingredients. With probability uniformShare, or if no state was met,
// all are equally likely. Otherwise each is drawn in proportion to the number of met states that
// use it.
func (m *warmupMemory) drawIngredient(r *Rand, n int) int {
	if m == nil || len(m.ingredients) == 0 || r.Bernoulli(uniformDrawShare) {
		return r.Intn(n)
	}
	return int(m.ingredients[r.Intn(len(m.ingredients))])
}

// probability returns the probability that drawIngredient returns ingredient i of n.
func (m *warmupMemory) probability(i, n int) float64 {
	if m == nil || len(m.ingredients) == 0 {
		return 1 / float64(n)
	}
	return uniformDrawShare/float64(n) + (1-uniformDrawShare)*float64(m.useCounts[i])/float64(len(m.ingredients))
}

// tuneMix sets the mix of moves. The argument used is the mean number of used ingredients, and
// resizes says whether there are resize moves.
//
// A whole new composition costs about as much as a line move for each of its ingredients, so it is
// efficient only if it is often accepted. If it is rarely accepted, the few states that it hardly
// ever proposes hold the chain. So the shares of refresh and recall rise with the squares of their
// acceptance rates. A forbidden candidate only costs time, so the share of allowed candidates
// counts once. Refresh and recall also change the number of ingredients, so they reduce resize
// moves as they reduce line moves.
func (m *warmupMemory) tuneMix(used float64, resizes bool) {
	both := m.lastMoves
	both.add(m.currentMoves)
	refresh, recall := both.refresh.efficiency(), both.recall.efficiency()
	whole := max(min(wholeMoveFactor*max(refresh, recall)/used, maxWholeMoves), minWholeMoves/used)
	m.moveMix = moveShares{
		lineMove:    1,
		refreshMove: whole * refresh / (refresh + recall),
		recallMove:  whole * recall / (refresh + recall),
	}
	if resizes {
		m.moveMix[resizeMove] = resizeShare / (1 + whole)
	}
	m.mixTuned = true
}

// clone returns a copy of the memory for a state of target t.
func (m *warmupMemory) clone(t *Target) *warmupMemory {
	c := *m
	c.metStates, c.coldState, c.adaptiveProposal = stateList{}, stateList{}, adaptiveProposal{}
	c.learnFrom(t, &m.stateList)
	c.metStates.addAll(&m.metStates)
	c.coldState.addAll(&m.coldState)
	c.coldConditions = slices.Clone(m.coldConditions)
	return &c
}
