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
	Composition *Composition // the current composition; kernels change and replace it, and other code only reads it

	// Learnt holds what a [Learner] outside this package has learnt about the chain. The kernels of
	// this package store what they learn elsewhere. A chain with Learnt set cannot be saved.
	Learnt any

	target      *Target      // the target that scores the state
	scoredTerms []scoredTerm // the rules, objectives and bounds that score the composition, each with its scorer
	logScore    float64      // the log score Σ_k c_k·log y_k of the composition

	beta   float64     // the power to which the properties are raised: 1, except for some replicas of a chain of [Tempered]
	drawer spaceDrawer // draws independent compositions of the space

	// Scratch memory for scoring all divisions of the joint amount of two ingredients.
	propertyPieces     PiecewiseConstant // the scores by one property
	sumPieces          PiecewiseConstant // the sum of the scores by the properties up to the last one scored
	nextSumPieces      PiecewiseConstant // the sum of sumPieces and propertyPieces, before it replaces sumPieces
	choiceWeights      []float64         // scratch memory: the weights from which a choice is drawn
	hasCurveScorers    bool              // whether some scorer is a CurveScorer and none is a SplitScorer
	envelope           envelope          // scratch memory: the envelope for the last division of a large joint amount
	undoMoves          []undoMove        // the changes of amounts of a move in progress, which are undone if the move is rejected
	onlyRulesUpdated   bool              // whether the changes in undoMoves were reported to the scorer of the rules only
	stepScratch        ingredientStep    // scratch memory: the last change along the lattice
	previousParts      []Part            // scratch memory: the ingredients and amounts before an independent draw
	previousConditions []int32           // scratch memory: the values of the conditions before an independent draw

	candidateBuffer *candidateBuffer // the candidate of a move to a whole new composition; nil until there is one
	batch           *batch           // candidates that are drawn together; nil until some are drawn
	memory          *warmupMemory    // what warm-up has learnt about the chain; nil if it has learnt nothing
	wholeMoveCounts wholeMoveTallies // counts of the refresh and recall moves; warm-up reads them and sets them to 0 repeatedly
	visitedStates   *visitedStates   // compositions recorded after Chain.RecordVisited; nil if it was not called

	// cachedLogRecall is the cached result of logRecallWeight for the composition. In the learnt
	// leg, the second ladder of a chain of [Tempered], it is the log probability of the composition
	// under the [referenceLaw].
	cachedLogRecall float64
	logRecallCached bool // whether cachedLogRecall belongs to the current composition
}

// A candidateBuffer holds the candidate of a move, that is, a second composition, with scorers of
// its own. If the candidate is accepted, the two compositions change places.
type candidateBuffer struct {
	composition *Composition
	scoredTerms []scoredTerm // the rules, objectives and bounds with scorers of the candidate; nil until a candidate is scored
}

// An undoMove records a change of the amounts of two ingredients, so that the change can be undone. The joint
// amount of the two stays the same.
type undoMove struct {
	i, j        int32 // the two ingredients
	unitsBefore int32 // units of ingredient i before the change
	unitsAfter  int32 // units of ingredient i after the change
}

// A scoredTerm is one factor of the target with its scorer: the rules, a bound, or an objective of
// positive weight. The scorer follows the composition of a state.
type scoredTerm struct {
	objective   *Objective
	scorer      Scorer
	splitScorer SplitScorer // scorer as a SplitScorer; nil if scorer does not implement SplitScorer
	curveScorer CurveScorer // scorer as a CurveScorer; nil if scorer does not implement CurveScorer

	conditionScorer ConditionScorer // scorer as a ConditionScorer; nil if scorer does not implement ConditionScorer
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
	s := &State{Composition: x, target: t, beta: 1, scoredTerms: newScoredTerms(t, x)}
	s.drawer = t.space.newDrawer()
	for _, t := range s.scoredTerms {
		if t.splitScorer != nil {
			s.hasCurveScorers = false
			break
		}
		s.hasCurveScorers = s.hasCurveScorers || t.curveScorer != nil
	}
	return s
}

