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

// defaultAversion is the default risk aversion a.
const defaultAversion = 1.5

var markowitzKind = propertyKind{
	PropertyKind:     config.MarkowitzKind,
	compile:          compileAs(compileMarkowitz),
	scoresEverySplit: scoresAnySplit,
}

// compileMarkowitz makes a property of return against risk.
func compileMarkowitz(ctx context.Context, s *readContext, v *config.Markowitz, n *yaml.Node) (Property, error) {
	m, err := newMarket(ctx, s, v, n)
	if err != nil {
		return Property{}, err
	}
	aversion := v.RiskAversion.Or(defaultAversion)
	p, err := property.NewMarkowitz(m.returns, m.covariance, aversion, s.Total)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	hasFigure := v.Maximize.At != nil || v.Minimize.At != nil
	if hasFigure && v.RiskAversion.At != nil || v.Maximize.At != nil && v.Minimize.At != nil {
		return Property{}, yaml.Hint(n.Errorf("markowitz has one of risk_aversion, maximize and minimize"), "write a property for each")
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "returns", "covariance", "risk_aversion", "maximize", "minimize")
	if v.RiskAversion.At == nil && !hasFigure {
		resolved.Set("risk_aversion", aversion)
	}
	if m.kind != assetstats.Guess {
		resolved.Set("as", m.word)
		resolved.Set("periods", m.periods)
	}
	if !hasFigure {
		objectives, err := marketObjectives(p)
		return Property{About: fmt.Sprintf("return less %v times its variance%s", aversion, m.source), Figures: marketFigures(p), figureObjectives: objectives, property: p, resolved: resolved}, err
	}
	figure, err := figureProperty(ctx, s, n, p, v, m.source)
	figure.resolved = resolved
	return figure, err
}

// figureProperty returns the property of the figure of a portfolio that v maximises or minimises. source
// describes where the market is from.
func figureProperty(ctx context.Context, s *readContext, n *yaml.Node, p *property.Markowitz, v *config.Markowitz, source string) (Property, error) {
	word := v.Maximize.Value
	if v.Minimize.At != nil {
		word = v.Minimize.Value
	}
	side := portfolioStatistics()[word]
	l := statisticScale(p, side)
	d, words, err := l.extremeDesirability(ctx, s, n, l.unit, v.Objective())
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) float64 { return float64(l.scale * p.Statistic(side, x)) }
	return Property{About: word + source + ": " + words, Value: value, Unit: l.unit, property: p.As(side, d), valueScale: l.withSlack()}, nil
}

// statisticScale returns the value scale of a figure of a portfolio, without its width.
func statisticScale(p *property.Markowitz, side property.Statistic) *valueScale {
	l := &valueScale{
		value:      func(x *mcmc.Composition) float64 { return p.Statistic(side, x) },
		asProperty: func(d *property.Desirability) (mcmc.Property, error) { return p.As(side, d), nil },
		scale:      100, valueName: returnWords, unit: "%", notation: asPercent,
	}
	switch side {
	case property.Volatility:
		l.valueName = volatilityWords
	case property.Ratio:
		l.scale, l.valueName, l.unit, l.notation = 1, ratioWords, "", asNumber
	}
	return l
}

// portfolioStatistics returns the figures of a portfolio by the words after maximize and minimize.
func portfolioStatistics() map[string]property.Statistic {
	return map[string]property.Statistic{"return": property.Return, "volatility": property.Volatility, "ratio": property.Ratio}
}

// marketFigures returns the figures of a portfolio: return, volatility and their ratio.
func marketFigures(p *property.Markowitz) []Figure {
	volatility := func(x *mcmc.Composition) float64 { return math.Sqrt(max(p.Risk(x), 0)) }
	return []Figure{
		{Name: "return", Percent: true, Of: p.Return},
		{Name: "volatility", Percent: true, Of: volatility},
		{Name: "return/volatility", Of: func(x *mcmc.Composition) float64 { return p.Return(x) / volatility(x) }},
	}
}

// marketObjectives returns the figures of a portfolio as objectives of a trade-off.
func marketObjectives(p *property.Markowitz) (all []Objective, err error) {
	for k, side := range []property.Statistic{property.Return, property.Volatility, property.Ratio} {
		l, direction := statisticScale(p, side), config.Maximize
		if side == property.Volatility {
			direction = config.Minimize
		}
		o := Objective{Objective: search.Objective{Name: marketFigures(p)[k].Name}, Figure: k, Unit: l.unit}
		if err := o.compile(l, direction, 0, 0); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
