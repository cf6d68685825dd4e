package problem

import (
	"context"
	"fmt"
	"math"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/yaml"
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
		return Property{About: fmt.Sprintf("return less %v times its variance%s", aversion, m.source), Figures: marketFigures(p), subObjectives: marketSubObjectives(p), property: p, resolved: resolved}, nil
	}
	word, o := v.Maximize.Value, &objective{sign: 1, shape: 1, floor: objectiveFloor}
	if v.Minimize.At != nil {
		word, o.sign = v.Minimize.Value, -1
	}
	figure, err := figureProperty(ctx, s, n, p, word, m.source, o)
	figure.resolved = resolved
	return figure, err
}

// figureProperty returns the property of one figure of a portfolio, which o maximises or minimises. word is
// the figure as the file has it, and source describes where the market is from.
func figureProperty(ctx context.Context, s *readContext, n *yaml.Node, p *property.Markowitz, word, source string, o *objective) (Property, error) {
	side := portfolioSides()[word]
	o.value = func(x *mcmc.Composition) float64 { return p.Side(side, x) }
	o.asProperty = func(d *property.Desirability) mcmc.Property { return p.As(side, d) }
	unit, scale := "%", 100.0
	of := valueScale{valueName: returnWords, unit: unit, notation: asPercent}
	switch side {
	case property.Volatility:
		of.valueName = volatilityWords
	case property.Ratio:
		unit, scale = "", 1
		of = valueScale{valueName: ratioWords}
	}
	d, words, err := o.desirability(ctx, s, n, unit, scale)
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) (float64, string) { return float64(scale * p.Side(side, x)), "" }
	return Property{
		About: word + source + ": " + words, Value: value, Unit: unit, property: p.As(side, d),
		valueScale: directedScale(of, scale, o.width(), o.value, o.asProperty),
	}, nil
}

// portfolioSides returns the figures of a portfolio by the words after maximize and minimize.
func portfolioSides() map[string]property.Side {
	return map[string]property.Side{"return": property.Return, "volatility": property.Volatility, "ratio": property.Ratio}
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

// marketSubObjectives returns the figures of a portfolio as objectives of a trade-off.
func marketSubObjectives(p *property.Markowitz) (sides []subObjective) {
	for figure, of := range []property.Side{property.Return, property.Volatility, property.Ratio} {
		s := subObjective{figure: figure, direction: valueDirection{direction: Maximize}}
		if of == property.Volatility {
			s.direction.direction = Minimize
		}
		s.scale = &valueScale{asProperty: func(d *property.Desirability) (mcmc.Property, error) { return p.As(of, d), nil }, scale: 100}
		if of == property.Ratio {
			s.scale.scale = 1
		}
		sides = append(sides, s)
	}
	return sides
}
