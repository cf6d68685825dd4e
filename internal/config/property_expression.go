package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ExpressionKind is the kind of property whose value is computed by a formula. The value is the score, or it is
// to be maximised or minimised.
var ExpressionKind = PropertyKind{
	Key:        schema.NewKey("expression", schema.Either(schema.Text("formula"), schema.Link("expression")), "", "scores recipes by a formula in quotes, or by a formula with `maximize` or `minimize`; see [properties.md](properties.md#expression)", "{expression: 'share(\"Gin\") > 0.2 ? 1 : 0.1'}"),
	New:        func() Value { return new(Expression) },
	AllowsText: true,
}

// An Expression is the value of a property that is computed by a formula. It has one of these forms:
//
//	expression: 'share("Gin") > 0.2 ? 1 : 0.1'
//	expression: {formula: 'mean("cost") * 2', minimize: true, unit: €/kg}
type Expression struct {
	Formula   *yaml.Node // YAML node with the text of the formula, which is parsed when the problem is compiled
	Objective            // whether the value is maximised or minimised; if neither, the value is the score
	Unit      Written[string]
}

// Sections implements [Value].
func (e *Expression) Sections() schema.Sections {
	return schema.Sections{{
		Name: "an expression", ID: "expression",
		About: "`expression` needs a formula, and `maximize` or `minimize`. [properties.md](properties.md#maximize-and-minimize) has the scores.",
		Keys: []schema.Key{
			newKey("formula", schema.Text("formula"), "", "the formula in quotes; any number is a valid value", "{formula: 'mean(\"cost\") * 2', minimize: true}", nodeReader(&e.Formula)),
			newKey("maximize", schema.OnlyTrue(), "", "larger values are better, up to the greatest value within the constraints", "{formula: 'mean(\"cost\") * 2', maximize: true}", trueReader(&e.Maximize, "maximize")),
			newKey("minimize", schema.OnlyTrue(), "", "smaller values are better, down to the least value within the constraints", "{formula: 'mean(\"cost\") * 2', minimize: true}", trueReader(&e.Minimize, "minimize")),
			newKey("unit", schema.Text("unit"), "none", "unit shown with the value", "{formula: 'mean(\"cost\") * 2', minimize: true, unit: €/kg}", textReader(&e.Unit, "the unit")),
			newKey("shape", schema.Above(0), "1", "exponent of the score", "{formula: 'mean(\"cost\") * 2', minimize: true, shape: 2}", shapeReader(&e.Shape)),
			newKey("floor", schema.Between(0, 1), "0.001", "the least score", "{formula: 'mean(\"cost\") * 2', minimize: true, floor: 0.01}", floorReader(&e.Floor)),
		},
		Required:     []string{"formula"},
		ExactlyOneOf: []string{"maximize", "minimize"},
	}}
}

// Decode implements [Value].
func (e *Expression) Decode(n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		e.Formula = n
		return nil
	}
	if err := e.Sections()[0].Decode(n); err != nil {
		return err
	}
	if err := n.Require("the expression", `write {formula: 'mean("cost")', minimize: true}`, "formula"); err != nil {
		return err
	}
	if !e.IsExtreme() {
		return yaml.Hint(n.Errorf("the expression has no direction"), "add maximize: true or minimize: true; a formula that is the score itself stands alone: expression: '...'")
	}
	return e.checkOneExtreme(n)
}
