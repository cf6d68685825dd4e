package config

import "kir/internal/config/yaml"

// A PredictedLimit is a limit of what a property predicts, as written in the file. How its bounds are
// written depends on the property, so they are kept as nodes.
type PredictedLimit struct {
	Property    string
	NameNode    *yaml.Node // node of the name
	Least, Most *yaml.Node // nil if there is no bound
	Sure        *yaml.Node // probability with which the bounds must hold; nil: they hold for the expected value
	Text        string
	At          *yaml.Node
}

// checkPredicted checks a limit of what a property predicts.
func (r *limit) checkPredicted(n *yaml.Node) error {
	for _, key := range []string{"attribute", "of"} {
		if v := n.Get(key); v != nil {
			return yaml.Hint(v.Errorf("a limit of a property has no %s", key), "remove it, or write attribute instead of property")
		}
	}
	if r.Min == nil && r.Max == nil {
		return yaml.Hint(n.Errorf("the limit bounds nothing"), "add min or max")
	}
	return nil
}

// predictedDemand returns a limit of what a property predicts.
func (r *limit) predictedDemand(d *Data) ([]Demand, error) {
	if err := d.RefuseInBlock(r.at, "a limit of a property is"); err != nil {
		return nil, err
	}
	if d.Nested {
		return nil, yaml.Hint(r.at.Errorf("a limit of a property stands within another rule"), "write it in a line of its own under constraints")
	}
	name := r.Property.Value
	l := &PredictedLimit{Property: name, NameNode: r.Property.At, Least: r.Min, Most: r.Max, Sure: r.Sure, At: r.at, Text: "limit of " + name}
	for _, b := range []struct {
		word string
		v    *yaml.Node
	}{{" min ", l.Least}, {" max ", l.Most}, {" sure ", l.Sure}} {
		if b.v != nil {
			l.Text += b.word + b.v.Text
		}
	}
	return []Demand{{Text: l.Text, Predicted: l}}, nil
}