// newScoredTerms returns the rules, objectives and bounds of t, each with a scorer of x. The method
// Reset of each scorer must be called before use.
func newScoredTerms(t *Target, x *Composition) []scoredTerm {
	var terms []scoredTerm
	if r := t.space.rules; r != nil {
		scorer := r.scorer(x)
		terms = append(terms, scoredTerm{objective: &Objective{Name: rulesPropertyName, Property: r, Weight: 1}, scorer: scorer, conditionScorer: scorer})
	}
	if c := t.space.conditions; c.hasCases() {
		terms = append(terms, newScoredTerm(&Objective{Name: caseRulesPropertyName, Property: c.conditionCases, Weight: 1}, x))
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

// newScoredTerm returns the objective w with a scorer of x. A property without scorers of its own
// gets a [pointwiseScorer].
func newScoredTerm(w *Objective, x *Composition) scoredTerm {
	var scorer Scorer
	if p, ok := w.Property.(LineProperty); ok {
		scorer = p.Scorer(x)
	} else {
		scorer = &pointwiseScorer{property: w.Property, composition: x, scratchCopy: newComposition(x.N())}
	}
	splitScorer, _ := scorer.(SplitScorer)
	curveScorer, _ := scorer.(CurveScorer)
	conditions, _ := scorer.(ConditionScorer)
	return scoredTerm{w, scorer, splitScorer, curveScorer, conditions}
}

// Target returns the target that scores the state.
func (x *State) Target() *Target { return x.target }

// Refresh recomputes the scores of the composition. Properties that update floating-point sums with
// every move accumulate rounding errors, which Refresh removes. A restored chain has fresh scores;
// so a run that is saved and continued equals an uninterrupted run that calls Refresh at the same
// time.
func (x *State) Refresh() error {
	x.logRecallCached = false
	for _, t := range x.scoredTerms {
		t.scorer.Reset()
	}
	return x.rescore()
}

// LogScore returns the log score Σ_k c_k·log y_k(x), the sum over the objectives.
func (x *State) LogScore() float64 { return x.logScore }

// LogDensity returns the log of the target's density at x, up to a constant. It is
// log(y_sparse(n)/|X_n|) + Σ_k c_k·log y_k(x). If there are conditions, log p(z) is added.
func (x *State) LogDensity() float64 {
	return x.target.LogPrior(x.Composition) + x.logScore
}

// String returns the composition and the log density, as in "{3: 400, 7: 600}, log density -2.5".
func (x *State) String() string {
	return fmt.Sprintf("%v, log density %.6g", x.Composition, x.LogDensity())
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
		dst = append(dst, expScore(x.scoredTerms[k].scorer.LogScore()))
		k++
	}
	return dst
}

// CheckScores returns a [*ScoreError] if one of the scores is NaN or +Inf. The scores must come
// from [State.AppendScores].
func (x *State) CheckScores(scores []float64) error {
	for k, y := range scores {
		if isInvalidScore(y) {
			w := &x.target.objectives[k]
			return newScoreError(w.Name, w.Property, portable.Log(y), x.Composition)
		}
	}
	return nil
}

// checkMovable returns an error if the state x belongs to another target than t, has left the
// space, or has no density. The named kernel calls it once in each call of Advance, so that misuse
// fails before the first move.
func (x *State) checkMovable(kernelName string, t *Target) error {
	c := x.Composition
	if x.target != t {
		return fmt.Errorf("%s: the state %v belongs to another target", kernelName, c)
	}
	if len(c.amounts) != t.space.ingredients || c.total != t.space.total {
		return fmt.Errorf("%s: the state has left the space: %w", kernelName, t.space.Contains(c))
	}
	if t.LogLaw(c.UsedCount()) == negInf || x.beta > 0 && !(x.logScore > negInf) {
		return fmt.Errorf("%s: the target gives the state %v no density, and from there nothing follows", kernelName, c)
	}
	return nil
}

// moveToSplit gives ingredient i k units of the joint amount of i and j, and ingredient j the rest.
// The argument logScore is the new log score of the state. If it is NaN, moveToSplit computes the
// log score.
func (x *State) moveToSplit(i, j, k int, logScore float64) error {
	x.moveUnscored(i, j, k)
	if logScore != logScore {
		return x.rescore()
	}
	x.logScore = logScore
	return nil
}

// moveUnscored gives ingredient i k units of the joint amount of i and j, and ingredient j the
// rest. It updates the scorers but not the log score of the state.
func (x *State) moveUnscored(i, j, k int) {
	x.logRecallCached = false
	x.Composition.moveUnchecked(i, j, k)
	for _, t := range x.scoredTerms {
		t.scorer.Moved(i, j)
	}
}

// rescore computes the log score of the state from its scorers, which must be up to date.
func (x *State) rescore() (err error) {
	if x.logScore, err = sumScores(x.scoredTerms, x.Composition, false); err != nil {
		x.logScore = math.NaN() // marks the state as unusable for kernels
	}
	return err
}

// sumScores returns Σ_k c_k·log y_k over the terms, whose scorers score c. If reset is true, it
// first calls Reset of each scorer. If the score of a term is −Inf, it returns −Inf at once. The
// scorers of the remaining terms are then neither reset nor asked for scores, which may be invalid.
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
		if sum += score; isInvalidScore(sum) && bad == nil {
			bad = newScoreError(t.objective.Name, t.scorer, score, c)
		}
	}
	if bad != nil {
		return 0, bad
	}
	return sum, nil
}

