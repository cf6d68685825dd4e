package config

import (
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A LabelObjective is a label of the recipes and what is asked of it: classes, bounds or a direction. Its
// Extremum has no shape.
type LabelObjective struct {
	Label           Written[string]
	Want            Written[[]string] // classes, any of which is wanted
	AtLeast, AtMost Written[float64]
	Between         Written[[2]float64] // the lowest and the highest number
	Extremum
}

// keys returns the keys of the label and of what is asked of it. wanted is the example of classes; without it
// the label has numbers.
func (o *LabelObjective) keys(label, wanted string) []schema.Key {
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

// HasNumbers reports whether the label is asked for as a number, not as a class.
func (o *LabelObjective) HasNumbers() bool { return o.Want.At == nil }

// AskedAt returns the last of the nodes that say what is asked, for errors about it.
func (o *LabelObjective) AskedAt() (at *yaml.Node) {
	for _, n := range []*yaml.Node{o.Want.At, o.AtLeast.At, o.AtMost.At, o.Between.At, o.Maximize.At, o.Minimize.At} {
		if n != nil {
			at = n
		}
	}
	return at
}

// checkAsked returns an error if a mapping asks for nothing, or for several things at once. It comes before
// the values are decoded, because a value that is left out for an error would no longer count. The floor is
// decoded first, because an error about the whole mapping ends the search for errors.
func (o *LabelObjective) checkAsked(n *yaml.Node) error {
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

// asNames decodes a name or a list of names, and normalises them.
func asNames(field *Written[[]string], what string) read {
	return decodeWith(field, func(n *yaml.Node) (names []string, err error) {
		var texts Texts
		if err := asTexts(&texts, what)(n); err != nil {
			return nil, err
		}
		for _, text := range texts.Value {
			names = append(names, dataset.NormalizeName(text.Value))
		}
		return names, nil
	})
}
