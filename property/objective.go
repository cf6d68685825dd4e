package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// Toward is a desirability that rises, or falls, from 0 at the worst value to 1 at the best:
//
//	d = ((v − worst)/(best − worst))^shape, 0 beyond the worst
//
// It goes on rising beyond the best, which thus need not be known exactly. Where best and worst are
// the same, d is 1.
func Toward(worst, best, shape float64) (*Desirability, error) {
	if err := checkFinite("end", []float64{worst, best}); err != nil {
		return nil, err
	}
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	if math.IsInf(best-worst, 0) {
		return nil, fmt.Errorf("%v and %v are further apart than can be computed", worst, best)
	}
	if worst == best {
		return newDesirability(func(float64) float64 { return 0 }, best, zeroSlope), nil
	}
	d := newDesirability(func(v float64) float64 {
		if part := (v - worst) / (best - worst); part > 0 {
			return float64(shape * portable.Log(part))
		}
		return math.Inf(-1)
	}, math.Inf(int(math.Copysign(1, best-worst))), func(v float64) float64 { return shape / (v - worst) })
	if best > worst {
		return d.withSupport(worst, math.Inf(1)), nil
	}
	return d.withSupport(math.Inf(-1), worst), nil
}

// Steep is exp(slope·v). A search with it finds the greatest or the least value.
func Steep(slope float64) *Desirability {
	return newDesirability(func(v float64) float64 { return float64(slope * v) }, math.Inf(int(math.Copysign(1, slope))), func(float64) float64 { return slope })
}

// As returns an expression whose score is the desirability of the formula's value.
func (e *Expression) As(d *Desirability) *Expression {
	of := *e
	of.d = d
	return &of
}

// A Side selects a statistic of a portfolio.
type Side int

const (
	Return     Side = iota // μᵀw
	Volatility             // √(wᵀΣw)
	Ratio                  // return over volatility
)

// A Portfolio is the desirability of a statistic of a portfolio. It takes constant time per split
// of a line.
type Portfolio struct {
	market *Markowitz
	side   Side
	d      *Desirability
}

var _ mcmc.LineProperty = (*Portfolio)(nil)

// As returns the desirability of a statistic of the portfolio.
func (m *Markowitz) As(side Side, d *Desirability) *Portfolio { return &Portfolio{m, side, d} }

// Side returns a statistic of a portfolio.
func (m *Markowitz) Side(side Side, x *mcmc.Composition) float64 {
	return m.sideOf(side, m.returns.value(x), m.risk(x))
}

func (m *Markowitz) sideOf(side Side, returns int64, risk int128) float64 {
	gain, spread := float64(float64(returns)*m.perReturn), math.Sqrt(max(float64(risk.float()*m.perUnit), 0))
	switch side {
	case Return:
		return gain
	case Volatility:
		return spread
	}
	return gain / spread // infinite without risk; the chains report such a score as an error
}

// Linear returns the return as a linear form, by units of each ingredient, and its desirability. It
// returns nothing for the other statistics.
func (p *Portfolio) Linear(int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	if p.side != Return {
		return nil, nil, 0, nil
	}
	for _, a := range p.market.returns.a {
		perUnit = append(perUnit, float64(float64(a)*p.market.perReturn))
	}
	return perUnit, nil, 0, p.d
}

// LogScore returns log y(x), in O(n²).
func (p *Portfolio) LogScore(x *mcmc.Composition) float64 { return p.d.log(p.market.Side(p.side, x)) }

// Scorer returns a scorer of x.
func (p *Portfolio) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &portfolioScorer{p, markowitzScorer{property: p.market, previousAmounts: previousAmounts{x: x}}}
}

type portfolioScorer struct {
	property *Portfolio
	base     markowitzScorer
}

func (s *portfolioScorer) Reset() { s.base.Reset() }

func (s *portfolioScorer) Moved(i, j int) { s.base.Moved(i, j) }

func (s *portfolioScorer) log(returns int64, risk int128) float64 {
	return s.property.d.log(s.base.property.sideOf(s.property.side, returns, risk))
}

func (s *portfolioScorer) LogScore() float64 { return s.log(s.base.returns, s.base.risk) }

func (s *portfolioScorer) Line(i, j int, p *mcmc.Pieces) {
	q := joiner{pieces: p}
	s.base.eachSplit(i, j, func(k int, returns int64, risk int128) { q.add(k, s.log(returns, risk)) })
}
