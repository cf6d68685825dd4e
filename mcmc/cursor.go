package mcmc

// A Cursor is a composition that a search moves freely, with its score and those of its lines. It
// samples no law, so the compositions it visits are not draws. It belongs to one goroutine.
type Cursor struct {
	state *State
}

// NewCursor returns a cursor of a target at a copy of x, which must be in the target's space. x may
// break rules and properties may be 0 there.
func NewCursor(t *Target, x *Composition) (*Cursor, error) {
	s, err := NewState(t, x.Clone())
	if err != nil {
		return nil, err
	}
	return &Cursor{s}, nil
}

// Composition returns the cursor's composition. It changes as the cursor moves. Callers must not
// modify it.
func (c *Cursor) Composition() *Composition { return c.state.Composition }

// LogScore returns Σ_k c_k·log y_k, and −Inf where a rule of the space is
// broken.
func (c *Cursor) LogScore() float64 { return c.state.sum }

// AppendScores appends y_k of every objective, in the target's order, to dst.
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

// Line returns the log score, as [Cursor.LogScore] defines it, over the splits k = 0..x_i+x_j of
// two ingredients' sum, which must not be 0; see [Scorer]. The scores leave out the law of n, which
// differs at the ends: see [Target.LogLaw]. Where that law gives an end no mass, the end's value is
// undefined and may be NaN. The pieces are valid until the next call.
func (c *Cursor) Line(i, j int) (*Pieces, error) {
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
	law := splitLaw{zero: x.target.mass(others + 1), inner: x.target.mass(others + 2)}
	law.full = law.zero
	pieces, err := x.line(i, j, &law)
	if err != nil {
		return nil, err
	}
	_, _, err = x.greatestValues(pieces, i, j, &law) // called only for its error: it checks all scores
	return pieces, err
}

// A CurvedLine is the result of [Cursor.Curve].
type CurvedLine struct {
	Zero, Full float64 // the log scores of its ends, as [Cursor.Line] has them

	// Best is the split between the ends with the highest score, Drawn a random one. Best is 0
	// where the rules allow no split.
	Best, Drawn           int
	BestScore, DrawnScore float64
}

// Curve is [Cursor.Line] without a score for each split, for long lines whose properties have
// bounds; see [CurveScorer]. Among the splits from ≤ k < to, which are no ends, it returns the best
// one and one drawn with probability ∝ exp(β·log score). ok is false for other lines and where the
// bounds are of no use: call Line there.
func (c *Cursor) Curve(r *Rand, beta float64, i, j, from, to int) (line CurvedLine, ok bool, err error) {
	x := c.state
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if !x.usesEnvelope(r, s) {
		return line, false, nil
	}
	defer func(was float64) { x.beta = was }(x.beta)
	x.beta = beta
	e, err := x.startEnvelope(i, j, &splitLaw{zero: 1, full: 1}, -1)
	if err != nil {
		return line, false, err
	}
	line.Zero, line.Full = e.at(x.sumPieces.values[0], 0), e.at(x.sumPieces.values[len(x.sumPieces.values)-1], s)
	e.spans = e.spans[:0]
	for q, v := range x.sumPieces.values {
		first, end := innerSplits(&x.sumPieces, q, s)
		e.add(max(first, from), min(end, to)-1, 0, v, -1)
	}
	if len(e.spans) == 0 || e.plain {
		return line, !e.plain, nil
	}
	e.findScale()
	e.fit()
	if line.Best, line.BestScore = e.best(negInf); e.plain || line.Best == 0 {
		return line, !e.plain, nil
	}
	line.Drawn, _, _ = e.draw(r, -1)
	line.DrawnScore = e.score
	return line, !e.plain, nil
}

// Move splits the sum of i and j anew: k units to i, the rest to j. logScore must be the score of
// that split from [Cursor.Line].
func (c *Cursor) Move(i, j, k int, logScore float64) {
	c.state.moveUnscored(i, j, k)
	c.state.sum = logScore
}

// FreeConditions returns the conditions that have more than one value. Callers must not modify the
// slice.
func (c *Cursor) FreeConditions() []int {
	if s := c.state.target.space.conditions; s != nil {
		return s.several
	}
	return nil
}

// Values returns the log score, as [Cursor.LogScore] defines it, over the values of condition k, by
// index; all else is as it is. The pieces are valid until the next call.
func (c *Cursor) Values(k int) (*Pieces, error) {
	p, err := c.state.valuesOf(k)
	if err != nil {
		return nil, err
	}
	for q, v := range p.values {
		if badScore(v) {
			return nil, c.state.badValue(k, int(p.starts[q]))
		}
	}
	return p, nil
}

// SetCondition sets condition k to a value. logScore must be the score of that value from
// [Cursor.Values].
func (c *Cursor) SetCondition(k, value int, logScore float64) {
	c.state.setCondition(k, value)
	c.state.sum = logScore
}
