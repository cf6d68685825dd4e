package mcmc

import "slices"

// A memory is what a chain has learnt in warm-up: which ingredients its states used, how many of
// them, and how much of each. With probability 1−uniformShare a draw from it comes from a list of what was
// met. Otherwise it is uniform over all ingredients. A nil or empty memory has met nothing.
//
// Warm-up has rounds, each twice as long as the last. The states that a round meets are used once
// it ends. So the states met on the way from the start lose their influence.
type memory struct {
	adaptiveProposal // the law learnt from the states of the last round

	mix   shares // how often to make each move after warm-up
	tuned bool   // whether mix is set

	// The current round of warm-up: its number, its iterations so far and the states it met.
	// last and now count the moves that draw a whole composition, in the last round and in this one.
	round, done             int
	met                     states
	lastMoves, currentMoves wholeMoves

	cycleIterations int    // iterations of warm-up since the current cold phase began
	coldState       states // the composition before the current hot phase

	coldConditions []int32 // by condition: the value when the current hot phase began
}

// wholeMoves counts the moves that draw a whole composition.
type wholeMoves struct{ refresh, recall wholeTally }

// add adds the counts of v.
func (w *wholeMoves) add(v wholeMoves) {
	w.refresh.add(v.refresh)
	w.recall.add(v.recall)
}

// A wholeTally counts one kind of whole move: how often it was tried, had an allowed candidate, and
// accepted it.
type wholeTally struct{ tried, candidates, accepted int64 }

func (t *wholeTally) count(o outcome) {
	t.tried++
	t.candidates += oneIf(o != infeasible)
	t.accepted += oneIf(o.accepted())
}

func (t *wholeTally) add(u wholeTally) {
	t.tried += u.tried
	t.candidates += u.candidates
	t.accepted += u.accepted
}

// efficiency returns the share of tries with an allowed candidate, times the square of the acceptance
// rate among these.
func (t wholeTally) efficiency() float64 {
	share := (float64(t.candidates) + 0.5) / (float64(t.tried) + 0.5)
	rate := (float64(t.accepted) + 0.5) / (float64(t.candidates) + 1)
	return float64(share * rate * rate)
}

const (
	firstRound   = 512     // iterations of the first round
	maxMetStates = 8192    // greatest number of states that a round records
	maxMet       = 1 << 15 // no state is recorded once the recorded ones use so many ingredients

	// These set how many refreshes and recalls are made for each line. If states use n ingredients
	// on average, that is wholeWorth/n times the larger [wholeTally.efficiency] of the two, at most
	// maxWhole and at least minWhole/n.
	wholeWorth = 75
	minWhole   = 0.1
	maxWhole   = 10
)

// ordered reports whether the memory has an order of the ingredients by use.
func (m *memory) ordered() bool { return m != nil && len(m.order) > 0 }

// draw draws one of n ingredients.
func (m *memory) draw(r *Rand, n int) int {
	if m == nil || len(m.list) == 0 || r.Bernoulli(uniformShare) {
		return r.Intn(n)
	}
	return int(m.list[r.Intn(len(m.list))])
}

// share returns the probability that draw returns ingredient i of n.
func (m *memory) share(i, n int) float64 {
	if m == nil || len(m.list) == 0 {
		return 1 / float64(n)
	}
	return uniformShare/float64(n) + (1-uniformShare)*float64(m.count[i])/float64(len(m.list))
}

// tune sets the mix. A whole new composition costs about as much as a line for each of its
// ingredients, so it pays only if it is often accepted. Where it is rarely accepted, the few states
// that it hardly ever proposes hold the chain. So the shares of refresh and recall rise with the
// squares of their acceptance rates. A forbidden candidate only costs time, so the share of allowed
// ones counts once. These moves also change the size, so they displace resize as they displace
// lines.
func (m *memory) tune(used float64, resizes bool) {
	both := m.lastMoves
	both.add(m.currentMoves)
	refresh, recall := both.refresh.efficiency(), both.recall.efficiency()
	whole := max(min(wholeWorth*max(refresh, recall)/used, maxWhole), minWhole/used)
	m.mix = shares{
		lineMove:    1,
		refreshMove: whole * refresh / (refresh + recall),
		recallMove:  whole * recall / (refresh + recall),
	}
	if resizes {
		m.mix[resizeMove] = resizeShare / (1 + whole)
	}
	m.tuned = true
}

// clone returns a copy.
func (m *memory) clone(t *Target) *memory {
	c := *m
	c.met, c.coldState, c.adaptiveProposal = states{}, states{}, adaptiveProposal{}
	c.learn(t, &m.states)
	c.met.addAll(&m.met)
	c.coldState.addAll(&m.coldState)
	c.coldConditions = slices.Clone(m.coldConditions)
	return &c
}
