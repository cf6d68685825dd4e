package search

import (
	"math"

	"kir/mcmc"
)

// A scalarization combines losses into one score to maximise: −max_k w_k·(loss_k − at_k) − ρ·Σ_k
// s_k·(loss_k − at_k). The sum breaks ties, so that no composition beats the one of greatest score. The point at
// is the corner; a walker changes it and the weights from walk to walk.
type scalarization struct {
	objectives []Objective
	at         []float64
	weight     []float64
	scale      []float64
	values     []int         // number of values of each condition
	keepsLast  bool          // whether Scorer records its result in last, which only one goroutine may then use
	last       *scalarScorer // the scorer that Scorer returned last
}

// cornerShare is ρ in the formula of [scalarization].
const cornerShare = 1e-3

func (c *scalarization) score(losses []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for d, v := range losses {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.Inf(-1) // a composition with a loss that is not finite is never chosen
		}
		v -= c.at[d]
		if w := c.weight[d]; w > 0 {
			most = max(most, float64(w*v))
		}
		sum += float64(c.scale[d] * v)
	}
	return -most - float64(cornerShare*sum)
}

// LogScore returns the score that combines the losses of x.
func (c *scalarization) LogScore(x *mcmc.Composition) float64 {
	losses := make([]float64, len(c.objectives))
	for d := range losses {
		losses[d] = c.objectives[d].Loss(x)
	}
	return c.score(losses)
}

// Scorer returns a scalarScorer of x.
func (c *scalarization) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &scalarScorer{corner: c, x: x, lines: make([]mcmc.Pieces, len(c.objectives)), losses: make([]float64, len(c.objectives))}
	for _, o := range c.objectives {
		s.scorers = append(s.scorers, scorerOf(o.Score, x))
	}
	if c.keepsLast {
		c.last = s
	}
	return s
}

// A scalarScorer computes all losses along a line and their combined score. It keeps the losses of the latest line.
type scalarScorer struct {
	corner  *scalarization
	x       *mcmc.Composition
	scorers []mcmc.Scorer
	lines   []mcmc.Pieces
	losses  []float64

	starts  []int     // first split of each piece of the latest line
	vectors []float64 // losses of each piece of the latest line, one piece after the other
}

func (s *scalarScorer) Reset() {
	for _, of := range s.scorers {
		of.Reset()
	}
}

func (s *scalarScorer) Moved(i, j int) {
	for _, of := range s.scorers {
		of.Moved(i, j)
	}
}

// LogScore returns the combined score of the composition.
func (s *scalarScorer) LogScore() float64 {
	for d, of := range s.scorers {
		s.losses[d] = -of.LogScore()
	}
	return s.corner.score(s.losses)
}

// Line cuts the line wherever a loss changes, and adds the combined score of each piece to p.
func (s *scalarScorer) Line(i, j int, p *mcmc.Pieces) {
	for d, of := range s.scorers {
		s.lines[d].Reset()
		of.Line(i, j, &s.lines[d])
	}
	s.join(p)
}

// Values adds the combined score of each value of condition c to p.
func (s *scalarScorer) Values(c int, p *mcmc.Pieces) {
	for d, of := range s.scorers {
		s.lines[d].Reset()
		if all, ok := of.(mcmc.ConditionScorer); ok {
			all.Values(c, &s.lines[d])
		} else {
			s.scoreValues(s.corner.objectives[d].Score, c, &s.lines[d])
		}
	}
	s.join(p)
}

// scoreValues scores the values of condition c one by one, for a property that cannot score them together.
func (s *scalarScorer) scoreValues(property mcmc.Property, c int, p *mcmc.Pieces) {
	y := s.x.Clone()
	for v := range s.corner.values[c] {
		score := math.NaN()
		if y.SetCondition(c, v) == nil {
			score = property.LogScore(y)
		}
		p.Add(v, score)
	}
}

// ConditionSet updates the scorers of all losses after condition c has got a new value.
func (s *scalarScorer) ConditionSet(c int) {
	for _, of := range s.scorers {
		if all, ok := of.(mcmc.ConditionScorer); ok {
			all.ConditionSet(c)
		} else {
			of.Reset()
		}
	}
}

// join cuts the line wherever a loss changes and adds the combined score of each piece to p. It keeps the losses of
// the pieces.
func (s *scalarScorer) join(p *mcmc.Pieces) {
	s.starts, s.vectors = s.starts[:0], s.vectors[:0]
	var next [4]int // next piece of each loss; a trade-off has at most four losses
	for at := 0; ; {
		following := -1
		for d := range s.lines {
			line := &s.lines[d]
			for next[d] < line.Len() {
				start, value := line.Piece(next[d])
				if start > at {
					if following < 0 || start < following {
						following = start
					}
					break
				}
				s.losses[d] = -value
				next[d]++
			}
		}
		s.starts = append(s.starts, at)
		s.vectors = append(s.vectors, s.losses...)
		p.Add(at, s.corner.score(s.losses))
		if following < 0 {
			return
		}
		at = following
	}
}

// piece returns the losses of piece q of the latest line.
func (s *scalarScorer) piece(q int) []float64 {
	m := len(s.losses)
	return s.vectors[q*m : (q+1)*m]
}

// scorerOf returns a scorer of p for x. For a property that cannot score lines, it scores each split by itself.
func scorerOf(p mcmc.Property, x *mcmc.Composition) mcmc.Scorer {
	if of, ok := p.(mcmc.LineProperty); ok {
		return of.Scorer(x)
	}
	return &splitScorer{p, x, x.Clone()}
}

// A splitScorer scores each split of a line as a composition.
type splitScorer struct {
	property mcmc.Property
	x        *mcmc.Composition
	scratch  *mcmc.Composition
}

func (s *splitScorer) Reset()            {}
func (s *splitScorer) Moved(_, _ int)    {}
func (s *splitScorer) LogScore() float64 { return s.property.LogScore(s.x) }

func (s *splitScorer) Line(i, j int, p *mcmc.Pieces) {
	s.scratch.CopyFrom(s.x)
	sum := s.x.Amount(i) + s.x.Amount(j)
	for k := 0; k <= sum; k++ {
		if err := s.scratch.Move(i, j, k); err != nil {
			p.Add(k, math.NaN())
			continue
		}
		p.Add(k, s.property.LogScore(s.scratch))
	}
}
