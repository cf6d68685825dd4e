package model

import (
	"fmt"
	"math"
)

// A ProcessScore is a function of the composition that states how well a process expects it to
// satisfy a [Want]. For a direction it is the position of the mean between the labels' least and
// greatest, below 0 and above 1 beyond them. For bounds it is the share within them of a normal law
// about the mean. The law's spread is that of held-out errors. A ProcessScore does not change, so
// that any number of goroutines may use it.
type ProcessScore struct {
	*Process
	want            Want
	least, greatest float64
	spread          float64
}

// Score returns the score of a want. The error says why the process cannot compute it.
func (p *Process) Score(w Want) (*ProcessScore, error) {
	s := &ProcessScore{Process: p, want: w}
	switch {
	case w.direction != 0:
		s.least, s.greatest = p.labels[0], p.labels[0]
		for _, y := range p.labels {
			s.least, s.greatest = min(s.least, y), max(s.greatest, y)
		}
		if w.scale[0] < w.scale[1] {
			s.least, s.greatest = w.scale[0], w.scale[1]
		}
		if s.least == s.greatest {
			return nil, fmt.Errorf("%q is %g in every row: there is nothing to make larger or smaller", p.label, s.least)
		}
	case !w.numerics:
		return nil, fmt.Errorf("%q is a number: ask for maximize, minimize, at least, at most or between, not for a class", p.label)
	case math.IsNaN(w.low) || math.IsNaN(w.high) || w.low > w.high || math.IsInf(w.low, 1) || math.IsInf(w.high, -1):
		return nil, fmt.Errorf("no number is between %g and %g", w.low, w.high)
	default:
		s.spread = p.heldOutSpread()
	}
	return s, nil
}

// heldOutSpread returns the root mean squared held-out error.
func (p *Process) heldOutSpread() float64 {
	squares := 0.0
	for r, k := range p.group {
		gap := p.labels[r] - p.heldOutMean[k]
		squares += float64(gap * gap)
	}
	return math.Sqrt(squares / float64(p.rows))
}

// scoreOfMean returns the score of a mean.
func (s *ProcessScore) scoreOfMean(mean float64) float64 {
	switch {
	case s.want.direction > 0:
		return (mean - s.least) / (s.greatest - s.least)
	case s.want.direction < 0:
		return (s.greatest - mean) / (s.greatest - s.least)
	case s.spread == 0:
		return indicator(s.want.low <= mean && mean <= s.want.high)
	}
	share := 1.0
	if !math.IsInf(s.want.high, 1) {
		share = normalShare((s.want.high - mean) / s.spread)
	}
	if !math.IsInf(s.want.low, -1) {
		share -= normalShare((s.want.low - mean) / s.spread)
	}
	return max(0, share)
}

// At returns the score at the composition x. used lists the ingredients with a positive amount, in
// any order.
func (s *ProcessScore) At(x, used []int32) float64 {
	d, ok := s.points.Get().(*[]int64)
	if !ok {
		fresh := make([]int64, len(s.known))
		d = &fresh
	}
	s.distancesAt(x, used, *d)
	value := s.scoreOfMean(s.mean(*d))
	s.points.Put(d)
	return value
}

// distancesAt writes the squared distances of a composition to the known ones.
func (p *Process) distancesAt(x, used []int32, to []int64) {
	copy(to, p.empty)
	for _, i := range used {
		p.shiftDistances(to, i, 0, p.grid[i].step(x[i], p.totalOf(i)))
	}
}

// A ProcessScorer keeps the score of one moving composition, and scores the lines through it. It is
// the working memory of one chain: several goroutines must not use it at once. Its scores of a line
// equal, bit for bit, those of [ProcessScore.At] at the points: distances are whole numbers, and
// the sum over the known compositions has one order.
type ProcessScorer struct {
	score    *ProcessScore
	x        []int32
	used     []int32
	distance []int64
	value    float64

	base   []int64
	starts []int32
	values []float64
}

// NewScorer returns a scorer. Call [ProcessScorer.Reset] to begin.
func (s *ProcessScore) NewScorer() *ProcessScorer {
	return &ProcessScorer{score: s, x: make([]int32, len(s.ingredients)), distance: make([]int64, len(s.known)), base: make([]int64, len(s.known))}
}

// Reset moves to the dense composition x. Used are the ingredients with a positive
// amount, in any order; both slices are only read.
func (c *ProcessScorer) Reset(x, used []int32) {
	for _, i := range c.used {
		c.x[i] = 0
	}
	c.used = append(c.used[:0], used...)
	for _, i := range used {
		c.x[i] = x[i]
	}
	c.score.distancesAt(c.x, used, c.distance)
	c.value = c.score.scoreOfMean(c.score.mean(c.distance))
}

// Value returns the score of the current composition.
func (c *ProcessScorer) Value() float64 { return c.value }

// Set moves to the composition in which ingredient i has amount xi and ingredient j has
// amount xj, the others as they are.
func (c *ProcessScorer) Set(i int, xi int32, j int, xj int32) {
	moved := c.assign(int32(i), xi)
	if c.assign(int32(j), xj) || moved {
		c.value = c.score.scoreOfMean(c.score.mean(c.distance))
	}
}

// assign sets one amount and reports whether that changes distances.
func (c *ProcessScorer) assign(i, amount int32) bool {
	p := c.score
	was := c.x[i]
	if was == amount {
		return false
	}
	if was == 0 {
		c.used = append(c.used, i)
	}
	c.x[i] = amount
	if amount == 0 {
		for k, u := range c.used {
			if u == i {
				c.used[k] = c.used[len(c.used)-1]
				c.used = c.used[:len(c.used)-1]
				break
			}
		}
	}
	from, to := p.grid[i].step(was, p.totalOf(i)), p.grid[i].step(amount, p.totalOf(i))
	p.shiftDistances(c.distance, i, from, to)
	return from != to
}

// Line scores the compositions in which ingredients i ≠ j share their current sum
// s = x_i + x_j as (k, s−k), k = 0, …, s: the score is values[p] for k in
// [starts[p], starts[p+1]), where starts[0] is 0 and after the last piece comes s+1.
// The slices are valid until the next call.
func (c *ProcessScorer) Line(i, j int) (starts []int32, values []float64) {
	p := c.score
	a, b := p.grid[i], p.grid[j]
	sum := c.x[i] + c.x[j]
	c.starts, c.values = c.starts[:0], c.values[:0]
	copy(c.base, c.distance)
	p.shiftDistances(c.base, int32(i), a.step(c.x[i], p.total), 0)
	p.shiftDistances(c.base, int32(j), b.step(c.x[j], p.total), 0)
	fromI, fromJ := int32(0), b.step(sum, p.total)
	p.shiftDistances(c.base, int32(j), 0, fromJ)
	mean := p.mean(c.base)
	for k := int32(0); ; {
		c.starts = append(c.starts, k)
		c.values = append(c.values, p.scoreOfMean(mean))
		// Where i reaches its next step, and where j falls below its own.
		next := a.firsts[fromI+1]
		if fromJ > 0 {
			next = min(next, sum-b.firsts[fromJ]+1)
		}
		if next > sum {
			return c.starts, c.values
		}
		k = next
		toI, toJ := a.stepFrom(fromI, k), b.stepFrom(fromJ, sum-k)
		if toJ != fromJ {
			p.shiftDistances(c.base, int32(i), fromI, toI)
			mean = p.shiftMean(c.base, int32(j), fromJ, toJ)
		} else {
			mean = p.shiftMean(c.base, int32(i), fromI, toI)
		}
		fromI, fromJ = toI, toJ
	}
}
