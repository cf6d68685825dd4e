package mcmc

import (
	"errors"
	"fmt"
	"math"

	"kir/internal/portable"
)

// A State is the state of a chain: a composition together with its scores under a target. Kernels
// move it. It belongs to one goroutine.
type State struct {
	Composition *Composition // changed and replaced by kernels; others only read it

	// Learnt is the data that the user's own [Learner] has learnt about the chain. The kernels of
	// this package keep theirs elsewhere. A chain with Learnt set cannot be saved.
	Learnt any

	target *Target
	terms  []term
	sum    float64 // Σ c_k·log y_k at the composition

	beta  float64 // the power to which the properties are raised, 1 but for tempering
	exact drawer

	// Scratch for lines: the pieces of one property, of the sum so far and of
	// the next sum, and the weights of what a draw chooses among.
	termPieces, sumPieces, nextSum Pieces
	weights                        []float64
	curves                         bool // whether a term is a CurveScorer and none is a SplitScorer
	envelope                       envelope
	undo                           []undo
	rulesAhead                     bool // whether only the rules' scorer has followed the moves in undo
	step                           step
	previousParts                  []Part
	wasConditions                  []int32

	candidateBuffer *candidateBuffer
	batch           *batch         // candidates drawn at once; nil until the first batch
	memory          *memory        // what warm-up has learnt; nil if nothing
	wholeMoveCounts wholeMoves     // counts of whole moves since warm-up last emptied them
	visited         *visitedStates // compositions found by Chain.Search; nil without a search

	logRecall float64 // log of the law's mass of the composition over the probability that recall draws it
	recalled  bool    // whether logRecall is up to date
}

// A candidateBuffer is a second composition with scorers of its own, for whole candidates. An
// accepted candidate changes places with the composition of the state.
type candidateBuffer struct {
	composition *Composition
	terms       []term // nil until it is scored
}

// undo is a move along the line of (i, j) that can be taken back. Ingredient i had k units before the move and has to
// units after it.
type undo struct{ i, j, k, to int32 }

// term is an objective of positive weight, or a bound, and its scorer for this state.
type term struct {
	objective   *Objective
	scorer      Scorer
	splitScorer SplitScorer // scorer as a SplitScorer, or nil
	curveScorer CurveScorer // scorer as a CurveScorer, or nil

	conditionScorer ConditionScorer // scorer as a ConditionScorer, or nil
}

// NewState returns the state of a chain at x, which must be in the target's space. The state takes
// over x.
func NewState(t *Target, x *Composition) (*State, error) {
	if t == nil || x == nil {
		return nil, errors.New("a state is made of a target and a composition")
	}
	if err := t.space.Contains(x); err != nil {
		return nil, err
	}
	s := newState(t, x)
	return s, s.Refresh()
}

// newState is [NewState] without the scores, which a later Refresh computes.
func newState(t *Target, x *Composition) *State {
	s := &State{Composition: x, target: t, beta: 1, terms: newTerms(t, x)}
	s.exact = t.space.newDrawer()
	for _, t := range s.terms {
		if t.splitScorer != nil {
			s.curves = false
			break
		}
		s.curves = s.curves || t.curveScorer != nil
	}
	return s
}

// newTerms returns the scorers of x, before their first Reset.
func newTerms(t *Target, x *Composition) []term {
	var terms []term
	if r := t.space.rules; r != nil {
		scorer := r.scorer(x)
		terms = append(terms, term{objective: &Objective{Name: rulesName, Property: r, Weight: 1}, scorer: scorer, conditionScorer: scorer})
	}
	if c := t.space.conditions; c.isTied() {
		terms = append(terms, newTerm(&Objective{Name: tiedRulesName, Property: c.cases, Weight: 1}, x))
	}
	for k := range t.objectives {
		w := &t.objectives[k]
		if w.Weight == 0 {
			continue
		}
		terms = append(terms, newTerm(w, x))
	}
	for _, b := range t.bounds {
		terms = append(terms, newTerm(&Objective{Name: b.Name, Property: b.Property, Weight: 1}, x))
	}
	return terms
}

