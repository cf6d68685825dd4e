package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// MarkowitzKind is the kind of property that scores the return and the risk of a portfolio.
var MarkowitzKind = PropertyKind{
	Key: schema.NewKey("markowitz", schema.Link("markowitz"), "", "scores return against risk", "{markowitz: {returns: returns.csv, covariance: covariance.csv, risk_aversion: 2}}"),
	New: func() Value { return new(Markowitz) },
}

// A Markowitz is the value of a property that scores the return and the risk of a portfolio. It has one of
// these forms:
//
//	markowitz: {returns: prices.csv, risk_aversion: 2}
//	markowitz: {returns: {attribute: return}, covariance: covariance.csv, maximize: ratio}
//
// If the file gives a covariance, returns are expected returns. Otherwise returns are prices or returns over
// time, from which expected returns and covariance are estimated.
type Markowitz struct {
	Returns            Returns
	Covariance         *yaml.Node      // name of a file with the covariance; nil if it is estimated
	Maximize, Minimize Written[string] // statistic to maximise or to minimise: "return", "ratio" or "volatility"
	RiskAversion       Written[float64]
	HistoryKind        Written[string]  // what the numbers in the table over time are: "prices", "returns" or "percent"
	Periods            Written[float64] // number of rows in a year, for a table over time; above 0

	returnsNode *yaml.Node // YAML node under the key "returns", decoded last because its meaning depends on Covariance
}

// Returns tell where the returns of the ingredients are: in an attribute of the ingredients, or in a file.
type Returns struct {
	Attribute Written[string]
	File      *yaml.Node     // name of a file with returns or prices
	Layout    dataset.Layout // layout of the file, if it is a table over time
}

// Sections implements [Value].
func (m *Markowitz) Sections() schema.Sections {
	return schema.Sections{
		{
			Name: "markowitz", ID: "markowitz", About: "The score y of `markowitz` has log y = μᵀw − a·wᵀΣw, where w are the shares of the assets, μ the expected returns and Σ their covariance. [properties.md](properties.md#markowitz) shows how to derive μ and Σ from prices.",
			Keys: []schema.Key{
				newKey("returns", schema.Either(schema.Text("file"), schema.Link("table"), schema.Link("returns")), "", "a table of prices or returns with a row per date and a column per ingredient. If `covariance` is given, `returns` is μ, as a CSV file with the columns `name` and `return`, or as an attribute", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 1.5}", nodeReader(&m.returnsNode)),
				newKey("covariance", schema.Text("file"), "covariance of the returns", "the covariance Σ, as a CSV file with a row and a column per ingredient", "{returns: {attribute: cost}, covariance: covariance.csv, risk_aversion: 2}", nodeReader(&m.Covariance)),
				newKey("maximize", schema.Choice("return", "ratio"), "", "the objective is only the return, or the return divided by the volatility", "{returns: prices.csv, maximize: ratio}", statisticReader(&m.Maximize, "maximize", "return", "ratio")),
				newKey("minimize", schema.Choice("volatility"), "", "the objective is only the volatility", "{returns: prices.csv, minimize: volatility}", statisticReader(&m.Minimize, "minimize", "volatility")),
				newKey("risk_aversion", schema.AtLeast(0), "1.5", "the factor a of the variance wᵀΣw", "{returns: returns.csv, covariance: covariance.csv, risk_aversion: 0}", weightReader(&m.RiskAversion, "the risk aversion")),
				newKey("as", schema.Choice("prices", "returns", "percent"), "detected", "content of the table: prices, returns such as 0.01, or returns in percent such as 1", "{returns: prices.csv, as: prices}", decodingReader(&m.HistoryKind, decodeHistoryKind)),
				newKey("periods", schema.Above(0), "detected", "rows of the table per year, such as 252, 52 or 12", "{returns: prices.csv, periods: 12}", decodingReader(&m.Periods, decodePeriods)),
			},
			Required: []string{"returns"},
			Excludes: map[string]string{"covariance": "as periods", "risk_aversion": "maximize minimize", "maximize": "minimize"},
			Extra: []schema.Object{
				{"anyOf": []schema.Object{{"required": []string{"covariance"}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"attribute"}}}}}}},
				{"anyOf": []schema.Object{{"not": schema.Object{"required": []string{"covariance"}}}, {"not": schema.Object{"properties": schema.Object{"returns": schema.Object{"type": "object", "required": []string{"file"}}}}}}},
			},
		},
		m.Returns.describeKeys(),
	}
}

