package mcmc

// A Cursor is a composition that a search algorithm moves at will. It knows the score of the
// composition. It also computes the scores after each possible change of two amounts or of one
// condition. The compositions that a cursor visits are not random draws. A cursor may be used by
// one goroutine only.
type Cursor struct {
	state *State
}

// NewCursor returns a cursor that begins at a copy of x, which must be in the target's space. The
// composition x may break rules, and its score may be 0.
func NewCursor(t *Target, x *Composition) (*Cursor, error) {
	s, err := NewState(t, x.Clone())
	if err != nil {
		return nil, err
	}
	return &Cursor{s}, nil
}

// Composition returns the current composition of the cursor. The result changes when the cursor
// moves. Callers must not modify it.
func (c *Cursor) Composition() *Composition { return c.state.Composition }

// LogScore returns the log score Σ_k c_k·log y_k of the current composition, where y_k is the score
// of objective k and c_k its weight. It returns −Inf if the composition breaks a rule of the space.
func (c *Cursor) LogScore() float64 { return c.state.logScore }

// AppendScores appends the score y_k of every objective to dst, in the order of the target's
// objectives.
func (c *Cursor) AppendScores(dst []float64) ([]float64, error) {
	return c.state.target.AppendScores(dst, c.state.Composition)
}

// Set moves the cursor to a copy of x.
func (c *Cursor) Set(x *Composition) error {
	if err := c.state.target.space.Contains(x); err != nil {
		return err
	}
	c.state.Composition.CopyFrom(x)
	return c.state.Refresh()
}

// LineScores returns the log scores, as [Cursor.LogScore] defines them, of all divisions of the
// joint amount of the ingredients i and j, which must be positive. The result is a function of k,
// the number of units that i gets, while j gets the rest; see [Scorer].
//
// The scores leave out the law of the number of ingredients, see [Target.LogLaw]. If this law gives
// no mass to a division that leaves i or j unused, the value there is undefined and may be NaN. The
// result is valid until the next call.
func (c *Cursor) LineScores(i, j int) (*PiecewiseConstant, error) {
	x := c.state
	if len(x.scoredTerms) == 0 {
		x.sumPieces.Reset()
		x.sumPieces.Add(0, 0)
		return &x.sumPieces, nil
	}
	others := x.Composition.UsedCount()
	for _, k := range [2]int{i, j} {
		if x.Composition.Amount(k) > 0 {
			others--
		}
	}
	law := splitLaw{zeroSplitWeight: x.target.massIndicator(others + 1), innerSplitWeight: x.target.massIndicator(others + 2)}
	law.fullSplitWeight = law.zeroSplitWeight
	pieces, err := x.lineScores(i, j, &law)
	if err != nil {
		return nil, err
	}
	_, _, err = x.greatestValues(pieces, i, j, &law) // called only for its error: it checks all scores
	return pieces, err
}

// A CurveResult is the result of [Cursor.BestAndDrawnSplit]. A split k gives k units of the joint
// amount of two ingredients to the first one, and the rest to the second.
type CurveResult struct {
	ZeroScore float64 // log score of split 0, which gives all units to ingredient j
	FullScore float64 // log score of the split that gives all units to ingredient i

	// BestSplit is the split with the highest score among those that give units to both
	// ingredients. It is 0 if the rules allow no such split.
	BestSplit int

	// DrawnSplit is a random split that gives units to both ingredients.
	DrawnSplit int

	BestScore  float64 // log score of BestSplit
	DrawnScore float64 // log score of DrawnSplit
}

// BestAndDrawnSplit returns the best split and a random split of the ingredients i and j, without
// scoring every split. Split k gives k units of their joint amount to i and the rest to j. Only
// splits with from ≤ k < to that use both ingredients are compared. The random split has
// probability ∝ exp(β·log score).
//
// The method works for long lines whose properties have bounds; see [CurveScorer]. In all other
// cases, and where the bounds are too loose, it returns ok = false. Call [Cursor.LineScores] then.
func (c *Cursor) BestAndDrawnSplit(r *Rand, beta float64, i, j, from, to int) (line CurveResult, ok bool, err error) {
	x := c.state
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if !x.usesEnvelope(r, s) {
		return line, false, nil
	}
	defer func(was float64) { x.beta = was }(x.beta)
	x.beta = beta
	e, err := x.newUnfittedEnvelope(i, j, &splitLaw{zeroSplitWeight: 1, fullSplitWeight: 1}, -1)
	if err != nil {
		return line, false, err
	}
	line.ZeroScore, line.FullScore = e.scoreAt(x.sumPieces.values[0], 0), e.scoreAt(x.sumPieces.values[len(x.sumPieces.values)-1], s)
	e.spans = e.spans[:0]
	for q, v := range x.sumPieces.values {
		first, end := innerSplitsOfPiece(&x.sumPieces, q, s)
		e.addSpans(max(first, from), min(end, to)-1, 0, v, -1)
	}
	if len(e.spans) == 0 || e.mustWeighAllSplits {
		return line, !e.mustWeighAllSplits, nil
	}
	e.tightenTopBound()
	e.refineSpans()
	if line.BestSplit, line.BestScore = e.bestInnerSplit(negInf); e.mustWeighAllSplits || line.BestSplit == 0 {
		return line, !e.mustWeighAllSplits, nil
	}
	line.DrawnSplit, _, _ = e.drawSplit(r, -1)
	line.DrawnScore = e.drawnScore
	return line, !e.mustWeighAllSplits, nil
}

// Move gives ingredient i k units of the joint amount of i and j, and ingredient j the rest. The
// argument logScore must be the score of this division from [Cursor.LineScores].
func (c *Cursor) Move(i, j, k int, logScore float64) {
	c.state.moveUnscored(i, j, k)
	c.state.logScore = logScore
}

// MultiValuedConditions returns the indices of the conditions that have more than one value. Callers must
// not modify the slice.
func (c *Cursor) MultiValuedConditions() []int {
	if s := c.state.target.space.conditions; s != nil {
		return s.multiValuedConditions
	}
	return nil
}

// ConditionScores returns, for each value of condition k, the log score that the composition would
// have with this value. The result is a function of the index of the value. It is valid until the
// next call.
func (c *Cursor) ConditionScores(k int) (*PiecewiseConstant, error) {
	p, err := c.state.conditionScores(k)
	if err != nil {
		return nil, err
	}
	for q, v := range p.values {
		if isInvalidScore(v) {
			return nil, c.state.invalidValueError(k, int(p.starts[q]))
		}
	}
	return p, nil
}

// SetCondition gives condition k the value with the given index. The argument logScore must be the
// score for this value from [Cursor.ConditionScores].
func (c *Cursor) SetCondition(k, value int, logScore float64) {
	c.state.setCondition(k, value)
	c.state.logScore = logScore
}
