package model

import (
	"fmt"
	"math"
)

// A ProcessScore is a function of the composition that says how well a process expects the
// composition to satisfy a [Want].
//
// For [Maximize] and [Minimize] the score is the position of the expected label between the least
// and the greatest label. It is below 0 or above 1 if the expected label is outside this range. For
// bounds, the score is the probability of the interval between the bounds under a normal
// distribution. The distribution has the expected label as its mean, and the root mean squared
// held-out error as its standard deviation. A ProcessScore does not change, so that any number of
// goroutines may use it.
type ProcessScore struct {
	*Process
	want          Want    // what the user wants of the label
	leastLabel    float64 // for [Maximize] and [Minimize]: the lower end of the scale
	greatestLabel float64 // for [Maximize] and [Minimize]: the upper end of the scale
	errorSD       float64 // for bounds: the root mean squared held-out error
}

// Score returns the score for a [Want]. The error says why the process cannot compute the score.
func (p *Process) Score(w Want) (*ProcessScore, error) {
	s := &ProcessScore{Process: p, want: w}
	switch {
	case w.direction != 0:
		s.leastLabel, s.greatestLabel = p.labels[0], p.labels[0]
		for _, y := range p.labels {
			s.leastLabel, s.greatestLabel = min(s.leastLabel, y), max(s.greatestLabel, y)
		}
		if w.directionScale[0] < w.directionScale[1] {
			s.leastLabel, s.greatestLabel = w.directionScale[0], w.directionScale[1]
		}
		if s.leastLabel == s.greatestLabel {
			return nil, fmt.Errorf("%q is %g in every row: there is nothing to make larger or smaller", p.label, s.leastLabel)
		}
	case !w.isBounded:
		return nil, fmt.Errorf("%q is a number: ask for maximize, minimize, at least, at most or between, not for a class", p.label)
	case math.IsNaN(w.low) || math.IsNaN(w.high) || w.low > w.high || math.IsInf(w.low, 1) || math.IsInf(w.high, -1):
		return nil, fmt.Errorf("no number is between %g and %g", w.low, w.high)
	default:
		s.errorSD = p.heldOutRMSE()
	}
	return s, nil
}

// heldOutRMSE returns the root mean squared error of the held-out predictions of all rows.
func (p *Process) heldOutRMSE() float64 {
	squares := 0.0
	for r, k := range p.compositionOfRow {
		gap := p.labels[r] - p.heldOutMean[k]
		squares += float64(gap * gap)
	}
	return math.Sqrt(squares / float64(p.rowCount))
}

// scoreOfMean returns the score of a composition, given its expected label.
func (s *ProcessScore) scoreOfMean(mean float64) float64 {
	switch {
	case s.want.direction > 0:
		return (mean - s.leastLabel) / (s.greatestLabel - s.leastLabel)
	case s.want.direction < 0:
		return (s.greatestLabel - mean) / (s.greatestLabel - s.leastLabel)
	case s.errorSD == 0:
		return indicator(s.want.low <= mean && mean <= s.want.high)
	}
	share := 1.0
	if !math.IsInf(s.want.high, 1) {
		share = normalCDF((s.want.high - mean) / s.errorSD)
	}
	if !math.IsInf(s.want.low, -1) {
		share -= normalCDF((s.want.low - mean) / s.errorSD)
	}
	return max(0, share)
}

// ScoreAt returns the score of the dense composition x. The parameter used lists the ingredients
// with a positive amount, in any order.
func (s *ProcessScore) ScoreAt(x, used []int32) float64 {
	d, ok := s.distancePool.Get().(*[]int64)
	if !ok {
		fresh := make([]int64, len(s.compositions))
		d = &fresh
	}
	s.writeDistancesAt(x, used, *d)
	value := s.scoreOfMean(s.meanAtDistances(*d))
	s.distancePool.Put(d)
	return value
}

// writeDistancesAt writes to the slice to the squared distances between the dense composition x and
// all compositions of the data. The parameter used lists the ingredients with a positive amount.
func (p *Process) writeDistancesAt(x, used []int32, to []int64) {
	copy(to, p.distancesFromEmpty)
	for _, i := range used {
		p.shiftDistances(to, i, 0, p.roundings[i].roundToStep(x[i], p.amountDivisor(i)))
	}
}

// A ProcessScorer keeps the score of a composition that moves step by step. It also scores lines,
// that is, all divisions of the current sum of two amounts: see [ProcessScorer.Line]. It is the
// working memory of one Markov chain: several goroutines must not use it at once. Its scores equal
// those of [ProcessScore.ScoreAt], bit for bit, because distances are whole numbers and sums are
// always taken in the same order.
type ProcessScorer struct {
	score           *ProcessScore
	x               []int32 // amounts of the current composition
	usedIngredients []int32 // the ingredients with a positive amount in the current composition
	distances       []int64 // squared distances of the current composition to the compositions of the data
	value           float64 // score of the current composition

	lineDistances []int64   // scratch memory of Line: squared distances of a composition on the line
	starts        []int32   // the result starts of the last call of Line
	values        []float64 // the result values of the last call of Line
}