// candidateComposition returns the composition into which a move writes its candidate. Its content
// is arbitrary.
func (x *State) candidateComposition() *Composition {
	if x.candidateBuffer == nil {
		x.candidateBuffer = &candidateBuffer{composition: newComposition(x.Composition.N())}
	}
	return x.candidateBuffer.composition
}

// scoreCandidate returns the log score Σ_k c_k·log y_k of the candidate. If the result is −Inf, the
// scorers of the candidate are not up to date.
func (x *State) scoreCandidate() (float64, error) {
	y := x.candidateBuffer
	if y.scoredTerms == nil && len(x.scoredTerms) > 0 {
		y.scoredTerms = newScoredTerms(x.target, y.composition)
	}
	sum, err := sumScores(y.scoredTerms, y.composition, true)
	if err == nil {
		x.visitedStates.addComposition(y.composition, sum)
	}
	return sum, err
}

// acceptCandidate makes the candidate the composition of the state. The memory of the old
// composition will hold the next candidate. The argument logScore is the log score of the
// candidate. The result says whether the candidate differs from the old composition.
func (x *State) acceptCandidate(logScore float64) (changed bool) {
	y := x.candidateBuffer
	x.logRecallCached = false
	if y.composition.Equal(x.Composition) {
		return false
	}
	if len(x.scoredTerms) == 0 {
		*x.Composition, *y.composition = *y.composition, *x.Composition
		return true
	}
	// Each scorer follows the composition that it was made for.
	x.Composition, y.composition = y.composition, x.Composition
	x.scoredTerms, y.scoredTerms = y.scoredTerms, x.scoredTerms
	x.logScore = logScore
	return true
}

// undoAll undoes the changes recorded in undoMoves, and restores the log score of the state before
// these changes.
func (x *State) undoAll(oldLogScore float64) {
	for k := len(x.undoMoves) - 1; k >= 0; k-- {
		u := x.undoMoves[k]
		if x.onlyRulesUpdated {
			x.moveRulesOnly(int(u.i), int(u.j), int(u.unitsBefore))
		} else {
			x.moveUnscored(int(u.i), int(u.j), int(u.unitsBefore))
		}
	}
	x.onlyRulesUpdated, x.logScore = false, oldLogScore
}

// moveUndoably gives ingredient i k units of the joint amount of i and j, and ingredient j the
// rest. It records the change so that undoAll can undo it. In a space with rules it updates only
// the scorer of the rules. This saves time, because most series of changes break a rule and are
// undone.
func (x *State) moveUndoably(i, j, k int) {
	if len(x.scoredTerms) > 0 {
		x.undoMoves = append(x.undoMoves, undoMove{int32(i), int32(j), x.Composition.amounts[i], int32(k)})
	}
	if x.onlyRulesUpdated = x.target.space.rules != nil; x.onlyRulesUpdated {
		x.moveRulesOnly(i, j, k)
	} else {
		x.moveUnscored(i, j, k)
	}
}

// moveRulesOnly is moveUnscored, but it updates only the scorer of the rules.
func (x *State) moveRulesOnly(i, j, k int) {
	x.logRecallCached = false
	x.Composition.moveUnchecked(i, j, k)
	x.scoredTerms[0].scorer.Moved(i, j)
}

// rescoreAfterMoves updates all scorers after calls of moveUndoably, and computes the log score of
// the state.
func (x *State) rescoreAfterMoves() error {
	if !x.onlyRulesUpdated {
		return x.rescore()
	}
	if x.scoredTerms[0].scorer.LogScore() == negInf {
		x.logScore = negInf
		return nil
	}
	x.onlyRulesUpdated = false
	if others := x.scoredTerms[1:]; len(others) > 0 {
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
