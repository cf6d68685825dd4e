package config

import (
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// BlendKind is the kind of property that scores the mean of an attribute of the ingredients, weighted by
// amounts.
var BlendKind = PropertyKind{
	Key: schema.NewKey("blend", schema.Link("blend"), "", "scores the mean of an attribute", "{blend: {attribute: cost, smaller: {from: 5, to: 30}}}"),
	New: func() Value { return new(Blend) },
}

// A Blend is the value of a property that scores the mean of an attribute. It has one of these forms:
//
//	blend: {attribute: cost, minimize: true}
//	blend: {attribute: family, is: [citrus, spirit], target: {from: 0.1, at: 0.25, to: 0.4}, shape: [1, 2]}
//
// The file must have exactly one of the keys that tell which means are better: maximize, minimize, larger,
// smaller, target, range or normal.
type Blend struct {
	Attribute       Written[string]
	AttributeValues Texts // values of the attribute; if set, the blend scores the total share of the ingredients that have one of the values
	Objective

	Larger, Smaller, Range Written[Span]
	Normal                 Written[Normal]
	TargetShapes           Written[[2]float64] // exponents of the score below the target and above the target; if set, Shape is not used

	attributeValuesNode, shapeNode *yaml.Node // YAML nodes under the keys "is" and "shape"
}

// Sections implements [Value].
func (b *Blend) Sections() schema.Sections {
	larger := b.Larger.Value.describeKeys("larger", "The score is 0 up to `from`, rises, and is 1 from `to` on.")
	smaller := b.Smaller.Value.describeKeys("smaller", "The score is 1 up to `from`, falls, and is 0 from `to` on.")
	target := b.Target.Value.describeKeys()
	span := b.Range.Value.describeKeys("range", "The score is 1 from `from` to `to` and 0 elsewhere.")
	normal := b.Normal.Value.describeKeys()
	blend := &schema.Section{
		Name: "a blend", ID: "blend",
		About: "`blend` needs an attribute, and one key that scores the attribute's mean. [properties.md](properties.md#maximize-and-minimize) has the scores of `maximize` and `minimize`.",
		Keys: []schema.Key{
			newKey("attribute", schema.Text("attribute"), "", "a column of the table of ingredients, with a number for every ingredient unless `is` is given", "{attribute: cost, smaller: {from: 5, to: 30}}", textReader(&b.Attribute, "the attribute")),
			newKey("is", schema.OneOrMore(schema.Text("value"), 1), "", "scores the share of the ingredients that have one of these values, instead of a mean", "{attribute: family, is: citrus, normal: {mean: 0.25, sd: 0.03}}", nodeReader(&b.attributeValuesNode)),
			newKey("shape", schema.Either(schema.Above(0), schema.Pair(schema.Above(0))), "1", "exponent of the score; `target` may have two exponents, below and above `at`", "{attribute: cost, target: {from: 5, at: 12, to: 30}, shape: [1, 2]}", nodeReader(&b.shapeNode)),
			newFloorKey(&b.Floor, "{attribute: cost, smaller: {from: 5, to: 30}, floor: 0.001}"),
			newKey("maximize", schema.OnlyTrue(), "", "larger values are better, up to the greatest value within the constraints", "{attribute: abv, maximize: true}", trueReader(&b.Maximize, "maximize")),
			newKey("minimize", schema.OnlyTrue(), "", "smaller values are better, down to the least value within the constraints", "{attribute: cost, minimize: true}", trueReader(&b.Minimize, "minimize")),
			newKey("larger", schema.Link("larger"), "", "larger means are better: `from` scores 0 and `to` scores 1", "{attribute: abv, larger: {from: 5, to: 20}}", completeMappingReader(&b.Larger.Node, larger)),
			newKey("smaller", schema.Link("smaller"), "", "smaller means are better: `from` scores 1 and `to` scores 0", "{attribute: cost, smaller: {from: 5, to: 30}}", completeMappingReader(&b.Smaller.Node, smaller)),
			newKey("target", schema.Link("target"), "", "one value of the mean is best", "{attribute: abv, target: {from: 5, at: 15, to: 30}}", completeMappingReader(&b.Target.Node, target)),
			newKey("range", schema.Link("range"), "", "means inside score 1, means outside score 0", "{attribute: abv, range: {from: 5, to: 30}}", completeMappingReader(&b.Range.Node, span)),
			newKey("normal", schema.Link("normal"), "", "the score is a bell curve around the best value", "{attribute: abv, normal: {mean: 15, sd: 4}}", completeMappingReader(&b.Normal.Node, normal)),
		},
		Required:     []string{"attribute"},
		ExactlyOneOf: []string{"maximize", "minimize", "larger", "smaller", "target", "range", "normal"},
		Excludes:     map[string]string{"shape": "range normal"},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"not": schema.Object{"required": []string{"shape"}, "properties": schema.Object{"shape": schema.Object{"type": "array"}}}},
			{"required": []string{"target"}},
		}}},
		Mistakes: map[string]string{
			"minimize": "write smaller: {from: 2, to: 10}: what scores 1, and what scores 0",
			"maximize": "write larger: {from: 2, to: 10}: what scores 0, and what scores 1",
			"min":      "write larger: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, min: 2}",
			"max":      "write smaller: {from: 2, to: 10}; for a bound that must hold, a rule: limit: {attribute: cost, max: 12}",
			"between":  "write range: [2, 10]",
		},
	}
	return schema.Sections{blend, larger, smaller, target, span, normal}
}

