package kir

import "math"

// unmet is the share of draws by a [memory] that do not look at it, so that
// what warm-up never met is still drawn.
const unmet = 0.2

// A memory is what a chain has learnt in warm-up: which ingredients its states
// used, how many of them, and how much of each. Drawing from it is a draw from a list
// of what was met, with probability 1−unmet, or else from all ingredients alike. A nil
// memory, or an empty one, has met nothing.
//
// It is filled in rounds, each twice as long as the last; what a round meets is
// used from its end on. So what is learnt on the way from the start fades.
type memory struct {
	recollection // of the states of the last round

	mix   shares // what suits after warm-up
	tuned bool   // whether there is such a mix

	// Warm-up: the round that is on, the iterations made of it, what it met, and
	// how often the moves that draw a whole composition were tried and accepted
	// in the last round and in this one.
	round, done int
	met         states
	last, now   wholeMoves

	leg  int    // iterations of warm-up since the chain was last made cold
	home states // where it was before it was heated
}

// wholeMoves counts the moves that draw a whole composition.
type wholeMoves struct{ refresh, recall MoveTally }

// wholeMovesOf returns those of all moves.
func wholeMovesOf(moves []MoveTally) wholeMoves {
	return wholeMoves{moves[refreshMove], moves[recallMove]}
}

// since returns what was counted after before.
func (w wholeMoves) since(before wholeMoves) wholeMoves {
	return wholeMoves{w.refresh.since(before.refresh), w.recall.since(before.recall)}
}

// add adds what was counted elsewhere.
func (w *wholeMoves) add(v wholeMoves) {
	w.refresh.add(v.refresh)
	w.recall.add(v.recall)
}

const (
	firstRound   = 512     // iterations of the first round
	maxMetStates = 2048    // states that a round looks at, at most
	maxMet       = 1 << 15 // ingredients of states that a round remembers, but for the last state

	// How often refresh and recall are made for each line: wholeWorth times
	// the cube of their rate over the number of ingredients, but at least
	// minWhole over that number and at most maxWhole.
	wholeWorth = 150
	minWhole   = 0.1
	maxWhole   = 10
)

// ordered says whether it knows which ingredients are used most.
func (m *memory) ordered() bool { return m != nil && len(m.order) > 0 }

// draw draws one of n ingredients.
func (m *memory) draw(r *Rand, n int) int {
	if m == nil || len(m.list) == 0 || r.Bernoulli(unmet) {
		return r.Intn(n)
	}
	return int(m.list[r.Intn(len(m.list))])
}

// share returns the probability that draw returns ingredient i of n.
func (m *memory) share(i, n int) float64 {
	if m == nil || len(m.list) == 0 {
		return 1 / float64(n)
	}
	return unmet/float64(n) + (1-unmet)*float64(m.count[i])/float64(len(m.list))
}

// tune sets the mix. A whole new composition costs about as much as a line for
// each of its ingredients and pays only if it is accepted often: where it is not, the
// few states that it hardly ever proposes hold the chain. So refresh and recall are
// made by the cube of the better rate, in proportion to the squares of both.
func (m *memory) tune(used float64, resizes bool) {
	squaredRate := func(last, now MoveTally) float64 {
		last.add(now)
		rate := (float64(last.Accepted) + 0.5) / (float64(last.Tried) + 1)
		return rate * rate
	}
	refresh := squaredRate(m.last.refresh, m.now.refresh)
	recall := squaredRate(m.last.recall, m.now.recall)
	whole := max(refresh, recall)
	whole = max(min(wholeWorth*whole*math.Sqrt(whole)/used, maxWhole), minWhole/used)
	m.mix = shares{
		lineMove:    1,
		refreshMove: whole * refresh / (refresh + recall),
		recallMove:  whole * recall / (refresh + recall),
	}
	if resizes {
		m.mix[resizeMove] = resizeShare
	}
	m.tuned = true
}

// clone returns a copy.
func (m *memory) clone(t *Target) *memory {
	c := *m
	c.met, c.home, c.recollection = states{}, states{}, recollection{}
	c.learn(t, &m.states)
	c.met.addAll(&m.met)
	c.home.addAll(&m.home)
	return &c
}