// NewScorer returns a scorer of the score. Call [ProcessScorer.Reset] before other methods.
func (s *ProcessScore) NewScorer() *ProcessScorer {
	return &ProcessScorer{score: s, x: make([]int32, len(s.ingredients)), distances: make([]int64, len(s.compositions)), lineDistances: make([]int64, len(s.compositions))}
}

// Reset makes the dense composition x the composition of the scorer. The parameter used lists the
// ingredients with a positive amount, in any order. Reset only reads both slices and does not keep
// them.
func (c *ProcessScorer) Reset(x, used []int32) {
	for _, i := range c.usedIngredients {
		c.x[i] = 0
	}
	c.usedIngredients = append(c.usedIngredients[:0], used...)
	for _, i := range used {
		c.x[i] = x[i]
	}
	c.score.writeDistancesAt(c.x, used, c.distances)
	c.value = c.score.scoreOfMean(c.score.meanAtDistances(c.distances))
}

// Value returns the score of the current composition.
func (c *ProcessScorer) Value() float64 { return c.value }

// Set changes the amount of ingredient i to xi and the amount of ingredient j to xj. All other
// amounts are unchanged.
func (c *ProcessScorer) Set(i int, xi int32, j int, xj int32) {
	moved := c.setAmount(int32(i), xi)
	if c.setAmount(int32(j), xj) || moved {
		c.value = c.score.scoreOfMean(c.score.meanAtDistances(c.distances))
	}
}

// setAmount sets the amount of ingredient i. It reports whether any squared distance changes.
func (c *ProcessScorer) setAmount(i, amount int32) bool {
	p := c.score
	was := c.x[i]
	if was == amount {
		return false
	}
	if was == 0 {
		c.usedIngredients = append(c.usedIngredients, i)
	}
	c.x[i] = amount
	if amount == 0 {
		for k, u := range c.usedIngredients {
			if u == i {
				c.usedIngredients[k] = c.usedIngredients[len(c.usedIngredients)-1]
				c.usedIngredients = c.usedIngredients[:len(c.usedIngredients)-1]
				break
			}
		}
	}
	from, to := p.roundings[i].roundToStep(was, p.amountDivisor(i)), p.roundings[i].roundToStep(amount, p.amountDivisor(i))
	p.shiftDistances(c.distances, i, from, to)
	return from != to
}

// Line scores all compositions on a line. The line consists of the compositions in which
// ingredients i ≠ j share their current sum s = x_i + x_j as (k, s−k), for k = 0, …, s. A piece of
// the line is a range of k with equal scores. Piece p goes from k = starts[p] to k = starts[p+1] −
// 1 and has the score values[p]. The first piece starts at 0, and the last piece ends at s. Both
// slices are valid until the next call.
func (c *ProcessScorer) Line(i, j int) (starts []int32, values []float64) {
	p := c.score
	a, b := p.roundings[i], p.roundings[j]
	sum := c.x[i] + c.x[j]
	c.starts, c.values = c.starts[:0], c.values[:0]
	copy(c.lineDistances, c.distances)
	p.shiftDistances(c.lineDistances, int32(i), a.roundToStep(c.x[i], p.totalAmount), 0)
	p.shiftDistances(c.lineDistances, int32(j), b.roundToStep(c.x[j], p.totalAmount), 0)
	fromI, fromJ := int32(0), b.roundToStep(sum, p.totalAmount)
	p.shiftDistances(c.lineDistances, int32(j), 0, fromJ)
	mean := p.meanAtDistances(c.lineDistances)
	for k := int32(0); ; {
		c.starts = append(c.starts, k)
		c.values = append(c.values, p.scoreOfMean(mean))
		// Where i reaches its next step, and where j falls below its own.
		next := a.leastAmounts[fromI+1]
		if fromJ > 0 {
			next = min(next, sum-b.leastAmounts[fromJ]+1)
		}
		if next > sum {
			return c.starts, c.values
		}
		k = next
		toI, toJ := a.roundToStepFrom(fromI, k), b.roundToStepFrom(fromJ, sum-k)
		if toJ != fromJ {
			p.shiftDistances(c.lineDistances, int32(i), fromI, toI)
			mean = p.shiftDistancesAndMean(c.lineDistances, int32(j), fromJ, toJ)
		} else {
			mean = p.shiftDistancesAndMean(c.lineDistances, int32(i), fromI, toI)
		}
		fromI, fromJ = toI, toJ
	}
}
