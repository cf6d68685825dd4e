package mcmc

// A Cursor is a composition that a search moves as it likes, with its score and
// those of its lines. It draws nothing and follows no law: what it visits are
// no draws. It belongs to one goroutine.
type Cursor struct {
	state *State
}

// NewCursor returns a cursor of a target at a copy of x, which must be in the
// target's space. Rules may be broken there, and properties 0.
func NewCursor(t *Target, x *Composition) (*Cursor, error) {
	s, err := NewState(t, x.Clone())
	if err != nil {
		return nil, err
	}
	return &Cursor{s}, nil
}

// Composition returns where the cursor is. It changes with it and must not be
// changed otherwise.
func (c *Cursor) Composition() *Composition { return c.state.Composition }

// LogScore returns Σ_k c_k·log y_k, and −Inf where a rule of the space is
// broken.
func (c *Cursor) LogScore() float64 { return c.state.sum }

// AppendScores appends y_k of every wish, in the target's order, to dst.
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

// Line returns the log score, as [Cursor.LogScore] has it, over the splits
// k = 0..x_i+x_j of two ingredients' sum, which must not be 0; see [Scorer]. What
// the law of n makes of the ends is not in it: see [Target.LogLaw]. Where it gives
// them no mass the value means nothing and may be NaN. The pieces hold until the
// next call.
func (c *Cursor) Line(i, j int) (*Pieces, error) {
	x := c.state
	if len(x.terms) == 0 {
		x.acc.Reset()
		x.acc.Add(0, 0)
		return &x.acc, nil
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
	_, _, err = x.highest(pieces, i, j, &law) // which looks for bad scores
	return pieces, err
}

// A CurvedLine is what [Cursor.Curve] tells of a line.
type CurvedLine struct {
	Zero, Full float64 // the log scores of its ends, as [Cursor.Line] has them

	// The split between the ends with the highest score, and one drawn. Best is 0 where
	// none is allowed.
	Best, Drawn           int
	BestScore, DrawnScore float64
}

// Curve is [Cursor.Line] without a score for each split, for long lines of which
// properties have bounds; see [CurveScorer]. Of the splits from ≤ k < to, which are no
// ends, it tells the best and one that is drawn with probability ∝ exp(β·log score).
// It says whether it does: for other lines, and where bounds are of no use, there is
// Line.
func (c *Cursor) Curve(r *Rand, beta float64, i, j, from, to int) (line CurvedLine, ok bool, err error) {
	x := c.state
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if !x.curved(r, s) {
		return line, false, nil
	}
	defer func(was float64) { x.beta = was }(x.beta)
	x.beta = beta
	e, err := x.startEnvelope(i, j, &splitLaw{zero: 1, full: 1}, -1)
	if err != nil {
		return line, false, err
	}
	line.Zero, line.Full = e.at(x.acc.values[0], 0), e.at(x.acc.values[len(x.acc.values)-1], s)
	e.spans = e.spans[:0]
	for q, v := range x.acc.values {
		first, end := innerSplits(&x.acc, q, s)
		e.add(max(first, from), min(end, to)-1, 0, v, -1)
	}
	if len(e.spans) == 0 || e.plain {
		return line, !e.plain, nil
	}
	e.climb()
	e.fit()
	if line.Best, line.BestScore = e.best(negInf); e.plain || line.Best == 0 {
		return line, !e.plain, nil
	}
	line.Drawn, _, _ = e.draw(r, -1)
	line.DrawnScore = e.score
	return line, !e.plain, nil
}

// Move splits the sum of i and j anew: k units to i, the rest to j. logScore is
// what [Cursor.Line] has there.
func (c *Cursor) Move(i, j, k int, logScore float64) {
	c.state.moveUnscored(i, j, k)
	c.state.sum = logScore
}
