package config

import (
	"math"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// An Objective is what a file asks of a value: classes, bounds, a direction or a value to reach. Each kind of
// property has some of the keys. The zero value asks for nothing.
type Objective struct {
	Label              Written[string]   // label of the recipes whose value is learnt
	Want               Written[[]string] // classes of the label, any of which is wanted
	AtLeast, AtMost    Written[float64]
	Between            Written[[2]float64] // the lowest and the highest number
	Maximize, Minimize Written[Ends]
	Target             Written[Target]
	Shape              Written[float64] // exponent of the score, above 0
	Floor              Written[float64] // least score, 0 to 1
}

// Asked returns the keys of what is asked, and their nodes.
func (o *Objective) Asked() (keys []string, at []*yaml.Node) {
	for _, k := range []struct {
		key string
		at  *yaml.Node
	}{
		{"want", o.Want.At}, {"at_least", o.AtLeast.At}, {"at_most", o.AtMost.At}, {"between", o.Between.At},
		{"maximize", o.Maximize.At}, {"minimize", o.Minimize.At}, {"target", o.Target.At},
	} {
		if k.at != nil {
			keys, at = append(keys, k.key), append(at, k.at)
		}
	}
	return keys, at
}

// AskedAt returns the last of the nodes that say what is asked, for errors about it.
func (o *Objective) AskedAt() *yaml.Node {
	_, at := o.Asked()
	if len(at) == 0 {
		return nil
	}
	return at[len(at)-1]
}

// IsExtreme reports whether the value is to be as large or as small as possible.
func (o *Objective) IsExtreme() bool { return o.Maximize.At != nil || o.Minimize.At != nil }

// HasBounds reports whether one of the bounds is set.
func (o *Objective) HasBounds() bool {
	return o.AtLeast.At != nil || o.AtMost.At != nil || o.Between.At != nil
}

// HasNumbers reports whether the label is asked for as a number, not as a class.
func (o *Objective) HasNumbers() bool { return o.Want.At == nil }

// Direction returns which values are better, and the bounds of [Between], ±Inf if missing. Without one a value
// is maximised, such as the probability of a class.
func (o *Objective) Direction() (d Direction, least, most float64) {
	switch {
	case o.Minimize.At != nil:
		return Minimize, 0, 0
	case o.Target.At != nil:
		return Between, o.Target.Value.At.Value, o.Target.Value.At.Value
	case o.Between.At != nil:
		return Between, o.Between.Value[0], o.Between.Value[1]
	case o.AtLeast.At != nil || o.AtMost.At != nil:
		return Between, o.AtLeast.Or(math.Inf(-1)), o.AtMost.Or(math.Inf(1))
	}
	return Maximize, 0, 0
}

// labelKeys returns the keys of a label and of what is asked of it. wanted is the example of classes; without it
// the label has numbers.
func (o *Objective) labelKeys(label, wanted string) []schema.Key {
	keys := []schema.Key{key("label", schema.Text("label"), "", "a label of the recipes", label, asText(&o.Label, "the label"))}
	if wanted != "" {
		keys = append(keys, key("want", schema.OneOrMore(schema.Text("class"), 1), "", "a class, or any of several", wanted, asNames(&o.Want, "the wanted class")))
	}
	return append(keys,
		key("at_least", schema.Number(), "", "a number of at least this; `at_most` may stand beside it", "{label: stars, at_least: 4}", asNumber(&o.AtLeast, "at_least")),
		key("at_most", schema.Number(), "", "a number of at most this", "{label: stars, at_least: 2, at_most: 4}", asNumber(&o.AtMost, "at_most")),
		key("between", schema.Pair(schema.Number()), "", "a number from the first to the second", "{label: stars, between: [3, 5]}", decodeWith(&o.Between, decodeBetween)),
		key("maximize", schema.OnlyTrue(), "", "as large a number as can be", "{label: stars, maximize: true}", asTrue(&o.Maximize, "maximize")),
		key("minimize", schema.OnlyTrue(), "", "as small a number as can be", "{label: stars, minimize: true}", asTrue(&o.Minimize, "minimize")),
	)
}

// modelKeys returns the keys of what is asked of a number that a model predicts.
func (o *Objective) modelKeys() []schema.Key {
	return []schema.Key{
		key("at_least", schema.Number(), "", "of a number: at least this", "{file: value.txt, at_least: 0.5, constants: {temperature: 180}}", asNumber(&o.AtLeast, "at_least")),
		key("at_most", schema.Number(), "", "at most this", "{file: value.txt, at_most: 0.5, constants: {temperature: 180}}", asNumber(&o.AtMost, "at_most")),
		key("between", schema.Pair(schema.Number()), "", "from the first to the second", "{file: value.txt, between: [-1, 2], constants: {temperature: 180}}", decodeWith(&o.Between, decodeBetween)),
		key("maximize", schema.Either(schema.OnlyTrue(), schema.Link("maximize")), "", "as large as can be, from what scores 0 to what scores 1; `true`: all that the model can say", "{file: value.txt, maximize: true, constants: {temperature: 180}}", asEnds(&o.Maximize, "maximize")),
		key("minimize", schema.Either(schema.OnlyTrue(), schema.Link("minimize")), "", "as small as can be", "{file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 180}}", asEnds(&o.Minimize, "minimize")),
		key("target", schema.Link("target"), "", "best at a value", "{file: value.txt, target: {from: -2, at: 0.5, to: 2}, constants: {temperature: 180}}", decodeWith(&o.Target, decodeTarget)),
	}
}

// checkAsked returns an error if a mapping asks for nothing, or for several things at once. It comes before
// the values are decoded, because a value that is left out for an error would no longer count. The floor is
// decoded first, because an error about the whole mapping ends the search for errors.
func (o *Objective) checkAsked(n *yaml.Node) error {
	if floor := n.Get("floor"); floor != nil {
		if err := asFloor(&o.Floor)(floor); err != nil {
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

// checkExtreme returns an error if the value at n is both to be maximised and to be minimised.
func (o *Objective) checkExtreme(n *yaml.Node) error {
	if o.Maximize.At != nil && o.Minimize.At != nil {
		return yaml.Hint(n.Errorf("maximize and minimize exclude each other"), "remove one of them")
	}
	return nil
}

// decodeBetween decodes two numbers, the lower one first.
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
