package mcmc

import (
	"errors"
	"fmt"
	"math"

	"kir/internal/portable"
)

// A State is the current state of a chain: a composition together with its scores under a target.
// Kernels change it. A State may be used by one goroutine only.
type State struct {
	Composition *Composition // changed and replaced by kernels; other code only reads it

	// Learnt holds the data that a [Learner] of the user's own has learnt about the chain. The
	// kernels of this package store what they learn elsewhere. A chain with Learnt set cannot be
	// saved.
	Learnt any

	target   *Target      // the target that scores the state
	terms    []scoredTerm // the rules, objectives and bounds, with their scorers
	logScore float64      // Σ_k c_k·log y_k at the composition

	beta   float64     // the power to which the properties are raised: 1 unless the state is tempered
	drawer spaceDrawer // draws independent compositions

	// Scratch memory for scoring all divisions of two amounts: the scores by one property, the sum
	// over the properties so far, and the sum with the next property. The slice choiceWeights holds
	// the weights from which a choice is drawn.
	termPieces, sumPieces, nextSum PiecewiseConstant
	choiceWeights                  []float64
	hasCurves                      bool           // whether some term has a CurveScorer and none has a SplitScorer
	envelope                       envelope       // scratch memory: the envelope of the last long line
	undoMoves                      []undoMove     // the changes of a move in progress, in case it is rejected
	onlyRulesUpdated               bool           // whether only the scorer of the rules has followed the changes in undoMoves
	stepScratch                    ingredientStep // scratch memory: the last lattice step
	previousParts                  []Part         // scratch memory: the parts before an independent draw
	previousConditions             []int32        // scratch memory: the values of the conditions before an independent draw

	candidateBuffer *candidateBuffer // the candidate of a move to a whole new composition; nil until the first one
	batch           *batch           // candidates drawn together; nil until the first batch
	memory          *warmupMemory    // what warm-up has learnt; nil if it has learnt nothing
	wholeMoveCounts wholeMoveTallies // counts of the moves to a whole new composition
	visited         *visitedStates   // compositions recorded by Chain.Search; nil without a search

	// cachedLogRecall is the cached log of a ratio: the mass that the law gives the composition,
	// divided by the probability that recall draws it. On the learnt leg of a ladder it is the log
	// probability of the composition under the reference law.
	cachedLogRecall float64
	logRecallCached bool // whether cachedLogRecall belongs to the current composition
}

// A candidateBuffer holds a candidate, that is, a second composition, with scorers of its own. If a
// candidate is accepted, it changes places with the composition of the state.
type candidateBuffer struct {
	composition *Composition
	terms       []scoredTerm // the scorers of the candidate; nil until a candidate is scored
}

// An undoMove records a change of two amounts, so that the change can be undone. It gave ingredient
// i unitsAfter units in place of unitsBefore units of the joint amount of i and j, and the rest to
// j.
type undoMove struct{ i, j, unitsBefore, unitsAfter int32 }

// A scoredTerm is an objective of positive weight, or a bound, or the rules, with the scorer that
// follows the composition of a state.
type scoredTerm struct {
	objective   *Objective
	scorer      Scorer
	splitScorer SplitScorer // scorer as a SplitScorer; nil if it is none
	curveScorer CurveScorer // scorer as a CurveScorer; nil if it is none

	conditionScorer ConditionScorer // scorer as a ConditionScorer; nil if it is none
}

// NewState returns the state of a chain that begins at x, which must be in the target's space. The
// caller must not use x afterwards.
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

// newState is [NewState] without computing the scores. The caller computes them by [State.Refresh].
func newState(t *Target, x *Composition) *State {
	s := &State{Composition: x, target: t, beta: 1, terms: newScoredTerms(t, x)}
	s.drawer = t.space.newDrawer()
	for _, t := range s.terms {
		if t.splitScorer != nil {
			s.hasCurves = false
			break
		}
		s.hasCurves = s.hasCurves || t.curveScorer != nil
	}
	return s
}

