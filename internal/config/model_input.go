package config

import (
	"math"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// Features describe the inputs of an imported model in the problem file.
type Features struct {
	Ordered bool // whether Inputs lists all inputs in the order of the model; otherwise Inputs are matched by name
	Inputs  []Input
}

// An Input describes one input of an imported model by a name, or by a number of the recipe (a [Figure]). If
// the file has anything else, Name and Figure are not set, and compiling the problem returns an error.
type Input struct {
	At     *yaml.Node      // YAML node of the description
	Key    *yaml.Node      // YAML node of the name of the input; nil if the description stands in a list
	Name   Written[string] // name of an ingredient, an attribute, a group of ingredients or a constant
	Figure *yaml.Node      // YAML mapping that describes a [Figure]; it is not used if the input is a constant
}

// A Figure is a number that is computed from a recipe and passed to an input of an imported model. Exactly one
// field is set.
type Figure struct {
	Mean                                   Written[string] // name of an attribute; the number is the mean of the attribute
	Share, Percent, Units, Presence, Count Ingredients
}

// A Constant is an input of an imported model that does not depend on the composition.
type Constant struct {
	Name             string
	Node             *yaml.Node // YAML node of the value or of the list of values
	Value            float64    // value of the constant; NaN if it is missing
	HasSeveralValues bool       // whether the constant has several values, of which kir chooses one with each recipe; see [ConstantList]
}

// inputMeasures returns the keys of all numbers that can be computed from the amounts of some ingredients:
// share, percent, units, presence and count.
func inputMeasures() []string { return append(amountMeasures(), "presence", "count") }

// amountMeasures returns the keys of those measures in [inputMeasures] that tell an amount: share, percent and
// units.
func amountMeasures() []string { return []string{"share", "percent", "units"} }

// inputSchemaType returns the schema type of an [Input]: a name or a figure.
func inputSchemaType() schema.Type {
	return schema.Either(schema.Type{Words: "name", Schema: schema.Object{"type": "string"}}, schema.Link("input"))
}

// describeKeys returns the description of the keys of a figure. The Read functions of the keys set the fields.
func (f *Figure) describeKeys() *schema.Section {
	return &schema.Section{
		Name: "an input", ID: "input", About: "One key of an input says which number of a recipe the model gets.",
		Keys: []schema.Key{
			newKey("mean", schema.Text("attribute"), "", "the mean of an attribute", "{mean: cost}", decodingReader(&f.Mean, decodeMean)),
			newKey("share", schema.Ingredients(), "", "share of the total, 0 to 1", "{share: {family: citrus}}", nodeReader(&f.Share)),
			newKey("percent", schema.Ingredients(), "", "percentage of the total, 0 to 100", "{percent: Gin}", nodeReader(&f.Percent)),
			newKey("units", schema.Ingredients(), "", "amount in units", "{units: Gin}", nodeReader(&f.Units)),
			newKey("presence", schema.Ingredients(), "", "1 if any of the ingredients is used, else 0", "{presence: Milk}", nodeReader(&f.Presence)),
			newKey("count", schema.Ingredients(), "", "number of used ingredients among these", "{count: \"*\"}", nodeReader(&f.Count)),
		},
		ExactlyOneOf: []string{"mean", "share", "percent", "units", "presence", "count"},
	}
}

// decodeMean decodes the name of an attribute. It does not check the name.
func decodeMean(n *yaml.Node) (string, error) { return n.Text, nil }

// Decode sets one field from the node n, which must be a mapping with exactly one key.
func (f *Figure) Decode(n *yaml.Node) error {
	section := f.describeKeys()
	keys, err := section.Fields(n)
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return yaml.Hint(n.Errorf("the input is %s", inputerr.Count(len(keys), "thing")), "write one of %s, mean", strings.Join(inputMeasures(), ", "))
	}
	return section.Decode(n)
}

// Measure returns the key of the field that is set, such as share, and the ingredients under that key. If the
// field Mean is set, it returns "" and nil.
func (f *Figure) Measure() (measure string, of Ingredients) {
	for k, of := range []Ingredients{f.Share, f.Percent, f.Units, f.Presence, f.Count} {
		if of != nil {
			return inputMeasures()[k], of
		}
	}
	return "", nil
}

// newInput returns the input that the node n describes. The node key has the name of the input; it is nil if
// the description stands in a list.
func newInput(n, key *yaml.Node) Input {
	i := Input{At: n, Key: key}
	switch n.Kind {
	case yaml.Text:
		i.Name = Written[string]{n.Text, n}
	case yaml.Mapping:
		i.Figure = n
	}
	return i
}

func decodeFeatures(n *yaml.Node) (f Features, err error) {
	if n.Kind != yaml.Sequence && n.Kind != yaml.Mapping {
		return f, yaml.Hint(n.Errorf("features are %s", n.Describe()), "write what inputs are: {x0: {share: Gin}}, or a list in the order of the inputs")
	}
	f.Ordered = n.Kind == yaml.Sequence
	for _, item := range n.Items {
		f.Inputs = append(f.Inputs, newInput(item, nil))
	}
	for _, e := range n.Entries {
		f.Inputs = append(f.Inputs, newInput(e.Value, e.Key))
	}
	return f, nil
}

func decodeAmountMeasure(n *yaml.Node) (string, error) {
	if !slices.Contains(amountMeasures(), n.Text) {
		return "", yaml.Hint(n.Errorf("amounts is %s", n.Describe()), "write share (x/M), percent or units: what the model was trained on")
	}
	return n.Text, nil
}

func decodeConstants(n *yaml.Node) (all []Constant, err error) {
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("constants are %s", n.Describe()), "write names and values, such as {temperature: 180}")
	}
	for _, e := range n.Entries {
		c := Constant{Name: e.Key.Text, Node: e.Value, Value: math.NaN()}
		switch items := e.Value.ItemsOrSelf(); {
		case len(items) == 0:
			return nil, yaml.Hint(e.Value.Errorf("the constant %s has no value", inputerr.Quote(c.Name)), "write a number, a list of numbers to choose from, or missing")
		case len(items) > 1:
			c.HasSeveralValues = true
			_, err = decodeConstantNumbers(e.Value)
		case items[0].Kind != yaml.Text || items[0].Text != "missing":
			c.Value, err = items[0].Float("the constant")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// decodeConstantNumbers decodes the values of a constant that has several values, in the order of the file.
func decodeConstantNumbers(n *yaml.Node) (all []float64, err error) {
	if len(n.Items) > maxConditionValues {
		return nil, yaml.Hint(n.Errorf("the constant has %d values", len(n.Items)), "at most %d are possible", maxConditionValues)
	}
	for _, item := range n.Items {
		if item.Kind == yaml.Text && item.Text == "missing" {
			return nil, yaml.Hint(item.Errorf("missing is one of several values"), "list numbers alone, or write missing alone")
		}
		v, err := item.Float("the constant")
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, v) {
			return nil, yaml.Hint(item.Errorf("the value %v stands there twice", v), "list each once")
		}
		all = append(all, v)
	}
	return all, nil
}
