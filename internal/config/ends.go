package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// Ends are the values that score 0 and 1. The zero value stands for the ends of what is possible.
type Ends struct{ From, To Written[float64] }

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
			return e, asTrue(field, direction)(n)
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

// asTrue decodes a key whose only value is true.
func asTrue(field *Written[Ends], key string) read {
	return decodeWith(field, func(n *yaml.Node) (Ends, error) {
		if n.Kind != yaml.Boolean || n.Plain() != true {
			return Ends{}, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write %s: true; or at_least, at_most or between for what is good enough", key)
		}
		return Ends{}, nil
	})
}
