package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// MarkowitzKind is the return of a portfolio against its risk.
var MarkowitzKind = PropertyKind{
	Key: schema.NewKey("markowitz", schema.Link("markowitz"), "", "return against risk", "{markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}}"),
	New: func() Value { return new(Markowitz) },
}

// A Markowitz is one of
//
//	markowitz: {returns: prices.csv, risk_aversion: 2}
//	markowitz: {returns: {attribute: return}, covariance: covariance.csv, maximize: ratio}
//
// With a covariance, Returns are the expected ones; without it, they are a history from which both are
// estimated.
type Markowitz struct {
	Returns            Returns
	Covariance         *yaml.Node      // a file
	Maximize, Minimize Written[string] // the figure of the portfolio that is the objective
	RiskAversion       Written[float64]
	As                 Written[string]  // what the history has, one of the words of the key
	Periods            Written[float64] // a year, above 0

	returns *yaml.Node // decoded last, because its meaning depends on whether there is a covariance
}

// Returns are those of an attribute of the ingredients, or of a file.
type Returns struct {
	Attribute Written[string]
	File      *yaml.Node
	Layout    dataset.Layout // of the file, if it has a history
}

// Sections implements [Value].
func (m *Markowitz) Sections() schema.Sections {
	return schema.Sections{
		{
			Name: "markowitz", ID: "markowitz", About: "log y = μᵀw − a·wᵀΣw of the shares w. [properties.md](properties.md#markowitz) says how μ and Σ follow from prices.",
			Keys: []schema.Key{
				key("returns", schema.Either(schema.Text("file"), schema.Link("table"), schema.Link("returns")), "", "a table of prices or returns, dates down the side and a column for each ingredient; beside `covariance` μ: a CSV file with the columns name and `return`, or an attribute", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 1.5}", asNode(&m.returns)),
				key("covariance", schema.Text("file"), "that of the history", "Σ: a CSV file with a row and a column for each ingredient", "{returns: {attribute: cost}, covariance: covariance.csv, risk_aversion: 2}", asNode(&m.Covariance)),
				key("maximize", schema.Choice("return", "ratio"), "", "the return alone, or the return divided by the volatility", "{returns: prices.csv, maximize: ratio}", asFigure(&m.Maximize, "maximize", "return", "ratio")),
				key("minimize", schema.Choice("volatility"), "", "the volatility alone", "{returns: prices.csv, minimize: volatility}", asFigure(&m.Minimize, "minimize", "volatility")),
				key("risk_aversion", schema.AtLeast(0), "1.5", "a", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 0}", asWeight(&m.RiskAversion, "the risk aversion")),
				key("as", schema.Choice("prices", "returns", "percent"), "as the numbers show", "whether the table has prices, returns (0.01), or returns in percent (1)", "{returns: prices.csv, as: prices}", decodeWith(&m.As, decodeHistoryKind)),
				key("periods", schema.Above(0), "as the dates show", "how many rows of the table a year has: 252, 52, 12", "{returns: prices.csv, periods: 12}", decodeWith(&m.Periods, decodePeriods)),
			},
			Required: []string{"returns"},
			Excludes: map[string]string{"covariance": "as periods", "risk_aversion": "maximize minimize", "maximize": "minimize"},
			Extra: []schema.Object{
				{"anyOf": []schema.Object{{"required": []string{"covariance"}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"attribute"}}}}}}},
				{"anyOf": []schema.Object{{"not": schema.Object{"required": []string{"covariance"}}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"file"}}}}}}},
			},
		},
		m.Returns.section(),
	}
}

// Objective returns what is asked of the figure that the portfolio maximises or minimises.
func (m *Markowitz) Objective() *Objective {
	return &Objective{Maximize: Written[Ends]{At: m.Maximize.At}, Minimize: Written[Ends]{At: m.Minimize.At}}
}

// Direction returns which figures are better, as [Objective.Direction] does for a value.
func (m *Markowitz) Direction() (d Direction, least, most float64) { return m.Objective().Direction() }

// section returns the section of expected returns that the ingredients have.
func (r *Returns) section() *schema.Section {
	return &schema.Section{
		Name: "returns", ID: "returns", About: "Expected returns that the table of ingredients has.",
		Keys:     []schema.Key{key("attribute", schema.Text("attribute"), "", "a column of numbers", "{attribute: cost}", asText(&r.Attribute, "the attribute"))},
		Required: []string{"attribute"},
	}
}

// Decode implements [Value].
func (m *Markowitz) Decode(n *yaml.Node) error {
	if err := n.Require("markowitz", "write {returns: prices.csv, risk_aversion: 2}", "returns"); err != nil {
		return err
	}
	if n.Get("covariance") != nil {
		for _, key := range []string{"as", "periods"} {
			if v := n.Get(key); v != nil {
				return yaml.Hint(v.Errorf("%s is of prices or returns over time, and the covariance is given", key), "remove one of the two")
			}
		}
	}
	if err := m.Sections()[0].Decode(n); err != nil {
		return err
	}
	if m.Covariance != nil {
		return m.Returns.decodeExpected(m.returns)
	}
	return m.Returns.decodeHistory(m.returns, n)
}

// decodeExpected decodes expected returns: a file, or an attribute.
func (r *Returns) decodeExpected(n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		r.File = n
		return nil
	}
	if err := r.section().Decode(n); err != nil {
		return err
	}
	if r.Attribute.At == nil {
		return yaml.Hint(n.Errorf("the returns name no attribute"), "write a CSV file, or {attribute: return}")
	}
	return nil
}

// decodeHistory decodes a table of prices or returns. markowitz is the node that lacks a covariance.
func (r *Returns) decodeHistory(n, markowitz *yaml.Node) (err error) {
	if n.Kind == yaml.Mapping && n.Get("attribute") != nil {
		return yaml.Hint(markowitz.Errorf("markowitz has no covariance"), "add one, or name a table of prices or returns: {returns: prices.csv}")
	}
	r.File, r.Layout, err = ReadTableNode(n, false)
	return err
}

// asFigure decodes the figure of a portfolio that a key maximises or minimises.
func asFigure(field *Written[string], key string, figures ...string) read {
	return decodeWith(field, func(n *yaml.Node) (string, error) {
		text, err := n.Str("what to " + key)
		if err == nil && !slices.Contains(figures, text) {
			err = yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write maximize: return, maximize: ratio or minimize: volatility")
		}
		return text, err
	})
}

// decodeHistoryKind decodes what the numbers of a history are.
func decodeHistoryKind(n *yaml.Node) (string, error) {
	text, err := n.Str("what the table has")
	if err == nil && !slices.Contains([]string{"prices", "returns", "percent"}, text) {
		err = yaml.Hint(n.Errorf("a history has no %s", inputerr.Quote(text)), "write prices, returns (0.01 for one percent), or percent (1 for one percent)")
	}
	return text, err
}

// decodePeriods decodes the number of rows of a history that a year has.
func decodePeriods(n *yaml.Node) (float64, error) {
	periods, err := n.Float("the periods")
	if err == nil && periods <= 0 {
		err = yaml.Hint(n.Errorf("the periods are %s", n.Describe()), "write how many rows a year has: 252 of trading days, 52 of weeks, 12 of months")
	}
	return periods, err
}
