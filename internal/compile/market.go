package compile

import (
	"context"
	"errors"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/property"
)

// A market has the expected returns of the ingredients and the covariance of the returns.
type market struct {
	expectedReturns []float64   // item i is the expected return of ingredient i
	covariance      [][]float64 // item [i][j] is the covariance of the returns of ingredients i and j

	// historyKind is the kind of the table of prices or returns over time from which the market was estimated.
	// The four history fields are set only if there is such a table.
	historyKind        assetstats.Kind
	historyKindWord    string  // word for historyKind in the problem file, under the key "as"
	periodsPerYear     float64 // number of rows of the history in a year
	historyDescription string  // description of the history in messages
}

// newMarket returns the market of a portfolio. It reads expected returns and a covariance from the problem
// file, or estimates both from prices or returns over time.
func newMarket(ctx context.Context, s *readContext, v *config.Markowitz, n *yaml.Node) (*market, error) {
	if v.Covariance == nil {
		return estimateMarket(ctx, s, v, n)
	}
	returns, err := expectedReturns(ctx, s, &v.Returns)
	if err != nil {
		return nil, err
	}
	covariance, err := readCovariance(ctx, s, v.Covariance)
	return &market{expectedReturns: returns, covariance: covariance}, err
}

// expectedReturns returns the expected return of each ingredient. It reads an attribute of the ingredients,
// or a CSV file with the columns name and return.
func expectedReturns(ctx context.Context, s *readContext, r *config.Returns) ([]float64, error) {
	if r.Attribute.Node != nil {
		return s.AttributeNumbers(r.Attribute.Node, r.Attribute.Value)
	}
	t, err := s.ReadSheet(ctx, r.File, "the file of returns")
	if err != nil {
		return nil, err
	}
	column, err := t.Column("return")
	if err != nil {
		return nil, err
	}
	at, err := t.RowsOf(s.IngredientNames)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(at))
	for i, row := range at {
		values[i] = t.Values[row][column]
	}
	return values, nil
}

// readCovariance reads the covariance matrix of the returns from a CSV file with a row and a column for each
// ingredient. The rows and columns of the result are in the order of the ingredients.
func readCovariance(ctx context.Context, s *readContext, n *yaml.Node) ([][]float64, error) {
	t, err := s.ReadSheet(ctx, n, "the file of the covariance")
	if err != nil {
		return nil, err
	}
	if len(t.Rows) != len(t.Columns) {
		return nil, yaml.Hint(t.ErrorAt(-1, -1, "the covariance is not square: it has %s and %s", inputerr.Count(len(t.Rows), "row"), inputerr.Count(len(t.Columns), "column")), "it needs a row and a column for each ingredient")
	}
	rows, err := t.RowsOf(s.IngredientNames)
	if err != nil {
		return nil, err
	}
	columns, err := t.ColumnsOf(s.IngredientNames)
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
			return nil, yaml.Hint(&inputerr.Error{File: t.File, Message: bad.Reason}, "estimate it from more observations than ingredients, shrink it, or write more digits")
		}
		return nil, t.ErrorAt(rows[bad.Row], columns[bad.Column], "%s", bad.Reason)
	}
	return c, nil
}
