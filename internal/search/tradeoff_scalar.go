package search

import (
	"math"

	"kir/mcmc"
)

// A scalarization combines losses into one score to maximise:
//
//	−max_k weight_k·(loss_k − corner_k) − ρ·Σ_k scale_k·(loss_k − corner_k)
//
// The sum breaks ties, so that no composition beats the composition of greatest score. A walker changes the corner
// and the weights from walk to walk.
type scalarization struct {
	objectives           []Objective
	corner               []float64
	weights              []float64
	scales               []float64
	conditionValueCounts []int         // by condition: the number of its values
	recordsLast          bool          // whether Scorer records its result in lastScorer; only one goroutine may then use the scalarization
	lastScorer           *scalarScorer // the scorer that the latest call of Scorer returned
}

// tieBreakWeight is ρ in the formula of [scalarization].
const tieBreakWeight = 1e-3

func (c *scalarization) combineLosses(losses []float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for d, v := range losses {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.Inf(-1) // a composition with a loss that is not finite is never chosen
		}
		v -= c.corner[d]
		if w := c.weights[d]; w > 0 {
			most = max(most, float64(w*v))
		}
		sum += float64(c.scales[d] * v)
	}
	return -most - float64(tieBreakWeight*sum)
}

// LogScore returns the combined score of the losses of x.
func (c *scalarization) LogScore(x *mcmc.Composition) float64 {
	losses := make([]float64, len(c.objectives))
	for d := range losses {
		losses[d] = c.objectives[d].Loss(x)
	}
	return c.combineLosses(losses)
}

// Scorer returns a [scalarScorer] that follows the composition x.
func (c *scalarization) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &scalarScorer{scalarization: c, x: x, lossPieces: make([]mcmc.PiecewiseConstant, len(c.objectives)), losses: make([]float64, len(c.objectives))}
	for _, o := range c.objectives {
		s.scorers = append(s.scorers, scorerOf(o.Score, x))
	}
	if c.recordsLast {
		c.lastScorer = s
	}
	return s
}

// A scalarScorer computes all losses on a line and their combined score. It keeps the losses of the latest line.
type scalarScorer struct {
	scalarization *scalarization
	x             *mcmc.Composition
	scorers       []mcmc.Scorer
	lossPieces    []mcmc.PiecewiseConstant
	losses        []float64

	pieceStarts []int     // first split of each piece of the latest line
	pieceLosses []float64 // losses of each piece of the latest line, one piece after the other
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
	return s.scalarization.combineLosses(s.losses)
}

// Line divides the line of i and j into pieces on which all losses are constant, and adds the combined score of
// each piece to p.
func (s *scalarScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	for d, of := range s.scorers {
		s.lossPieces[d].Reset()
		of.Line(i, j, &s.lossPieces[d])
	}
	s.joinPieces(p)
}

// Values adds the combined score of each value of condition c to p.
func (s *scalarScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	for d, of := range s.scorers {
		s.lossPieces[d].Reset()
		if all, ok := of.(mcmc.ConditionScorer); ok {
			all.Values(c, &s.lossPieces[d])
		} else {
			s.scoreValues(s.scalarization.objectives[d].Score, c, &s.lossPieces[d])
		}
	}
	s.joinPieces(p)
}

// scoreValues scores the values of condition c one by one, for a property that cannot score all values at once.
func (s *scalarScorer) scoreValues(property mcmc.Property, c int, p *mcmc.PiecewiseConstant) {
	y := s.x.Clone()
	for v := range s.scalarization.conditionValueCounts[c] {
		score := math.NaN()
		if y.SetCondition(c, v) == nil {
			score = property.LogScore(y)
		}
		p.Add(v, score)
	}
}

// ConditionSet updates the scorers of all losses after the value of condition c has changed.
func (s *scalarScorer) ConditionSet(c int) {
	for _, of := range s.scorers {
		if all, ok := of.(mcmc.ConditionScorer); ok {
			all.ConditionSet(c)
		} else {
			of.Reset()
		}
	}
}

// joinPieces divides the latest line into pieces on which all losses are constant, and adds the combined score of
// each piece to p. It keeps the losses of the pieces.
func (s *scalarScorer) joinPieces(p *mcmc.PiecewiseConstant) {
	s.pieceStarts, s.pieceLosses = s.pieceStarts[:0], s.pieceLosses[:0]
	var next [4]int // next piece of each loss; a trade-off has at most four losses
	for at := 0; ; {
		following := -1
		for d := range s.lossPieces {
			line := &s.lossPieces[d]
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
		s.pieceStarts = append(s.pieceStarts, at)
		s.pieceLosses = append(s.pieceLosses, s.losses...)
		p.Add(at, s.scalarization.combineLosses(s.losses))
		if following < 0 {
			return
		}
		at = following
	}
}

// lossesOfPiece returns the losses of the piece of the latest line with index q.
func (s *scalarScorer) lossesOfPiece(q int) []float64 {
	m := len(s.losses)
	return s.pieceLosses[q*m : (q+1)*m]
}

// scorerOf returns a scorer of the property p that follows x. If p cannot score lines, the scorer scores each
// composition of a line by itself.
func scorerOf(p mcmc.Property, x *mcmc.Composition) mcmc.Scorer {
	if of, ok := p.(mcmc.LineProperty); ok {
		return of.Scorer(x)
	}
	return &pointwiseScorer{p, x, x.Clone()}
}

// A pointwiseScorer scores each composition of a line by itself.
type pointwiseScorer struct {
	property mcmc.Property
	x        *mcmc.Composition
	scratch  *mcmc.Composition
}

func (s *pointwiseScorer) Reset()            {}
func (s *pointwiseScorer) Moved(_, _ int)    {}
func (s *pointwiseScorer) LogScore() float64 { return s.property.LogScore(s.x) }

func (s *pointwiseScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
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
