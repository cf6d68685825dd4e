package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// Ends are the value that scores 0 and the value that scores 1. If an end is not set, the least or the greatest
// possible value takes its place.
type Ends struct{ From, To Written[float64] }

// describeKeys returns the description of the keys under a direction such as maximize. The Read functions of the
// keys set the fields.
func (e *Ends) describeKeys(direction string) *schema.Section {
	from, to := "0", "2"
	if direction == "minimize" {
		from, to = "2", "-1"
	}
	return &schema.Section{
		Name: direction, ID: direction, About: "The score rises from 0 at `from` to 1 at `to`, and is constant beyond.",
		Keys: []schema.Key{
			newKey("from", schema.Number(), "", "the value that scores 0", "{from: "+from+", to: "+to+"}", numberReader(&e.From, "from")),
			newKey("to", schema.Number(), "", "the value that scores 1", "{from: "+from+".5, to: "+to+"}", numberReader(&e.To, "to")),
		},
		Required: []string{"from", "to"},
	}
}

// endsReader returns a function that decodes the value under a direction such as maximize: the word true, or a
// mapping with the [Ends].
func endsReader(field *Written[Ends], direction string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (e Ends, err error) {
		if n.Kind != yaml.Mapping {
			return e, trueReader(field, direction)(n)
		}
		section := e.describeKeys(direction)
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

// trueReader returns a function that decodes a key whose only valid value is true.
func trueReader(field *Written[Ends], key string) valueReader {
	return decodingReader(field, func(n *yaml.Node) (Ends, error) {
		if n.Kind != yaml.Boolean || n.Plain() != true {
			return Ends{}, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write %s: true; or at_least, at_most or between for what is good enough", key)
		}
		return Ends{}, nil
	})
}
