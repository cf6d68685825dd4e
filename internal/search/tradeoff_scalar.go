package search

import (
	"math"

	"kir/mcmc"
)

// A scalarization combines several losses into one score, called the combined score, which walks maximise:
//
//	−max_k weight_k·(loss_k − corner_k) − ρ·Σ_k scale_k·(loss_k − corner_k)
//
// ρ is small. The sum breaks ties: a composition with the greatest score is then also one that no other
// composition beats in every loss. Each walk has its own corner and weights.
type scalarization struct {
	objectives           []Objective
	corner               []float64
	weights              []float64
	scales               []float64
	conditionValueCounts []int         // item c is the number of values of condition c
	recordsLastScorer    bool          // whether Scorer stores its result in lastScorer; only one goroutine may then use the scalarization
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

// LogScore returns the combined score of the composition x.
func (c *scalarization) LogScore(x *mcmc.Composition) float64 {
	losses := make([]float64, len(c.objectives))
	for d := range losses {
		losses[d] = c.objectives[d].Loss(x)
	}
	return c.combineLosses(losses)
}

// Scorer returns a [scalarScorer] for the composition x, which may change later.
func (c *scalarization) Scorer(x *mcmc.Composition) mcmc.Scorer {
	s := &scalarScorer{scalarization: c, x: x, lossPieces: make([]mcmc.PiecewiseConstant, len(c.objectives)), losses: make([]float64, len(c.objectives))}
	for _, o := range c.objectives {
		s.scorers = append(s.scorers, scorerOf(o.Score, x))
	}
	if c.recordsLastScorer {
		c.lastScorer = s
	}
	return s
}

// A scalarScorer scores compositions by a [scalarization]. To score a line (see [mcmc.Scorer]), it computes all
// losses on the line and keeps them.
type scalarScorer struct {
	scalarization *scalarization
	x             *mcmc.Composition
	scorers       []mcmc.Scorer
	lossPieces    []mcmc.PiecewiseConstant
	losses        []float64

	pieceFirstSplits []int     // item q is the first split of piece q of the latest scored line; a piece is a range of splits in which all losses are constant
	pieceLosses      []float64 // all losses of the first piece of the latest scored line, then of the second, and so on
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

// Line adds to p the combined scores of all divisions of the joint amount of ingredients i and j, as pieces on
// which all losses are constant.
func (s *scalarScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	for d, of := range s.scorers {
		s.lossPieces[d].Reset()
		of.Line(i, j, &s.lossPieces[d])
	}
	s.joinPieces(p)
}

// Values adds to p the combined score of the composition with each value of condition c.
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

// scoreValues adds to p the log score of each value of condition c by one property. It is for properties whose
// scorers cannot score all values at once.
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

// joinPieces divides the line that was scored last into ranges of splits, called pieces, on which all losses
// are constant. It adds the combined score of each piece to p, and keeps the losses of the pieces.
func (s *scalarScorer) joinPieces(p *mcmc.PiecewiseConstant) {
	s.pieceFirstSplits, s.pieceLosses = s.pieceFirstSplits[:0], s.pieceLosses[:0]
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
		s.pieceFirstSplits = append(s.pieceFirstSplits, at)
		s.pieceLosses = append(s.pieceLosses, s.losses...)
		p.Add(at, s.scalarization.combineLosses(s.losses))
		if following < 0 {
			return
		}
		at = following
	}
}

// lossesOfPiece returns the losses of the piece with index q; see [scalarScorer.joinPieces].
func (s *scalarScorer) lossesOfPiece(q int) []float64 {
	m := len(s.losses)
	return s.pieceLosses[q*m : (q+1)*m]
}

// scorerOf returns a scorer of the property p for the composition x, which may change later. If p has no
// scorers of its own, the result is a [pointwiseScorer].
func scorerOf(p mcmc.Property, x *mcmc.Composition) mcmc.Scorer {
	if of, ok := p.(mcmc.LineProperty); ok {
		return of.Scorer(x)
	}
	return &pointwiseScorer{p, x, x.Clone()}
}

// A pointwiseScorer scores a line (see [mcmc.Scorer]) by scoring each composition on the line separately.
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
