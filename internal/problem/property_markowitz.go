package problem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/property"
)

// defaultAversion is the default risk aversion a.
const defaultAversion = 1.5

var markowitzKind = propertyKind{
	PropertyKind:  config.PropertyKind{Key: newKey("markowitz", schema.Link("markowitz"), "", "return against risk", "{markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}}")},
	Sections:      markowitzSections,
	read:          readMarkowitz,
	scoredBySplit: alwaysBySplit,
}

// markowitzSections describe return against risk, and returns taken from an attribute.
var markowitzSections = schema.Sections{
	{
		Name: "markowitz", ID: "markowitz", About: "log y = μᵀw − a·wᵀΣw of the shares w. [properties.md](properties.md#markowitz) says how μ and Σ follow from prices.",
		Keys: []schema.Key{
			newKey("returns", schema.Either(schema.Text("file"), schema.Link("table"), schema.Link("returns")), "", "a table of prices or returns, dates down the side and a column for each ingredient; beside `covariance` μ: a CSV file with the columns name and `return`, or an attribute", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 1.5}"),
			newKey("covariance", schema.Text("file"), "that of the history", "Σ: a CSV file with a row and a column for each ingredient", "{returns: {attribute: cost}, covariance: covariance.csv, risk_aversion: 2}"),
			newKey("maximize", schema.Choice("return", "ratio"), "", "the return alone, or the return divided by the volatility", "{returns: prices.csv, maximize: ratio}"),
			newKey("minimize", schema.Choice("volatility"), "", "the volatility alone", "{returns: prices.csv, minimize: volatility}"),
			newKey("risk_aversion", schema.AtLeast(0), "1.5", "a", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 0}"),
			newKey("as", schema.Choice("prices", "returns", "percent"), "as the numbers show", "whether the table has prices, returns (0.01), or returns in percent (1)", "{returns: prices.csv, as: prices}"),
			newKey("periods", schema.Above(0), "as the dates show", "how many rows of the table a year has: 252, 52, 12", "{returns: prices.csv, periods: 12}"),
		},
		Required: []string{"returns"},
		Excludes: map[string]string{"covariance": "as periods", "risk_aversion": "maximize minimize", "maximize": "minimize"},
		Extra: []schema.Object{
			{"anyOf": []schema.Object{{"required": []string{"covariance"}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"attribute"}}}}}}},
			{"anyOf": []schema.Object{{"not": schema.Object{"required": []string{"covariance"}}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"file"}}}}}}},
		},
	},
	{
		Name: "returns", ID: "returns", About: "Expected returns that the table of ingredients has.",
		Keys:     []schema.Key{newKey("attribute", schema.Text("attribute"), "", "a column of numbers", "{attribute: cost}")},
		Required: []string{"attribute"},
	},
}

// readMarkowitz reads a property of return against risk.
func readMarkowitz(ctx context.Context, s *readContext, n *yaml.Node, f fields) (_ Property, err error) {
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
		m, err = estimateMarket(ctx, s, n, f)
	} else {
		m, err = readMarket(ctx, s, f)
	}
	if err != nil {
		return Property{}, err
	}
	p, err := property.NewMarkowitz(m.returns, m.covariance, aversion, s.Total)
	if err != nil {
		return Property{}, n.PlaceError(err)
	}
	side, goal, err := readSide(n, f)
	if err != nil {
		return Property{}, err
	}
	var resolved yaml.Map
	resolved.CopyKeys(n, "returns", "covariance", "risk_aversion", "maximize", "minimize")
	if f["risk_aversion"] == nil && goal == nil {
		resolved.Set("risk_aversion", aversion)
	}
	if m.kind != assetstats.Guess {
		resolved.Set("as", m.word)
		resolved.Set("periods", m.periods)
	}
	if goal == nil {
		return Property{About: fmt.Sprintf("return less %v times its variance%s", aversion, m.source), Figures: marketFigures(p), subObjectives: marketSubObjectives(p), property: p, resolved: resolved}, nil
	}
	goal.value = func(x *mcmc.Composition) float64 { return p.Side(side, x) }
	goal.asProperty = func(d *property.Desirability) mcmc.Property { return p.As(side, d) }
	unit, scale := "%", 100.0
	of := valueScale{valueName: returnWords, unit: unit, notation: asPercent}
	switch side {
	case property.Volatility:
		of.valueName = volatilityWords
	case property.Ratio:
		unit, scale = "", 1
		of = valueScale{valueName: ratioWords}
	}
	d, words, err := goal.desirability(ctx, s, n, unit, scale)
	if err != nil {
		return Property{}, err
	}
	value := func(x *mcmc.Composition) (float64, string) { return float64(scale * p.Side(side, x)), "" }
	return Property{
		About: sideWords()[side] + m.source + ": " + words, Value: value, Unit: unit, property: p.As(side, d), resolved: resolved,
		valueScale: directedScale(of, scale, goal.width(), goal.value, goal.asProperty),
	}, nil
}

