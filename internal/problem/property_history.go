package problem

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"kir/internal/book"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/internal/returns"
)

// kindWords are what stands behind as: for each kind of history.
func kindWords() map[returns.Kind]string {
	return map[returns.Kind]string{returns.Prices: "prices", returns.Returns: "returns", returns.Percent: "percent"}
}

// marketOver makes expected returns and a covariance, a year's, from prices or returns over
// time, and warns of what it took them for.
func marketOver(ctx context.Context, s *shelf, n *yaml.Node, f fields) (*market, error) {
	at := f["returns"]
	if at.Kind == yaml.Mapping && at.Get("attribute") != nil {
		return nil, yaml.Hint(n.Errorf("markowitz has no covariance"), "add one, or name a table of prices or returns: {returns: prices.csv}")
	}
	file, layout, err := tableAt(at, false)
	if err != nil {
		return nil, err
	}
	var t *book.Series
	err = s.files.Read(ctx, file, "the file of prices or returns", func(r io.Reader, path string) (err error) {
		t, err = book.ReadSeries(r, path, layout, s.names)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.warnGuesses("returns", file.Text, layout, t.Guessed, t.Notes)
	if len(t.Columns) == 1 && !slices.Contains(s.names, t.Columns[0]) && slices.ContainsFunc(t.Times, func(name string) bool { return slices.Contains(s.names, name) }) {
		return nil, yaml.Hint(n.Errorf("markowitz has no covariance, and %s has one %s for each ingredient", fault.Quote(file.Text), t.Columns[0]), "add covariance: covariance.csv, or name a table of prices or returns over time")
	}
	columns, left, err := columnsOf(t, s.names)
	if err != nil {
		return nil, err
	}
	dates, dated := returns.Dates(t.Times)
	order, err := inOrder(t, dates, dated)
	if err != nil {
		return nil, err
	}
	var values [][]float64
	var rows []int // of the file
	for _, r := range order {
		row := make([]float64, len(columns))
		for i, c := range columns {
			row[i] = t.Values[r][c]
		}
		if !slices.ContainsFunc(row, math.IsNaN) {
			values, rows = append(values, row), append(rows, r)
		}
	}
	gaps := len(order) - len(rows)
	m := &market{kind: returns.Returns}
	if !t.Percent {
		m.kind = returns.KindOf(values)
	}
	taken := m.kind
	if v := f["as"]; v != nil {
		if m.kind, err = kindAt(v); err != nil {
			return nil, err
		}
	}
	if err := checkHistory(t, m.kind, values, rows, columns); err != nil {
		return nil, err
	}
	rhythm, known := returns.Rhythm{}, false
	if dated {
		of := make([]time.Time, len(order))
		for k, r := range order {
			of[k] = dates[r]
		}
		rhythm, known = returns.RhythmOf(of)
	}
	m.periods = rhythm.Periods
	if v := f["periods"]; v != nil {
		if m.periods, err = v.Float("the periods"); err != nil {
			return nil, err
		}
		if m.periods <= 0 {
			return nil, yaml.Hint(v.Errorf("the periods are %s", v.Shown()), "write how many rows a year has: 252 of trading days, 52 of weeks, 12 of months")
		}
	} else if !known {
		return nil, yaml.Hint(n.Errorf("the first column of %s does not tell how many rows a year has: it begins with %s", fault.Quote(file.Text), fault.List(t.Times, 3)), "write dates such as 2024-01-31, or add periods: 252 of trading days, 52 of weeks, 12 of months")
	}
	history := returns.Of(values, m.kind)
	moments, err := returns.Estimate(history, m.periods)
	if err != nil {
		return nil, yaml.Hint(file.Errorf("%s has %s without a gap: %v", fault.Quote(file.Text), fault.Count(len(values), "row"), err), "add rows, or fill the gaps")
	}
	m.returns, m.covariance = moments.Mean, moments.Covariance
	m.word = kindWords()[m.kind]
	m.from = fmt.Sprintf(", a year, from %s over %s", m.kind, fault.Count(len(history), "period"))
	tellHistory(s, file.Text, m, rhythm, f, taken, moments, gaps, left)
	return m, nil
}

// tellHistory says what a history was taken for, and what was made of it.
func tellHistory(s *shelf, name string, m *market, rhythm returns.Rhythm, f fields, taken returns.Kind, moments *returns.Moments, gaps int, left []string) {
	text := fmt.Sprintf("%s has %s", name, m.kind)
	if f["as"] == nil {
		other := "returns"
		if taken != returns.Prices {
			other = "prices"
		}
		text = fmt.Sprintf("%s was taken for %s (as: %s says otherwise)", name, m.kind, other)
	}
	if f["periods"] == nil {
		text += fmt.Sprintf(", %s by its dates: %.4g periods a year (periods says otherwise)", rhythm.Words, m.periods)
	} else {
		text += fmt.Sprintf(", %.4g periods a year", m.periods)
	}
	text += fmt.Sprintf(". The covariance is shrunk toward a constant correlation of %.2f by the intensity %.2f (Ledoit and Wolf 2004).", moments.Correlation, moments.Intensity)
	if gaps > 0 {
		text += fmt.Sprintf(" Left out: %s with gaps.", fault.Count(gaps, "row"))
	}
	if len(left) > 0 {
		text += fmt.Sprintf(" Left out: the columns %s, which are no ingredients.", fault.List(left, 8))
	}
	if !slices.Contains(s.warnings, text) { // several properties may have one history
		s.warn(text)
	}
}

// kindAt reads what a history holds.
func kindAt(n *yaml.Node) (returns.Kind, error) {
	text, err := n.Str("what the table has")
	if err != nil {
		return 0, err
	}
	for kind, word := range kindWords() {
		if word == text {
			return kind, nil
		}
	}
	return 0, yaml.Hint(n.Errorf("a history has no %s", fault.Quote(text)), "write prices, returns (0.01 for one percent), or percent (1 for one percent)")
}

// columnsOf returns the column of each ingredient, and the names of other columns.
func columnsOf(t *book.Series, names []string) (columns []int, left []string, err error) {
	for _, name := range names {
		at := slices.Index(t.Columns, name)
		if at < 0 {
			near := fault.DidYouMean(name, t.Columns)
			if near == "" {
				near = "there are " + fault.List(t.Columns, 8) + "; add a column, or leave the ingredient out"
			}
			return nil, nil, t.ErrorAt(-1, -1, "no column is called "+fault.Quote(name)+", as an ingredient is", near)
		}
		columns = append(columns, at)
	}
	for k, name := range t.Columns {
		if !slices.Contains(columns, k) {
			left = append(left, name)
		}
	}
	return columns, left, nil
}

// inOrder returns the rows of a history by time. Without dates they stand as they are.
func inOrder(t *book.Series, dates []time.Time, dated bool) ([]int, error) {
	order := make([]int, len(t.Times))
	for r := range order {
		order[r] = r
	}
	if !dated {
		return order, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return dates[a].Compare(dates[b]) })
	for k := range order[1:] {
		if a, b := order[k], order[k+1]; dates[a].Equal(dates[b]) {
			return nil, t.ErrorAt(b, -1, fmt.Sprintf("%s is there twice", fault.Quote(t.Times[b])), "remove one of the rows")
		}
	}
	return order, nil
}

// checkHistory refuses prices that are none, and losses of more than all.
func checkHistory(t *book.Series, kind returns.Kind, values [][]float64, rows, columns []int) error {
	for k, row := range values {
		for i, v := range row {
			switch {
			case kind == returns.Prices && t.Percent:
				return t.ErrorAt(rows[k], columns[i], "the numbers have percent signs, and prices have none", "write as: returns")
			case kind == returns.Percent && t.Percent:
				return t.ErrorAt(rows[k], columns[i], "the numbers have percent signs", "write as: returns, or remove as")
			case kind == returns.Prices && v <= 0:
				return t.ErrorAt(rows[k], columns[i], fmt.Sprintf("a price is %v", v), "a price is above 0: leave the cell empty where it is not known, or write as: returns")
			case kind == returns.Returns && v < -1:
				return t.ErrorAt(rows[k], columns[i], fmt.Sprintf("a return is %v, a loss of more than all", v), "write as: percent if 1 stands for one percent, or as: prices")
			}
		}
	}
	return nil
}