// newScoredTerms returns the rules, objectives and bounds of t with scorers of x. The scorers must be
// Reset before use.
func newScoredTerms(t *Target, x *Composition) []scoredTerm {
	var terms []scoredTerm
	if r := t.space.rules; r != nil {
		scorer := r.scorer(x)
		terms = append(terms, scoredTerm{objective: &Objective{Name: rulesName, Property: r, Weight: 1}, scorer: scorer, conditionScorer: scorer})
	}
	if c := t.space.conditions; c.hasCases() {
		terms = append(terms, newScoredTerm(&Objective{Name: caseRulesName, Property: c.conditionCases, Weight: 1}, x))
	}
	for k := range t.objectives {
		w := &t.objectives[k]
		if w.Weight == 0 {
			continue
		}
		terms = append(terms, newScoredTerm(w, x))
	}
	for _, b := range t.bounds {
		terms = append(terms, newScoredTerm(&Objective{Name: b.Name, Property: b.Property, Weight: 1}, x))
	}
	return terms
}

// newScoredTerm returns an objective with a scorer of x. A property that scores no lines by itself is
// scored split by split.
func newScoredTerm(w *Objective, x *Composition) scoredTerm {
	var scorer Scorer
	if p, ok := w.Property.(LineProperty); ok {
		scorer = p.Scorer(x)
	} else {
		scorer = &pointwiseScorer{property: w.Property, x: x, copy: newComposition(x.N())}
	}
	splitScorer, _ := scorer.(SplitScorer)
	curveScorer, _ := scorer.(CurveScorer)
	conditions, _ := scorer.(ConditionScorer)
	return scoredTerm{w, scorer, splitScorer, curveScorer, conditions}
}

// Target returns the target that scores the state.
func (x *State) Target() *Target { return x.target }

// Refresh recomputes the scores of the composition. Properties that update floating-point sums with
// every move accumulate rounding errors, which Refresh removes. So a run that was saved and
// continued equals an uninterrupted run.
func (x *State) Refresh() error {
	x.logRecallCached = false
	for _, t := range x.terms {
		t.scorer.Reset()
	}
	return x.rescore()
}

// LogScore returns Σ_k c_k·log y_k(x), the sum over the objectives.
func (x *State) LogScore() float64 { return x.logScore }

// LogDensity returns the log of the target's density at x, up to a constant: log(y_sparse(n)/|X_n|)
// + Σ_k c_k·log y_k(x), and in addition log p(z) if there are conditions.
func (x *State) LogDensity() float64 {
	return x.target.LogPrior(x.Composition) + x.logScore
}

