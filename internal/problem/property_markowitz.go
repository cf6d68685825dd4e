package problem

import (
	"context"
	"errors"
	"fmt"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/property"
)

// readMarkowitz reads a property of return against risk.
func readMarkowitz(ctx context.Context, s *shelf, n *yaml.Node) (Property, error) {
	f, err := schema.Markowitz.Fields(n)
	if err != nil {
		return Property{}, err
	}
	if err := n.Require("markowitz", "write {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}", "returns", "covariance", "risk_aversion"); err != nil {
		return Property{}, err
	}
	aversion, err := f["risk_aversion"].Weight("the risk aversion")
	if err != nil {
		return Property{}, err
	}
	returns, err := readReturns(ctx, s, f["returns"])
	if err != nil {
		return Property{}, err
	}
	covariance, err := readCovariance(ctx, s, f["covariance"])
	if err != nil {
		return Property{}, err
	}
	p, err := property.NewMarkowitz(returns, covariance, aversion, s.total)
	if err != nil {
		return Property{}, n.Blame(err)
	}
	var resolved yaml.Map
	resolved.Keep(n, "returns", "covariance", "risk_aversion")
	return Property{About: fmt.Sprintf("return less %v times its variance", aversion), property: p, resolved: resolved}, nil
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
