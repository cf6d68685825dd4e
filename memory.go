package kir

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
	states               // of the last round
	count        []int32 // by ingredient: how often they use it
	recollection         // of them, for recall

	mix   shares // what suits after warm-up
	tuned bool   // whether there is such a mix

	// Warm-up: the round that is on, the iterations made of it, what it met, and
	// how often the moves that draw a whole composition were tried and accepted
	// in the last round and in this one.
	round, done int
	met         states
	last, now   wholeMoves
}

// states are compositions, one after the other.
type states struct {
	sizes         []int32 // how many ingredients each uses
	list, amounts []int32 // of all: the ingredients, and their units
}

// add appends a composition.
func (s *states) add(c *Composition) {
	s.sizes = append(s.sizes, int32(c.Used()))
	s.list = append(s.list, c.list...)
	for _, i := range c.list {
		s.amounts = append(s.amounts, c.amounts[i])
	}
}

// copyFrom makes s hold what u does.
func (s *states) copyFrom(u *states) {
	s.sizes = append(s.sizes[:0], u.sizes...)
	s.list = append(s.list[:0], u.list...)
	s.amounts = append(s.amounts[:0], u.amounts...)
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
	// the square of their rate over the number of ingredients, but at least
	// minWhole over that number and at most maxWhole.
	wholeWorth = 30
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

// learn makes the memory one of the given states.
func (m *memory) learn(t *Target, met *states) {
	if len(met.list) == 0 {
		return
	}
	if m.count == nil {
		m.count = make([]int32, t.space.ingredients)
	}
	for _, i := range m.list {
		m.count[i] = 0
	}
	m.copyFrom(met)
	for _, i := range m.list {
		m.count[i]++
	}
	m.recollection.learn(t, m)
}

// tune sets the mix. A whole new composition costs about as much as a line for
// each of its ingredients and pays only if it is accepted often, so refresh and
// recall are made in proportion to the squares of their rates.
func (m *memory) tune(used float64, resizes bool) {
	squaredRate := func(last, now MoveTally) float64 {
		last.add(now)
		rate := (float64(last.Accepted) + 0.5) / (float64(last.Tried) + 1)
		return rate * rate
	}
	refresh := squaredRate(m.last.refresh, m.now.refresh)
	recall := squaredRate(m.last.recall, m.now.recall)
	whole := max(refresh, recall)
	whole = max(min(wholeWorth*whole/used, maxWhole), minWhole/used)
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
	c.states, c.met, c.count, c.recollection = states{}, states{}, nil, recollection{}
	c.learn(t, &m.states)
	c.met.copyFrom(&m.met)
	return &c
}
