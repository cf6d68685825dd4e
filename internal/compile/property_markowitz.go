package compile

import (
	"context"
	"fmt"
	"math"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/search"
	"kir/mcmc"
	"kir/property"
)

// defaultRiskAversion is the default risk aversion, that is, the factor of the variance of a portfolio in its
// score.
const defaultRiskAversion = 1.5

// markowitzKind is the kind of property that scores the return and the risk of a portfolio.
var markowitzKind = propertyKind{
	PropertyKind:     config.MarkowitzKind,
	compile:          withValueType(compileMarkowitz),
	scoresEverySplit: alwaysScoresEverySplit,
}

// compileMarkowitz makes a property that scores a portfolio by its return and its risk.
func compileMarkowitz(ctx context.Context, s *readContext, v *config.Markowitz, n *yaml.Node) (Property, error) {
	m, err := newMarket(ctx, s, v, n)
	if err != nil {
		return Property{}, err
	}
	aversion := v.RiskAversion.Or(defaultRiskAversion)
	p, err := property.NewMarkowitz(m.expectedReturns, m.covariance, aversion, s.Total)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	hasFigure := v.Maximize.Node != nil || v.Minimize.Node != nil
	if hasFigure && v.RiskAversion.Node != nil || v.Maximize.Node != nil && v.Minimize.Node != nil {
		return Property{}, yaml.Hint(n.Errorf("markowitz has one of risk_aversion, maximize and minimize"), "write a property for each")
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "returns", "covariance", "risk_aversion", "maximize", "minimize")
	if v.RiskAversion.Node == nil && !hasFigure {
		resolved.Set("risk_aversion", aversion)
	}
	if m.historyKind != assetstats.GuessKind {
		resolved.Set("as", m.historyKindWord)
		resolved.Set("periods", m.periodsPerYear)
	}
	if !hasFigure {
		objectives, err := portfolioObjectives(p)
		return Property{About: fmt.Sprintf("return minus %v × its variance%s", aversion, m.historyDescription), Figures: portfolioFigures(p), figureObjectives: objectives, mcmcProperty: p, resolvedValue: resolved}, err
	}
	figure, err := statisticProperty(ctx, s, n, p, v, m.historyDescription)
	figure.resolvedValue = resolved
	return figure, err
}

// statisticProperty returns a property that scores the return, the volatility or the ratio of a portfolio. The
// value v tells which of them is maximised or minimised. The parameter source describes where the market data
// are from.
func statisticProperty(ctx context.Context, s *readContext, n *yaml.Node, p *property.Markowitz, v *config.Markowitz, source string) (Property, error) {
	word := v.Maximize.Value
	if v.Minimize.Node != nil {
		word = v.Minimize.Value
	}
	side := statisticsByWord()[word]
	l := statisticValueScale(p, side)
	d, words, err := l.extremeDesirability(ctx, s, n, l.shownUnit, v.Objective())
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) float64 { return float64(l.shownFactor * p.Statistic(side, x)) }
	return Property{About: word + source + ": " + words, Value: value, Unit: l.shownUnit, mcmcProperty: p.NewPortfolio(side, d), newValueScale: l.setRoundingError()}, nil
}

// statisticValueScale returns the value scale of a statistic of a portfolio. The caller must set typicalSpread.
func statisticValueScale(p *property.Markowitz, side property.PortfolioStatistic) *valueScale {
	l := &valueScale{
		scoredValue: func(x *mcmc.Composition) float64 { return p.Statistic(side, x) },
		asProperty:  func(d *property.Desirability) (mcmc.Property, error) { return p.NewPortfolio(side, d), nil },
		shownFactor: 100, valueName: yearReturnName, shownUnit: "%", notation: percentNotation,
	}
	switch side {
	case property.Volatility:
		l.valueName = yearVolatilityName
	case property.ReturnToVolatility:
		l.shownFactor, l.valueName, l.shownUnit, l.notation = 1, returnRatioName, "", numberNotation
	}
	return l
}

// statisticsByWord maps words to statistics of a portfolio. The words stand under maximize or minimize in a
// problem file.
func statisticsByWord() map[string]property.PortfolioStatistic {
	return map[string]property.PortfolioStatistic{"return": property.Return, "volatility": property.Volatility, "ratio": property.ReturnToVolatility}
}

// portfolioFigures returns three figures of a portfolio: return, volatility, and return divided by
// volatility.
func portfolioFigures(p *property.Markowitz) []Figure {
	volatility := func(x *mcmc.Composition) float64 { return math.Sqrt(max(p.Risk(x), 0)) }
	return []Figure{
		{Name: "return", Percent: true, ValueOf: p.Return},
		{Name: "volatility", Percent: true, ValueOf: volatility},
		{Name: "return/volatility", ValueOf: func(x *mcmc.Composition) float64 { return p.Return(x) / volatility(x) }},
	}
}

// portfolioObjectives returns the figures of [portfolioFigures] as objectives of a trade-off.
func portfolioObjectives(p *property.Markowitz) (all []Objective, err error) {
	for k, side := range []property.PortfolioStatistic{property.Return, property.Volatility, property.ReturnToVolatility} {
		l, direction := statisticValueScale(p, side), config.Maximize
		if side == property.Volatility {
			direction = config.Minimize
		}
		o := Objective{Objective: search.Objective{Name: portfolioFigures(p)[k].Name}, Figure: k, Unit: l.shownUnit}
		if err := o.setDirection(l, direction, 0, 0); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
