package problem

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"

	"kir/fault"
	"kir/property"
)

// markowitz reads a property of return against risk.
func (l *loader) markowitz(n *node) (Property, error) {
	f, err := n.fields("markowitz", "returns", "covariance", "risk_aversion")
	if err != nil {
		return Property{}, err
	}
	for _, key := range []string{"returns", "covariance", "risk_aversion"} {
		if f[key] == nil {
			return Property{}, hint(n.errorf("markowitz has no %s", key), "write {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}")
		}
	}
	aversion, err := f["risk_aversion"].weight("the risk aversion")
	if err != nil {
		return Property{}, err
	}
	returns, err := l.returns(f["returns"])
	if err != nil {
		return Property{}, err
	}
	covariance, err := l.covariance(f["covariance"])
	if err != nil {
		return Property{}, err
	}
	p, err := property.NewMarkowitz(returns, covariance, aversion, l.problem.Total)
	if err != nil {
		return Property{}, n.blame(err)
	}
	var s settings
	s.keep(f, "returns", "covariance", "risk_aversion")
	return Property{About: fmt.Sprintf("return less %v times its variance", aversion), property: p, settings: yaml.MapSlice(s)}, nil
}

// returns reads the expected return of each ingredient: a CSV file with the
// columns name and return, or {attribute: expected}, a column of the
// ingredients.
func (l *loader) returns(n *node) ([]float64, error) {
	if n.kind == mapping {
		f, err := n.fields("returns", "attribute")
		if err != nil {
			return nil, err
		}
		if f["attribute"] == nil {
			return nil, hint(n.errorf("the returns name no attribute"), "write a CSV file, or {attribute: return}")
		}
		name, err := f["attribute"].str("the attribute")
		if err != nil {
			return nil, err
		}
		return l.attributeNumbers(f["attribute"], name)
	}
	t, err := l.readSheet(n, "the file of returns")
	if err != nil {
		return nil, err
	}
	column, err := t.column("return")
	if err != nil {
		return nil, err
	}
	at, err := match(t.file, l.problem.Ingredients, t.rows, "ingredients", func(k int, format string, args ...any) *fault.Error {
		return t.errorIn(k, -1, format, args...)
	})
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(at))
	for i, row := range at {
		values[i] = t.values[row][column]
	}
	return values, nil
}

// covariance reads a covariance of the ingredients, in their order: a CSV file
// with a row and a column for each.
func (l *loader) covariance(n *node) ([][]float64, error) {
	t, err := l.readSheet(n, "the file of the covariance")
	if err != nil {
		return nil, err
	}
	if len(t.rows) != len(t.columns) {
		return nil, hint(t.errorAt(1, 1, "the covariance is not square: it has %s and %s", fault.Count(len(t.rows), "row"), fault.Count(len(t.columns), "column")), "it needs a row and a column for each ingredient")
	}
	rows, err := match(t.file, l.problem.Ingredients, t.rows, "ingredients", func(k int, format string, args ...any) *fault.Error {
		return t.errorIn(k, -1, format, args...)
	})
	if err != nil {
		return nil, err
	}
	columns, err := match(t.file, l.problem.Ingredients, t.columns, "ingredients", func(k int, format string, args ...any) *fault.Error {
		return t.errorIn(-1, k, format, args...)
	})
	if err != nil {
		return nil, err
	}
	c := make([][]float64, len(rows))
	for i, row := range rows {
		c[i] = make([]float64, len(columns))
		for j, column := range columns {
			c[i][j] = t.values[row][column]
		}
	}
	if err := property.CheckCovariance(c); err != nil {
		bad := (*property.CovarianceError)(nil)
		if !errors.As(err, &bad) {
			return nil, err
		}
		if bad.Row < 0 {
			return nil, hint(&fault.Error{File: t.file, Message: bad.Reason}, "estimate it from more observations than ingredients, shrink it, or write more digits")
		}
		return nil, t.errorIn(rows[bad.Row], columns[bad.Column], "%s", bad.Reason)
	}
	return c, nil
}