// sideWords returns the words for figures of a portfolio after maximize and minimize.
func sideWords() map[property.Side]string {
	return map[property.Side]string{property.Return: "return", property.Volatility: "volatility", property.Ratio: "ratio"}
}

// readSide reads maximize: return, maximize: ratio or minimize: volatility. It returns a nil objective if
// none is present.
func readSide(n *yaml.Node, f fields) (property.Side, *objective, error) {
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
		return 0, nil, yaml.Hint(v.Errorf("%s is %s", c.key, v.Describe()), "write maximize: return, maximize: ratio or minimize: volatility")
	}
	return 0, nil, nil
}

// A market has the expected returns of the ingredients and their covariance.
type market struct {
	returns    []float64
	covariance [][]float64

	// For a history: its kind, the number of periods per year, and a description.
	kind    assetstats.Kind
	word    string // the kind as a value of the key as
	periods float64
	source  string
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

// readMarket reads given expected returns and a given covariance.
func readMarket(ctx context.Context, s *readContext, f fields) (*market, error) {
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

// readReturns reads the expected return of each ingredient, from a CSV file with the columns name and
// return or from an attribute: {attribute: expected}.
func readReturns(ctx context.Context, s *readContext, n *yaml.Node) ([]float64, error) {
	if n.Kind == yaml.Mapping {
		f, err := markowitzSections.ByID("returns").Fields(n)
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
		return s.AttributeNumbers(f["attribute"], name)
	}
	t, err := s.ReadSheet(ctx, n, "the file of returns")
	if err != nil {
		return nil, err
	}
	column, err := t.Column("return")
	if err != nil {
		return nil, err
	}
	at, err := t.RowsOf(s.Names)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(at))
	for i, row := range at {
		values[i] = t.Values[row][column]
	}
	return values, nil
}

// readCovariance reads the covariance of the ingredients, in their order, from a CSV file with a row and a
// column for each.
func readCovariance(ctx context.Context, s *readContext, n *yaml.Node) ([][]float64, error) {
	t, err := s.ReadSheet(ctx, n, "the file of the covariance")
	if err != nil {
		return nil, err
	}
	if len(t.Rows) != len(t.Columns) {
		return nil, yaml.Hint(t.ErrorIn(-1, -1, "the covariance is not square: it has %s and %s", inputerr.Count(len(t.Rows), "row"), inputerr.Count(len(t.Columns), "column")), "it needs a row and a column for each ingredient")
	}
	rows, err := t.RowsOf(s.Names)
	if err != nil {
		return nil, err
	}
	columns, err := t.ColumnsOf(s.Names)
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
		return nil, t.ErrorIn(rows[bad.Row], columns[bad.Column], "%s", bad.Reason)
	}
	return c, nil
}

// kindWords returns the value of the key as for each kind of history.
func kindWords() map[assetstats.Kind]string {
	return map[assetstats.Kind]string{assetstats.Prices: "prices", assetstats.Returns: "returns", assetstats.Percent: "percent"}
}

