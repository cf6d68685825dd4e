package config

import (
	"math"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// An Objective tells which values of a label or of a number are wanted: classes, bounds, a direction or a best
// value. Each kind of property allows some of the keys. In the zero Objective no value is wanted.
type Objective struct {
	Label              Written[string]   // name of the label to be learnt from the recipes
	Want               Written[[]string] // names of wanted classes of the label
	AtLeast, AtMost    Written[float64]
	Between            Written[[2]float64] // least and greatest wanted number
	Maximize, Minimize Written[Ends]
	Target             Written[Target]
	Shape              Written[float64] // exponent that bends the rise of the score from its minimum to its maximum; above 0
	Floor              Written[float64] // minimum of the score, from 0 to 1
}

// ObjectiveKeys returns the keys under which the file tells what is wanted, such as maximize, and the YAML
// nodes of their values.
func (o *Objective) ObjectiveKeys() (keys []string, at []*yaml.Node) {
	for _, k := range []struct {
		key string
		at  *yaml.Node
	}{
		{"want", o.Want.Node}, {"at_least", o.AtLeast.Node}, {"at_most", o.AtMost.Node}, {"between", o.Between.Node},
		{"maximize", o.Maximize.Node}, {"minimize", o.Minimize.Node}, {"target", o.Target.Node},
	} {
		if k.at != nil {
			keys, at = append(keys, k.key), append(at, k.at)
		}
	}
	return keys, at
}

// ObjectiveNode returns the YAML node of the last value that tells what is wanted; errors are placed there. It
// returns nil if there is no such value.
func (o *Objective) ObjectiveNode() *yaml.Node {
	_, at := o.ObjectiveKeys()
	if len(at) == 0 {
		return nil
	}
	return at[len(at)-1]
}

// IsExtreme reports whether the objective is to maximise or to minimise a value.
func (o *Objective) IsExtreme() bool { return o.Maximize.Node != nil || o.Minimize.Node != nil }

// HasBounds reports whether at least one bound is set.
func (o *Objective) HasBounds() bool {
	return o.AtLeast.Node != nil || o.AtMost.Node != nil || o.Between.Node != nil
}

// HasNumbers reports whether numbers, and not classes, are wanted.
func (o *Objective) HasNumbers() bool { return o.Want.Node == nil }

// Direction returns which values are better. The results least and most are the bounds for [Between]; a missing
// bound is ±Inf. If the file has no direction, for example because it names classes, the direction is
// [Maximize].
func (o *Objective) Direction() (d Direction, least, most float64) {
	switch {
	case o.Minimize.Node != nil:
		return Minimize, 0, 0
	case o.Target.Node != nil:
		return Between, o.Target.Value.At.Value, o.Target.Value.At.Value
	case o.Between.Node != nil:
		return Between, o.Between.Value[0], o.Between.Value[1]
	case o.AtLeast.Node != nil || o.AtMost.Node != nil:
		return Between, o.AtLeast.Or(math.Inf(-1)), o.AtMost.Or(math.Inf(1))
	}
	return Maximize, 0, 0
}

// labelObjectiveKeys returns the descriptions of the keys for a label and for its wanted values. The parameters
// are examples for the documentation: label is the name of a label, and wanted is a list of classes. If wanted
// is empty, the label must have numbers.
func (o *Objective) labelObjectiveKeys(label, wanted string) []schema.Key {
	keys := []schema.Key{newKey("label", schema.Text("label"), "", "a label of the recipes", label, textReader(&o.Label, "the label"))}
	if wanted != "" {
		keys = append(keys, newKey("want", schema.OneOrMore(schema.Text("class"), 1), "", "the wanted class or classes", wanted, namesReader(&o.Want, "the wanted class")))
	}
	return append(keys,
		newKey("at_least", schema.Number(), "", "lower bound; can be combined with `at_most`", "{label: stars, at_least: 4}", numberReader(&o.AtLeast, "at_least")),
		newKey("at_most", schema.Number(), "", "upper bound", "{label: stars, at_least: 2, at_most: 4}", numberReader(&o.AtMost, "at_most")),
		newKey("between", schema.Pair(schema.Number()), "", "lower and upper bound", "{label: stars, between: [3, 5]}", decodingReader(&o.Between, decodeBetween)),
		newKey("maximize", schema.OnlyTrue(), "", "larger numbers of the label are better", "{label: stars, maximize: true}", trueReader(&o.Maximize, "maximize")),
		newKey("minimize", schema.OnlyTrue(), "", "smaller numbers of the label are better", "{label: stars, minimize: true}", trueReader(&o.Minimize, "minimize")),
	)
}

// modelObjectiveKeys returns the descriptions of the keys for the wanted values of a number that an imported
// model predicts.
func (o *Objective) modelObjectiveKeys() []schema.Key {
	return []schema.Key{
		newKey("at_least", schema.Number(), "", "lower bound", "{file: value.txt, at_least: 0.5, constants: {temperature: 180}}", numberReader(&o.AtLeast, "at_least")),
		newKey("at_most", schema.Number(), "", "upper bound", "{file: value.txt, at_most: 0.5, constants: {temperature: 180}}", numberReader(&o.AtMost, "at_most")),
		newKey("between", schema.Pair(schema.Number()), "", "lower and upper bound", "{file: value.txt, between: [-1, 2], constants: {temperature: 180}}", decodingReader(&o.Between, decodeBetween)),
		newKey("maximize", schema.Either(schema.OnlyTrue(), schema.Link("maximize")), "", "larger predictions are better; `from` and `to` are the predictions that score 0 and 1. With `true`, these are the model's least and greatest outputs", "{file: value.txt, maximize: true, constants: {temperature: 180}}", endsReader(&o.Maximize, "maximize")),
		newKey("minimize", schema.Either(schema.OnlyTrue(), schema.Link("minimize")), "", "smaller predictions are better, with `from` and `to` as for `maximize`", "{file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 180}}", endsReader(&o.Minimize, "minimize")),
		newKey("target", schema.Link("target"), "", "one value of the prediction is best", "{file: value.txt, target: {from: -2, at: 0.5, to: 2}, constants: {temperature: 180}}", decodingReader(&o.Target, decodeTarget)),
	}
}

// checkOneObjective returns an error unless the mapping n tells in exactly one way which values are wanted. It
// must run before the values are decoded: a value that was removed because of an error would otherwise count as
// missing. It decodes the key floor first, because no further errors are found after an error about the whole
// mapping.
func (o *Objective) checkOneObjective(n *yaml.Node) error {
	if floor := n.Get("floor"); floor != nil {
		if err := floorReader(&o.Floor)(floor); err != nil {
			return err
		}
	}
	var asked []string
	for _, name := range []string{"want", "at_least", "at_most", "between", "maximize", "minimize"} {
		if n.Get(name) != nil {
			asked = append(asked, name)
		}
	}
	text := strings.Join(asked, " and ")
	switch {
	case len(asked) == 1, text == "at_least and at_most":
		return nil
	case len(asked) == 0:
		text = "nothing is asked of the forest"
	default:
		text += " are asked of the forest at once"
	}
	return yaml.Hint(n.Errorf("%s", text), "say want: a class or a list of classes; or for a number maximize: true, minimize: true, at_least, at_most or between")
}

// checkOneExtreme returns an error if the file has both maximize and minimize. The error is placed at the node
// n.
func (o *Objective) checkOneExtreme(n *yaml.Node) error {
	if o.Maximize.Node != nil && o.Minimize.Node != nil {
		return yaml.Hint(n.Errorf("maximize and minimize exclude each other"), "remove one of them")
	}
	return nil
}

// decodeBetween decodes a list of two numbers: the least and the greatest wanted number.
func decodeBetween(n *yaml.Node) (ends [2]float64, err error) {
	items, err := n.List("between")
	if err != nil {
		return ends, err
	}
	if len(items) != len(ends) {
		return ends, yaml.Hint(n.Errorf("between has %s", inputerr.Count(len(items), "number")), "write the lowest and the highest, such as [3, 4]")
	}
	for k, what := range []string{"the lowest number", "the highest number"} {
		if ends[k], err = items[k].Float(what); err != nil {
			return ends, err
		}
	}
	if ends[0] > ends[1] {
		return ends, yaml.Hint(n.Errorf("no number is between %v and %v", ends[0], ends[1]), "write the lower one first")
	}
	return ends, nil
}