// Objective returns whether a statistic of the portfolio is to be maximised or minimised.
func (m *Markowitz) Objective() *Objective {
	return &Objective{Maximize: Written[Ends]{Node: m.Maximize.Node}, Minimize: Written[Ends]{Node: m.Minimize.Node}}
}

// Direction returns which values of the statistic are better. The results are those of [Objective.Direction].
func (m *Markowitz) Direction() (d Direction, least, most float64) { return m.Objective().Direction() }

// describeKeys returns the description of the keys under "returns", for expected returns from an attribute.
func (r *Returns) describeKeys() *schema.Section {
	return &schema.Section{
		Name: "returns", ID: "returns", About: "The expected returns may come from the table of ingredients.",
		Keys:     []schema.Key{newKey("attribute", schema.Text("attribute"), "", "a column of numbers", "{attribute: cost}", textReader(&r.Attribute, "the attribute"))},
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
		return m.Returns.decodeExpected(m.returnsNode)
	}
	return m.Returns.decodeHistory(m.returnsNode, n)
}

// decodeExpected decodes where expected returns are: in a file or in an attribute, whose name it stores.
func (r *Returns) decodeExpected(n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		r.File = n
		return nil
	}
	if err := r.describeKeys().Decode(n); err != nil {
		return err
	}
	if r.Attribute.Node == nil {
		return yaml.Hint(n.Errorf("the returns name no attribute"), "write a CSV file, or {attribute: return}")
	}
	return nil
}

// decodeHistory decodes where a table of prices or returns over time is. If the node n names an attribute
// instead, the covariance is missing, and the error is placed at the node markowitz.
func (r *Returns) decodeHistory(n, markowitz *yaml.Node) (err error) {
	if n.Kind == yaml.Mapping && n.Get("attribute") != nil {
		return yaml.Hint(markowitz.Errorf("markowitz has no covariance"), "add one, or name a table of prices or returns: {returns: prices.csv}")
	}
	r.File, r.Layout, err = ReadTableNode(n, false)
	return err
}

// statisticReader returns a function that decodes the word under the key maximize or minimize of a portfolio.
// The parameter statistics lists the valid words.
func statisticReader(field *Written[string], key string, statistics ...string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (string, error) {
		text, err := n.Str("what to " + key)
		if err == nil && !slices.Contains(statistics, text) {
			err = yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write maximize: return, maximize: ratio or minimize: volatility")
		}
		return text, err
	})
}

// decodeHistoryKind decodes the word that tells what the numbers in a table over time are: prices, returns or
// percent.
func decodeHistoryKind(n *yaml.Node) (string, error) {
	text, err := n.Str("what the table has")
	if err == nil && !slices.Contains([]string{"prices", "returns", "percent"}, text) {
		err = yaml.Hint(n.Errorf("a history has no %s", inputerr.Quote(text)), "write prices, returns (0.01 for one percent), or percent (1 for one percent)")
	}
	return text, err
}

// decodePeriods decodes the number of rows in a year, for a table of prices or returns over time.
func decodePeriods(n *yaml.Node) (float64, error) {
	periods, err := n.Float("the periods")
	if err == nil && periods <= 0 {
		err = yaml.Hint(n.Errorf("the periods are %s", n.Describe()), "write how many rows a year has: 252 of trading days, 52 of weeks, 12 of months")
	}
	return periods, err
}
