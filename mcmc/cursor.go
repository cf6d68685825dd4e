package mcmc

// A Cursor is a composition that a search moves at will. It knows the score of the composition, and
// the scores of its lines and of the values of its conditions. The compositions that a cursor
// visits are not draws from any law. A cursor may be used by one goroutine only.
type Cursor struct {
	state *State
}

// NewCursor returns a cursor of the target that begins at a copy of x, which must be in the
// target's space. The composition x may break rules, and properties may be 0 at x.
func NewCursor(t *Target, x *Composition) (*Cursor, error) {
	s, err := NewState(t, x.Clone())
	if err != nil {
		return nil, err
	}
	return &Cursor{s}, nil
}

// Composition returns the current composition of the cursor. It changes when the cursor moves.
// Callers must not modify it.
func (c *Cursor) Composition() *Composition { return c.state.Composition }

// LogScore returns Σ_k c_k·log y_k at the current composition, or −Inf if the composition breaks a
// rule of the space.
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

// LineScores returns the log score, as [Cursor.LogScore] defines it, of all splits of a line. Split k
// gives k units of the sum x_i + x_j, which must be positive, to ingredient i and the rest to j;
// see [Scorer].
//
// The scores leave out the law of n, which differs at the two ends; see [Target.LogLaw]. If this
// law gives an end no mass, the value at that end is undefined and may be NaN. The result is valid
// until the next call.
func (c *Cursor) LineScores(i, j int) (*PiecewiseConstant, error) {
	x := c.state
	if len(x.terms) == 0 {
		x.sumPieces.Reset()
		x.sumPieces.Add(0, 0)
		return &x.sumPieces, nil
	}
	others := x.Composition.Used()
	for _, k := range [2]int{i, j} {
		if x.Composition.Amount(k) > 0 {
			others--
		}
	}
	law := splitLaw{zeroWeight: x.target.massIndicator(others + 1), innerWeight: x.target.massIndicator(others + 2)}
	law.fullWeight = law.zeroWeight
	pieces, err := x.lineScores(i, j, &law)
	if err != nil {
		return nil, err
	}
	_, _, err = x.greatestValues(pieces, i, j, &law) // called only for its error: it checks all scores
	return pieces, err
}

// A CurveResult is the result of [Cursor.BestAndDrawnSplit].
type CurveResult struct {
	ZeroScore, FullScore float64 // the log scores of the ends: all units to j, and all units to i

	// Best is the inner split with the highest score, and DrawnSplit an inner split drawn at random. An
	// inner split gives units to both ingredients. Best is 0 if the rules allow no inner split.
	BestSplit, DrawnSplit int

	BestScore, DrawnScore float64 // the log scores of the splits Best and Drawn
}

// BestAndDrawnSplit returns the best split and a random split of a line without scoring every split. It works
// for long lines whose properties have bounds; see [CurveScorer]. The splits k with from ≤ k < to
// are compared, except the two ends of the line. The random split has probability ∝ exp(β·log
// score).
//
// BestAndDrawnSplit returns ok = false for all other lines, and where the bounds are too loose. Call
// [Cursor.LineScores] instead in these cases.
func (c *Cursor) BestAndDrawnSplit(r *Rand, beta float64, i, j, from, to int) (line CurveResult, ok bool, err error) {
	x := c.state
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if !x.usesEnvelope(r, s) {
		return line, false, nil
	}
	defer func(was float64) { x.beta = was }(x.beta)
	x.beta = beta
	e, err := x.startEnvelope(i, j, &splitLaw{zeroWeight: 1, fullWeight: 1}, -1)
	if err != nil {
		return line, false, err
	}
	line.ZeroScore, line.FullScore = e.scoreAt(x.sumPieces.values[0], 0), e.scoreAt(x.sumPieces.values[len(x.sumPieces.values)-1], s)
	e.spans = e.spans[:0]
	for q, v := range x.sumPieces.values {
		first, end := innerSplitsOfPiece(&x.sumPieces, q, s)
		e.addSplits(max(first, from), min(end, to)-1, 0, v, -1)
	}
	if len(e.spans) == 0 || e.weighAll {
		return line, !e.weighAll, nil
	}
	e.findScale()
	e.refineSpans()
	if line.BestSplit, line.BestScore = e.bestInnerSplit(negInf); e.weighAll || line.BestSplit == 0 {
		return line, !e.weighAll, nil
	}
	line.DrawnSplit, _, _ = e.drawSplit(r, -1)
	line.DrawnScore = e.drawnScore
	return line, !e.weighAll, nil
}

// Move gives k units of the sum x_i + x_j to ingredient i and the rest to j. The argument logScore
// must be the score of split k from [Cursor.LineScores].
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

// ConditionScores returns the log score, as [Cursor.LogScore] defines it, for each value of condition k, by
// the index of the value. All else stays as it is. The result is valid until the next call.
func (c *Cursor) ConditionScores(k int) (*PiecewiseConstant, error) {
	p, err := c.state.conditionScores(k)
	if err != nil {
		return nil, err
	}
	for q, v := range p.values {
		if invalidScore(v) {
			return nil, c.state.invalidValueError(k, int(p.starts[q]))
		}
	}
	return p, nil
}

// SetCondition sets condition k to the value with index value. The argument logScore must be the
// score of this value from [Cursor.ConditionScores].
func (c *Cursor) SetCondition(k, value int, logScore float64) {
	c.state.setCondition(k, value)
	c.state.logScore = logScore
}
