package problem

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/internal/returns"
	"kir/mcmc"
	"kir/property"
)

// defaultAversion is a where none is given.
const defaultAversion = 1.5

// readMarkowitz reads a property of return against risk.
func readMarkowitz(ctx context.Context, s *shelf, n *yaml.Node) (Property, error) {
	f, err := schema.Markowitz.Fields(n)
	if err != nil {
		return Property{}, err
	}
	if err := n.Require("markowitz", "write {returns: prices.csv, risk_aversion: 2}", "returns"); err != nil {
		return Property{}, err
	}
	aversion := defaultAversion
	if v := f["risk_aversion"]; v != nil {
		if aversion, err = v.Weight("the risk aversion"); err != nil {
			return Property{}, err
		}
	}
	m := &market{}
	if f["covariance"] == nil {
		m, err = s.history(ctx, n, f)
	} else {
		m, err = s.moments(ctx, f)
	}
	if err != nil {
		return Property{}, err
	}
	p, err := property.NewMarkowitz(m.returns, m.covariance, aversion, s.total)
	if err != nil {
		return Property{}, n.Blame(err)
	}
	side, goal, err := sideOf(n, f)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.Keep(n, "returns", "covariance", "risk_aversion", "maximize", "minimize")
	if f["risk_aversion"] == nil && goal == nil {
		resolved.Set("risk_aversion", aversion)
	}
	if m.kind != returns.Guess {
		resolved.Set("as", m.word)
		resolved.Set("periods", m.periods)
	}
	if goal == nil {
		return Property{About: fmt.Sprintf("return less %v times its variance%s", aversion, m.from), Figures: marketFigures(p), property: p, resolved: resolved}, nil
	}
	goal.value = func(x *mcmc.Composition) float64 { return p.Side(side, x) }
	goal.scored = func(d *property.Desirability) mcmc.Property { return p.As(side, d) }
	unit, scale := "%", 100.0
	if side == property.Ratio {
		unit, scale = "", 1
	}
	d, words, err := goal.desirability(ctx, s, n, unit, scale)
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) (float64, string) { return float64(scale * p.Side(side, x)), "" }
	return Property{
		About: sideWords()[side] + m.from + ": " + words, Value: value, Unit: unit, property: p.As(side, d), resolved: resolved,
		level: goalLevel(scale, goal.width(), goal.scored),
	}, nil
}

// sideWords are the sides of a portfolio as they stand behind maximize and minimize.
func sideWords() map[property.Side]string {
	return map[property.Side]string{property.Return: "return", property.Volatility: "volatility", property.Ratio: "ratio"}
}

// sideOf reads maximize: return, maximize: ratio or minimize: volatility; no objective where
// there is none of them.
func sideOf(n *yaml.Node, f map[string]*yaml.Node) (property.Side, *objective, error) {
	for _, c := range []struct {
		key   string
		sign  float64
		sides []property.Side
	}{{"maximize", 1, []property.Side{property.Return, property.Ratio}}, {"minimize", -1, []property.Side{property.Volatility}}} {
		v := f[c.key]
		if v == nil {
			continue
		}
		if f["risk_aversion"] != nil || f["maximize"] != nil && f["minimize"] != nil {
			return 0, nil, yaml.Hint(n.Errorf("markowitz has one of risk_aversion, maximize and minimize"), "write a property for each")
		}
		text, err := v.Str("what to " + c.key)
		if err != nil {
			return 0, nil, err
		}
		for _, side := range c.sides {
			if sideWords()[side] == text {
				return side, &objective{sign: c.sign, shape: 1, floor: objectiveFloor}, nil
			}
		}
		return 0, nil, yaml.Hint(v.Errorf("%s is %s", c.key, v.Shown()), "write maximize: return, maximize: ratio or minimize: volatility")
	}
	return 0, nil, nil
}

