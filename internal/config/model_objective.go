package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// A ModelObjective is what is asked of a number that a model predicts.
type ModelObjective struct {
	AtLeast, AtMost    Written[float64]
	Between            Written[[2]float64] // the lowest and the highest number
	Maximize, Minimize Written[Ends]
	Target             Written[Target]
	SD                 Written[float64] // of bounds: standard deviation of a measurement about the prediction
}

// Ends are the values that score 0 and 1. The zero value stands for the ends of what the model can predict.
type Ends struct{ From, To Written[float64] }

// keys returns the keys of the objective.
func (o *ModelObjective) keys() []schema.Key {
	return []schema.Key{
		key("at_least", schema.Number(), "", "of a number: at least this", "{file: value.txt, at_least: 0.5, constants: {temperature: 180}}", asNumber(&o.AtLeast, "at_least")),
		key("at_most", schema.Number(), "", "at most this", "{file: value.txt, at_most: 0.5, constants: {temperature: 180}}", asNumber(&o.AtMost, "at_most")),
		key("between", schema.Pair(schema.Number()), "", "from the first to the second", "{file: value.txt, between: [-1, 2], constants: {temperature: 180}}", decodeWith(&o.Between, decodeBetween)),
		key("maximize", schema.Either(schema.OnlyTrue(), schema.Link("maximize")), "", "as large as can be, from what scores 0 to what scores 1; `true`: all that the model can say", "{file: value.txt, maximize: true, constants: {temperature: 180}}", asEnds(&o.Maximize, "maximize")),
		key("minimize", schema.Either(schema.OnlyTrue(), schema.Link("minimize")), "", "as small as can be", "{file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 180}}", asEnds(&o.Minimize, "minimize")),
		key("target", schema.Link("target"), "", "best at a value", "{file: value.txt, target: {from: -2, at: 0.5, to: 2}, constants: {temperature: 180}}", decodeWith(&o.Target, decodeTarget)),
		key("sd", schema.Above(0), "0: a hard bound", "of bounds: how far what is lies from what the model says", "{file: value.txt, at_least: 0.5, sd: 0.2, constants: {temperature: 180}}", decodeWith(&o.SD, decodeSD)),
	}
}

// Asked returns the keys of what is asked, and the node of the first one.
func (o *ModelObjective) Asked() (keys []string, at *yaml.Node) {
	for _, k := range []struct {
		key string
		at  *yaml.Node
	}{
		{"at_least", o.AtLeast.At}, {"at_most", o.AtMost.At}, {"between", o.Between.At},
		{"maximize", o.Maximize.At}, {"minimize", o.Minimize.At}, {"target", o.Target.At},
	} {
		if k.at == nil {
			continue
		}
		if keys = append(keys, k.key); at == nil {
			at = k.at
		}
	}
	return keys, at
}

// HasBounds reports whether one of the bounds is set.
func (o *ModelObjective) HasBounds() bool {
	return o.AtLeast.At != nil || o.AtMost.At != nil || o.Between.At != nil
}

// section returns the description of a direction with its ends, bound to the fields.
func (e *Ends) section(direction string) *schema.Section {
	from, to := "0", "2"
	if direction == "minimize" {
		from, to = "2", "-1"
	}
	return &schema.Section{
		Name: direction, ID: direction, About: "A direction with its ends; beyond them the score stays as it is there.",
		Keys: []schema.Key{
			key("from", schema.Number(), "", "the value that scores 0", "{from: "+from+", to: "+to+"}", asNumber(&e.From, "from")),
			key("to", schema.Number(), "", "the value that scores 1", "{from: "+from+".5, to: "+to+"}", asNumber(&e.To, "to")),
		},
		Required: []string{"from", "to"},
	}
}

// asEnds decodes a direction: true, or its ends.
func asEnds(field *Written[Ends], direction string) read {
	return decodeWith(field, func(n *yaml.Node) (e Ends, err error) {
		if n.Kind != yaml.Mapping {
			return e, asTrue(new(Written[bool]), direction)(n)
		}
		section := e.section(direction)
		if _, err := section.Fields(n); err != nil {
			return e, err
		}
		if err := n.Require(direction, "write {from: 2, to: 5}: the values that score 0 and 1", "from", "to"); err != nil {
			return e, err
		}
		err = section.Decode(n)
		return e, err
	})
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
