package config

import (
	"math"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// Features are what the inputs of a model stand for.
type Features struct {
	Ordered bool // in the order of the model's inputs; else by their names
	Inputs  []Input
}

// An Input is what an input of a model stands for. Name and Figure are not set if the file has neither.
type Input struct {
	At, Key *yaml.Node      // Key is the input's name; nil in a list
	Name    Written[string] // of an ingredient, an attribute, a group or a constant
	Figure  *yaml.Node      // a [Figure]; of no effect if the input is a constant, which the model's inputs decide
}

// A Figure is the figure of a recipe that an input of a model stands for. One field is set.
type Figure struct {
	Mean                                   Written[string] // the mean of an attribute
	Share, Percent, Units, Presence, Count Ingredients
}

// A Constant is an input that is not part of a composition.
type Constant struct {
	Name   string
	At     *yaml.Node // the value or the list
	Value  float64    // NaN if it is missing
	Chosen bool       // it has several values, and is a condition; see [ConstantLists]
}

// inputMeasures returns the keys of figures of ingredients, and amountMeasures those that are amounts.
func inputMeasures() []string  { return append(amountMeasures(), "presence", "count") }
func amountMeasures() []string { return []string{"share", "percent", "units"} }

// inputType is the type of an input: a name, or a figure.
func inputType() schema.Type {
	return schema.Either(schema.Type{Words: "name", Schema: schema.Object{"type": "string"}}, schema.Link("input"))
}

// section returns the description of a figure, bound to its fields.
func (f *Figure) section() *schema.Section {
	return &schema.Section{
		Name: "an input", ID: "input", About: "The figure of a recipe that an input of the model stands for.",
		Keys: []schema.Key{
			key("mean", schema.Text("attribute"), "", "the mean of an attribute", "{mean: cost}", decodeWith(&f.Mean, decodeMean)),
			key("share", schema.Ingredients(), "", "what they take of the total, 0 to 1", "{share: {family: citrus}}", asNode(&f.Share)),
			key("percent", schema.Ingredients(), "", "the same, 0 to 100", "{percent: Gin}", asNode(&f.Percent)),
			key("units", schema.Ingredients(), "", "the same in units", "{units: Gin}", asNode(&f.Units)),
			key("presence", schema.Ingredients(), "", "1 if any of them is used, else 0", "{presence: Milk}", asNode(&f.Presence)),
			key("count", schema.Ingredients(), "", "how many of them are used", "{count: \"*\"}", asNode(&f.Count)),
		},
		ExactlyOneOf: []string{"mean", "share", "percent", "units", "presence", "count"},
	}
}

// decodeMean decodes the name of an attribute. The attributes decide what is a name.
func decodeMean(n *yaml.Node) (string, error) { return n.Text, nil }

// Decode sets the fields from a node.
func (f *Figure) Decode(n *yaml.Node) error {
	section := f.section()
	keys, err := section.Fields(n)
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return yaml.Hint(n.Errorf("the input is %s", inputerr.Count(len(keys), "thing")), "write one of %s, mean", strings.Join(inputMeasures(), ", "))
	}
	return section.Decode(n)
}

// Measure returns the key of a figure of ingredients, and the ingredients. They are not set for a mean.
func (f *Figure) Measure() (measure string, of Ingredients) {
	for k, of := range []Ingredients{f.Share, f.Percent, f.Units, f.Presence, f.Count} {
		if of != nil {
			return inputMeasures()[k], of
		}
	}
	return "", nil
}

// newInput returns an input. The model decides whether it may have neither a name nor a figure.
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

func decodeAmounts(n *yaml.Node) (string, error) {
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
		c := Constant{Name: e.Key.Text, At: e.Value, Value: math.NaN()}
		switch items := e.Value.ItemsOrSelf(); {
		case len(items) == 0:
			return nil, yaml.Hint(e.Value.Errorf("the constant %s has no value", inputerr.Quote(c.Name)), "write a number, a list of numbers to choose from, or missing")
		case len(items) > 1:
			c.Chosen = true
			_, err = constantNumbers(e.Value)
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

// constantNumbers decodes the values of a constant that is a condition, in the order of the file.
func constantNumbers(n *yaml.Node) (all []float64, err error) {
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