// A market is what is expected of the ingredients.
type market struct {
	returns    []float64
	covariance [][]float64

	// Of a history: what it holds, how many periods a year has, and both in words.
	kind    returns.Kind
	word    string // the kind as it stands behind as
	periods float64
	from    string
}

// marketFigures are what a portfolio has of both sides, and the one by the other.
func marketFigures(p *property.Markowitz) []Figure {
	volatility := func(x *mcmc.Composition) float64 { return math.Sqrt(max(p.Risk(x), 0)) }
	return []Figure{
		{Name: "return", Percent: true, Of: p.Return},
		{Name: "volatility", Percent: true, Of: volatility},
		{Name: "return/volatility", Of: func(x *mcmc.Composition) float64 { return p.Return(x) / volatility(x) }},
	}
}

// moments reads expected returns and a covariance as they are given.
func (s *shelf) moments(ctx context.Context, f map[string]*yaml.Node) (*market, error) {
	for _, key := range []string{"as", "periods"} {
		if v := f[key]; v != nil {
			return nil, yaml.Hint(v.Errorf("%s is of prices or returns over time, and the covariance is given", key), "remove one of the two")
		}
	}
	m := &market{}
	var err error
	if m.returns, err = readReturns(ctx, s, f["returns"]); err != nil {
		return nil, err
	}
	m.covariance, err = readCovariance(ctx, s, f["covariance"])
	return m, err
}

// readReturns reads the expected return of each ingredient: a CSV file with the
// columns name and return, or {attribute: expected}, a column of the
// ingredients.
func readReturns(ctx context.Context, s *shelf, n *yaml.Node) ([]float64, error) {
	if n.Kind == yaml.Mapping {
		f, err := schema.Returns.Fields(n)
		if err != nil {
			return nil, err
		}
		if f["attribute"] == nil {
			return nil, yaml.Hint(n.Errorf("the returns name no attribute"), "write a CSV file, or {attribute: return}")
		}
		name, err := f["attribute"].Str("the attribute")
		if err != nil {
			return nil, err
		}
		return s.attributeNumbers(f["attribute"], name)
	}
	t, err := s.sheet(ctx, n, "the file of returns")
	if err != nil {
		return nil, err
	}
	column, err := t.Column("return")
	if err != nil {
		return nil, err
	}
	at, err := t.RowsOf(s.names)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(at))
	for i, row := range at {
		values[i] = t.Values[row][column]
	}
	return values, nil
}

// readCovariance reads a covariance of the ingredients, in their order: a CSV file
// with a row and a column for each.
func readCovariance(ctx context.Context, s *shelf, n *yaml.Node) ([][]float64, error) {
	t, err := s.sheet(ctx, n, "the file of the covariance")
	if err != nil {
		return nil, err
	}
	if len(t.Rows) != len(t.Columns) {
		return nil, yaml.Hint(t.ErrorIn(-1, -1, "the covariance is not square: it has %s and %s", fault.Count(len(t.Rows), "row"), fault.Count(len(t.Columns), "column")), "it needs a row and a column for each ingredient")
	}
	rows, err := t.RowsOf(s.names)
	if err != nil {
		return nil, err
	}
	columns, err := t.ColumnsOf(s.names)
	if err != nil {
		return nil, err
	}
	c := make([][]float64, len(rows))
	for i, row := range rows {
		c[i] = make([]float64, len(columns))
		for j, column := range columns {
			c[i][j] = t.Values[row][column]
		}
	}
	if err := property.CheckCovariance(c); err != nil {
		bad := (*property.CovarianceError)(nil)
		if !errors.As(err, &bad) {
			return nil, err
		}
		if bad.Row < 0 {
			return nil, yaml.Hint(&fault.Error{File: t.File, Message: bad.Reason}, "estimate it from more observations than ingredients, shrink it, or write more digits")
		}
		return nil, t.ErrorIn(rows[bad.Row], columns[bad.Column], "%s", bad.Reason)
	}
	return c, nil
}