func newTerm(w *Objective, x *Composition) term {
	var scorer Scorer
	if p, ok := w.Property.(LineProperty); ok {
		scorer = p.Scorer(x)
	} else {
		scorer = &pointwise{property: w.Property, x: x, copy: newComposition(x.N())}
	}
	splitScorer, _ := scorer.(SplitScorer)
	curveScorer, _ := scorer.(CurveScorer)
	conditions, _ := scorer.(ConditionScorer)
	return term{w, scorer, splitScorer, curveScorer, conditions}
}

// Target returns the target that scores the state.
func (x *State) Target() *Target { return x.target }

// Refresh recomputes the scores of the composition. Properties that update floating-point sums move
// by move accumulate rounding. Refresh removes it, so that a run that was saved and resumed equals
// an uninterrupted one.
func (x *State) Refresh() error {
	x.recalled = false
	for _, t := range x.terms {
		t.scorer.Reset()
	}
	return x.rescore()
}

// LogScore returns Σ_k c_k·log y_k(x).
func (x *State) LogScore() float64 { return x.sum }

// LogDensity returns the log of the unnormalised target:
// log(y_sparse(n)/|X_n|) + Σ_k c_k·log y_k(x), and log p(z) besides if there are conditions.
func (x *State) LogDensity() float64 {
	return x.target.LogPrior(x.Composition) + x.sum
}

// AppendScores appends y_k(x) of every objective, in the target's order, to dst. It does not check
// the properties of weight 0: see [State.CheckScores].
func (x *State) AppendScores(dst []float64) []float64 {
	k := 0
	if x.target.space.rules != nil {
		k++ // the first term is that of the rules
	}
	if x.target.space.conditions.isTied() {
		k++ // the next is that of the rules of the case
	}
	for _, w := range x.target.objectives {
		if w.Weight == 0 {
			dst = append(dst, expScore(w.Property.LogScore(x.Composition)))
			continue
		}
		dst = append(dst, expScore(x.terms[k].scorer.LogScore()))
		k++
	}
	return dst
}

// CheckScores returns a [*ScoreError] if scores, from [State.AppendScores], contain NaN or +Inf.
func (x *State) CheckScores(scores []float64) error {
	for k, y := range scores {
		if badScore(y) {
			w := &x.target.objectives[k]
			return newScoreError(w.Name, w.Property, portable.Log(y), x.Composition)
		}
	}
	return nil
}

// checkReady returns an error if a kernel of a target cannot move x. Kernels call it once for each call
// of Advance, so that misuse fails before the first move.
func (x *State) checkReady(kernel string, t *Target) error {
	c := x.Composition
	if x.target != t {
		return fmt.Errorf("%s: the state %v belongs to another target", kernel, c)
	}
	if len(c.amounts) != t.space.ingredients || c.total != t.space.total {
		return fmt.Errorf("%s: the state has left the space: %w", kernel, t.space.Contains(c))
	}
	if t.LogLaw(c.Used()) == negInf || x.beta > 0 && !(x.sum > negInf) {
		return fmt.Errorf("%s: the target gives the state %v no density, and from there nothing follows", kernel, c)
	}
	return nil
}

// moveTo moves along the line of (i, j) to split k, where the weighted log scores sum to value. NaN
// stands for a value that is not known yet.
func (x *State) moveTo(i, j, k int, value float64) error {
	x.moveUnscored(i, j, k)
	if value != value {
		return x.rescore()
	}
	x.sum = value
	return nil
}

// moveUnscored is moveTo with an unknown value, which rescore computes later.
func (x *State) moveUnscored(i, j, k int) {
	x.recalled = false
	x.Composition.move(i, j, k)
	for _, t := range x.terms {
		t.scorer.Moved(i, j)
	}
}

// rescore sums the scores of the scorers, which are up to date.
func (x *State) rescore() (err error) {
	if x.sum, err = sumScores(x.terms, x.Composition, false); err != nil {
		x.sum = math.NaN() // marks the state as unusable for kernels
	}
	return err
}

