package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// UncappedRamp returns a desirability d(v) that increases as a power, from 0 at the number worst to 1 at the
// number best, and above 1 beyond best:
//
//	d = ((v − worst)/(best − worst))^shape, 0 beyond worst
//
// best may be below worst. best need not be known exactly, because d does not stop at 1. If best equals worst,
// d is 1 everywhere.
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

// Exponential returns the desirability exp(slope·v) of a number v. A search that maximises it finds the
// greatest v, or the least v if slope is below 0.
func Exponential(slope float64) *Desirability {
	return newDesirability(func(v float64) float64 { return float64(slope * v) }, math.Inf(int(math.Copysign(1, slope))), func(float64) float64 { return slope })
}

// WithDesirability returns an expression with the same formula. Its score is the given desirability of the
// value of the formula.
func (e *Expression) WithDesirability(desirability *Desirability) *Expression {
	of := *e
	of.desirability = desirability
	return &of
}

// A PortfolioStatistic selects a statistic of a portfolio, such as its volatility.
type PortfolioStatistic int

const (
	Return             PortfolioStatistic = iota // expected return μᵀw, where w is the shares and μ the expected returns
	Volatility                                   // standard deviation of the return, √(wᵀΣw), where Σ is the covariance
	ReturnToVolatility                           // expected return divided by volatility
)

// A Portfolio scores a portfolio by the desirability of one statistic: the return, the volatility, or the ratio
// of the two. Scoring one division of the joint amount of two ingredients takes constant time.
type Portfolio struct {
	markowitz    *Markowitz
	statistic    PortfolioStatistic
	desirability *Desirability
}

var _ mcmc.LineProperty = (*Portfolio)(nil)

// NewPortfolio returns the property that scores a portfolio by the desirability d of one statistic.
func (m *Markowitz) NewPortfolio(statistic PortfolioStatistic, d *Desirability) *Portfolio {
	return &Portfolio{m, statistic, d}
}

// Statistic returns the value of a statistic for the portfolio x.
func (m *Markowitz) Statistic(statistic PortfolioStatistic, x *mcmc.Composition) float64 {
	return m.statisticOf(statistic, m.returnForm.scaledValue(x), m.integerRisk(x))
}

func (m *Markowitz) statisticOf(statistic PortfolioStatistic, returns int64, risk int128) float64 {
	gain, spread := float64(float64(returns)*m.returnFactor), math.Sqrt(max(float64(risk.toFloat64()*m.varianceFactor), 0))
	switch statistic {
	case Return:
		return gain
	case Volatility:
		return spread
	}
	return gain / spread // a ratio is infinite if the volatility is 0; chains report infinite scores as errors
}

// Linear returns the expected return as Σ perUnit_i·x_i, where x_i is the units of ingredient i, and the
// desirability of the return. If the property scores the volatility or the ratio, which are not linear, all
// results are nil or 0.
func (p *Portfolio) Linear(int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	if p.statistic != Return {
		return nil, nil, 0, nil
	}
	for _, a := range p.markowitz.returnForm.coefficients {
		perUnit = append(perUnit, float64(float64(a)*p.markowitz.returnFactor))
	}
	return perUnit, nil, 0, p.desirability
}

// LogScore returns the natural logarithm of the score of the portfolio x, in O(n²) time for n used ingredients.
func (p *Portfolio) LogScore(x *mcmc.Composition) float64 {
	return p.desirability.logDesirability(p.markowitz.Statistic(p.statistic, x))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (p *Portfolio) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &portfolioScorer{p, markowitzScorer{property: p.markowitz, previousAmounts: previousAmounts{x: x}}}
}

type portfolioScorer struct {
	property        *Portfolio
	markowitzScorer markowitzScorer
}

func (s *portfolioScorer) Reset() { s.markowitzScorer.Reset() }

func (s *portfolioScorer) Moved(i, j int) { s.markowitzScorer.Moved(i, j) }

func (s *portfolioScorer) logScoreFrom(returns int64, risk int128) float64 {
	return s.property.desirability.logDesirability(s.markowitzScorer.property.statisticOf(s.property.statistic, returns, risk))
}

func (s *portfolioScorer) LogScore() float64 {
	return s.logScoreFrom(s.markowitzScorer.integerReturn, s.markowitzScorer.integerRisk)
}

func (s *portfolioScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	q := pieceJoiner{pieces: p}
	s.markowitzScorer.forEachSplit(i, j, func(k int, returns int64, risk int128) { q.add(k, s.logScoreFrom(returns, risk)) })
}
