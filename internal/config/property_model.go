package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// ModelKind is the kind of property that an imported tree ensemble predicts.
var ModelKind = PropertyKind{
	Key: schema.NewKey("model", schema.Link("model"), "", "predicts by a tree ensemble of another program", "{model: {file: model.txt, class: 1, constants: {temperature: 180}}}"),
	New: func() Value { return new(Model) },
}

// A Model is the value of a property that an imported model predicts. It has one of these forms:
//
//	model: {file: model.onnx, class: Fresh, features: {x0: {share: Gin}}}
//	model: {file: model.txt, maximize: true, constants: {temperature: [150, 180]}, check: check.csv}
type Model struct {
	File   *yaml.Node
	Output Written[string] // name of an output of the model; if not set, the first output
	Class  Texts           // names of wanted classes of the output
	Objective
	SD        Written[float64] // standard deviation of measurements around the prediction, for objectives with bounds
	Features  Written[Features]
	Amounts   Written[string] // measure, "share", "percent" or "units", of every input that has the name of an ingredient
	Constants Written[[]Constant]
	Check     *yaml.Node       // name of a table with predictions that the training program has made from the model, for comparison
	Tolerance Written[float64] // largest allowed difference from the predictions in the table
}

// Sections implements [Value].
func (m *Model) Sections() schema.Sections {
	return schema.Sections{
		{
			Name: "a model", ID: "model",
			About: "`model` needs a model file and one goal: classes, bounds, `maximize`, `minimize`, or a target value. kir reads model files of ONNX, of XGBoost (JSON or UBJSON) and of LightGBM (text).",
			Keys: slices.Concat(
				[]schema.Key{
					newKey("file", schema.Text("file"), "", "the model file", "{file: model.txt, class: 1, constants: {temperature: 180}}", nodeReader(&m.File)),
					newKey("output", schema.Text("output"), "the first", "name of the model's output", "{file: model.txt, output: probability, class: 1, constants: {temperature: 180}}", textReader(&m.Output, "the output")),
					newKey("class", schema.OneOrMore(schema.Text("class"), 1), "", "wanted class or classes of a classifier", "{file: model.txt, class: [1], constants: {temperature: 180}}", textsReader(&m.Class, "the class")),
				},
				m.modelObjectiveKeys(),
				[]schema.Key{
					newKey("sd", schema.Above(0), "0: hard bounds", "standard deviation of the model's error, if the goal is bounds", "{file: value.txt, at_least: 0.5, sd: 0.2, constants: {temperature: 180}}", decodingReader(&m.SD, decodeSD)),
				},
				m.inputKeys(),
				[]schema.Key{
					newKey("check", schema.Text("file"), "none", "a table of recipes with the model's predictions, which kir must reproduce", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv}", nodeReader(&m.Check)),
					newKey("tolerance", schema.AtLeast(0), "0.00001", "greatest difference allowed between a prediction of `check` and kir's", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv, tolerance: 0.001}", weightReader(&m.Tolerance, "the tolerance")),
					newFloorKey(&m.Floor, "{file: model.txt, class: 1, constants: {temperature: 180}, floor: 0.01}"),
				},
			),
			Required:     []string{"file"},
			ExactlyOneOf: []string{"class", "at_least", "at_most", "between", "maximize", "minimize", "target"},
			Requires:     map[string]string{"tolerance": "check"},
			Excludes:     map[string]string{"sd": "class maximize minimize target"},
		},
		new(Figure).describeKeys(),
		m.Maximize.Value.describeKeys("maximize"),
		m.Minimize.Value.describeKeys("minimize"),
	}
}

// inputKeys returns the descriptions of the keys for the inputs of the model.
func (m *Model) inputKeys() []schema.Key {
	return []schema.Key{
		newKey("features", schema.Either(schema.MapOf("inputs", inputSchemaType(), nil), schema.List(inputSchemaType(), 0)), "matched by name", "what each input of the model stands for, by the input's name or in order", "{file: value.txt, maximize: true, features: {Gin: {percent: Gin}}, constants: {temperature: 180}}", decodingReader(&m.Features, decodeFeatures)),
		newKey("amounts", schema.Choice(amountMeasures()...), "`share`", "measure of the ingredient that an input named like an ingredient expects", "{file: value.txt, maximize: true, amounts: percent, constants: {temperature: 180}}", decodingReader(&m.Amounts, decodeAmountMeasure)),
		newKey("constants", schema.MapOf("inputs", schema.OneOrMore(schema.Either(schema.Number(), schema.Choice("missing")), 1), nil), "none", "fixed values of inputs that are not amounts. An input with a list of values becomes a condition", "{file: value.txt, maximize: true, constants: {temperature: [150, 180]}}", decodingReader(&m.Constants, decodeConstants)),
	}
}

// Decode implements [Value].
func (m *Model) Decode(n *yaml.Node) error {
	if err := n.Require("the model", "write {file: model.onnx, class: Fresh}", "file"); err != nil {
		return err
	}
	return m.Sections()[0].Decode(n)
}

func decodeTarget(n *yaml.Node) (t Target, err error) {
	err = t.Decode(n)
	return t, err
}

func decodeSD(n *yaml.Node) (float64, error) {
	sd, err := n.Float("sd")
	if err == nil && sd <= 0 {
		err = yaml.Hint(n.Errorf("sd is %v", sd), "it must be above 0: the standard deviation of what is, about what the model says")
	}
	return sd, err
}