// sumScores returns Σ_k c_k·log y_k of the scorers of c. If reset is true, it resets each first. It
// stops at a term of −Inf and does not reset the rest: their scores of a forbidden composition do
// not matter, even if invalid.
func sumScores(terms []term, c *Composition, reset bool) (float64, error) {
	sum := 0.0
	var bad *ScoreError
	for _, t := range terms {
		if reset {
			t.scorer.Reset()
		}
		score := float64(t.objective.Weight * t.scorer.LogScore())
		if score == negInf {
			return negInf, nil
		}
		if sum += score; badScore(sum) && bad == nil {
			bad = newScoreError(t.objective.Name, t.scorer, score, c)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// candidate returns the spare composition for a new candidate. Its content is arbitrary.
func (x *State) candidate() *Composition {
	if x.candidateBuffer == nil {
		x.candidateBuffer = &candidateBuffer{composition: newComposition(x.Composition.N())}
	}
	return x.candidateBuffer.composition
}

// scoreCandidate returns Σ_k c_k·log y_k of the candidate. If that is −Inf, its scorers are not up
// to date.
func (x *State) scoreCandidate() (float64, error) {
	y := x.candidateBuffer
	if y.terms == nil && len(x.terms) > 0 {
		y.terms = newTerms(x.target, y.composition)
	}
	sum, err := sumScores(y.terms, y.composition, true)
	if err == nil {
		x.visited.addComposition(y.composition, sum)
	}
	return sum, err
}

// takeCandidate makes the candidate the state's composition, and the old composition the spare one.
// The candidate's weighted log scores sum to value. It reports whether the composition changed.
func (x *State) takeCandidate(value float64) (changed bool) {
	y := x.candidateBuffer
	x.recalled = false
	if y.composition.Equal(x.Composition) {
		return false
	}
	if len(x.terms) == 0 {
		*x.Composition, *y.composition = *y.composition, *x.Composition
		return true
	}
	// Each scorer follows the composition that it was made for.
	x.Composition, y.composition = y.composition, x.Composition
	x.terms, y.terms = y.terms, x.terms
	x.sum = value
	return true
}

// takeBack undoes the recorded moves. The weighted log scores before them summed to was.
func (x *State) takeBack(was float64) {
	for k := len(x.undo) - 1; k >= 0; k-- {
		u := x.undo[k]
		if x.rulesAhead {
			x.moveAhead(int(u.i), int(u.j), int(u.k))
		} else {
			x.moveUnscored(int(u.i), int(u.j), int(u.k))
		}
	}
	x.rulesAhead, x.sum = false, was
}

// resizeBy makes one of several moves that can be taken back. With rules, only the rules' scorer
// follows it. Most such series break a rule, and the other scorers can then skip them.
func (x *State) resizeBy(i, j, k int) {
	if len(x.terms) > 0 {
		x.undo = append(x.undo, undo{int32(i), int32(j), x.Composition.amounts[i], int32(k)})
	}
	if x.rulesAhead = x.target.space.rules != nil; x.rulesAhead {
		x.moveAhead(i, j, k)
	} else {
		x.moveUnscored(i, j, k)
	}
}

// moveAhead is moveUnscored for the rules' scorer alone.
func (x *State) moveAhead(i, j, k int) {
	x.recalled = false
	x.Composition.move(i, j, k)
	x.terms[0].scorer.Moved(i, j)
}

// rescoreMoved is rescore after moves by resizeBy.
func (x *State) rescoreMoved() error {
	if !x.rulesAhead {
		return x.rescore()
	}
	if x.terms[0].scorer.LogScore() == negInf {
		x.sum = negInf
		return nil
	}
	x.rulesAhead = false
	if others := x.terms[1:]; len(others) > 0 {
		// The other scorers follow the same moves.
		for k := len(x.undo) - 1; k >= 0; k-- {
			x.Composition.move(int(x.undo[k].i), int(x.undo[k].j), int(x.undo[k].k))
		}
		for _, u := range x.undo {
			x.Composition.move(int(u.i), int(u.j), int(u.to))
			for _, t := range others {
				t.scorer.Moved(int(u.i), int(u.j))
			}
		}
	}
	return x.rescore()
}
