package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// UncappedRamp is the desirability that rises as a power from 0 at the value worst to 1 at the value best, and on beyond 1.
// best may be below worst:
//
// \td = ((v − worst)/(best − worst))^shape, 0 beyond the worst
//
// best need not be known exactly, because d does not stop at 1. If best equals worst, d is 1 everywhere.
func UncappedRamp(worst, best, shape float64) (*Desirability, error) {
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

// Exponential is the desirability exp(slope·v). A search that maximises it finds the greatest value v, or the least if
// slope is below 0.
func Exponential(slope float64) *Desirability {
	return newDesirability(func(v float64) float64 { return float64(slope * v) }, math.Inf(int(math.Copysign(1, slope))), func(float64) float64 { return slope })
}

// As returns an expression with the same formula, scored by the desirability d of the formula's value.
func (e *Expression) As(d *Desirability) *Expression {
	of := *e
	of.d = d
	return &of
}

// A Statistic selects a statistic of a portfolio.
type Statistic int

const (
	Return     Statistic = iota // expected return μᵀw
	Volatility                  // standard deviation of the return, √(wᵀΣw)
	Ratio                       // expected return divided by volatility
)

// A Portfolio is the desirability of the return, the volatility or their ratio of a portfolio. Each split of a line
// takes constant time.
type Portfolio struct {
	market    *Markowitz
	statistic Statistic
	d         *Desirability
}

var _ mcmc.LineProperty = (*Portfolio)(nil)

// As returns the property that scores a portfolio by the desirability d of one statistic.
func (m *Markowitz) As(statistic Statistic, d *Desirability) *Portfolio {
	return &Portfolio{m, statistic, d}
}

// Statistic returns the value of a statistic for the portfolio x.
func (m *Markowitz) Statistic(statistic Statistic, x *mcmc.Composition) float64 {
	return m.statisticOf(statistic, m.returns.value(x), m.risk(x))
}

func (m *Markowitz) statisticOf(statistic Statistic, returns int64, risk int128) float64 {
	gain, spread := float64(float64(returns)*m.perReturn), math.Sqrt(max(float64(risk.float()*m.perUnit), 0))
	switch statistic {
	case Return:
		return gain
	case Volatility:
		return spread
	}
	return gain / spread // a ratio is infinite if the volatility is 0; chains report infinite scores as errors
}

// Linear returns the expected return as Σ perUnit_i·x_i, and its desirability. For the other statistics, which are
// not linear, all results are nil or 0.
func (p *Portfolio) Linear(int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	if p.statistic != Return {
		return nil, nil, 0, nil
	}
	for _, a := range p.market.returns.a {
		perUnit = append(perUnit, float64(float64(a)*p.market.perReturn))
	}
	return perUnit, nil, 0, p.d
}

// LogScore returns log y(x), in O(n²).
func (p *Portfolio) LogScore(x *mcmc.Composition) float64 {
	return p.d.log(p.market.Statistic(p.statistic, x))
}

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
	return s.property.d.log(s.base.property.statisticOf(s.property.statistic, returns, risk))
}

func (s *portfolioScorer) LogScore() float64 { return s.log(s.base.returns, s.base.risk) }

func (s *portfolioScorer) Line(i, j int, p *mcmc.Pieces) {
	q := joiner{pieces: p}
	s.base.eachSplit(i, j, func(k int, returns int64, risk int128) { q.add(k, s.log(returns, risk)) })
}