// AppendScores appends the score y_k(x) of every objective to dst, in the order of the target's
// objectives. It does not check the scores of objectives of weight 0: see [State.CheckScores].
func (x *State) AppendScores(dst []float64) []float64 {
	k := 0
	if x.target.space.rules != nil {
		k++ // the first term is that of the rules
	}
	if x.target.space.conditions.hasCases() {
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

// CheckScores returns a [*ScoreError] if one of the scores is NaN or +Inf. The scores must come
// from [State.AppendScores].
func (x *State) CheckScores(scores []float64) error {
	for k, y := range scores {
		if invalidScore(y) {
			w := &x.target.objectives[k]
			return newScoreError(w.Name, w.Property, portable.Log(y), x.Composition)
		}
	}
	return nil
}

// checkMovable returns an error if the named kernel, made for target t, cannot move x. Kernels call
// it once in each call of Advance, so that misuse fails before the first move.
func (x *State) checkMovable(kernel string, t *Target) error {
	c := x.Composition
	if x.target != t {
		return fmt.Errorf("%s: the state %v belongs to another target", kernel, c)
	}
	if len(c.amounts) != t.space.ingredients || c.total != t.space.total {
		return fmt.Errorf("%s: the state has left the space: %w", kernel, t.space.Contains(c))
	}
	if t.LogLaw(c.Used()) == negInf || x.beta > 0 && !(x.logScore > negInf) {
		return fmt.Errorf("%s: the target gives the state %v no density, and from there nothing follows", kernel, c)
	}
	return nil
}

// moveTo gives k units of the sum of the amounts of i and j to i and the rest to j. The argument
// value is the new log score of the state; if it is NaN, moveTo computes the log score.
func (x *State) moveTo(i, j, k int, value float64) error {
	x.moveUnscored(i, j, k)
	if value != value {
		return x.rescore()
	}
	x.logScore = value
	return nil
}

// moveUnscored gives k units of the sum of the amounts of i and j to i and the rest to j, and lets
// the scorers follow. It does not update the log score of the state.
func (x *State) moveUnscored(i, j, k int) {
	x.logRecallCached = false
	x.Composition.moveUnchecked(i, j, k)
	for _, t := range x.terms {
		t.scorer.Moved(i, j)
	}
}

// rescore computes the log score of the state from scorers that follow its composition.
func (x *State) rescore() (err error) {
	if x.logScore, err = sumScores(x.terms, x.Composition, false); err != nil {
		x.logScore = math.NaN() // marks the state as unusable for kernels
	}
	return err
}

// sumScores returns Σ_k c_k·log y_k over the terms, whose scorers score c. If reset is true, it
// resets each scorer first. If the score of a term is −Inf, it returns −Inf and neither resets nor
// scores the remaining terms. The remaining scores may then be invalid.
func sumScores(terms []scoredTerm, c *Composition, reset bool) (float64, error) {
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
		if sum += score; invalidScore(sum) && bad == nil {
			bad = newScoreError(t.objective.Name, t.scorer, score, c)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// candidateComposition returns the composition into which a new candidate is written. Its content
// is arbitrary.
func (x *State) candidateComposition() *Composition {
	if x.candidateBuffer == nil {
		x.candidateBuffer = &candidateBuffer{composition: newComposition(x.Composition.N())}
	}
	return x.candidateBuffer.composition
}

// scoreCandidate returns Σ_k c_k·log y_k of the candidate. If the result is −Inf, the scorers of
// the candidate are not up to date.
func (x *State) scoreCandidate() (float64, error) {
	y := x.candidateBuffer
	if y.terms == nil && len(x.terms) > 0 {
		y.terms = newScoredTerms(x.target, y.composition)
	}
	sum, err := sumScores(y.terms, y.composition, true)
	if err == nil {
		x.visited.addComposition(y.composition, sum)
	}
	return sum, err
}

// acceptCandidate makes the candidate the composition of the state. The old composition becomes the
// memory for the next candidate. The argument value is the log score of the candidate. The result
// says whether the candidate differs from the old composition.
func (x *State) acceptCandidate(value float64) (changed bool) {
	y := x.candidateBuffer
	x.logRecallCached = false
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
	x.logScore = value
	return true
}

// undoAll undoes the changes recorded in undoMoves. The argument was is the log score of the state
// before the changes.
func (x *State) undoAll(was float64) {
	for k := len(x.undoMoves) - 1; k >= 0; k-- {
		u := x.undoMoves[k]
		if x.onlyRulesUpdated {
			x.moveRulesOnly(int(u.i), int(u.j), int(u.unitsBefore))
		} else {
			x.moveUnscored(int(u.i), int(u.j), int(u.unitsBefore))
		}
	}
	x.onlyRulesUpdated, x.logScore = false, was
}

// moveUndoably gives k units of the sum of the amounts of i and j to i and the rest to j, and
// records the change so that undoAll can undo it. In a space with rules only the scorer of the
// rules follows the change. Most series of changes break a rule, so the other scorers are spared.
func (x *State) moveUndoably(i, j, k int) {
	if len(x.terms) > 0 {
		x.undoMoves = append(x.undoMoves, undoMove{int32(i), int32(j), x.Composition.amounts[i], int32(k)})
	}
	if x.onlyRulesUpdated = x.target.space.rules != nil; x.onlyRulesUpdated {
		x.moveRulesOnly(i, j, k)
	} else {
		x.moveUnscored(i, j, k)
	}
}

// moveRulesOnly is moveUnscored, but only the scorer of the rules follows the change.
func (x *State) moveRulesOnly(i, j, k int) {
	x.logRecallCached = false
	x.Composition.moveUnchecked(i, j, k)
	x.terms[0].scorer.Moved(i, j)
}

// rescoreAfterMoves computes the log score of the state after calls of moveUndoably.
func (x *State) rescoreAfterMoves() error {
	if !x.onlyRulesUpdated {
		return x.rescore()
	}
	if x.terms[0].scorer.LogScore() == negInf {
		x.logScore = negInf
		return nil
	}
	x.onlyRulesUpdated = false
	if others := x.terms[1:]; len(others) > 0 {
		// The other scorers follow the same moves.
		for k := len(x.undoMoves) - 1; k >= 0; k-- {
			x.Composition.moveUnchecked(int(x.undoMoves[k].i), int(x.undoMoves[k].j), int(x.undoMoves[k].unitsBefore))
		}
		for _, u := range x.undoMoves {
			x.Composition.moveUnchecked(int(u.i), int(u.j), int(u.unitsAfter))
			for _, t := range others {
				t.scorer.Moved(int(u.i), int(u.j))
			}
		}
	}
	return x.rescore()
}