// Decode implements [Value].
func (b *Blend) Decode(n *yaml.Node) error {
	if err := n.Require("the blend", "name a column of the ingredients, such as {attribute: cost, minimize: true}", "attribute"); err != nil {
		return err
	}
	if err := b.Sections()[0].Decode(n); err != nil {
		return err
	}
	if b.attributeValuesNode != nil {
		what := "the value of " + inputerr.Quote(dataset.NormalizeName(b.Attribute.Value))
		if err := textsReader(&b.AttributeValues, what)(b.attributeValuesNode); err != nil {
			return err
		}
	}
	if b.shapeNode == nil || b.CheckOneDirection(n) != nil {
		return nil // without its direction the form of the shape is unknown
	}
	return b.decodeShape()
}

// decodeShape sets the exponents of the score. Depending on the direction of the blend, the file has one or two
// exponents.
func (b *Blend) decodeShape() error {
	switch {
	case b.IsExtreme():
		return shapeReader(&b.Shape)(b.shapeNode)
	case b.Range.Node != nil:
		return yaml.Hint(b.shapeNode.Errorf("range has no shape"), "remove it")
	case b.Normal.Node != nil:
		return yaml.Hint(b.shapeNode.Errorf("normal has no shape"), "remove it")
	case b.shapeNode.Kind != yaml.Sequence:
		return shapeReader(&b.Shape)(b.shapeNode)
	case b.Target.Node == nil || len(b.shapeNode.Items) != 2:
		return yaml.Hint(b.shapeNode.Errorf("the shape has %s", inputerr.Count(len(b.shapeNode.Items), "number")), "write one number, or two for a target: below it and above")
	}
	return decodingReader(&b.TargetShapes, decodeTargetShapes)(b.shapeNode)
}

func decodeTargetShapes(n *yaml.Node) (shapes [2]float64, err error) {
	for k, item := range n.Items {
		if shapes[k], err = decodeShape(item); err != nil {
			return shapes, err
		}
	}
	return shapes, nil
}

// Exponents returns the exponent of the score for means below the best value, and the exponent for means above.
func (b *Blend) Exponents() (below, above float64) {
	if b.TargetShapes.Node != nil {
		return b.TargetShapes.Value[0], b.TargetShapes.Value[1]
	}
	return b.Shape.Or(1), b.Shape.Or(1)
}

// Direction returns which means are better. The results are those of [Objective.Direction].
func (b *Blend) Direction() (d Direction, least, most float64) {
	switch {
	case b.Smaller.Node != nil:
		return Minimize, 0, 0
	case b.Normal.Node != nil:
		return Between, b.Normal.Value.Mean.Value, b.Normal.Value.Mean.Value
	case b.Range.Node != nil:
		return Between, b.Range.Value.From.Value, b.Range.Value.To.Value
	}
	return b.Objective.Direction()
}

// CheckOneDirection returns an error unless the blend at the node n has exactly one direction.
func (b *Blend) CheckOneDirection(n *yaml.Node) error {
	given := 0
	for _, at := range []*yaml.Node{b.Maximize.Node, b.Minimize.Node, b.Larger.Node, b.Smaller.Node, b.Target.Node, b.Range.Node, b.Normal.Node} {
		if at != nil {
			given++
		}
	}
	if given == 1 {
		return nil
	}
	return yaml.Hint(n.Errorf("the blend says %d ways in which its mean is desirable", given), "write one of %s", strings.Join(b.Sections()[0].ExactlyOneOf, ", "))
}