// estimateMarket estimates annual expected returns and covariance from prices or returns over time, and
// warns how it interpreted the history.
func estimateMarket(ctx context.Context, s *readContext, n *yaml.Node, f fields) (*market, error) {
	at := f["returns"]
	if at.Kind == yaml.Mapping && at.Get("attribute") != nil {
		return nil, yaml.Hint(n.Errorf("markowitz has no covariance"), "add one, or name a table of prices or returns: {returns: prices.csv}")
	}
	file, layout, err := config.ReadTableNode(at, false)
	if err != nil {
		return nil, err
	}
	var t *dataset.Series
	err = s.Files.Read(ctx, file, "the file of prices or returns", func(r io.Reader, path string) (err error) {
		t, err = dataset.ReadSeries(r, path, layout, s.Names)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.WarnGuesses("returns", file.Text, layout, t.Guessed, t.Notes)
	if len(t.Columns) == 1 && !slices.Contains(s.Names, t.Columns[0]) && slices.ContainsFunc(t.Times, func(name string) bool { return slices.Contains(s.Names, name) }) {
		return nil, yaml.Hint(n.Errorf("markowitz has no covariance, and %s has one %s for each ingredient", inputerr.Quote(file.Text), t.Columns[0]), "add covariance: covariance.csv, or name a table of prices or returns over time")
	}
	columns, left, err := columnsOf(t, s.Names)
	if err != nil {
		return nil, err
	}
	dates, dated := assetstats.Dates(t.Times)
	order, err := rowsByTime(t, dates, dated)
	if err != nil {
		return nil, err
	}
	var values [][]float64
	var rows []int // rows of the file
	for _, r := range order {
		row := make([]float64, len(columns))
		for i, c := range columns {
			row[i] = t.Values[r][c]
		}
		if !slices.ContainsFunc(row, math.IsNaN) {
			values, rows = append(values, row), append(rows, r)
		}
	}
	gaps := gapsText(t, order, columns, s.Names)
	m := &market{kind: assetstats.Returns}
	if !t.Percent {
		m.kind = assetstats.KindOf(values)
	}
	taken := m.kind
	if v := f["as"]; v != nil {
		if m.kind, err = readKind(v); err != nil {
			return nil, err
		}
	}
	if err := checkHistory(t, m.kind, values, rows, columns); err != nil {
		return nil, err
	}
	rhythm, known := assetstats.Frequency{}, false
	if dated {
		of := make([]time.Time, len(order))
		for k, r := range order {
			of[k] = dates[r]
		}
		rhythm, known = assetstats.FrequencyOf(of)
	}
	m.periods = rhythm.Periods
	if v := f["periods"]; v != nil {
		if m.periods, err = v.Float("the periods"); err != nil {
			return nil, err
		}
		if m.periods <= 0 {
			return nil, yaml.Hint(v.Errorf("the periods are %s", v.Describe()), "write how many rows a year has: 252 of trading days, 52 of weeks, 12 of months")
		}
	} else if !known {
		return nil, yaml.Hint(n.Errorf("the first column of %s does not tell how many rows a year has: it begins with %s", inputerr.Quote(file.Text), inputerr.List(t.Times, 3)), "write dates such as 2024-01-31, or add periods: 252 of trading days, 52 of weeks, 12 of months")
	}
	history := assetstats.Compute(values, m.kind)
	moments, err := assetstats.Estimate(history, m.periods)
	if err != nil {
		return nil, yaml.Hint(file.Errorf("%s has %s without a gap: %v%s", inputerr.Quote(file.Text), inputerr.Count(len(values), "row"), err, strings.TrimSuffix(strings.Replace(gaps, " Left out:", "; left out:", 1), ".")), "add rows, fill the gaps, or leave out the ingredients that have them")
	}
	m.returns, m.covariance = moments.Mean, moments.Covariance
	m.word = kindWords()[m.kind]
	m.source = fmt.Sprintf(", a year, from %s over %s", m.kind, inputerr.Count(len(history), "period"))
	warnHistory(s, file.Text, m, rhythm, f, taken, moments, gaps, left)
	return m, nil
}

// gapsText says how many rows of a history were left out because an ingredient has no value there. It names
// the ingredient whose gaps cost most, and the number of rows without it.
func gapsText(t *dataset.Series, order, columns []int, names []string) string {
	left := 0
	alone := make([]int, len(columns)) // rows in which only this ingredient has no value
	first := make([]int, len(columns)) // index in order of its first value
	for i := range first {
		first[i] = -1
	}
	for k, r := range order {
		missing, last := 0, 0
		for i, c := range columns {
			switch {
			case math.IsNaN(t.Values[r][c]):
				missing, last = missing+1, i
			case first[i] < 0:
				first[i] = k
			}
		}
		if missing > 0 {
			left++
		}
		if missing == 1 {
			alone[last]++
		}
	}
	if left == 0 {
		return ""
	}
	text := fmt.Sprintf(" Left out: %s with gaps.", inputerr.Count(left, "row"))
	worst := 0
	for i, rows := range alone {
		if rows > alone[worst] {
			worst = i
		}
	}
	if 10*alone[worst] <= len(order) {
		return text
	}
	text = fmt.Sprintf(" Left out: %s of %d with gaps, %d of them for gaps of %s alone", inputerr.Count(left, "row"), len(order), alone[worst], inputerr.Quote(names[worst]))
	if first[worst] > 0 {
		text += fmt.Sprintf(", whose first value is that of %s", inputerr.Quote(t.Times[order[first[worst]]]))
	}
	return text + fmt.Sprintf(": without this ingredient there are %d rows instead of %d.", len(order)-left+alone[worst], len(order)-left)
}

// warnHistory warns how a history was interpreted, and gives the estimates.
func warnHistory(s *readContext, name string, m *market, rhythm assetstats.Frequency, f fields, taken assetstats.Kind, moments *assetstats.Moments, gaps string, left []string) {
	text := fmt.Sprintf("%s has %s", name, m.kind)
	if f["as"] == nil {
		other := "returns"
		if taken != assetstats.Prices {
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
	text += gaps
	if len(left) > 0 {
		text += fmt.Sprintf(" Left out: the columns %s, which are no ingredients.", inputerr.List(left, 8))
	}
	if !slices.Contains(s.Warnings, text) { // several properties may use the same history
		s.Warn(text)
	}
}

// readKind reads the kind of a history.
func readKind(n *yaml.Node) (assetstats.Kind, error) {
	text, err := n.Str("what the table has")
	if err != nil {
		return 0, err
	}
	for kind, word := range kindWords() {
		if word == text {
			return kind, nil
		}
	}
	return 0, yaml.Hint(n.Errorf("a history has no %s", inputerr.Quote(text)), "write prices, returns (0.01 for one percent), or percent (1 for one percent)")
}

// columnsOf returns the column of each ingredient, and the names of the other columns.
func columnsOf(t *dataset.Series, names []string) (columns []int, left []string, err error) {
	for _, name := range names {
		at := slices.Index(t.Columns, name)
		if at < 0 {
			near := inputerr.DidYouMean(name, t.Columns)
			if near == "" {
				near = "there are " + inputerr.List(t.Columns, 8) + "; add a column, or leave the ingredient out"
			}
			return nil, nil, t.ErrorAt(-1, -1, "no column is called "+inputerr.Quote(name)+", as an ingredient is", near)
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

// rowsByTime returns the rows of a history in order of time, or in the file's order without dates.
func rowsByTime(t *dataset.Series, dates []time.Time, dated bool) ([]int, error) {
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
			return nil, t.ErrorAt(b, -1, fmt.Sprintf("%s is there twice", inputerr.Quote(t.Times[b])), "remove one of the rows")
		}
	}
	return order, nil
}

// checkHistory returns an error for impossible prices, and for losses of more than 100 %.
func checkHistory(t *dataset.Series, kind assetstats.Kind, values [][]float64, rows, columns []int) error {
	for k, row := range values {
		for i, v := range row {
			switch {
			case kind == assetstats.Prices && t.Percent:
				return t.ErrorAt(rows[k], columns[i], "the numbers have percent signs, and prices have none", "write as: returns")
			case kind == assetstats.Percent && t.Percent:
				return t.ErrorAt(rows[k], columns[i], "the numbers have percent signs", "write as: returns, or remove as")
			case kind == assetstats.Prices && v <= 0:
				return t.ErrorAt(rows[k], columns[i], fmt.Sprintf("a price is %v", v), "a price is above 0: leave the cell empty where it is not known, or write as: returns")
			case kind == assetstats.Returns && v < -1:
				return t.ErrorAt(rows[k], columns[i], fmt.Sprintf("a return is %v, a loss of more than all", v), "write as: percent if 1 stands for one percent, or as: prices")
			}
		}
	}
	return nil
}
